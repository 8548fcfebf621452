// The names that the page proposes, in each language: what they are made of, and that a relay takes them.
import assert from 'node:assert/strict'
import {after, test} from 'node:test'
import {titleOf} from '../../Sources/RelayPage/page/names.js'
import {nameFor, newBoard} from '../../Sources/RelayPage/page/new-names.js'
import {newPerson} from '../../Sources/RelayPage/page/new-person.js'
import {linkTo, readAddress} from '../../Sources/RelayPage/page/identity.js'
import {qrCode} from '../../Sources/RelayPage/page/qr.js'
import {languages, speak, wordsOf} from '../../Sources/RelayPage/page/words/index.js'
import {checkedName} from '../../Sources/RelayPage/relay-client.js'

after(() => speak('en'))

/** A person's name and a board's stay short: a list and a button have room for them. */
const [personLettersMax, boardLettersMax] = [24, 28]
/** Of these alphabets no letter is one of a board's name. */
const isOther = name => ['uk', 'ar'].includes(name)
/** How the adjectives of a language end that stand beside its masculine animals. */
const masculine = {de: /er$/, pl: /[yi]$/, uk: /[иі]й$/, it: /[eo]$/, es: /[^a]$/, pt: /[^a]$/}
const adjectives = {de: 'first', pl: 'first', uk: 'first', it: 'second', es: 'second', pt: 'second'}

for (const name of Object.keys(languages)) {
  test(`${name}: each word is one word, stands once, agrees, and any two make a name that is short and valid`, async () => {
    const words = await wordsOf(name, 'names/')
    const [first, second] = [words.first, words.second].map(list => list.split(' '))
    for (const list of [first, second]) {
      assert.ok(list.length >= 20, `${list.length} words`)
      assert.equal(new Set(list).size, list.length, 'a word stands twice')
      for (const word of list) {
        assert.match(word, /^\p{L}+$/u, word)
        assert.equal(word, word.charAt(0).toLocaleUpperCase(name) + word.slice(1), `${word} begins small`)
        // Each letter of a Latin word is kept: nothing of it is a gap in the address.
        assert.match(nameFor(word), isOther(name) ? /^$/ : /^[a-z]+$/, word)
      }
    }
    for (const word of masculine[name] ? words[adjectives[name]].split(' ') : []) assert.match(word, masculine[name], word)
    const longest = list => Math.max(...list.map(({length}) => length))
    const letters = longest(first) + 1 + longest(second)
    assert.ok(letters <= personLettersMax, `${letters} letters`)
    assert.ok(first.length * second.length * 900 > 400_000, 'boards may have the same name')
  })

  test(`${name}: the first board is called by the language's own word until it has a title`, async () => {
    await speak(name)
    const word = (await wordsOf(name)).board
    assert.match(word, /^\p{L}{4,8}$/u)
    assert.equal(titleOf(readAddress('').board ?? 'board'), word)
    assert.equal(titleOf('board-2'), 'Board 2', 'others have names of their own')
  })

  test(`${name}: a proposed board has a title in the language, and a name that stands in an address as it is`, async () => {
    await speak(name)
    const {first, second} = await wordsOf(name, 'names/')
    const names = new Set()
    for (let count = 0; count < 200; count++) {
      const {title, name: board} = await newBoard()
      const [one, other, number] = title.split(' ')
      assert.ok(first.split(' ').includes(one) && second.split(' ').includes(other), title)
      assert.match(board, /^[a-z]+-[a-z]+-[1-9]\d\d$/)
      assert.ok(title.length <= boardLettersMax && board.length <= boardLettersMax, title)
      assert.equal(board.split('-').at(-1), number, 'the number of the title is that of the address')
      const link = linkTo('http://192.168.100.100:7420/', checkedName(board), {key: 'k'.repeat(26)})
      assert.ok(link.includes(`#/b/${board}?`) && readAddress(new URL(link).hash).board === board && qrCode(link), link)
      if (!isOther(name)) assert.equal(nameFor(title), board)
      if (name === 'en') assert.equal(titleOf(board), title, 'who has English words sets no title')
      names.add(board)
    }
    assert.ok(names.size > 190)
    const [one, other, ...rest] = (await newPerson()).split(' ')
    assert.ok(first.split(' ').includes(one) && second.split(' ').includes(other) && rest.length === 0)
  })
}
