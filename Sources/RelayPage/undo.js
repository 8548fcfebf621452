// Undo and redo of one's own changes. What others have changed since is not touched: a step back is made where the board
// still is as one left it.

/** What a record says, compared. */
const same = (one, other) => one?.payload === other?.payload && one?.customType === other?.customType

export class Undo {
  /** Steps of `{key, before, after}`; a record is `{customType, payload}` or `undefined`. */
  done = []
  undone = []
  static stepsMax = 200

  add(step) {
    if (step.length === 0) return
    this.done.push(step)
    if (this.done.length > Undo.stepsMax) this.done.shift()
    this.undone = []
  }

  /** @param {(key: string) => object|undefined} get the record of a key now @returns {{key, record}[]} what to write; nothing if there is no step left */
  undo(get) {
    return this.turn(this.done, this.undone, get, 'after', 'before')
  }

  redo(get) {
    return this.turn(this.undone, this.done, get, 'before', 'after')
  }

  turn(from, to, get, left, wanted) {
    while (from.length > 0) {
      const step = from.pop()
      const writes = step.filter(change => same(get(change.key), change[left])).map(change => ({key: change.key, record: change[wanted]}))
      if (writes.length === 0) continue
      to.push(step)
      return writes
    }
    return []
  }
}
