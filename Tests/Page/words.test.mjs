// The page's words: the same in all languages, and nowhere else.
import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {test} from 'node:test'
import {best, languages, restOfWords, say, speak} from '../../Sources/RelayPage/page/words/index.js'

const folder = new URL('../../Sources/RelayPage/page/', import.meta.url)
const read = name => readFileSync(new URL(name, folder), 'utf8')
const all = new Map()
for (const [name, {first, later}] of Object.entries(languages)) all.set(name, [(await first()).words, (await later()).words])
const english = all.get('en')

/** All texts of a word: it may have several, by number. */
const forms = word => typeof word === 'string' ? [word] : Object.values(word)
const placeholders = text => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

test('each language has the words of all others, none is empty, and all want the same values', () => {
  for (const [name, parts] of all) {
    parts.forEach((words, part) => {
      assert.deepEqual(Object.keys(words).sort(), Object.keys(english[part]).sort(), name)
      for (const [key, word] of Object.entries(words)) {
        const wanted = placeholders(forms(english[part][key]).at(-1))
        for (const text of forms(word)) assert.ok(text.trim(), `${name}: ${key}`)
        assert.deepEqual(placeholders(forms(word).at(-1)), wanted, `${name}: ${key}`)
      }
    })
    assert.deepEqual(Object.keys(parts[0]).filter(key => key in parts[1]), [], `${name}: words that stand twice`)
  }
})

test('a word of several numbers has a text for each that its language tells apart', () => {
  for (const [name, parts] of all) {
    const {pluralCategories} = new Intl.PluralRules(name).resolvedOptions()
    for (const [key, word] of Object.entries({...parts[0], ...parts[1]})) {
      if (typeof word === 'object') assert.deepEqual(Object.keys(word).sort(), [...pluralCategories].sort(), `${name}: ${key}`)
    }
  }
})

test('the browser’s first language that there is is spoken, and one that was chosen before that', () => {
  assert.deepEqual([best([null, 'xx', 'de-AT', 'en']), best(['en', 'de']), best([null, 'xx']), best([])], ['de', 'en', 'en', 'en'])
  assert.equal(best(['toString']), 'en')
})

test('values stand in a text in the way of its language, plurals by their number; a key that is missing is seen', async () => {
  await speak('de')
  assert.equal(say('menu.print'), 'menu.print', 'the rest has not come yet')
  await restOfWords()
  assert.equal(say('menu.print'), 'Drucken')
  assert.match(say('lost', {count: 1}), /^Eine/)
  assert.match(say('lost', {count: 1_234}), /^1\.234 deiner/)
  await speak('en')
  await restOfWords()
  assert.equal(say('person.draws', {name: '{name}$&'}), '{name}$& can draw.')
})

// The status page has its own words: it is for whoever runs the relay.
const files = readdirSync(folder, {recursive: true}).filter(name => /\.(js|html)$/.test(name) && !/^(words\/|status)/.test(name))

test('no word of the page stands outside words/, each that is wanted is there, and each that is there is wanted', () => {
  const keys = {...english[0], ...english[1]}
  const text = files.map(read).join('\n')
  for (const name of files) {
    const code = read(name).replace(/^\s*(\/\/|\/?\*).*$/gm, '')
    if (name.endsWith('.html')) {
      const seen = code.replace(/<title>.*?<\/title>|<script.*?<\/script>/gs, '')
      assert.doesNotMatch(seen, /\s(aria-label|title|placeholder|alt)="[^"]+"/, name)
      assert.doesNotMatch(seen.replace(/<[^>]*>/g, ''), /[A-Za-z]{2}/, name)
      continue
    }
    // A sentence is a text of several words; a label is what an element is told to be called.
    assert.doesNotMatch(code, /['`]([A-Z][a-z]+(?: [^'`\n]*)?[.!?…]|[A-Z][a-z]+ [a-z]+[^'`\n]*)['`]/, name)
    assert.doesNotMatch(code, /(ariaLabel|title|textContent|alt|placeholder): ['`][A-Za-z]/, name)
  }
  for (const [, key] of text.matchAll(/\bsay\('([^']+)'/g)) assert.ok(key in keys, key)
  for (const [, key] of text.matchAll(/\bdata-(?:text|label|title)="([^"]+)"/g)) assert.ok(key in keys, key)
  // Some are put together of a name and what is before it.
  const made = key => /^(error|color|width|group|paper|image|edit)\./.test(key)
  for (const key of Object.keys(keys)) assert.ok(made(key) || text.includes(`'${key}'`) || text.includes(`"${key}"`), `nobody says ${key}`)
})
