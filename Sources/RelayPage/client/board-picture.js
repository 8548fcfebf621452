// The board of one channel, as far as this client knows it.
import {Cell} from './latest.js'
import {payloadOf} from './text.js'
/** @import {BoardChange, BoardRecord, ClientEvent} from './types.js' */

/**
 * Holds the same records as every other client in the end, in whatever order answers and events arrive; own ones on top, until they are
 * stored or refused.
 *
 * A relay that ends before an own record is stored may give its offset to another one: it has its place among those of others once it is
 * stored. [BL5] One that is not above what was read meanwhile was among that, or somebody has replaced or removed it. [BL3]
 */
export class BoardPicture extends Cell {
  /** What is shown, by key. @type {Map<string, BoardRecord>} */
  records = new Map()
  /** What the relay has told; of one that was removed, `payload` is `undefined`. */
  told = new Map()
  /** Own records that are not stored, by key, in the order of the calls. @type {Map<string, BoardRecord[]>} */
  own = new Map()
  /** Whether the channel is open; whether from the board; whether that is being read, and what was stored meanwhile. */
  isBegun = false
  isWhole = false
  isReading = false
  settled = []
  /** Keys of own removals that were stored while what is older was still to come; up to where they are. @type {Set<string>} */
  removedAhead = new Set()
  removedThrough = 0
  readThrough = 0
  clearedAt = 0
  progress = undefined
  /** For each reader, the keys that have changed since its last picture. @type {Set<{changed: Set<string>}>} */
  readers = new Set()

  get isComplete() {
    return this.isWhole && !this.isReading
  }

  // MARK: What the relay tells

  /** The channel is open from here on, from the beginning of the board or not. @returns {BoardChange[]} */
  begin(isWhole) {
    const before = this.told.size
    this.forget()
    Object.assign(this, {isWhole, isReading: isWhole, isBegun: true})
    this.tell()
    return before > 0 ? [{type: 'reset'}] : []
  }

  forget() {
    const keys = new Set([...this.told.keys(), ...this.own.keys()])
    this.told.clear()
    // What is stored is among what comes now, if anything does.
    for (const {records} of this.settled) this.ownEnded(records)
    Object.assign(this, {settled: [], removedAhead: new Set(), removedThrough: 0, readThrough: 0, clearedAt: 0, progress: undefined})
    // Of another numbering.
    for (const records of this.own.values()) for (const record of records) record.offset = undefined
    for (const key of keys) this.refresh(key)
  }

  /** @param {ClientEvent} event @returns {BoardChange[]} what it changes, in order */
  take(event) {
    const changes = this.changesOf(event)
    if (changes.length > 0) this.tell()
    return changes
  }

  changesOf(event) {
    switch (event.type) {
      case 'message': {
        if (event.isRetained) return this.received([event])
        this.forgetRemovals(event.offset)
        return []
      }
      case 'board': return this.received(event.messages, event.progress)
      case 'cleared': {
        const {offset, user, wallMilliseconds} = event
        this.clearedAt = offset
        for (const [key, record] of [...this.told]) if (record.offset <= offset) this.put({...record, payload: undefined}, offset)
        for (const key of this.own.keys()) this.refresh(key)
        return [{type: 'cleared', offset, user, wallMilliseconds}]
      }
      case 'messagesMissed': {
        if (event.extent !== 'reset') return [{type: 'missed', ...event.extent}]
        this.forget()
        this.isReading = this.isWhole
        return [{type: 'reset'}]
      }
      case 'caughtUp': {
        const {head} = event
        this.forgetRemovals(head + 1)
        if (!this.isReading) return [{type: 'caughtUp', head}]
        Object.assign(this, {isReading: false, readThrough: head, progress: undefined})
        return [{type: 'caughtUp', head}, ...this.settled.splice(0).flatMap(stored => this.takeOwn(stored))]
      }
      case 'ownStored': return this.takeOwn(event)
      default: return []
    }
  }

  received(messages, progress) {
    this.progress = this.isReading ? progress : undefined
    const records = []
    for (const {isRemoval, key, offset, payload, customType, sender, wallMilliseconds} of messages) {
      this.forgetRemovals(offset)
      if (key === undefined) continue
      const record = {key, offset, payload: isRemoval ? undefined : payload, customType, author: sender, wallMilliseconds}
      if (this.put(record)) records.push(record)
    }
    return records.length > 0 ? [{type: 'records', records, progress: this.progress}] : []
  }

  /** The record that is later in the relay's order counts. @returns {boolean} whether it is this one */
  put(record, offset = record.offset) {
    const {key, payload} = record
    if (offset <= (this.told.get(key)?.offset ?? this.clearedAt)) return false
    // That it was removed matters as long as an own one of before may still be told stored.
    this.told.set(key, {...record, offset})
    this.forgetRemoval(key)
    this.refresh(key)
    return true
  }

  // MARK: Own records

  /** Shows what was sent. @param {{key: string, payload?: any, customType?: string}[]} changes @returns {BoardRecord[]} */
  ownSent(changes, author) {
    const kept = payload => payload === undefined || typeof payload === 'string' ? payload : payloadOf(payload).bytes
    const records = changes.map(({key, payload, customType}) => ({key, payload: kept(payload), customType, author, isPending: true}))
    for (const record of records) {
      this.own.set(record.key, [...this.own.get(record.key) ?? [], record])
      this.refresh(record.key)
    }
    this.tell()
    return records
  }

  /** The relay has taken them: what others write behind them counts from now on. @param {number} last the offset of the last */
  ownAccepted(records, last) {
    records.forEach((record, at) => {
      record.offset = last - records.length + 1 + at
      this.refresh(record.key)
    })
    this.tell()
  }

  /** Refused, or with an unknown outcome: hides them. */
  ownEnded(records) {
    for (const record of records) {
      const rest = (this.own.get(record.key) ?? []).filter(other => other !== record)
      if (rest.length > 0) this.own.set(record.key, rest)
      else this.own.delete(record.key)
      this.forgetRemoval(record.key)
      this.refresh(record.key)
    }
    this.tell()
  }

  /** They are stored. @returns {BoardChange[]} none if they were read, or written again meanwhile */
  takeOwn({records, last, receipt, isCatchingUp = false}) {
    if (this.isReading) {
      this.settled.push({records, last, receipt})
      return []
    }
    const changed = records.map(({isPending, ...record}, at) => ({...record, offset: last - records.length + 1 + at}))
        .filter(record => record.offset > this.readThrough && this.put(record))
    // What is older may still come.
    for (const {key, offset} of isCatchingUp ? changed.filter(({payload}) => payload === undefined) : []) {
      this.removedAhead.add(key)
      this.removedThrough = Math.max(this.removedThrough, offset)
    }
    this.ownEnded(records)
    return changed.length > 0 ? [{type: 'records', records: changed, isOwn: true, receipt}] : []
  }

  /** Of one that is removed nothing is kept, unless something older may still be told that it removes. */
  forgetRemoval(key) {
    const told = this.told.get(key)
    if (!told || told.payload !== undefined || this.own.has(key) || this.isReading) return
    if (!this.removedAhead.has(key)) this.told.delete(key)
  }

  forgetRemovals(offset) {
    if (this.removedThrough >= offset || this.removedAhead.size === 0) return
    const keys = this.removedAhead
    this.removedAhead = new Set()
    for (const key of keys) this.forgetRemoval(key)
  }

  // MARK: What is shown

  refresh(key) {
    const told = this.told.get(key)
    const own = this.own.get(key)?.at(-1)
    const isOwn = own && !(own.offset <= Math.max(told?.offset ?? 0, this.clearedAt, this.isReading ? 0 : this.readThrough))
    const record = isOwn ? own : told
    if (record?.payload === undefined) this.records.delete(key)
    else this.records.set(key, record)
    for (const {changed} of this.readers) changed.add(key)
  }

  /** A reader's own picture: made when it is taken, over the records that all share. */
  picture(reader) {
    const {changed} = reader
    reader.changed = new Set()
    const {records, progress, isComplete} = this
    return {records, changed, progress, isComplete}
  }
}
