// Which item leaves the queue, and when.
import {Limits} from './limits.js'
import {AnswerWindow, PacketPacer} from './pacing.js'

/** Encodes what may be sent, as fast as the relay takes it. */
export class Pump {
  constructor(machine) {
    this.machine = machine
    /** When something that waits may be sent. */
    this.at = Infinity
    /** Pace of messages to one user. */
    this.directWindow = new AnswerWindow()
    /** Pace of packets by topic. @type {Map<string, PacketPacer>} */
    this.topicBuckets = new Map()
  }

  /** Encodes what may be sent now, in order; whatever must wait holds back what comes after it. */
  run(now) {
    this.at = Infinity
    if (this.machine.state !== 'live' || this.machine.logoutIsSent) return
    const {outbound, requests, queue, sent, drawings, credits} = this.machine
    // What was asked again stands before what the app asks now.
    while (outbound.bytes < Limits.outboundBytes && requests.askedAgain.length === 0 && queue.items.length > 0
      && this.mayLeave(queue.items[0], now)) {
      const item = queue.items.shift()
      queue.count(item, -1)
      this.encode(item, now)
    }
    if (requests.askedAgain.length === 0) drawings.pump(now)
    const isIdle = queue.items.length + sent.publishes.size + requests.byID.size + sent.unstored.size + drawings.list.length
      + credits.stopped.size === 0
    if (this.machine.closePending && isIdle) this.logOut(now)
  }

  /** Nothing is sent behind it. */
  logOut(now) {
    this.machine.logoutIsSent = true
    this.machine.outbound.write({type: 'logout', body: {id: this.machine.requests.nextID()}})
    this.machine.closeBy = now + Limits.logoutTimeoutMs
  }

  get unansweredMax() {
    return Math.min(this.machine.limits.unansweredMax, Limits.unansweredMax)
  }

  mayLeave(item, now) {
    switch (item.kind) {
      case 'request': return true
      case 'drawing': {
        const {drawings} = this.machine
        return !drawings.list.some(drawing => drawing === item.drawing && drawings.holdsBack(drawing.channel, [...drawing.keys]))
      }
      case 'message': {
        const {channel, number, wasRefused} = item.message
        const {drawings, sent} = this.machine
        if (sent.publishes.size >= this.unansweredMax) return false
        // One that is sent again stands before all that are new.
        const waits = () => !wasRefused && drawings.holdsBack(channel, drawings.keysOf(item.message))
        if (number === undefined && (!sent.numbersMayGoOn || waits())) return false
        return this.machine.credits.mayPublish(channel, 0, now)
      }
      case 'direct':
        return this.machine.sent.publishes.size < this.unansweredMax
          && this.wait(this.directWindow.permission(this.machine.limits.directMessagesPerSecond, now))
      default: {
        // Its topic is being joined again, or was left: then it is dropped when its turn comes.
        if (!this.machine.session.wanted.publishing.has(item.key)) return true
        if (!this.machine.flows.ownFlows.has(item.key)) return false
        const rate = Math.max(1, this.machine.limits.packetsPerSecond)
        let bucket = this.topicBuckets.get(item.key)
        if (!bucket) {
          if (this.topicBuckets.size >= Limits.pacersMax) {
            for (const [key, other] of this.topicBuckets) if (other.isFull(now)) this.topicBuckets.delete(key)
          }
          this.topicBuckets.set(item.key, bucket = new PacketPacer(rate, now))
        }
        return this.wait(bucket.take(rate, now))
      }
    }
  }

  /** @returns {boolean} whether `until` is now */
  wait(until) {
    if (until > 0) this.at = Math.min(this.at, until)
    return until === 0
  }

  keepNumber(entry, number) {
    const {instance, outbox, sent} = this.machine
    outbox?.numbered(entry, number, {instance, last: sent.lastNumber})
  }

  encode(item, now) {
    switch (item.kind) {
      case 'message': {
        const {message} = item
        const {part, channel, customType, key, text, echo, isRetained} = message
        // Of a drawing that has ended or begun anew meanwhile nothing is sent.
        const payload = part ? this.machine.drawings.bytesOf(part) : message.bytes
        if (!payload) return
        const number = message.number ?? this.machine.sent.lastNumber + 1
        this.machine.sent.lastNumber = Math.max(this.machine.sent.lastNumber, number)
        this.machine.sent.publishes.set(number, {message})
        this.machine.credits.sent(channel, now)
        // What is kept over a reload must know the number before the relay does.
        if (isRetained && (!part || part.isLast)) this.keepNumber(part ? part.drawing : message, number)
        if (part?.drawing.changes) {
          return this.machine.outbound.write({type: 'publishChanges', number, channel, part: part.number, parts: part.of, payload})
        }
        this.machine.outbound.write({
          type: 'publish', number, channel, customType, key, part: part?.number, parts: part?.of, text, echo, retain: isRetained,
          noHistory: message.isKept === false, payload,
        })
        return
      }
      case 'drawing':
        item.drawing.isUnderWay = true
        return
      case 'direct': {
        const {pending, user, customType, text, bytes} = item
        this.machine.sent.publishes.set(++this.machine.sent.lastNumber, {direct: pending})
        this.directWindow.unanswered++
        this.machine.outbound.write({type: 'direct', number: this.machine.sent.lastNumber, user, customType, text, payload: bytes})
        return
      }
      case 'packet': {
        const flow = this.machine.flows.ownFlows.get(item.key)
        if (flow === undefined) {
          this.machine.queue.dropped(1, item.key, 'topicNotJoined')
          return
        }
        if (item.echo) this.machine.session.wanted.echoing.add(item.key)
        return this.machine.outbound.write({...item, type: 'publishPacket', flow, payload: item.bytes})
      }
      default: this.machine.requests.ask(item.request, item.pending)
    }
  }
}
