// What is kept over a reload: retained messages that are not told durable.
import {hexadecimal} from './identity.js'
import {OutgoingDrawing} from './outgoing-drawing.js'
import {checkedName, payloadOf, textOf} from './text.js'
/** @import {KeptStorage} from './types.js' */

/**
 * Retained messages that are not told durable, in a storage such as `localStorage`: an entry for each, and one that lists
 * them with the numbers under which they were sent. A storage that is full, or closed, keeps less: `unsent.unkept` tells.
 *
 * There may be several on one storage: pages that were open at once, or a page that was not closed when the next one loaded. So
 * the list is read before it is written, and what another has added stays in it.
 */
export class Outbox {
  /** @param {KeptStorage} storage @param {string} prefix of its keys @param {() => number} [wallClock] in milliseconds */
  constructor(storage, prefix, wallClock = Date.now) {
    Object.assign(this, {storage, prefix, wallClock})
    this.entries = new Map()
    this.unkeptEntries = new Set()
    this.head = {}
  }

  /** Messages that could not be kept. */
  get unkept() {
    return this.unkeptEntries.size
  }

  /** What stands under a key, if it is what `use` wants. */
  read(id, use) {
    try {
      return use(JSON.parse(this.storage.getItem(this.prefix + id)))
    } catch {
      return undefined
    }
  }

  /** The list as it stands: under which instance messages were sent, and ids with their numbers. */
  list() {
    const {ids, ...head} = this.read('', list => ({...list})) ?? {}
    const {instance, last, at} = head
    const isHead = [last, at].every(Number.isSafeInteger) && /^[0-9a-f]{16}$/.test(instance)
    const kept = Array.isArray(ids) ? ids.filter(Array.isArray) : []
    return [isHead ? {instance, last, at} : {}, kept.map(([id, number]) => [id, isHead ? number : 0])]
  }

  /**
   * What an earlier client object has left: what was sent in the order of its numbers, then the rest in the order of the calls.
   * Below 0 is the number of one that was sent by another instance than the last: there is no asking for it.
   */
  load() {
    const [head, ids] = this.list()
    const entries = []
    for (const [id, number] of ids) {
      const entry = this.read(id, ({channel, echo, isLarge, changes, ...record}) => ({
        id, number: number || undefined, channel: checkedName(channel), echo, isLarge,
        ...changes ? {changes: changes.map(readRecord)} : readRecord(record),
      }))
      if (entry) entries.push(entry)
    }
    const sent = entries.filter(({number}) => number).sort((left, right) => left.number - right.number)
    if (sent.length > 0) this.head = head
    return {head: {...head, ageMs: this.wallClock() - head.at}, entries: [...sent, ...entries.filter(({number}) => !number)]}
  }

  /** @param {object} entry a message or drawing of the machine's */
  add(entry) {
    const id = `/${hexadecimal(8)}`
    const {channel, echo, changes} = entry
    this.keep(entry, () => {
      const isLarge = entry instanceof OutgoingDrawing
      const content = changes ? {changes: changes.map(writeRecord)} : writeRecord(entry)
      this.storage.setItem(this.prefix + id, JSON.stringify({channel, echo, ...content, isLarge}))
      this.entries.set(entry, {id})
      this.writeList()
    })
  }

  numbered(entry, number, {instance, last}) {
    const kept = this.entries.get(entry)
    if (!kept) return
    kept.number = number
    this.head = {instance, last, at: this.wallClock()}
    this.keep(entry, () => this.writeList())
  }

  remove(entry) {
    const kept = this.entries.get(entry)
    this.unkeptEntries.delete(entry)
    if (!kept) return
    this.entries.delete(entry)
    this.keep(undefined, () => {
      this.storage.removeItem(this.prefix + kept.id)
      this.writeList()
    })
  }

  /** Those of others stay where they are, as long as they are kept; their numbers count only under the instance that the list has. */
  writeList() {
    const [head, ids] = this.list()
    const own = new Map([...this.entries.values()].map(({id, number = 0}) => [id, number]))
    const isOther = this.head.instance && head.instance !== this.head.instance
    if (!isOther && head.last > this.head.last) this.head.last = head.last
    const kept = ids.filter(([id]) => own.has(id) || this.storage.getItem(this.prefix + id))
    const all = [...new Map([...kept.map(([id, number]) => [id, isOther && number ? -1 : number]), ...own])]
    if (all.length === 0) this.storage.removeItem(this.prefix)
    else this.storage.setItem(this.prefix, JSON.stringify({...head, ...this.head, ids: all}))
  }

  keep(entry, write) {
    try {
      write()
    } catch {
      if (entry) this.unkeptEntries.add(entry)
    }
  }
}

const writeRecord = ({key, customType, text, bytes}) =>
  ({key, customType, ...text ? {text: textOf(bytes)} : {base64: toBase64(bytes)}})

const readRecord = ({key, customType, text, base64}) => ({
  key: checkedName(key), customType, ...base64 === undefined ? payloadOf(text) : {bytes: fromBase64(base64), text: false},
})

function toBase64(bytes) {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}

const fromBase64 = text => Uint8Array.from(atob(text), character => character.charCodeAt(0))
