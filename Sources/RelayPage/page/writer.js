// What this page writes: shown at once, and followed until the relay tells what became of it, on whatever board the page is by then.
import {ErrorCode} from '../client/errors.js'
import {Records} from './records.js'

/** Where nothing was missed no `caughtUp` tells that the board is as it is at the relay. */
const readAgainMs = 5_000
/** What one change, and a set of them, may hold; larger drawings go in parts. */
const changeBytesMax = 32_768
const setBytesMax = 8_000_000
const setChangesMax = 4_096

const encoder = new TextEncoder()
/** As these bounds count it, in bytes. */
const sizeOf = record => record ? encoder.encode(record.payload + (record.customType ?? '')).length : 0

export class Writer {
  /** Own changes that are not stored, of boards that the page has left. @type {Map<string, Records>} */
  left = new Map()

  /** Of the board where the page is; of another one it holds only own changes that wait, as if that were still being read. */
  recordsOf(board) {
    if (board === this.board) return this.records
    if (!this.left.has(board)) this.left.set(board, new Records(() => {}))
    return this.left.get(board)
  }
  /** How many own changes are not stored, of all boards. */
  get unsent() {
    return [this.records, ...this.left.values()].reduce((sum, {own}) => sum + own.length, 0)
  }

  /** Keeps a record, or removes one (`undefined`); it is shown at once. */
  write(key, record, name = this.board) {
    const {board} = this.client.channel(name)
    try {
      const receipt = record === undefined ? board.remove(key) : board.put(key, record.payload, {customType: record.customType})
      return this.followAll([{key, record}], receipt, name)
    } catch (error) {
      this.failed(error)
    }
  }

  /**
   * Several as one: all or none, and others see them at once. What is too large for that goes by itself.
   *
   * @param {{key, record}[]} changes @returns {Promise<number>[]} of what was sent, when it is stored
   */
  writeAll(changes, name = this.board) {
    const {board} = this.client.channel(name)
    const sent = []
    let [set, bytes] = [[], 0]
    const send = () => {
      const [all, isOne] = [set, set.length < 2]
      ;[set, bytes] = [[], 0]
      if (isOne) return all.forEach(({key, record}) => sent.push(this.write(key, record, name)))
      try {
        const make = (batch, {key, record}) => record ? batch.put(key, record.payload, {customType: record.customType}) : batch.remove(key)
        sent.push(this.followAll(all, board.batch(batch => all.forEach(change => make(batch, change))), name))
      } catch (error) {
        this.failed(error)
      }
    }
    for (const change of changes) {
      const size = sizeOf(change.record)
      if (size > changeBytesMax) {
        sent.push(this.write(change.key, change.record, name))
        continue
      }
      if (bytes + size > setBytesMax || set.length === setChangesMax) send()
      set.push(change)
      bytes += size
    }
    send()
    return sent
  }

  /** Shows changes that were sent together, until the receipt tells what became of them: the last of them has its offset. */
  followAll(changes, receipt, board = this.board) {
    const records = this.recordsOf(board)
    const together = changes.map(({key, record}) => {
      const before = records.ownOf(key)
      /** `befores`: what of this key the relay may have while it has not got this; one set for all that wait. */
      const befores = (before.at(-1)?.befores ?? new Set()).add(records.get(key)?.payload)
      // Drops a waiting rewrite: this change replaces it.
      before.filter(({isWaiting}) => isWaiting).forEach(change => records.ended(change))
      const change = {key, record, customType: record?.customType, payload: record?.payload, author: this.user, at: Date.now(), befores}
      records.begin(change)
      return change
    })
    const told = how => offset => {
      together.forEach((change, index) => this.recordsOf(board)[how](change, offset - (together.length - 1 - index)))
      this.followed(board)
    }
    for (const change of together) change.together = together
    receipt.accepted.then(told('accepted'), () => {})
    receipt.stored.then(told('ended'), error => this.notTaken(together, error, board))
    this.followed(board)
    return receipt.stored
  }
  followed(board) {
    if (this.left.get(board)?.own.length === 0) this.left.delete(board)
    this.applied()
  }

  /** What was sent together was refused, or nobody knows whether it was taken. */
  notTaken(changes, error, board) {
    const {client} = this
    const records = this.recordsOf(board)
    const own = changes.filter(change => records.isOwn(change))
    // With a link that is over, it is kept for the next time this page is opened.
    if (client.link.state === 'closed' || own.length === 0) return this.followed(board)
    const isUnknown = error.code === ErrorCode.outcomeUnknown
    const isWaiting = isUnknown || error.retryAfterMs !== undefined
    for (const change of own) Object.assign(change, {isUnknown, isWaiting})
    if (!isWaiting) {
      own.forEach(change => records.ended(change))
      this.failed(error)
    } else setTimeout(() => this.writeAgain(own, board), error.retryAfterMs ?? readAgainMs)
    this.followed(board)
  }

  /** What the relay has not taken, or nobody knows whether it has: it stays shown, and is written where the board is as before it. */
  writeAgain(changes, board) {
    const records = this.recordsOf(board)
    // Something later may have taken its place.
    const own = changes.filter(change => records.isOwn(change))
    if (records.isReading) {
      for (const change of own) change.isUnknown = true
      if (board !== this.board) import('./board-change.js').then(({settleLeft}) => settleLeft(this, board)).catch(this.failed)
      return
    }
    const left = own.filter(change => {
      const {key, payload, befores} = change
      const isLast = records.ownOf(key).at(-1) === change
      records.ended(change)
      const now = records.get(key)?.payload
      change.isOvertaken = isLast && now !== payload && payload !== undefined && !befores.has(now)
      return isLast && now !== payload && !change.isOvertaken
    })
    if (own.some(({isOvertaken}) => isOvertaken)) this.failed({name: 'outcomeUnknown'})
    this.writeAll(left, board)
    this.followed(board)
  }
  writeUnknown(board) {
    const unknown = this.recordsOf(board).own.filter(({isUnknown}) => isUnknown)
    new Set(unknown.map(({together}) => together)).forEach(changes => this.writeAgain(changes, board))
  }
}
