// What the page says when something does not go as it should: what happened, and what to do.
import {ErrorCode} from './relay-client.js'

const {
  badName, tooLarge, rateLimited, limitReached, channelFull, outcomeUnknown, notSupported, relayFull, revisionMismatch, storageFull, storageFailed, busy,
  boardFull, quotaReached, boardNotFound, nothingToUndo, partMissing, notAccepted, tokenInvalid, tokenExpired, keyWrong, credentialRequired, userIDTaken, notPermitted,
  replaced, abuse, credentialsWrong, keyChanged, versionNotSupported, unsentFull,
} = ErrorCode
const again = 'That could not be kept. Try it once more.'

const texts = {
  [notPermitted]: 'You may not change that here. The host can.',
  [rateLimited]: 'That was too much at once. Wait a moment, then try again.',
  [tooLarge]: 'That is too large to be kept. Draw it in smaller pieces.',
  [boardFull]: 'This board is full. Erase something, or begin a new board.',
  [storageFull]: 'The relay has no room left. Ask the host to remove old boards.',
  [quotaReached]: 'You have used all the room you may have here. Erase something.',
  [storageFailed]: 'The relay cannot save at the moment. Tell the host; your last change is lost.',
  [busy]: 'The relay is busy. Try again in a moment.',
  [limitReached]: 'Too many things at once. Try again in a moment.',
  [channelFull]: 'This board has as many visitors as it can take.',
  [relayFull]: 'The relay has as many boards as it can take.',
  [notSupported]: 'This relay keeps no boards, so nothing can be drawn.',
  [outcomeUnknown]: 'The connection broke just then. Look whether it worked.',
  [revisionMismatch]: 'Someone else changed the title just before you.',
  [boardNotFound]: 'There is nothing on this board.',
  [nothingToUndo]: 'That can no longer be taken back.',
  [partMissing]: again, [notAccepted]: again,
  [unsentFull]: 'Too much is waiting to be sent. Wait for the connection.',
  [badName]: 'The relay does not take this name.',
}

export const explain = ({code, message}) => texts[code] ?? `That did not work: ${message}`

/** Errors that mean: another key is wanted. */
const wantsKey = new Set([keyWrong, credentialRequired, tokenInvalid, tokenExpired, credentialsWrong, keyChanged])

/** Why the link is over, and what helps: `{key: text}`, `{newUser: true}` or `{ended: text, title?}`. */
export function explainEnd({kind, code, error, text}) {
  const number = code ?? error?.code
  if (wantsKey.has(number)) {
    return {key: number === credentialRequired ? undefined : number === keyChanged ? 'The host has changed the key. Ask for the new one.' : 'That key does not open this board. Check it, or ask the host.'}
  }
  if (number === userIDTaken) return {newUser: true}
  if (number === replaced) return {title: 'Open in another window', ended: 'You have this board open elsewhere. What you drew is safe.'}
  if (number === ErrorCode.endedByModerator) return {ended: text ? `The host has ended your visit: ${text}` : 'The host has ended your visit.'}
  if (number === ErrorCode.banned) return {ended: 'The host has closed this board to you.'}
  if (number === abuse) return {ended: 'This page sent more than the relay takes. Wait a moment before you connect again.'}
  if (number === versionNotSupported) return {ended: 'This page and the relay are of different versions. Connecting again loads the right one.'}
  return {ended: kind === 'eventsNotRead' ? 'This window was asleep for too long.' : error?.message ?? text ?? 'The connection has ended.'}
}

const count = (number, one, many) => `${number} ${number === 1 ? one : many}`

/** The state of the link in words; nothing where all is well. */
export function linkWords({state, reason}, unsent, secondsLeft) {
  const waiting = unsent > 0 ? ` · ${count(unsent, 'change', 'changes')} waiting` : ''
  if (state === 'connected') return ''
  if (state === 'connecting') return `Connecting…${waiting}`
  if (state === 'waiting') return `${secondsLeft > 0 ? `Trying again in ${secondsLeft} s` : 'Trying again…'}${waiting}`
  return `Not connected${waiting}`
}
