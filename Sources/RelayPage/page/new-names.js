// Names for new boards that people can read aloud, in their language.
import {below, pair, words} from './new-person.js'
import {words as english} from './words/names/en.js'

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

/** As `Quiet Otter 417`, `quiet-otter-417`: several hundred thousand of them. @returns {Promise<{title: string, name: string}>} */
export async function newBoard() {
  const [title, count] = [pair(await words()), number()]
  return {title: `${title} ${count}`, name: nameFor(`${nameFor(title) ? title : pair(english)} ${count}`)}
}
