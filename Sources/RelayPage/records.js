// What a board holds, as far as it is known here: records as the relay tells them, over them the changes of this page that it
// has not yet told stored, and the strokes and texts that all of them draw, in layers.
import {readRecord} from './format.js'
import {boxOf} from './svg.js'

export class Records {
  /** As the relay has them, by key: `{key, offset, author, customType, payload}`; of one that was removed `payload` is `undefined`. */
  told = new Map()
  /** Own changes by key, the newest last: `{key, customType, payload, offset}`, without an offset before the relay has taken it. */
  own = new Map()
  clearedAt = 0
  /** The last offset that was applied; `readThrough`: of the last reading from the beginning. [BL3] */
  offset = 0
  readThrough = 0
  isReading = true
  settled = []
  /** What is drawn, by the ids that records carry. */
  elements = new Map()
  keysOf = new Map()
  idOf = new Map()
  title = ''
  layers
  touched = new Set()

  /** @param {(change: {added: object[]}|undefined) => void} changed `added`: nothing but these lies above all there was; else draw anew */
  constructor(changed) {
    this.changed = changed
  }

  // MARK: What the relay tells

  /** A message of the channel; several are put before `flush`. */
  received({isRetained, isRemoval, key, offset, sender, customType, payload}) {
    this.seen(offset)
    if (isRetained) this.put({key, offset, author: sender, customType, payload: isRemoval ? undefined : payload})
  }

  cleared(offset) {
    this.seen(offset)
    this.clearedAt = Math.max(this.clearedAt, offset)
    for (const [key, record] of this.told) if (record.offset <= offset) this.touch(key)
    this.flush()
  }

  /** What is held is void, and all of the board follows. What the relay has not told stored is sent to it again. */
  reset() {
    const keys = [...this.told.keys()]
    Object.assign(this, {told: new Map(), isReading: true, clearedAt: 0, readThrough: 0, offset: 0})
    for (const change of [...this.own.values()].flat()) change.offset = undefined
    for (const key of keys) this.touch(key)
    this.flush()
  }

  caughtUp(head) {
    this.seen(head)
    if (!this.isReading) return
    Object.assign(this, {isReading: false, readThrough: head})
    for (const record of this.settled.splice(0)) this.putOwn(record)
    this.flush()
  }

  seen(offset) {
    this.offset = Math.max(this.offset, offset)
  }

  /** The later one counts, by the relay's order. */
  put(record) {
    if (record.offset <= (this.told.get(record.key)?.offset ?? 0)) return
    this.told.set(record.key, record)
    this.touch(record.key)
  }

  /** What was read holds own records as well: one that is not above it was among them, or has been replaced or removed since. */
  putOwn(record) {
    if (this.isReading) this.settled.push(record)
    else if (record.offset > this.readThrough) this.put(record)
  }

  // MARK: Own changes

  /** Shown at once, and until it is told stored or refused. */
  begin(change) {
    this.own.set(change.key, [...this.own.get(change.key) ?? [], change])
    this.touch(change.key)
  }

  accepted(change, offset) {
    change.offset = offset
    this.seen(offset)
    this.putOwn({...change})
    this.flush()
  }

  /** Stored, at an offset, or refused, without one. */
  ended(change, offset) {
    if (offset !== undefined) {
      this.seen(offset)
      this.putOwn({...change, offset})
    }
    const rest = (this.own.get(change.key) ?? []).filter(other => other !== change)
    if (rest.length) this.own.set(change.key, rest)
    else this.own.delete(change.key)
    this.touch(change.key)
    this.flush()
  }

  get unstored() {
    let count = 0
    for (const changes of this.own.values()) count += changes.length
    return count
  }

  /** The record of a key as it is shown; `undefined` if there is none. */
  get(key) {
    const told = this.told.get(key)
    const own = this.own.get(key)?.at(-1)
    const isNewer = own && (own.offset === undefined || own.offset > Math.max(told?.offset ?? 0, this.clearedAt))
    const record = isNewer ? own : told?.offset > this.clearedAt ? told : undefined
    return record?.payload === undefined ? undefined : record
  }

  // MARK: What is drawn

  touch(key) {
    this.touched.add(key)
  }

  /** Draws what has changed since. */
  flush() {
    if (this.touched.size === 0) return
    const ids = new Set()
    for (const key of this.touched) {
      const record = this.get(key)
      const part = record && (record.part ??= readRecord(record.customType, record.payload) ?? null)
      const [before, now] = [this.idOf.get(key), part?.id]
      if (before !== undefined) this.keysOf.get(before).delete(key), ids.add(before)
      this.idOf.delete(key)
      if (now === undefined) continue
      this.idOf.set(key, now)
      if (!this.keysOf.has(now)) this.keysOf.set(now, new Set())
      this.keysOf.get(now).add(key)
      ids.add(now)
    }
    this.touched.clear()
    this.draw(ids)
  }

  draw(ids) {
    const added = []
    let isOnTop = true
    for (const id of ids) {
      const before = this.elements.get(id)
      const element = this.element(id)
      if (id === '') this.title = element?.text ?? ''
      else if (element === before) continue
      else if (!element) {
        this.elements.delete(id)
        isOnTop = false
      } else {
        isOnTop &&= !before
        this.elements.set(id, element)
        added.push(element)
      }
    }
    added.sort(order)
    const top = this.layers?.at(-1)
    if (!isOnTop || !this.layers || (top && added[0] && order(top, added[0]) > 0)) {
      this.layers = undefined
      this.changed(undefined)
    } else {
      this.layers.push(...added)
      this.changed({added})
    }
  }

  /** What the records of one id draw, taken in the order of their offsets: parts of one stroke join. */
  element(id) {
    const records = [...this.keysOf.get(id) ?? []].map(key => this.get(key)).filter(Boolean)
    if (records.length === 0) return void this.keysOf.delete(id)
    const before = this.elements.get(id)
    if (before?.sources.length === records.length && records.every(({part}, at) => part === before.sources[at])) return Object.assign(before, {records})
    let element
    for (const {part} of records.sort((one, other) => (one.offset ?? Infinity) - (other.offset ?? Infinity))) {
      if (part.type !== 'stroke') element = {...part}
      else if (part.part > 1 && element?.parts?.[0].parts === part.parts) {
        element.parts = [...element.parts.filter(other => other.part !== part.part), part].sort((one, other) => one.part - other.part)
      } else element = {type: 'stroke', id, parts: [part]}
    }
    element.z = element.parts?.[0].z ?? element.z
    if (element.type !== 'title') element.box = boxOf(element)
    return Object.assign(element, {records, sources: records.map(({part}) => part)})
  }

  /** From the lowest layer to the highest. */
  get ordered() {
    return this.layers ??= [...this.elements.values()].sort(order)
  }

  /** The layer for what is drawn next. */
  get nextLayer() {
    return Math.min(Number.MAX_SAFE_INTEGER, (this.ordered.at(-1)?.z ?? 0) + 1)
  }
}

const order = (one, other) => one.z - other.z || (one.id < other.id ? -1 : 1)
