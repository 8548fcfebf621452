// The words of the page, in the language of whoever reads it. A language is four files, of the same keys in all languages: words/xx.js
// has what is needed from the first moment on, words/later/xx.js the rest, words/status/xx.js the status page, words/names/xx.js the names
// that the page proposes; and a line here.
import {keep, open} from '../identity.js'
import {hasSingleKeys} from '../remembered.js'

/** Each is named in itself. */
export const languages = {
  en: {name: 'English'}, de: {name: 'Deutsch'}, fr: {name: 'Français'}, es: {name: 'Español'}, it: {name: 'Italiano'},
  pt: {name: 'Português'}, pl: {name: 'Polski'}, tr: {name: 'Türkçe'}, uk: {name: 'Українська'}, ar: {name: 'العربية', dir: 'rtl'},
}
/** @param {''|'later/'|'status/'|'names/'} part */
export const wordsOf = async (name, part = '') => (await import(`./${part}${name}.js`)).words

const place = 'whiteboard.language'
/** Words by their keys: a text with `{names}` of values, or one for each of the language's plurals of `{count}`. */
let words = {}
let isWhole = false
export let language
/** The language as the browser has it, such as `pt-BR`: for numbers and times. */
export let locale

const plain = name => name?.split('-')[0].toLowerCase()
/** The first that there is of those that somebody would read, in whatever country. */
export const best = wanted => wanted.map(plain).find(name => Object.hasOwn(languages, name)) ?? 'en'
/** What was chosen in this browser, else what the browser speaks. */
export const preferred = () => best([open('localStorage').getItem(place), ...navigator.languages])

/** From now on words are of this language; as many as there were of the one before. */
export async function speak(name, part) {
  const {dir = 'ltr'} = languages[name]
  const found = await Promise.all([part, ...isWhole ? ['later/'] : []].map(part => wordsOf(name, part)))
  ;[words, language] = [Object.assign({}, ...found), name]
  locale = globalThis.navigator?.languages.find(one => plain(one) === name) ?? name
  Object.assign(globalThis.document?.documentElement ?? {}, {lang: name, dir})
}
/** The rest of the language's words: what is loaded late waits for them. */
export async function restOfWords() {
  if (isWhole) return
  const name = language
  const rest = await wordsOf(name, 'later/')
  if (name === language) [words, isWhole] = [{...words, ...rest}, true]
}
export const keepLanguage = name => keep(open('localStorage'), place, name)

export const hasWord = key => Object.hasOwn(words, key)

/** @param {string} key @param {Record<string, string|number>} [values] by the names in the text */
export function say(key, values = {}) {
  const found = words[key]
  const text = typeof found === 'object' ? found[new Intl.PluralRules(language).select(values.count)] ?? found.other : found
  const shown = value => typeof value === 'number' ? value.toLocaleString(locale) : value
  return (text ?? key).replace(/\{(\w+)\}/g, (_, name) => shown(values[name]))
}

/** Words where elements ask for them by `data-text`, `data-label`, `data-title`; a title tells the key (`data-key`), too. */
export function label(root) {
  for (const element of [root, ...root.querySelectorAll('[data-text],[data-label],[data-title]')]) {
    const {text, label, title, key} = element.dataset ?? {}
    if (text) element.textContent = say(text)
    if (label) element.ariaLabel = say(label)
    if (title) element.title = say(title) + (key?.length > 1 || (key && hasSingleKeys()) ? ` (${key})` : '')
  }
}
