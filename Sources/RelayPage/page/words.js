// What the page says when something does not go as it should: what happened, and what to do. It comes when it is wanted; what
// the first drawing needs is in first-words.js.
import {ErrorCode as code} from '../relay-client.js'

/** By the names of errors. */
const texts = {
  notPermitted: 'Only the host can change that.',
  rateLimited: 'That was too much at once. Wait a moment, then try again.',
  tooLarge: 'That is too large to save. Draw it in smaller pieces.',
  boardFull: 'This board is full. Erase something, or begin a new board.',
  quotaReached: 'You have used all your space here. Erase something.',
  storageFull: 'The relay is full. Ask the host to remove old boards.',
  storageFailed: 'The relay cannot save right now. Your last change is lost. Tell the host.',
  busy: 'The relay is busy. Try again in a moment.',
  outcomeUnknown: 'The connection broke. Check whether your change is there.',
  timedOut: 'The relay does not answer. Check whether your change is there.',
  revisionMismatch: 'Someone else changed the title first. Try again.',
  codeWrong: 'That code was used, or is older than two minutes. Show a new one on your other device. Until then you are somebody new here.',
  boardNotFound: 'Nothing has been drawn here.',
  nothingToUndo: 'It is too late to undo that.',
  notSupported: 'This relay does not save boards, so nobody can draw here.',
}

export const explain = error => texts[error.name] ?? `That did not work: ${error.message}.`

const otherKey = 'That key does not open this board. Check it, or ask the host.'
const keyTexts = {
  [code.credentialRequired]: 'Scan the code that the host shows under Invite, open the link you were sent, or type the key here.',
  [code.keyChanged]: 'The host has changed the key. Ask for the new one.',
  [code.keyWrong]: otherKey, [code.credentialsWrong]: otherKey, [code.tokenInvalid]: otherKey, [code.tokenExpired]: otherKey,
}
const endTexts = {
  [code.limitReached]: 'You have this open on eight devices or tabs. Close one of them, then connect again.',
  [code.banned]: 'The host has closed this board to you.',
  [code.abuse]: 'This page sent more than the relay takes. Wait a moment before you connect again.',
}

/** Why the link is over, and what helps: another key, another user id, or just connecting again. @returns {{key?: string, isUserTaken?: boolean, isReplaced?: boolean, text?: string}} */
export function explainEnd({code: ended, error, text}) {
  const number = ended ?? error?.code
  const words = number === code.endedByModerator ? `The host has ended your visit: ${text}` : endTexts[number]
  return {key: keyTexts[number], isUserTaken: number === code.userIDTaken, isReplaced: number === code.replaced,
      text: words ?? error?.message ?? text ?? 'This window was asleep for too long.'}
}

const lost = unsent => unsent === 0 ? '' : unsent === 1 ? ' One change of yours is not sent yet, and would be lost.'
  : ` ${unsent} changes of yours are not sent yet, and would be lost.`

/** At the entry: who this browser takes one for. */
export const entryTexts = {here: name => `You are ${name} here.`, startFresh: 'Not you? Start fresh'}

/** Before this browser forgets who was here. */
export const leaveTexts = unsent => ({
  title: 'Leave this device?', no: 'Stay', yes: 'Leave',
  text: 'This browser forgets the key and your name, in all its tabs, and what you drew is not yours to change from here any more. '
      + `To come back, scan the code again.${lost(unsent)}`,
})

/** A relay has let this page in that is not the one of before. */
export const otherRelayTexts = unsent => ({
  title: 'This is another relay', yes: 'Start fresh',
  text: 'Another relay than last time answers at this address. It was shown the key of this browser and who you are; nothing that you drew '
      + 'was sent. To go on with it, start fresh: this browser forgets the key and the name that it had. If you expect the relay of before '
      + `to come back, close this page.${lost(unsent)}`,
})

/** What a host is asked, and told. */
export const hostTexts = {
  open: 'Free-for-all: you can change what others drew, and they can change yours.',
  closed: 'The free-for-all is over: everyone changes only what is their own.',
  otherHost: 'This person is a host as well, so you cannot decide about them.',
  person: 'What this person may do on this relay, on all boards.',
  choices: {
    'person-draw': 'Let them draw', 'person-view': 'Let them only watch', 'person-edit': 'Let them change everything',
    'person-take-back': 'Take back what they drew here…', 'person-remove': 'Disconnect them', 'person-ban': 'Ban them…',
  },
  draws: name => `${name} can draw.`,
  views: name => `${name} can only watch.`,
  edits: name => `${name} can change what others drew.`,
  removed: name => `${name} is disconnected, and can come back.`,
  takeBack: name => ({
    title: `Remove what ${name} drew here?`, yes: 'Remove it',
    text: `Everything that ${name} drew or wrote goes from this board, for everyone and for good.`,
  }),
  tookBack: name => `What ${name} drew is gone.`,
  nothing: name => `${name} has drawn nothing here.`,
  ban: name => ({
    title: `Ban ${name} for a day?`, yes: 'Ban them',
    text: `${name} leaves all boards of this relay, and cannot come back with the same browser. What they drew stays.`,
  }),
  banned: name => `${name} is banned for a day.`,
  unbanned: name => `${name} can come back.`,
}
