// When something ends: a link, what is on a board, a board, a person's place in this browser. It comes when it is wanted.
import {Moderation} from '../client/moderation.js'
import {claimDevice, dropGiven, keepGiven, linkTo, open, ownUser, subjectOf} from './identity.js'
import {explainEnd, withLost} from './explain.js'
import {askKey} from './join-code.js'
import {ask, toast} from './ui.js'
import {say} from './words/index.js'

/** A link has ended for good: the page goes on as another device or user, with another key, or when it is told to. */
export async function linkEnded(session, reason) {
  if (reason.kind === 'otherRelay') return meetOther(session)
  const {key, isUserTaken, isReplaced, text} = explainEnd(reason)
  let {user, device} = session
  const isToken = Boolean(subjectOf(session.credential))
  if (isReplaced) device = await claimDevice(user, device)
  else if (isUserTaken && !isToken) user = ownUser(user)
  else if (key) {
    if (session.credential?.key) dropGiven()
    if (isToken) user = ownUser()
    const {channel = session.board, ...given} = await askKey(key, user)
    session.credential = given
    keepGiven(given)
    if (channel !== session.board) return void (location.hash = linkTo('', channel))
  } else await ask('ended-dialog', say('end.title'), text, [['ended-again', say('end.again')]], [], true)
  session.connect(user, device)
}

/** Asks a host, then clears the board. */
export async function clear({session, undo, turn, changed, failed}) {
  const answer = await ask('clear-dialog', say('clear.title'), say('clear.text'),
      [['clear-no', say('keep')], ['clear-yes', say('clear.yes')]])
  if (answer !== 'clear-yes') return
  await session.clear().then(() => {
    const step = [{isClear: true}]
    undo.add(step)
    toast(say('clear.done'), say('undo'), () => undo.take(step) && turn(step))
    changed()
  }, failed)
}

/** Asks a host, then ends the board. */
export async function endBoard({session, failed}) {
  const answer = await ask('end-dialog', say('endBoard.title'), say('endBoard.text'),
      [['end-no', say('keep')], ['end-yes', say('endBoard.yes')]])
  if (answer === 'end-yes') await new Moderation(session.client).endChannel(session.board).catch(failed)
}

/** Whoever goes on begins anew, with a page that knows nothing of the board that was. */
export async function boardEnded() {
  await ask('board-ended', say('boardEnded.title'), say('boardEnded.text'), [['board-again', say('boardEnded.again')]], [], true)
  location.reload()
}

/**
 * Takes from this browser all that it knows of whoever was here: key, secret, name, and what was not sent. How fingers draw, and
 * the language, stay.
 *
 * @param {{keepsGiven?: boolean, isOfTab?: boolean}} [how] `keepsGiven`: but not a key that was just given to this tab; `isOfTab`: only
 *   what is this tab's alone, when another has left: by the time that this one hears of it somebody else may be here
 */
export function forgetAll({keepsGiven = false, isOfTab = false} = {}) {
  const stays = ['whiteboard.fingers', 'whiteboard.language', ...keepsGiven ? ['whiteboard.credential'] : []]
  for (const storage of isOfTab ? [open('sessionStorage')] : [open('localStorage'), open('sessionStorage')]) {
    const names = Array.from({length: storage.length}, (_, at) => storage.key(at))
    for (const name of names) if (/^(whiteboard|boardrelay|status)\./.test(name) && !stays.includes(name)) storage.removeItem(name)
  }
}

/** Asks, and leaves a browser that others use, too: it keeps nothing of this person. */
export async function leave({session}) {
  const answer = await ask('leave-dialog', say('leave.title'), withLost('leave.text', session.unsent),
      [['leave-no', say('leave.no')], ['leave-yes', say('leave.yes')]])
  if (answer !== 'leave-yes') return
  await session.client.close()
  forgetAll()
  location.reload()
}

/** Another relay has let this page in: what this browser keeps is not for that one. A key that was just given to this tab may be. */
async function meetOther(session) {
  await ask('other-relay', say('otherRelay.title'), withLost('otherRelay.text', session.unsent),
      [['start-fresh', say('otherRelay.yes')]], [], true)
  forgetAll({keepsGiven: true})
  location.reload()
}
