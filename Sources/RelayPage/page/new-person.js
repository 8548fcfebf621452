// A name for people who have none yet, in their language.
import {language, wordsOf} from './words/index.js'

/** Dice without a pattern; also without a secure context. */
export const below = count => crypto.getRandomValues(new Uint32Array(1))[0] % count
const one = list => {
  const words = list.split(' ')
  return words[below(words.length)]
}
export const pair = ({first, second}) => `${one(first)} ${one(second)}`

/** Of the page's language; without its words, English ones. */
export const words = () => wordsOf(language, 'names/').catch(() => wordsOf('en', 'names/'))

/** As `Green Otter`. */
export const newPerson = async () => pair(await words())
