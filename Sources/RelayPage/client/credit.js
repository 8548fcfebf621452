// How fast messages leave, and what happens behind one that is refused. [MS10, RT8]
import {ErrorCode} from './errors.js'
import {sorted} from './keys.js'
import {Limits} from './limits.js'

/**
 * Paces the publishes of one channel, so that the relay never refuses one for its rate.
 *
 * The relay answers publishes in their order, and each answer has a credit: how many more it takes behind that one. What is
 * unanswered now was sent behind it, so fewer unanswered than the credit is never too many. No clock and no jitter of the network
 * has a part in it.
 */
class CreditWindow {
  constructor(credit) {
    this.credit = credit
    this.unanswered = 0
    this.answeredAt = -Infinity
  }
  /** Whether it is as good as new: a second after its last answer a channel has its whole credit. */
  isIdle(now) {
    return this.unanswered === 0 && this.answeredAt + 1_010 <= now
  }
  answered(credit, now) {
    this.unanswered--
    this.answeredAt = now
    if (credit !== undefined) this.credit = credit
  }
}

const isOfBefore = code => code === ErrorCode.notAccepted || code === ErrorCode.outcomeUnknown

/** What the relay takes of each channel, and the channels in which it takes nothing behind a refusal. */
export class Credits {
  constructor(machine) {
    this.machine = machine
    /** By channel. @type {Map<string, CreditWindow>} */
    this.windows = new Map()
    /** Nothing is published before: the relay counts what was sent over the link before this one. */
    this.publishAt = 0
    /** Whether the relay refuses what comes behind a refusal. */
    this.relayStops = false
    /** By channel, those in which all that was sent is still to be answered: `{number, again}`. */
    this.stopped = new Map()
    /** By channel, numbers whose `goOn` is not answered. @type {Map<string, number>} */
    this.goingOn = new Map()
  }

  /** A login counts from the whole credit of every channel. */
  renew({publishAfterMs = 0, capabilities}, now) {
    this.windows.clear()
    // One percent, and a millisecond, for two clocks that run at different speeds.
    this.publishAt = publishAfterMs > 0 ? now + publishAfterMs * 1.01 + 1 : 0
    this.relayStops = capabilities.includes('goOn')
    for (const channel of sorted(this.goingOn.keys())) this.ask(channel)
  }

  ask(channel) {
    this.machine.requests.ask({type: 'goOn', body: {channel, number: this.goingOn.get(channel)}})
  }

  goOnAnswered({channel, number}) {
    if (this.goingOn.get(channel) === number) this.goingOn.delete(channel)
  }

  told({channel, credit}) {
    const window = this.windows.get(channel)
    if (window) window.credit = credit
  }

  /** @param {number} kept of the channel's credit, for others */
  mayPublish(channel, kept, now) {
    if (now < this.publishAt) return this.machine.pump.wait(this.publishAt)
    const window = this.windows.get(channel)
    return !this.stopped.has(channel) && (!window || window.unanswered + kept < window.credit)
  }

  sent(channel, now) {
    let window = this.windows.get(channel)
    if (!window) {
      // For unused channels: the client may forget buckets that are full again.
      if (this.windows.size >= Limits.pacersMax) for (const [name, other] of this.windows) if (other.isIdle(now)) this.windows.delete(name)
      this.windows.set(channel, window = new CreditWindow(this.machine.limits.messagesPerSecond))
    }
    window.unanswered++
  }

  answered(channel, credit, now) {
    this.windows.get(channel)?.answered(credit, now)
  }

  refused(message, number, error) {
    const {channel} = message
    const {code} = error
    if (code === ErrorCode.behindRefused) {
      // What was refused before it may not have been heard of.
      if (!this.stopped.has(channel)) this.stopped.set(channel, {number, again: []})
      this.stopped.get(channel).again.push(message)
    } else {
      const stops = this.relayStops && code !== ErrorCode.rateLimited && !isOfBefore(code)
      if (stops && !this.stopped.has(channel)) this.stopped.set(channel, {number, again: []})
      if (message.part) this.machine.drawings.partRefused(message.part, error)
      else this.machine.sent.settle(message, {error})
    }
    this.goOn(channel)
  }

  /** Once all that was sent is answered, the relay is told to go on, and what it refused is sent again, in its order. */
  goOn(channel) {
    const stop = this.stopped.get(channel)
    if (!stop || this.windows.get(channel)?.unanswered !== 0) return
    this.sendAgain(channel, stop)
    this.ask(channel)
  }

  /** The link has ended: what was sent behind the refused ones was refused, too, or never came. */
  linkEnded() {
    const {publishes} = this.machine.sent
    for (const channel of sorted(this.stopped.keys())) {
      const stop = this.stopped.get(channel)
      for (const number of [...publishes.keys()].sort((left, right) => left - right)) {
        const {message} = publishes.get(number)
        if (message?.channel !== channel || number < stop.number) continue
        publishes.delete(number)
        stop.again.push(message)
      }
      this.sendAgain(channel, stop)
    }
  }

  /** Under new numbers, behind what has one and before all else. Parts leave beside the queue. */
  sendAgain(channel, {number, again}) {
    this.stopped.delete(channel)
    this.goingOn.set(channel, number)
    const {queue, drawings} = this.machine
    const behind = queue.numbered(message => message.channel === channel && message.number > number)
    const isBehind = new Set(behind)
    queue.withdraw(item => isBehind.has(item.message))
    const items = []
    for (const message of [...again, ...behind]) {
      Object.assign(message, {number: undefined, wasRefused: true})
      if (!message.part) items.push({kind: 'message', message, size: message.size})
      else if (drawings.isCurrent(message.part)) drawings.goBack(message.part)
    }
    queue.items.splice(queue.numbered(() => true).length, 0, ...items)
    for (const item of items) queue.count(item, 1)
  }
}
