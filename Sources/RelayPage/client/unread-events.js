// Events on their way to the app.
import {Limits} from './limits.js'

/** Events for the app, in order, until the shell hands them to readers. */
export class UnreadEvents {
  constructor(machine) {
    this.machine = machine
    /** `{event, cost}`; `cost`: what it holds, in bytes, with `Limits.eventBytes`. */
    this.events = []
    /** The size of the frame that is being read: what its events cost. */
    this.frameBytes = 0
    /** Records of a board that is read, not told yet. */
    this.batch = undefined
    this.batchBytes = 0
    /** Records that come to live subscribers by catching up, not told before all have come, by channel. [HI7, BL11] */
    this.gathered = new Map()
  }

  /** @param {number} [bytes] about what it holds; if it is not said, what the frame has that it tells */
  emit(event, bytes = this.frameBytes) {
    this.flushBatch()
    if (event.type === 'link') {
      const {type, ...state} = event
      this.machine.linkState = state
    }
    this.events.push({event, cost: Limits.eventBytes + bytes})
  }

  /** Records that come while a board is read are gathered. */
  tell(message, channel, bytes) {
    const {messages} = this.machine
    const reading = messages.readings.get(channel)
    if (!reading && messages.behind.has(channel)) return this.gather(message, channel, bytes)
    if (!message.isRetained || !reading) return this.emit(message, bytes)
    if (this.batch?.channel !== channel) this.flushBatch()
    this.batch ??= {type: 'board', channel, messages: [], progress: 0}
    this.batch.messages.push(message)
    const {after, head} = reading
    this.batch.progress = head > after ? Math.min(1, Math.max(0, message.offset - after) / (head - after)) : 1
    this.batchBytes += bytes
    if (this.batch.messages.length >= Limits.batchMessagesMax || this.batchBytes >= Limits.batchBytesMax) this.flushBatch()
    return undefined
  }

  /** A change set is told as one. */
  gather(message, channel, bytes) {
    if (!message.isRetained) {
      this.tellGathered(channel)
      return this.emit(message, bytes)
    }
    let gathered = this.gathered.get(channel)
    if (gathered?.messages.length >= Limits.gatheredMax || gathered?.bytes + bytes > Limits.gatheredBytesMax) {
      this.tellGathered(channel)
      gathered = undefined
    }
    gathered ??= {messages: [], bytes: 0}
    gathered.messages.push(message)
    gathered.bytes += bytes
    this.gathered.set(channel, gathered)
    return undefined
  }

  /** Before whatever comes behind them in their channel. */
  tellGathered(channel) {
    const {messages, bytes} = this.gathered.get(channel) ?? {}
    if (!messages) return
    this.gathered.delete(channel)
    if (messages.length === 1) this.emit(messages[0], bytes)
    else this.emit({type: 'board', channel, messages, progress: 1}, bytes + messages.length * Limits.eventBytes)
  }

  /** The link has ended: what was not told comes again. */
  forgetGathered() {
    const {positions} = this.machine.messages
    for (const [channel, {messages: [first]}] of this.gathered) {
      const position = positions.get(channel)
      if (position) positions.set(channel, {...position, offset: first.offset - 1})
    }
    this.gathered.clear()
  }

  /** Before whatever comes behind it, and when nothing more has come for now. */
  flushBatch() {
    const {batch, batchBytes} = this
    if (!batch) return
    this.batch = undefined
    this.batchBytes = 0
    this.emit(batch, batchBytes + batch.messages.length * Limits.eventBytes)
  }
}
