// Undo and redo of one's own changes. What others have changed since is not touched: a step back is made where the board
// still is as one left it.

/** What a record says, compared. */
const same = (one, other) => one?.payload === other?.payload && one?.customType === other?.customType

export class Undo {
  /** Steps of `{key, before, after}`; a record is `{customType, payload}` or `undefined`. A clear of one's own is a step of `{isClear}`. */
  done = []
  undone = []
  static stepsMax = 200

  add(step) {
    if (step.length === 0) return
    this.done.push(step)
    if (this.done.length > Undo.stepsMax) this.done.shift()
    this.undone = []
  }

  /** Takes a step off the list. Whether it was still on it. */
  take(step) {
    return this.done.includes(step) && this.done.splice(this.done.indexOf(step), 1)
  }

  /** @param {{isReading: boolean, get: (key: string) => object|undefined}} records @returns {{key, record, isClear}[]} what to write; nothing if there is no step left */
  undo(records) {
    return this.turn(this.done, this.undone, records, 'after', 'before')
  }

  redo(records) {
    return this.turn(this.undone, this.done, records, 'before', 'after')
  }

  /** A step that finds nothing as it left it stays: what was cleared may come back, and what is still being read is not known. */
  turn(from, to, records, left, wanted) {
    for (let at = records.isReading ? 0 : from.length; at-- > 0;) {
      const step = from[at]
      const writes = step.filter(change => change.isClear || same(records.get(change.key), change[left]))
          .map(({key, isClear, ...sides}) => ({key, isClear, record: sides[wanted]}))
      if (writes.length === 0) continue
      from.splice(at, 1)
      // Nobody clears a board by redoing.
      if (!step[0].isClear) to.push(step)
      return writes
    }
    return []
  }
}
