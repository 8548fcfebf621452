// Messages that were sent: until they are accepted, and durable. [MS9, BL2]
import {RelayError, outcomeUnknown} from './errors.js'
import {mayBeRepeated} from './requests.js'
import {Limits} from './limits.js'

/** Messages under their numbers, until their outcome is known. */
export class SentMessages {
  constructor(machine) {
    this.machine = machine
    this.lastNumber = 0
    /** Unanswered ones, by number. */
    this.publishes = new Map()
    /** Accepted ones that are not told durable, in the order of acceptance. */
    this.unstored = new Map()
    this.unstoredBytes = 0
    /** When the link ended behind which they are sent again. @type {number|undefined} */
    this.sentUntil = undefined
  }

  /** Whether the relay would still know the oldest message not told durable, with one number more. [MS9] */
  get numbersMayGoOn() {
    for (const oldest of this.unstored.keys()) return this.lastNumber + 1 - Math.min(oldest, this.lastNumber) < Limits.publishWindowMax
    return true
  }

  /** The outcome of a message, whatever it was. */
  settle(message, result) {
    if (message.isSettled) return
    this.settleAccepted(message, result)
    message.stored?.settle(result)
    message.isSettled = true
    if (message.isRetained) this.machine.outbox?.remove(message)
  }

  settleAccepted(message, result) {
    message.accepted?.settle(result)
    message.accepted = undefined
  }

  addUnstored(number, message) {
    this.unstored.set(number, message)
    this.unstoredBytes += message.bytes.length
  }

  takeUnstored(number) {
    const message = this.unstored.get(number)
    if (message && this.unstored.delete(number)) this.unstoredBytes -= message.bytes.length
    return message
  }

  /** Frees the place of what was answered. */
  answered(number, credit, now) {
    const publish = this.publishes.get(number)
    if (!publish) return undefined
    this.publishes.delete(number)
    if (publish.message) this.machine.credits.answered(publish.message.channel, credit, now)
    else this.machine.pump.directWindow.answered(now)
    return publish
  }

  accepted({number, offset, credit}, now) {
    const publish = this.answered(number, credit, now)
    if (publish?.direct) publish.direct.settle({value: {offset}})
    const message = publish?.message
    if (!message) return
    this.settleAnswered(message, number, offset)
    this.machine.credits.goOn(message.channel)
  }

  settleAnswered(message, number, offset) {
    // With an echo it is still to come, and the link may end before that. [SE9]
    const {messages} = this.machine
    if (!message.echo && !messages.isCatchingUp(message.channel)) messages.see(offset, message.channel)
    if (message.part) return this.machine.drawings.partAccepted(message, number, offset)
    if (!message.isRetained) return this.settle(message, {value: offset})
    // It was told before it was answered.
    if (message.isSettled) return
    this.settleAccepted(message, {value: offset})
    this.addUnstored(number, message)
  }

  /** `stored` or `notStored`, maybe before the number was sent again, or before that is answered. [BL2] */
  settleStored(number, result) {
    const waiting = this.takeUnstored(number) ?? this.publishes.get(number)?.message
      ?? this.machine.queue.numbered(message => message.number === number)[0]
    if (!waiting?.isRetained) return
    if (!waiting.part) this.settle(waiting, result)
    else if (waiting.part.isLast && this.machine.drawings.isCurrent(waiting.part)) {
      this.machine.drawings.finish(waiting.part.drawing, result)
    }
    this.machine.queue.dropNumbered(message => message.number === number)
  }

  /** What was written and not answered may have happened or not. [SE11] Messages are sent again. [MS9] */
  failInFlight(now) {
    this.machine.credits.linkEnded()
    const again = []
    for (const number of [...this.publishes.keys(), ...this.unstored.keys()].sort((left, right) => left - right)) {
      const message = this.publishes.get(number)?.message ?? this.unstored.get(number)
      if (!message) continue
      this.publishes.delete(number)
      const isOver = message.part ? !this.machine.drawings.isCurrent(message.part) : message.isSettled
      if (!isOver) again.push({kind: 'message', message: Object.assign(message, {number}), size: message.size})
    }
    this.unstored.clear()
    this.unstoredBytes = 0
    this.machine.queue.items.unshift(...again)
    for (const item of again) this.machine.queue.count(item, 1)
    // Those that waited to be sent again when this link ended, too.
    if (this.machine.queue.hasNumbered && this.sentUntil === undefined) this.sentUntil = now
    for (const [number, {direct}] of this.publishes) direct.settle({error: outcomeUnknown(`message ${number}`)})
    this.publishes.clear()
    for (const asked of this.machine.requests.byID.values()) {
      // It is asked again with each login.
      if (asked.request.type === 'goOn') continue
      if (mayBeRepeated(asked) && !asked.isWithdrawn) this.machine.requests.askedAgain.push(asked)
      else asked.pending.settle({error: outcomeUnknown('a request')})
    }
    this.machine.requests.byID.clear()
    this.machine.outbound.drop()
    this.machine.pump.directWindow.linkRenewed(now)
  }

  /**
   * A relay that was started anew, or has forgotten this client, knows nothing of what was sent, but for what is retained: that
   * it knows when it is durable, and otherwise it is not there. After too long a time it does not know that either. [MS9, BL2]
   */
  giveUpSent(now, isForgotten) {
    const isTooLate = this.sentUntil !== undefined && now - this.sentUntil > Limits.publishMemoryMs
    this.sentUntil = undefined
    if (!isForgotten) return
    this.machine.drawings.giveUpParts(isTooLate)
    const isGivenUp = message => !message.part && (isTooLate || !message.isRetained)
    for (const message of this.machine.queue.numbered(isGivenUp)) this.settle(message, {error: outcomeUnknown(`message ${message.number}`)})
    this.machine.queue.dropNumbered(isGivenUp)
  }

  /** The end: nothing that waits will be sent by this client. What is kept over a reload stays for the next. */
  failAll(error) {
    this.failInFlight(this.machine.heartbeat.lastHeard)
    for (const {pending} of this.machine.requests.askedAgain.splice(0)) pending?.settle({error: outcomeUnknown('a request')})
    const {outbox} = this.machine
    this.machine.outbox = undefined
    for (const {message, pending} of this.machine.queue.takeAll()) {
      const why = message?.number === undefined ? error : outcomeUnknown(`message ${message.number}`)
      if (message && !message.part) this.settle(message, {error: why})
      pending?.settle({error})
    }
    for (const drawing of [...this.machine.drawings.list]) {
      this.machine.drawings.finish(drawing, {error: drawing.isUnderWay && !drawing.hasMore ? outcomeUnknown('a drawing') : error})
    }
    this.machine.outbox = outbox
  }

  notStored({number, code, text, retry}) {
    this.settleStored(number, {error: new RelayError(code, text, {retry})})
  }

  stored({number, offset}) {
    this.settleStored(number, {value: offset})
  }

  confirmed({number}, now) {
    if (this.publishes.get(number)?.direct) this.answered(number, undefined, now).direct.settle({value: {offset: 0}})
  }
}
