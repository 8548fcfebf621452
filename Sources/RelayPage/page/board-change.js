// From one board to another over the same link, and what becomes of changes that were not stored when the page left. It comes behind the
// first drawing.
import {readBoard} from './board-copy.js'
import {toast} from './ui.js'
import {say} from './words/index.js'

/**
 * Ends what hands do on this board, so that it stays there. @returns {boolean} whether the page may go: what this browser could not keep
 * must be sent before
 */
export function mayLeave({session, tools, editing, together}) {
  if (session.client.unsent.unkept > 0) return toast(say('boards.unkept')) ?? false
  tools.writing?.finish()
  // It has told why.
  if (tools.writing?.area) return false
  for (const pointer of [...tools.pointers.values()]) tools.up(pointer)
  tools.finish(Infinity)
  editing?.settle()
  tools.choose([])
  together?.stop()
  return true
}

/** Goes to another board. Unsent changes of this one are still sent, and shown when its user comes back. */
export async function goTo(session, board) {
  const {records, channel, board: before} = session
  const unsent = records.takeOwn()
  records.reset()
  session.live.drop(() => true, () => true)
  session.uses(before, channel.leave({timeout: Infinity}))
  Object.assign(session, {board, members: new Map(), progress: undefined, view: undefined, cursor: undefined})
  for (const change of unsent) {
    records.touched.add(change.key)
    session.recordsOf(before).begin(change)
  }
  for (const change of session.left.get(board)?.takeOwn() ?? []) records.begin(Object.assign(change, {offset: undefined}))
  session.left.delete(board)
  const busy = session.inUse.get(board)
  session.begin(Boolean(busy))
  session.takers.metadata({items: new Map()})
  session.applied()
  session.changed('people')
  session.access()
  const {stay} = session
  await busy
  if (stay !== session.stay) return
  // What came until now is of the stay that has ended.
  if (busy) session.begin()
  session.enter()
}

/** Nobody knows whether changes of a board that the page has left were taken: it asks how that is now, unless somebody is back before. */
export async function settleLeft(session, board) {
  const records = session.recordsOf(board)
  if (records.isAsked || records.own.length === 0) return session.followed(board)
  records.isAsked = true
  try {
    const found = await readBoard(session, board)
    if (session.left.get(board) !== records) return
    for (const message of found.values()) records.received(message)
    records.caughtUp(0)
    session.writeUnknown(board)
    records.reset()
  } finally {
    records.isAsked = false
  }
}
