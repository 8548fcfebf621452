// Names that people can read aloud, in their language: for new boards, and for people without a name yet.
import {language, wordsOf} from './words/index.js'
import {words as english} from './words/names/en.js'

/** Dice without a pattern; also without a secure context. */
const below = count => crypto.getRandomValues(new Uint32Array(1))[0] % count
const one = list => {
  const words = list.split(' ')
  return words[below(words.length)]
}
const pair = ({first, second}) => `${one(first)} ${one(second)}`
const number = () => 100 + below(900)
const letters = {ß: 'ss', ł: 'l', ı: 'i', ø: 'o', æ: 'ae', œ: 'oe'}

/** A board's name for a title that somebody gave, of the letters that names have [NM1]; of other alphabets nothing is left. */
export function nameFor(title) {
  const name = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[ßłıøæœ]/g, letter => letters[letter])
      .replace(/[^a-z\d]+/g, '-').slice(0, 64).replace(/^-|-$/g, '')
  return /\p{L}/u.test(title) && !/[a-z]/.test(name) ? '' : name
}
/** The same; where nothing is left, an English one. */
export const nameOf = title => nameFor(title) || nameFor(`${pair(english)} ${number()}`)

/** Proposals in the page's language; without its words, in English. */
export async function proposals() {
  const words = await wordsOf(language, 'names/').catch(() => english)
  return {
    /** As `Green Otter`. */
    person: () => pair(words),
    /** As `Quiet Otter 417`, `quiet-otter-417`: several hundred thousand of them. */
    board() {
      const [title, count] = [pair(words), number()]
      return {title: `${title} ${count}`, name: nameFor(`${nameFor(title) ? title : pair(english)} ${count}`)}
    },
  }
}
