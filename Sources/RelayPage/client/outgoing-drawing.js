// A large drawing on its way to the relay.
import {Limits} from './limits.js'
import {noBytes, utf8} from './text.js'

/** A drawing above the size of one message, on its way to the relay. [BL8] */
export class OutgoingDrawing {
  constructor(fields) {
    Object.assign(this, fields)
    /** Its marker has left the queue. */
    this.isUnderWay = false
    /** Its last part was accepted, and it is not told durable. */
    this.isAccepted = false
    this.round = 1
  }
  /** @returns {boolean} false when it would be too many parts */
  cut(limits) {
    this.partBytes = limits.messageBytesMax - (this.customType === undefined ? 0 : utf8(this.customType).length)
    this.parts = this.partBytes > 0 ? Math.ceil(this.bytes.length / this.partBytes) : 0
    this.next = 1
    return this.parts >= 2 && this.parts <= Limits.partsMax
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
    return this.bytes.subarray((number - 1) * this.partBytes, number * this.partBytes)
  }
  /** From part 1, with new numbers. @returns {boolean} false when that has been tried often enough */
  beginAnew(limits) {
    if (this.round >= Limits.drawingRoundsMax || !this.cut(limits)) return false
    this.round++
    this.isAccepted = false
    return true
  }
}
