// What apps read: sequences of events, each with a cursor of its own, over one buffer.
import {problem} from './errors.js'
import {Limits} from './limits.js'

/** What one reader gets, and how far it is. Several share the entries. */
class Cursor {
  /** What it has not taken, from `head` on: `{shared, value}`, with `{event, cost, refs}` that others may share. */
  entries = []
  head = 0
  /** What they hold, in bytes. */
  bytes = 0
  /** Calls that wait for the next value. @type {{resolve: Function, reject: Function}[]} */
  waiting = []
  /** It holds the relay back. */
  isFull = false
  /** How it ends once all is taken: `{}` or `{error}`. @type {{error?: RelayError}|undefined} */
  end = undefined

  /** @param {(event: object) => any} view what the reader gets of an event; `undefined`: nothing */
  constructor(view, now) {
    this.view = view
    this.takenAt = now
  }
  get count() {
    return this.entries.length - this.head
  }
}

/** How packets that a reader will not get are told, by flow. */
function lostOf(packets) {
  const flows = new Map()
  for (const {flow, channel, topic, publisher, device, first, last} of packets) {
    const known = flows.get(flow)
    if (known) Object.assign(known, {first: Math.min(known.first, first), last: Math.max(known.last, last)})
    else flows.set(flow, {flow, channel, topic, publisher, device, first, last})
  }
  return {type: 'packetsLost', reason: 'readerLag', entries: [...flows.values()]}
}

const isLag = ({value}) => value.type === 'packetsLost' && value.reason === 'readerLag'

/** All readers of a client, without a clock of their own: `now` is in milliseconds. */
export class Readers {
  /** @type {Set<Cursor>} */
  cursors = new Set()
  /** What all of them hold together: what several wait for counts once. */
  bytes = 0

  open(view, now) {
    const cursor = new Cursor(view, now)
    this.cursors.add(cursor)
    return cursor
  }

  /**
   * Hands an event to each reader that wants it.
   *
   * @param {number} cost what it holds, in bytes
   * @param {boolean} mayWait whether the relay may be held back for it
   * @returns {number} readers that get it
   */
  append(event, cost, mayWait, now) {
    let taken = 0
    for (const cursor of [...this.cursors]) {
      if (cursor.end) continue
      const value = cursor.view(event)
      if (value === undefined) continue
      taken++
      this.add(cursor, event, value, cost, now)
      if (this.lags(cursor)) this.relieve(cursor, mayWait)
    }
    while (this.bytes > Limits.readersBytesMax) {
      const [most] = [...this.cursors].filter(({count, isFull}) => count > 1 && !isFull).sort((one, other) => other.bytes - one.bytes)
      if (!most) break
      this.relieve(most, mayWait)
    }
    return taken
  }

  add(cursor, event, value, cost, now) {
    const waiting = cursor.waiting.shift()
    if (waiting) {
      cursor.takenAt = now
      return waiting.resolve({done: false, value})
    }
    if (cursor.count === 0) cursor.takenAt = now
    const entry = this.last?.event === event ? this.last : this.last = {event, cost, refs: 0}
    cursor.entries.push({shared: entry, value})
    cursor.bytes += cost
    if (entry.refs++ === 0) this.bytes += cost
    return undefined
  }

  drop(cursor, {shared}) {
    cursor.bytes -= shared.cost
    if (--shared.refs === 0) this.bytes -= shared.cost
    if (shared === this.last && shared.refs === 0) this.last = undefined
  }

  /** The newest event never counts: a large one would end a reader that keeps up. */
  lags(cursor) {
    return cursor.count > 1 && cursor.bytes - cursor.entries.at(-1).shared.cost > Limits.readerBytesMax
  }

  /** Packets go first, told in the place of the first of them; then the relay waits, or the reader ends. */
  relieve(cursor, mayWait) {
    const rest = cursor.entries.slice(cursor.head)
    const isPacket = ({value}) => value.type === 'packet'
    if (rest.some(isPacket)) {
      const packets = rest.filter(entry => isPacket(entry) || isLag(entry))
      const at = rest.indexOf(packets[0])
      for (const entry of packets) this.drop(cursor, entry)
      const alone = packet => ({...packet, first: packet.sequence, last: packet.sequence})
      const told = lostOf(packets.flatMap(({value}) => isLag({value}) ? value.entries : [alone(value)]))
      const shared = {event: told, cost: Limits.eventBytes * (1 + told.entries.length), refs: 1}
      const kept = rest.filter(entry => !packets.includes(entry))
      kept.splice(at, 0, {shared, value: told})
      Object.assign(cursor, {entries: kept, head: 0})
      cursor.bytes += shared.cost
      this.bytes += shared.cost
    }
    if (!this.lags(cursor) && (cursor.count <= 1 || this.bytes <= Limits.readersBytesMax)) return
    if (mayWait) cursor.isFull = true
    else this.tooSlow(cursor)
  }

  tooSlow(cursor) {
    const {readerBytesMax: limit} = Limits
    const error = problem('tooSlow', `a reader may lag by ${limit} bytes, not ${cursor.bytes}`, {limit, actual: cursor.bytes})
    this.close(cursor, {error})
  }

  /** @returns {Promise<{done: boolean, value: any}>} */
  take(cursor, now) {
    if (cursor.count > 0) {
      const entry = cursor.entries[cursor.head++]
      if (cursor.head > 1_024 && cursor.head * 2 > cursor.entries.length) {
        cursor.entries.splice(0, cursor.head)
        cursor.head = 0
      } else cursor.entries[cursor.head - 1] = undefined
      this.drop(cursor, entry)
      cursor.takenAt = now
      if (cursor.bytes <= Limits.readerBytesMax / 2) cursor.isFull = false
      return Promise.resolve({done: false, value: entry.value})
    }
    if (cursor.end) {
      const {error} = cursor.end
      cursor.end = {}
      return error ? Promise.reject(error) : Promise.resolve({done: true, value: undefined})
    }
    return new Promise((resolve, reject) => cursor.waiting.push({resolve, reject}))
  }

  /** The reader ends behind what it has not taken. */
  finish(cursor, error = undefined) {
    this.cursors.delete(cursor)
    if (cursor.end) return
    cursor.isFull = false
    cursor.end = {error}
    for (const {resolve, reject} of cursor.waiting.splice(0)) {
      if (cursor.end.error) reject(cursor.end.error)
      else resolve({done: true, value: undefined})
      cursor.end = {}
    }
  }

  /** The reader ends, and what it has not taken goes. */
  close(cursor, {error} = {}) {
    for (const entry of cursor.entries.slice(cursor.head)) this.drop(cursor, entry)
    Object.assign(cursor, {entries: [], head: 0})
    this.finish(cursor, error)
  }

  // MARK: Readers that hold the relay back

  get holdsBack() {
    for (const {isFull} of this.cursors) if (isFull) return true
    return false
  }

  /** When a reader that holds the relay back is given up. */
  get nextDeadline() {
    let at = Infinity
    for (const {isFull, takenAt} of this.cursors) if (isFull) at = Math.min(at, takenAt + Limits.readerPatienceMs)
    return at
  }

  deadline(now) {
    for (const cursor of [...this.cursors]) {
      if (cursor.isFull && now >= cursor.takenAt + Limits.readerPatienceMs) this.tooSlow(cursor)
    }
  }
}
