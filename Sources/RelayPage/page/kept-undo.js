// One's own steps back and forth, over a reload of a tab. It comes behind the first drawing.
import {open, read, write} from './identity.js'

const tab = open('sessionStorage')
const place = 'whiteboard.undo'
/** Of each board the newest steps up to so many letters, of so many boards. */
const [lettersMax, boardsMax] = [400_000, 4]

const same = (one, other) => one?.payload === other?.payload && one?.customType === other?.customType

/** The newest steps within the bound. A clear is no step of later: the relay takes it back for minutes only. */
function bounded(steps) {
  let left = lettersMax
  const from = steps.findLastIndex(step => (left -= JSON.stringify(step).length) < 0)
  return steps.slice(from + 1).filter(([{isClear}]) => !isClear)
}

/** Those that find the board as they left it, when all behind them are taken back first. */
export function fitting(steps, records, left, wanted) {
  const now = new Map()
  const get = key => now.has(key) ? now.get(key) : records.get(key)
  return steps.toReversed().filter(step => {
    const found = step.filter(change => same(get(change.key), change[left]))
    for (const change of found) now.set(change.key, change[wanted])
    return found.length > 0
  }).reverse()
}

export function keepUndo(board, user, {done, undone}) {
  const others = Object.entries(read(tab, place) ?? {}).filter(([name]) => name !== board)
  const kept = {user, done: bounded(done), undone: bounded(undone)}
  write(tab, place, Object.fromEntries([...others, [board, kept]].slice(-boardsMax)))
}

/** What this tab has kept of the same person's steps; what was done meanwhile is newer. */
export function restoreUndo(board, user, undo, records) {
  const kept = Object.entries(read(tab, place) ?? {}).find(([name]) => name === board)?.[1]
  if (kept?.user !== user) return
  try {
    const undone = undo.done.length ? [] : fitting(kept.undone, records, 'before', 'after')
    undo.done.unshift(...fitting(kept.done, records, 'after', 'before'))
    undo.undone.unshift(...undone)
  } catch {
    // What a storage holds may be anything.
  }
}
