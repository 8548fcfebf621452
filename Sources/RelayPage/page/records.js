// What a board holds, as far as it is known here: records as the relay tells them, over them the changes of this page that it
// has not yet told stored, and the elements that all of them draw, in layers. What an element is its kind knows (kinds/).
import {isToCome, joined, loadKind, readRecord} from './kinds/index.js'
import {Layers, order} from './layers.js'
import {Places} from './places.js'

export class Records {
  /** As the relay has them, by key: `{key, offset, author, customType, payload}`; of one that was removed `payload` is `undefined`. */
  told = new Map()
  /** Own changes that are not told stored, in their order: `{key, customType, payload, offset}`, without an offset before the relay has taken it. */
  own = []
  #ownByKey = new Map()
  /** The last offset that was applied; the newest clear's; that of the last reading from the beginning. [BL3] */
  offset = 0
  clearedAt = 0
  readThrough = 0
  isReading = true
  settled = []
  /** What is drawn, by the ids that records carry. */
  elements = new Map()
  #layers = new Layers()
  #places = new Places()
  /** Keys of records whose kinds' modules have not come, by type. */
  #unread = new Map()
  keysOf = new Map()
  idOf = new Map()
  title = ''
  touched = new Set()

  /** @param {(changes: {gone: object[], come: object[]}) => void} changed elements; one that looks different has gone, and another come */
  constructor(changed) {
    this.changed = changed
  }

  /** A message of the channel; `flush` draws what several have changed. */
  received({isRetained, isRemoval, key, offset, sender, customType, payload, wallMilliseconds: at}) {
    this.seen(offset)
    if (isRetained) this.put({key, offset, author: sender, at, customType, payload: isRemoval ? undefined : payload})
  }
  cleared(offset) {
    this.seen(offset)
    this.clearedAt = Math.max(this.clearedAt, offset)
    for (const key of this.told.keys()) this.touched.add(key)
  }
  /** What is held is void, and all of the board follows. What was not told stored is sent again. */
  reset() {
    this.touched = new Set(this.told.keys())
    Object.assign(this, {told: new Map(), isReading: true, clearedAt: 0, readThrough: 0, offset: 0, settled: []})
    for (const change of this.own) change.offset = undefined
  }
  caughtUp(head) {
    this.seen(head)
    if (!this.isReading) return
    Object.assign(this, {isReading: false, readThrough: head})
    for (const record of this.settled.splice(0)) this.putOwn(record)
    for (const {key} of this.own) this.touched.add(key)
  }
  seen(offset) {
    this.offset = Math.max(this.offset, offset)
  }

  /** The later one counts, by the relay's order. */
  put(record) {
    if (record.offset <= (this.told.get(record.key)?.offset ?? 0)) return
    this.told.set(record.key, record)
    this.touched.add(record.key)
  }
  /** What was read holds own records as well: one that is not above it was among them, or has been replaced or removed since. */
  putOwn(record) {
    if (this.isReading) this.settled.push(record)
    else if (record.offset > this.readThrough) this.put(record)
  }

  // MARK: Own changes: shown at once, until they are told stored or refused

  begin(change) {
    this.own.push(change)
    const changes = this.#ownByKey.get(change.key)
    if (changes) changes.push(change)
    else this.#ownByKey.set(change.key, [change])
    this.touched.add(change.key)
  }
  /** Those of one key, in their order. */
  ownOf(key) {
    return this.#ownByKey.get(key) ?? []
  }
  isOwn(change) {
    return this.ownOf(change.key).includes(change)
  }
  /** Removes and returns all own changes. */
  takeOwn() {
    this.#ownByKey.clear()
    return this.own.splice(0)
  }
  /** A relay that ends before it is stored may give its offset to another record, without a `reset`: it is not among what is told. [BL5] */
  accepted(change, offset) {
    change.offset = offset
    this.seen(offset)
    this.touched.add(change.key)
  }
  /** Stored at an offset, or refused, without one. */
  ended(change, offset) {
    if (!this.isOwn(change)) return
    this.own.splice(this.own.indexOf(change), 1)
    const changes = this.ownOf(change.key)
    if (changes.length > 1) changes.splice(changes.indexOf(change), 1)
    else this.#ownByKey.delete(change.key)
    this.touched.add(change.key)
    if (offset === undefined) return
    this.accepted(change, offset)
    this.putOwn(change)
  }

  /** The visible record of a key, or `undefined`. */
  get(key) {
    const told = this.told.get(key)
    const own = this.ownOf(key).at(-1)
    const isOwn = own && !(own.offset <= Math.max(told?.offset ?? 0, this.clearedAt, this.readThrough))
    const record = isOwn ? own : told?.offset > this.clearedAt ? told : undefined
    return record?.payload === undefined ? undefined : record
  }

  /** All of them. */
  get shown() {
    return [...new Set([...this.told.keys(), ...this.#ownByKey.keys()])].map(key => this.get(key)).filter(Boolean)
  }

  // MARK: What is drawn

  /** Draws what has changed since. */
  flush() {
    const ids = new Set()
    for (const key of this.touched) {
      const record = this.get(key)
      if (record) this.#read(record)
      const [before, now] = [this.idOf.get(key), record?.part?.id]
      this.keysOf.get(before)?.delete(key)
      this.idOf.set(key, now)
      if (now !== undefined) this.keysOf.set(now, (this.keysOf.get(now) ?? new Set()).add(key))
      ids.add(before).add(now)
    }
    this.touched.clear()
    ids.delete(undefined)
    const [gone, come] = [[], []]
    for (const id of ids) {
      const before = this.elements.get(id)
      const element = this.element(id)
      if (id === '') this.title = element?.text
      else if (before && element && before.sources.join() === element.sources.join()) before.records = element.records
      else {
        if (before) gone.push(before)
        if (element) come.push(element)
        if (element) this.elements.set(id, element)
        else this.elements.delete(id)
      }
    }
    if (gone.length + come.length === 0) return
    for (const element of gone) this.#places.remove(element)
    for (const element of come) this.#places.add(element)
    this.#layers.change(gone, come)
    this.changed({gone, come})
  }

  /** What a record says: once, and when its kind's module has come. */
  #read(record) {
    const {key, customType, payload} = record
    if (isToCome(customType)) this.#wait(customType, key)
    else record.part ??= readRecord(customType, payload) ?? {}
  }

  /** Whether some of it is drawn later. */
  get isUnread() {
    return this.#unread.size > 0
  }

  /** What cannot be read yet is looked at again when it can. */
  async #wait(type, key) {
    const keys = this.#unread.get(type)
    if (keys) return void keys.add(key)
    this.#unread.set(type, new Set([key]))
    // Without its module nothing of it is drawn; the next such record asks again.
    await loadKind(type).catch(() => {})
    this.#unread.get(type).forEach(key => this.touched.add(key))
    this.#unread.delete(type)
    if (!isToCome(type)) this.flush()
  }

  /** What the records of one id draw, taken in the order of their offsets. */
  element(id) {
    const records = [...this.keysOf.get(id) ?? []].map(key => this.get(key))
        .sort((one, other) => (one.offset ?? Infinity) - (other.offset ?? Infinity))
    const element = joined(records.map(({part}) => part))
    return element && Object.assign(element, {records, sources: records.map(({payload}) => payload)})
  }

  /** From the lowest layer to the highest. */
  get ordered() {
    return this.#layers.list
  }
  /** Those whose boxes touch a box, in the same order. */
  within(box) {
    return this.#places.within(box).sort(order)
  }
  hasWithin(box) {
    return this.#places.hasWithin(box)
  }
  /** The layer for what is drawn next. */
  get nextLayer() {
    return Math.min(Number.MAX_SAFE_INTEGER, (this.ordered.at(-1)?.z ?? 0) + 1)
  }
}
