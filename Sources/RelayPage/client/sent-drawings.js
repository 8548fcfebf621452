// Large drawings that are sent in parts. [BL8]
import {ErrorCode, outcomeUnknown, problem} from './errors.js'
import {Limits} from './limits.js'

/** Drawings that wait or are under way. */
export class SentDrawings {
  constructor(machine) {
    this.machine = machine
    /** @type {OutgoingDrawing[]} */
    this.list = []
  }

  isCurrent({drawing, round}) {
    return drawing.round === round && this.list.includes(drawing)
  }

  /** `undefined` for a part of an earlier round. */
  bytesOf(part) {
    return this.isCurrent(part) ? part.drawing.bytesOf(part) : undefined
  }

  /** The keys that a message, or a part, writes. */
  keysOf({part, key}) {
    return part ? [...part.drawing.keys] : key === undefined ? [] : [key]
  }

  /** Whether something with these keys is to wait for a drawing, or a change set, that was sent before it. */
  holdsBack(channel, keys) {
    return this.list.some(other =>
      other.isUnderWay && !other.isAccepted && other.channel === channel && keys.some(key => other.keys.has(key)))
  }

  /** The first that may is brought to its end before the next. */
  pump(now) {
    // Those that are sent again go first.
    const {hasNumbered, items} = this.machine.queue
    if (hasNumbered || items[0]?.message?.wasRefused) return
    const kept = Math.floor(this.machine.limits.messagesPerSecond / Limits.creditKeptDivisor)
    for (const drawing of this.list) {
      // A relay stages so many, of change sets one. [BL8, BL11]
      const begun = this.list.filter(other => other.next > 1 && !other.changes === !drawing.changes && !other.isAccepted)
      if (drawing.next === 1 && !drawing.changes && begun.length >= Limits.drawingsMax) break
      if (drawing.next === 1 && drawing.changes && begun.some(({hasMore}) => hasMore)) continue
      while (this.machine.outbound.bytes < Limits.outboundBytes && drawing.isUnderWay && drawing.hasMore
        && this.machine.sent.publishes.size < this.machine.pump.unansweredMax
        && this.machine.sent.numbersMayGoOn && this.machine.credits.mayPublish(drawing.channel, kept, now)) {
        this.machine.pump.encode({kind: 'message', message: drawing.part(drawing.next++)}, now)
      }
    }
  }

  partAccepted(message, number, offset) {
    const {part} = message
    if (!part.isLast || !this.isCurrent(part)) return
    this.machine.sent.settleAccepted(part.drawing, {value: offset})
    if (!part.drawing.isRetained) return this.finish(part.drawing, {value: offset})
    part.drawing.isAccepted = true
    this.machine.sent.addUnstored(number, message)
  }

  /** Parts from this one on were not taken, because one behind which they were sent was not. [MS10] */
  goBack({drawing, number}) {
    drawing.next = Math.min(drawing.next, number)
  }

  /** A part that the relay did not take: it begins anew where no part was shown to anybody. */
  partRefused(part, error) {
    if (!this.isCurrent(part)) return
    const isGone = error.code === ErrorCode.partMissing || error.code === ErrorCode.notAccepted
    const begins = isGone || (error.code === ErrorCode.outcomeUnknown && !part.isLast)
    if (begins) this.beginAnew(part.drawing, error)
    else this.finish(part.drawing, {error})
  }

  /** From part 1 with new numbers, a few times; then `error` is the outcome. */
  beginAnew(drawing, error) {
    this.machine.queue.dropNumbered(message => message.part?.drawing === drawing)
    // It was accepted once, and its key was written since: sent again it would take that one's place.
    const {publishes, unstored} = this.machine.sent
    const unanswered = [...publishes.values()].map(({message}) => message)
    const sent = [...unanswered, ...unstored.values(), ...this.machine.queue.numbered(() => true)]
    const isSuperseded = !drawing.accepted && sent.some(message =>
      message && message.channel === drawing.channel && message.part?.drawing !== drawing
        && this.keysOf(message).some(key => drawing.keys.has(key)))
    if (isSuperseded || !drawing.beginAnew(this.machine.limits)) this.finish(drawing, {error})
  }

  finish(drawing, result) {
    this.list = this.list.filter(other => other !== drawing)
    this.machine.queue.dropNumbered(message => message.part?.drawing === drawing)
    this.machine.sent.settle(drawing, result)
  }

  /**
   * A relay that was started anew knows a drawing only if it is durable, and says so of its last part. Before that part was
   * sent nobody has seen the drawing: it begins anew.
   */
  giveUpParts(isTooLate) {
    for (const drawing of this.list.filter(({isUnderWay}) => isUnderWay)) {
      const [last] = this.machine.queue.numbered(({part}) => part?.drawing === drawing && part.isLast)
      if (!last) {
        // Also when all that left was answered: that relay has none of it.
        if (drawing.next > 1) this.beginAnew(drawing, problem('partMissing', 'the relay was started anew too often'))
      } else if (drawing.isRetained && !isTooLate) {
        this.machine.queue.dropNumbered(({part}) => part?.drawing === drawing && !part.isLast)
      } else {
        this.finish(drawing, {error: outcomeUnknown(`message ${last.number}`)})
      }
    }
  }
}
