// What the page says when something does not go as it should: what happened, and what to do.
import {ErrorCode as code} from '../client/errors.js'
import {hasWord, say} from './words/index.js'

export function explain({name, message}) {
  const key = `error.${name}`
  return hasWord(key) ? say(key) : say('error.other', {message})
}

const keyTexts = {
  [code.credentialRequired]: 'key.needed', [code.keyChanged]: 'key.changed', [code.keyWrong]: 'key.wrong',
  [code.credentialsWrong]: 'key.wrong', [code.tokenInvalid]: 'key.wrong', [code.tokenExpired]: 'key.wrong',
}
const endTexts = {[code.limitReached]: 'end.limitReached', [code.banned]: 'end.banned', [code.abuse]: 'end.abuse'}

/** Why the link is over, and what helps: another key, another user id, or just connecting again. @returns {{key?: string, isUserTaken?: boolean, isReplaced?: boolean, text?: string}} */
export function explainEnd({code: ended, error, text}) {
  const number = ended ?? error?.code
  const words = number === code.endedByModerator ? say('end.byModerator', {text}) : endTexts[number] && say(endTexts[number])
  return {key: keyTexts[number] && say(keyTexts[number]), isUserTaken: number === code.userIDTaken, isReplaced: number === code.replaced,
      text: words ?? error?.message ?? text ?? say('end.asleep')}
}

/** With what is not sent yet, and would be lost. */
export const withLost = (key, unsent) => [say(key), ...unsent ? [say('lost', {count: unsent})] : []].join(' ')
