// What is for everyone: the order in which texts are read out, what of it is made anew, and how often somebody is told of others' texts.
import assert from 'node:assert/strict'
import {mock, test} from 'node:test'
import {listed, News, newsEveryMs, newsLettersMax} from '../../Sources/RelayPage/page/everyone/news.js'
import {before, inRows, ReadingOrder} from '../../Sources/RelayPage/page/everyone/reading-order.js'
import {nameOf} from '../../Sources/RelayPage/page/everyone/thing-name.js'
import {restOfWords, speak} from '../../Sources/RelayPage/page/words/index.js'
import {Dice} from './support/dice.mjs'

await speak('en')
await restOfWords()

const note = (id, x, y, width = 100, height = 60) => ({id, box: [x, y, x + width, y + height]})
const idsOf = elements => elements.map(({id}) => id).join('')

test('texts are read from top to bottom, and those beside each other from left to right, though one lies a little higher', () => {
  const order = new ReadingOrder()
  order.change([], [note('d', 0, 200), note('c', 250, 0), note('b', 120, 10), note('a', 0, 20)])
  assert.equal(idsOf(order.first(9)), 'abcd')
  // One that begins below the middle of its row's first is in the next row.
  order.change([], [note('e', 500, 31)])
  assert.equal(idsOf(order.first(9)), 'abced')
  assert.equal(idsOf(inRows([note('tall', 0, 0, 100, 600), note('1', 200, 10), note('2', 200, 290), note('3', 200, 310)])), 'tall123')
})

test('of many texts the first ones are listed, and it is known how many there are', () => {
  const order = new ReadingOrder()
  order.change([], Array.from({length: 1_000}, (_, at) => note(String(at).padStart(4, '0'), 0, at * 100)))
  assert.deepEqual([idsOf(order.first(3)), order.list.length], ['000000010002', 1_000])
})

test('after any changes the order is as if all had been put in anew, and a change compares a few, not the board', () => {
  const dice = new Dice(19)
  const order = new ReadingOrder()
  const there = new Map()
  const place = () => dice.below(40) * 25
  for (let round = 0; round < 300; round++) {
    const ids = new Set(Array.from({length: 1 + dice.below(4)}, () => `n${dice.below(60)}`))
    const [gone, come] = [[], []]
    for (const id of ids) {
      if (there.has(id)) gone.push(there.get(id))
      if (dice.below(3)) come.push(note(id, place(), place()))
      there.delete(id)
    }
    for (const element of come) there.set(element.id, element)
    order.change(gone, come)
    assert.equal(idsOf(order.list), idsOf([...there.values()].sort(before)))
  }
  let compared = 0
  const counted = new ReadingOrder((one, other) => (compared++, before(one, other)))
  const many = Array.from({length: 20_000}, (_, at) => note(`n${at}`, at % 100 * 150, Math.floor(at / 100) * 90))
  counted.change([], many)
  compared = 0
  counted.change([many[7_777]], [{...many[7_777], box: [5, 5, 9, 9]}])
  assert.ok(compared > 0 && compared <= 40, `${compared} were compared`)
})

test('who hears the page is told what a picture shows, what a text says, and what else a thing is', () => {
  const things = [
    {type: 'image', description: 'Two\nred pixels'}, {type: 'image'}, {type: 'text', text: 'Ink'},
    {type: 'text', text: 'Ink', paper: '#FFF3A3FF'},
    {type: 'stroke', parts: [{shape: 'ellipse'}]}, {type: 'stroke', parts: [{}]},
  ]
  assert.deepEqual(things.map(thing => nameOf(thing)),
      ['Picture: Two red pixels', 'Picture', 'Ink', 'Sticky note: Ink', 'Ellipse', 'Drawn line'])
  assert.equal(nameOf({type: 'image', description: 'x'.repeat(400)}), `Picture: ${'x'.repeat(300)}…`)
})

/** What is told, each with its time. */
function told(run) {
  mock.timers.enable({apis: ['setTimeout', 'Date']})
  try {
    const found = []
    run(new News(text => found.push(`${Date.now()} ${text}`)), ms => { for (let at = 0; at < ms; at += 100) mock.timers.tick(100) })
    return found
  } finally {
    mock.timers.reset()
  }
}

test('what somebody else writes is told in a moment, and what comes soon behind it as one sentence some seconds later', () => {
  const found = told((news, pass) => {
    news.add({id: 'a', name: 'Ada', text: 'two\nlines'})
    pass(2_000)
    for (let at = 0; at < 500; at++) news.add({id: `n${at % 50}`, name: ['Ben', 'Cem', 'Dora', 'Eve'][at % 4], text: `${at}`})
    pass(60_000)
    news.add({id: 'b', name: 'Ben', text: 'later'})
    pass(60_000)
  })
  assert.deepEqual(found, ['1000 Ada wrote: two lines', `${1_000 + newsEveryMs} 50 new texts, by Dora, Eve, Ben, and others`,
    '63000 Ben wrote: later'])
})

test('a long text is told by its beginning, and one that is gone before its turn not at all', () => {
  const found = told((news, pass) => {
    news.add({id: 'a', name: 'Ada', text: 'x'.repeat(5_000)})
    news.add({id: 'b', name: 'Ben', text: 'gone'})
    news.drop('b')
    pass(60_000)
    news.add({id: 'c', name: 'Ben', text: 'gone'})
    news.drop('c')
    pass(60_000)
  })
  assert.deepEqual(found, [`1000 Ada wrote: ${'x'.repeat(newsLettersMax)}…`])
})

test('of several names each is told once, and of many the first three', () => {
  assert.equal(listed(['Ada', 'Ben', 'Ada']), 'Ada and Ben')
  assert.equal(listed(['Ada', 'Ada', 'Ben', 'Cem', 'Dora', 'Eve']), 'Ada, Ben, Cem, and others')
})
