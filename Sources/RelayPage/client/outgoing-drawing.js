// A large drawing, or a change set, on its way to the relay.
import {encodedChange} from './changes.js'
import {Limits} from './limits.js'
import {noBytes, utf8} from './text.js'

/** A drawing above the size of one message [BL8], or a change set [BL11], on its way to the relay. */
export class OutgoingDrawing {
  /** @param {object} fields with `changes` of a change set, else with `key` and `bytes` */
  constructor(fields) {
    Object.assign(this, fields)
    /** Its marker has left the queue. */
    this.isUnderWay = false
    /** Its last part was accepted, and it is not told durable. */
    this.isAccepted = false
    this.round = 1
    /** Of all records that it writes or removes. */
    this.keys = new Set(this.changes?.map(({key}) => key) ?? [this.key])
    if (this.changes) this.encode()
  }
  encode() {
    this.isRetained = true
    const encoded = this.changes.map(encodedChange)
    let end = 0
    /** Where each change ends in `bytes`, and what of it is bounded in a part. */
    this.places = encoded.map(({encoded: {length}, contentBytes}) => ({end: end += length, contentBytes}))
    this.bytes = new Uint8Array(end)
    encoded.forEach(({encoded: bytes}, index) => this.bytes.set(bytes, this.places[index].end - bytes.length))
  }
  /** @returns {boolean} false when it would be too many parts */
  cut(limits) {
    this.next = 1
    /** Where each part ends in `bytes`. */
    this.ends = this.changes ? this.cutChanges(limits) : this.cutBytes(limits)
    return this.parts >= (this.changes ? 1 : 2) && this.parts <= Limits.partsMax
  }
  cutBytes({messageBytesMax}) {
    const partBytes = messageBytesMax - (this.customType === undefined ? 0 : utf8(this.customType).length)
    const count = partBytes > 0 ? Math.ceil(this.bytes.length / partBytes) : 0
    return Array.from({length: count}, (_, index) => Math.min((index + 1) * partBytes, this.bytes.length))
  }
  /** As many changes in a part as it may have. */
  cutChanges({messageBytesMax}) {
    const ends = []
    let [count, content, last] = [0, 0, 0]
    for (const {end, contentBytes} of this.places) {
      if (count === Limits.changesPerPartMax || (count > 0 && content + contentBytes > messageBytesMax)) {
        ends.push(last)
        count = content = 0
      }
      count++
      content += contentBytes
      last = end
    }
    return [...ends, last]
  }
  get parts() {
    return this.ends.length
  }
  get hasMore() {
    return this.next <= this.parts
  }
  part(number) {
    const {channel, customType, key, isRetained, echo, text} = this
    const part = {drawing: this, round: this.round, number, of: this.parts, isLast: number === this.parts}
    return {channel, customType, key, isRetained, echo, text, bytes: noBytes, size: 0, part}
  }
  /** Text is cut wherever it comes: it is text as a whole. */
  bytesOf({number}) {
    return this.bytes.subarray(number === 1 ? 0 : this.ends[number - 2], this.ends[number - 1])
  }
  /** From part 1, with new numbers. @returns {boolean} false when that has been tried often enough */
  beginAnew(limits) {
    if (this.round >= Limits.drawingRoundsMax || !this.cut(limits)) return false
    this.round++
    this.isAccepted = false
    return true
  }
}
