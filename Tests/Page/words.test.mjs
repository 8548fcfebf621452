// The page's words: the same in all languages, and nowhere else.
import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {test} from 'node:test'
import {keepSingleKeys} from '../../Sources/RelayPage/page/remembered.js'
import {best, label, languages, locale, restOfWords, say, speak, wordsOf} from '../../Sources/RelayPage/page/words/index.js'

const folder = new URL('../../Sources/RelayPage/page/', import.meta.url)
const read = name => readFileSync(new URL(name, folder), 'utf8')
const parts = ['', 'later/', 'status/', 'names/']
/** By the language's name, its words of each part. */
const all = new Map()
for (const name of Object.keys(languages)) all.set(name, await Promise.all(parts.map(part => wordsOf(name, part))))
const english = all.get('en')

/** All texts of a word: it may have several, by number. */
const forms = word => typeof word === 'string' ? [word] : Object.values(word)
const placeholders = text => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()
const numbers = Array.from({length: 1_001}, (_, number) => number)
/** What the language tells apart among the numbers that people count to, with how many there are of each. */
const categories = name => {
  const rules = new Intl.PluralRules(name)
  const found = new Map()
  for (const number of numbers) found.set(rules.select(number), (found.get(rules.select(number)) ?? 0) + 1)
  return found
}
/** Each word of each language, beside the English one. */
function * everyWord() {
  for (const [name, languageParts] of all) {
    for (const [part, words] of languageParts.entries()) {
      for (const [key, word] of Object.entries(words)) yield {name, part: parts[part], key, word, wanted: english[part][key]}
    }
  }
}

test('each language has the files and the words of all others, none is empty, and all want the same values', () => {
  for (const part of parts) {
    const files = readdirSync(new URL(`words/${part}`, folder)).filter(name => /^[a-z]{2}\.js$/.test(name))
    assert.deepEqual(files, Object.keys(languages).map(name => `${name}.js`).sort(), `words/${part}`)
  }
  for (const [name, languageParts] of all) {
    const keys = words => Object.keys(words).sort()
    languageParts.forEach((words, part) => assert.deepEqual(keys(words), keys(english[part]), `${name}: ${parts[part]}`))
    assert.deepEqual(Object.keys(languageParts[0]).filter(key => key in languageParts[1]), [], `${name}: words that stand twice`)
  }
  for (const {name, key, word, wanted} of everyWord()) {
    for (const text of forms(word)) assert.ok(text.trim(), `${name}: ${key}`)
    assert.deepEqual(placeholders(forms(word).at(-1)), placeholders(forms(wanted).at(-1)), `${name}: ${key}`)
  }
})

test('a word of several numbers has a text for each that its language tells apart, and says the number where that is not one alone', () => {
  for (const {name, key, word, wanted} of everyWord()) {
    if (typeof word === 'string') {
      assert.ok(typeof wanted === 'string' || placeholders(word).includes('count'), `${name}: ${key}`)
      continue
    }
    const found = categories(name)
    assert.deepEqual(Object.keys(word).sort(), [...found.keys()].sort(), `${name}: ${key}`)
    for (const [category, text] of Object.entries(word)) {
      if (found.get(category) > 1) assert.ok(placeholders(text).includes('count'), `${name}: ${key}, ${category}`)
    }
  }
})

/** Words that are the same in these languages as in English. */
const sameAsEnglish = {
  de: ['app.title', 'tool.laser', 'tool.text', 'tool.ellipse', 'zoom', 'later/color.orange', 'later/color.pink', 'later/paper.orange',
    'later/writing', 'later/host.pause', 'later/code.label', 'status/rate'],
  fr: ['tool.laser', 'tool.rectangle', 'tool.ellipse', 'zoom', 'later/color.orange', 'later/color.violet', 'later/paper.orange',
    'later/paper.violet', 'later/host.pause', 'later/code.label', 'status/sessions', 'status/rate'],
  es: ['zoom', 'status/rate'], it: ['tool.laser', 'zoom', 'status/rate'], pt: ['tool.laser', 'zoom', 'status/rate'],
  pl: ['tool.laser', 'status/rate'],
}

test('no word is left in English by mistake', () => {
  const same = {}
  for (const {name, part, key, word, wanted} of everyWord()) {
    if (name === 'en') continue
    const isSame = text => /\p{L}/u.test(text.replace(/\{\w+\}/g, '')) && forms(wanted).includes(text)
    if (forms(word).some(isSame)) (same[name] ??= []).push(part + key)
  }
  assert.deepEqual(same, sameAsEnglish)
})

/** What is written so in every language. */
const latin =
  /\{\w+\}|boardrelay [a-z ]+|\b(PNG|SVG|QR|JPEG|WebP|GIF|HEIC|PDF|JSON|Ctrl(\+C)?|Alt|Page (Down|Up)|Enter|Escape|F|begin|end)\b/g
/** What opens and closes a quotation. */
const quotes = {en: '“”', de: '„“', fr: '«»', es: '«»', it: '«»', pt: '“”', pl: '„”', tr: '“”', uk: '«»', ar: '«»'}

test('quotes, apostrophes and spaces are those of each language', () => {
  for (const {name, key, word} of everyWord()) {
    for (const text of forms(word)) {
      const place = `${name}: ${key}: ${text}`
      const marks = [...text.matchAll(/[“”„«»]/g)].map(([mark]) => mark).join('')
      assert.equal(marks, quotes[name].repeat(marks.length / 2), place)
      assert.doesNotMatch(text, /["']|\.\.\.|^\s|\s$| {2}/, place)
      if (name === 'fr') assert.doesNotMatch(text, /[^\u00A0\u202F?!][?!;:»](?!\/)|«[^\u00A0]/, place)
      if (name === 'ar') assert.doesNotMatch(text, /[,;?]/, place)
      const letters = text.replace(latin, '')
      const script = {uk: /[^\P{L}\p{Script=Cyrillic}]/u, ar: /[^\P{L}\p{Script=Arabic}]/u}[name]
      if (script) assert.doesNotMatch(letters, script, place)
    }
  }
})

test('the browser’s first language that there is is spoken, and one that was chosen before that', () => {
  assert.deepEqual([best([null, 'xx', 'de-AT', 'en']), best(['en', 'de']), best([null, 'xx']), best([])], ['de', 'en', 'en', 'en'])
  assert.deepEqual([best(['pt-BR']), best(['fr-CA', 'de']), best(['zh-Hant-TW', 'uk-UA']), best(['AR-eg'])], ['pt', 'fr', 'uk', 'ar'])
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
  assert.equal(say('menu.print'), 'Print', 'another language comes as whole as the one before')
  assert.equal(say('person.draws', {name: '{name}$&'}), '{name}$& can draw.')
})

test('a title tells the key of its control, and none of one letter where those are switched off', async () => {
  await speak('en')
  const titles = () => ['P', 'Ctrl+D', undefined].map(key => {
    const element = {dataset: {title: 'tool.pen', key}, querySelectorAll: () => []}
    label(element)
    return element.title
  })
  assert.deepEqual(titles(), ['Pen (P)', 'Pen (Ctrl+D)', 'Pen'])
  keepSingleKeys(false)
  assert.deepEqual(titles(), ['Pen', 'Pen (Ctrl+D)', 'Pen'])
  keepSingleKeys(true)
  assert.deepEqual(titles(), ['Pen (P)', 'Pen (Ctrl+D)', 'Pen'])
})

test('numbers in words have the forms of their language', async () => {
  const texts = async (name, key, counts) => {
    await speak(name)
    return counts.map(count => say(key, {count}))
  }
  assert.deepEqual(await texts('pl', 'hand.count', [1, 2, 5, 22, 112]), ['1 podniesiona ręka', '2 podniesione ręce', '5 podniesionych rąk',
      '22 podniesione ręce', '112 podniesionych rąk'])
  assert.deepEqual(await texts('uk', 'hand.count', [1, 3, 11, 21]),
      ['1 піднята рука', '3 підняті руки', '11 піднятих рук', '21 піднята рука'])
  assert.deepEqual(await texts('ar', 'hand.count', [1, 2, 3, 11, 100]),
      ['يد واحدة مرفوعة', 'يدان مرفوعتان', '3 أيدٍ مرفوعة', '11 يدًا مرفوعة', '100 يد مرفوعة'])
  assert.deepEqual(await texts('fr', 'lost', [0, 1_000_000]), ['0 de vos modifications n’est pas encore envoyée et serait perdue.',
      '1\u202f000\u202f000 de vos modifications ne sont pas encore envoyées et seraient perdues.'])
  assert.equal(locale, 'fr')
})

const files = readdirSync(folder, {recursive: true}).filter(name => /\.(js|html)$/.test(name) && !/^words\//.test(name))
const isOfStatus = name => /^status/.test(name)

const textOf = isWanted => files.filter(isWanted).map(read).join('\n')

test('no word of the page stands outside words/, each that is wanted is there, and each that is there is wanted', () => {
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
  // Some are put together of a name and what is before it.
  const made = key => /^(error|color|width|group|paper|image|edit)\./.test(key)
  for (const [keys, text] of [[{...english[0], ...english[1]}, textOf(name => !isOfStatus(name))], [english[2], textOf(isOfStatus)]]) {
    for (const [, key] of text.matchAll(/\bsay\('([^']+)'/g)) assert.ok(key in keys, key)
    for (const [, key] of text.matchAll(/\bdata-(?:text|label|title)="([^"]+)"/g)) assert.ok(key in keys, key)
    const isSaid = key => text.includes(`'${key}'`) || text.includes(`"${key}"`)
    for (const key of Object.keys(keys)) assert.ok(made(key) || isSaid(key), `nobody says ${key}`)
  }
})
