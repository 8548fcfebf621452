// A lesson that can be shown as it was at any moment. What stands is kept at checkpoints, as numbers. To show a moment takes what stood
// at the checkpoint before it, and the events since: they are at most as many, or a thousand.
import {parse} from '../format.js'
import {kindOf, readRecord} from '../kinds/index.js'
import {shifted} from '../kinds/edits.js'
import {Lasers, trailMs, trailsMax} from '../lasers.js'
import {cursorAgeMaxMs, keyOf, Live, readCursor, strokeAgeMaxMs} from '../live.js'
import {readPacket} from '../points.js'
import {Records} from '../records.js'

export const checkpointEvents = 1_000
/** Longer pauses are shortened to it, unless somebody wants them. */
export const pauseMaxMs = 3_000
/** Payloads of records that were shown and are not now: they need not be read again. */
const cacheBytesMax = 32 * 2 ** 20
const eventsAtOnce = 2_000

/** How many of what stands in an order are below, or at, a bound. */
function countTo(bound, length, at) {
  let [from, to] = [0, length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (at(middle) <= bound) from = middle + 1
    else to = middle
  }
  return from
}

export class Timeline {
  /** Of each record that ever stood: `{key, event}`, or of one that was moved `{key, base, dx, dy}`. */
  versions = []
  /** `{count, versions, packets, lasers}`: after so many events these stood, and packets made what was live, and trails of lasers. */
  checkpoints = [{count: 0, versions: new Uint32Array(0), packets: new Uint32Array(0), lasers: new Uint32Array(0)}]
  /** Numbers of events. */
  notices = []
  papers = []
  #standing = new Map()
  #packets = new LivePackets()

  /** @returns {Promise<Timeline>} @param {() => Promise<void>} pause now and then */
  static async of(lesson, pause = async () => {}) {
    const timeline = new Timeline(lesson)
    for (let index = 0; index < lesson.events.length; index++) {
      if (index % eventsAtOnce === eventsAtOnce - 1) await pause()
      timeline.#add(lesson.events[index], index)
    }
    timeline.keepPauses(false)
    return timeline
  }

  constructor(lesson) {
    this.lesson = lesson
    this.events = lesson.events
    const finds = ({kind, customType}) => kind === 'message' && (customType === 'erase' || customType === 'move')
    // Ids are read where something names them, and only there.
    this.keysOf = lesson.events.some(finds) ? new Map() : undefined
  }

  // MARK: What each event changes

  #add(event, index) {
    const {kind, key, at} = event
    if (kind === 'record') this.#change(event, [[key, this.#version({key, event: index})]])
    else if (kind === 'remove') this.#change(event, [[key]])
    else if (kind === 'clear' || kind === 'reset') this.#clear()
    else if (kind === 'message') this.#message(event, index)
    if (kind === 'record' || kind === 'remove') this.#packets.finished(key)
    else if (kind === 'packet') this.#packets.add(event, index)
    else if (kind === 'left') this.#packets.left(keyOf(event.by, event.device))
    else if (kind === 'reset') this.#packets.clear()
    else if (kind === 'missed' || kind === 'broken') this.notices.push(index)
    else if (kind === 'paper') this.papers.push(index)
    const {count, versions, packets, lasers} = this.checkpoints.at(-1)
    const since = index + 1 - count
    // So long as the last one is large: each event adds at most one number, and all checkpoints have at most two for each event.
    if (since < checkpointEvents || since < versions.length + packets.length + lasers.length) return
    this.#packets.age(at)
    this.checkpoints.push({count: index + 1, versions: Uint32Array.from(this.#standing.values()), ...this.#packets.all()})
  }

  #version(version) {
    return this.versions.push(version) - 1
  }

  /** @param {[string, number|undefined][]} sets keys with their versions; `undefined` removes the key's record */
  #change(event, sets) {
    event.sets = sets
    for (const [key, version] of sets) {
      if (this.keysOf) this.#find(key, version)
      if (version === undefined) this.#standing.delete(key)
      else this.#standing.set(key, version)
    }
  }
  #clear() {
    this.#standing.clear()
    this.keysOf?.clear()
  }

  #find(key, version) {
    const before = this.#idOf(this.#standing.get(key))
    this.keysOf.get(before)?.delete(key)
    const now = this.#idOf(version)
    if (now) this.keysOf.set(now, (this.keysOf.get(now) ?? new Set()).add(key))
  }
  #idOf(number) {
    const version = this.versions[number]
    if (!version) return undefined
    const {customType, payload} = this.events[this.versions[version.base ?? number].event]
    return version.id ??= payload === undefined ? '' : readRecord(customType, payload)?.id ?? ''
  }

  /** What is not kept: elements of boards that keep nothing, and what names them. */
  #message(event, index) {
    const {customType, payload} = event
    if (payload === undefined) return
    if (customType === 'erase' || customType === 'move') return this.#change(event, this.#named(customType, payload))
    const element = kindOf(customType) && readRecord(customType, payload)
    if (!element) return undefined
    const {id, part = 1} = element
    const key = number => `${id} ${number}`
    const sets = [[key(part), this.#version({key: key(part), event: index})]]
    // A first part begins its stroke anew.
    for (let other = 2; part === 1 && this.#standing.has(key(other)); other++) sets.push([key(other)])
    if (part === 1 && this.#standing.has(id)) sets.push([id])
    this.#packets.finished(id)
    return this.#change(event, sets)
  }

  #named(type, payload) {
    try {
      const {v, ids, dx, dy} = parse(payload)
      const isMove = type === 'move'
      if (v !== 1 || !Array.isArray(ids) || ids.length > 400 || (isMove && ![dx, dy].every(Number.isSafeInteger))) return []
      const keys = [...new Set(ids)].flatMap(id => [...this.keysOf.get(id) ?? []])
      return keys.map(key => [key, isMove ? this.#moved(key, dx, dy) : undefined])
    } catch {
      return []
    }
  }
  #moved(key, dx, dy) {
    const number = this.#standing.get(key)
    const {base = number, dx: beforeX = 0, dy: beforeY = 0} = this.versions[number]
    return this.#version({key, base, dx: beforeX + dx, dy: beforeY + dy})
  }

  // MARK: When each is shown

  /** In ms from the start, as it is shown; what belongs to a change set comes with its last event. */
  keepPauses(isKept) {
    const {events} = this
    this.shown = new Float64Array(events.length)
    for (let index = 1; index < events.length; index++) {
      const gap = events[index].at - events[index - 1].at
      this.shown[index] = this.shown[index - 1] + (isKept ? gap : Math.min(gap, pauseMaxMs))
    }
    for (let index = events.length - 2; index >= 0; index--) if (events[index].more) this.shown[index] = this.shown[index + 1]
    this.duration = this.shown.at(-1)
    this.keepsPauses = isKept
  }

  /** How many events are shown by a moment. */
  countAt(moment) {
    return countTo(moment, this.shown.length, index => this.shown[index])
  }

  /** A moment as it is shown, in ms of the recording. */
  recordedAt(moment) {
    const last = this.countAt(moment) - 1
    const next = this.events[last + 1]?.at ?? Infinity
    return Math.min(next, this.events[last].at + moment - this.shown[last])
  }
  /** And back. */
  shownAt(recorded) {
    const last = countTo(recorded, this.events.length, index => this.events[index].at) - 1
    return Math.min(this.shown[last + 1] ?? this.duration, this.shown[last] + recorded - this.events[last].at)
  }

  /** The event that told last within some time before a moment that something was missed. */
  noticeAt(moment, withinMs) {
    const index = lastBelow(this.countAt(moment), this.notices)
    return this.shown[index] > moment - withinMs ? this.events[index] : undefined
  }
  /** After so many events. */
  paperAt(count) {
    return this.events[lastBelow(count, this.papers)]?.paper
  }

  /** The last one that is not behind so many events. */
  checkpointBefore(count) {
    const {checkpoints} = this
    return checkpoints[countTo(count, checkpoints.length, index => checkpoints[index].count) - 1]
  }
}

/** Of numbers in their order. */
const lastBelow = (count, numbers) => numbers[countTo(count - 1, numbers.length, index => numbers[index]) - 1]

/** The packets that make lines and cursors that are live, by their numbers. */
class LivePackets {
  #lines = new Map()
  #cursors = new Map()
  /** They last by themselves, whoever leaves. */
  #lasers = []

  add({payload, topic, by, device, at}, index) {
    const key = keyOf(by, device)
    const id = topic === 'points' && payload !== undefined ? readPacket(payload)?.id : undefined
    if (topic === 'cursors' && payload?.includes('"laser"') && this.#lasers.push({index, at}) > trailsMax) this.#lasers.shift()
    this.#cursors.set(key, {index, at})
    if (id === undefined) return
    if (at - this.#lines.get(id)?.at > strokeAgeMaxMs) this.finished(id)
    const line = this.#lines.get(id) ?? {key, packets: []}
    line.packets.push(index)
    line.at = at
    this.#lines.set(id, line)
  }
  finished(id) {
    this.#lines.delete(id)
  }
  left(key) {
    for (const [id, line] of this.#lines) if (line.key === key) this.finished(id)
    this.#cursors.delete(key)
  }
  age(now) {
    for (const [id, {at}] of this.#lines) if (now - at > strokeAgeMaxMs) this.finished(id)
    for (const [key, {at}] of this.#cursors) if (now - at > cursorAgeMaxMs) this.#cursors.delete(key)
    this.#lasers = this.#lasers.filter(({at}) => now - at < trailMs)
  }
  clear() {
    this.#lines.clear()
    this.#cursors.clear()
  }
  /** Each once, in their order. */
  all() {
    const numbers = [...this.#lines.values()].flatMap(({packets}) => packets)
    return {
      packets: Uint32Array.from(new Set([...numbers, ...[...this.#cursors.values()].map(({index}) => index)])).sort(),
      lasers: Uint32Array.from(this.#lasers, ({index}) => index),
    }
  }
}

/** The board at a moment of a timeline. */
export class Scene {
  /** Events that are shown; and how many records and packets were put, or taken away, for that. */
  count = 0
  work = 0
  now = 0
  lasers = new Lasers()
  #cached = new Map()
  #cachedBytes = 0

  /** @param {Timeline} timeline @param {(changes: {gone: object[], come: object[]}) => void} changed */
  constructor(timeline, changed) {
    this.timeline = timeline
    this.records = new Records(changed)
    this.live = new Live(() => {})
    this.live.shone = (...shone) => this.lasers.shine(...shone)
  }

  /** Shows the board after so many events, at `now` in ms of the recording. */
  show(count, now) {
    const {timeline, live, records} = this
    const checkpoint = timeline.checkpointBefore(count)
    const {versions, packets, lasers} = checkpoint
    const restored = versions.length + packets.length + lasers.length + records.told.size + count - checkpoint.count
    // What is too old goes, and is there again before.
    if (count < this.count || now < this.now || count - this.count > restored) this.#restore(checkpoint)
    this.now = now
    while (this.count < count) this.#apply(timeline.events[this.count++])
    records.flush()
    live.drop(id => this.#isFinished(id))
    live.age(now)
  }

  #isFinished(id) {
    return this.records.told.has(id) || this.records.elements.has(id)
  }

  #restore({count, versions, packets, lasers}) {
    const {told} = this.records
    const wanted = new Set(versions)
    for (const [key, {version}] of told) if (!wanted.has(version)) this.#set(key)
    for (const version of versions) {
      const {key} = this.timeline.versions[version]
      if (told.get(key)?.version !== version) this.#set(key, version)
    }
    this.records.flush()
    this.live.drop(() => true, () => true)
    for (const index of packets) this.#apply(this.timeline.events[index])
    this.lasers.trails = []
    for (const index of lasers) this.#shine(this.timeline.events[index])
    this.count = count
  }

  #shine({by, payload, at}) {
    this.work++
    const {laser} = readCursor(payload)
    if (laser) this.lasers.shine(by, laser, at)
  }

  #apply(event) {
    const {kind, by, device} = event
    this.work++
    if (kind === 'clear' || kind === 'reset') for (const key of this.records.told.keys()) this.#set(key)
    for (const [key, version] of event.sets ?? []) this.#set(key, version)
    if (kind === 'packet' && event.payload !== undefined) {
      // However many events are shown at once, what is old has gone before it goes on.
      this.live.age(event.at)
      this.live.packet({...event, publisher: by}, id => this.#isFinished(id), event.at)
    }
    if (kind === 'left') this.live.left(by, device)
    if (kind === 'reset') this.live.drop(() => true, () => true)
  }

  #set(key, version) {
    const {told, touched} = this.records
    this.work++
    touched.add(key)
    this.live.strokes.delete(key)
    if (version === undefined) told.delete(key)
    else told.set(key, this.#record(version))
  }

  /** A version's record; what was read of it stays with it for a while. */
  #record(version) {
    const found = this.#cached.get(version)
    if (found) return found
    const {key, event, base, dx, dy} = this.timeline.versions[version]
    const {by, customType, payload = ''} = this.timeline.events[event ?? this.timeline.versions[base].event]
    // What a move takes out of the format's places is not seen anywhere: it stays where it was.
    const {payload: shown} = base === undefined ? {payload} : shifted({customType, payload}, dx, dy) ?? {payload}
    const record = {key, version, offset: version + 1, author: by, customType, payload: shown}
    this.#cached.set(version, record)
    this.#cachedBytes += shown.length
    for (const [oldest, {payload}] of this.#cached) {
      if (this.#cachedBytes <= cacheBytesMax || oldest === version) break
      this.#cached.delete(oldest)
      this.#cachedBytes -= payload.length
    }
    return record
  }
}
