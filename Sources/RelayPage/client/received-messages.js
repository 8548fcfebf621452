// Messages that come, and where each message channel stands. [BL3–BL8]
import {fault} from './errors.js'
import {channelKey, isSameEpoch} from './keys.js'
import {Limits} from './limits.js'
import {messageOf} from './message.js'
import {PartialDrawings} from './partial-drawings.js'
import {contentOf, textOf} from './text.js'
/** @import {Epoch} from './types.js' */

/** Positions in message channels, and what is put together of parts. */
export class ReceivedMessages {
  constructor(machine) {
    this.machine = machine
    /** Names of users, by handle. @type {Map<number, string>} */
    this.users = new Map()
    // By the channel's name:
    /** The newest offset seen: everything before it has come, or was told. @type {Map<string, {epoch: Epoch, offset: number}>} */
    this.positions = new Map()
    /** Channels that were live, and get what is kept again for a while. [HI7] */
    this.behind = new Set()
    /** Up to where messages were told missed. @type {Map<string, {epoch: Epoch, offset: number}>} */
    this.missedThrough = new Map()
    /** Boards that are being read from the beginning, or anew. @type {Map<string, {after: number, head: number}>} */
    this.readings = new Map()
    /** Drawings whose last part has not come. @type {Map<string, PartialDrawings>} */
    this.partials = new Map()
    /** Channels that catch up. @type {Set<string>} */
    this.catchingUp = new Set()
    /** Large drawings of others that did not come to their end. */
    this.drawingsDropped = 0
  }

  userNamed({handle, user}) {
    if (this.users.size >= Limits.userNamesMax) throw fault('the relay names too many users')
    this.users.set(handle, user)
  }

  /**
   * Where a message channel stands: what was missed is told, and what is kept follows.
   *
   * Another epoch without `reset` is the same board after a restart of the relay: it goes on. [BL5]
   */
  standing({kind, channel, epoch, head, reset, missed, after}, start) {
    if (kind !== 'message' || epoch === undefined || head === undefined) return
    if (reset) this.machine.unread.emit({type: 'messagesMissed', channel, epoch, extent: 'reset'})
    if (reset || start !== 'goesOn') this.missedThrough.delete(channel)
    if (missed) this.tellMissed(missed, channel, epoch)
    const isTold = reset || missed
    const before = this.positions.get(channel)?.epoch
    // What was sent in parts to an earlier start of the relay will not go on.
    if (isTold || (before && !isSameEpoch(before, epoch))) this.dropPartials(channel, !isTold)
    if (after !== undefined) {
      this.catchingUp.add(channel)
      this.machine.unread.tellGathered(channel)
      this.behind.delete(channel)
      if (reset || start === 'beginning') this.readings.set(channel, {after, head})
      else if (start === 'elsewhere') this.readings.delete(channel)
      else if (this.readings.has(channel)) this.readings.get(channel).head = head
      this.positions.set(channel, {epoch, offset: after})
    } else if (!this.isCatchingUp(channel)) {
      this.positions.set(channel, {epoch, offset: head})
    }
  }

  deliver(frame) {
    const {key, part, parts: of, payload, offset, text, time, customType} = frame
    const isRetained = frame.retain ?? false
    const isEnd = part === 0
    if (part !== undefined && (of < 2 || part > of || key === undefined || (payload.length === 0) !== isEnd || (isEnd && isRetained))) {
      throw fault(`part ${part} of ${of}, ${payload.length} bytes, of a drawing`)
    }
    const content = part === undefined ? contentOf(payload, text) : undefined
    if (isRetained && key === undefined) throw fault('a record without a key')
    const channel = this.machine.channels.byHandle.get(frame.channel)?.channel
    if (channel === undefined) return
    const sender = this.users.get(frame.publisher)
    if (sender === undefined) throw fault(`a message of publisher ${frame.publisher}, who was not named`)
    // The parts of a record come one behind the other: of one below this, the rest will not come.
    this.dropPartials(channel, true, drawing => drawing.isRetained && drawing.offset < offset)
    const position = this.positions.get(channel)
    // What the parts of a drawing that is no record had in common says nothing to anybody else.
    const shown = {...frame, key: isRetained ? key : undefined}
    const tell = (bytes, carried) => {
      const message = messageOf(shown, {channel, sender, epoch: position?.epoch, payload: carried})
      return this.machine.unread.tell(message, channel, bytes.length)
    }
    if (part === undefined) {
      this.see(offset, channel)
      return tell(payload, content)
    }
    // A retained one has not been seen before its last part.
    this.see(isRetained && part < of ? offset - Math.min(1, offset) : offset, channel)
    if (isEnd) {
      // Its publisher has given it up.
      this.dropPartials(channel, true, drawing => !drawing.isRetained && drawing.sender === sender && drawing.key === key)
      return undefined
    }
    if (!this.partials.has(channel)) this.partials.set(channel, new PartialDrawings())
    const partials = this.partials.get(channel)
    const bytesMax = Math.min(this.machine.limits.largeMessageBytesMax, Limits.drawingBytesMax)
    const {whole, isBroken, givenUp} = partials.add(
      {sender, key, isRetained, isText: text ?? false, customType, offset, time, part, parts: of, bytes: payload.slice()}, bytesMax)
    if (partials.drawings.length === 0) this.partials.delete(channel)
    this.drawingsGivenUp(givenUp, channel)
    if (isBroken) {
      this.drawingsDropped++
      // One may have come in the middle of it.
      if (part === of) this.missed(offset, channel)
    } else if (whole) {
      // A publisher's invalid text stays bytes. [BL8]
      let carried = whole
      try {
        if (text) carried = textOf(whole)
      } catch {}
      tell(whole, carried)
    }
    return undefined
  }

  dropPartials(channel, isTold, isOver = () => true) {
    const partials = this.partials.get(channel)
    if (!partials) return
    const over = partials.remove(isOver)
    if (partials.drawings.length === 0) this.partials.delete(channel)
    if (isTold) this.drawingsGivenUp(over, channel)
    else this.drawingsDropped += over.length
  }

  drawingsGivenUp(drawings, channel) {
    this.drawingsDropped += drawings.length
    for (const {offset} of drawings) this.missed(offset, channel)
  }

  missed(offset, channel) {
    this.machine.unread.tellGathered(channel)
    const {epoch} = this.positions.get(channel) ?? {}
    this.machine.unread.emit({type: 'messagesMissed', channel, epoch, extent: {from: offset, to: offset}})
  }

  see(offset, channel) {
    const position = this.positions.get(channel)
    if (position) this.positions.set(channel, {epoch: position.epoch, offset: Math.max(position.offset, offset)})
  }

  /** What is accepted comes later: that an own message was accepted does not say that all before it has come. */
  isCatchingUp(channel) {
    return this.catchingUp.has(channel) || this.behind.has(channel)
  }

  /** The relay no longer keeps messages that were still to come. Records of that range may still come, so nobody has seen it. [HI4, BL3] */
  gap({channel: handle, from, to}) {
    const channel = this.machine.channels.byHandle.get(handle)?.channel
    const position = this.positions.get(channel)
    if (!position) return
    this.dropPartials(channel, false, drawing => !drawing.isRetained)
    this.tellMissed({from, to}, channel, position.epoch)
  }

  /** Once: after a break the relay tells again what lies behind the last message that was seen. */
  tellMissed({from, to}, channel, epoch) {
    const through = this.missedThrough.get(channel)
    const told = isSameEpoch(through?.epoch, epoch) ? through.offset : 0
    if (to <= told) return
    this.missedThrough.set(channel, {epoch, offset: to})
    this.machine.unread.tellGathered(channel)
    this.machine.unread.emit({type: 'messagesMissed', channel, epoch, extent: {from: Math.max(from, told + 1), to}})
  }

  /** It was live, and gets what is kept again for a while. [HI7] */
  fellBehind({channel: handle}) {
    const channel = this.machine.channels.byHandle.get(handle)?.channel
    if (channel !== undefined) this.behind.add(channel)
  }

  caughtUp({channel: handle, head}) {
    const channel = this.machine.channels.byHandle.get(handle)?.channel
    if (!this.positions.has(channel)) return
    this.dropPartials(channel, true, drawing => drawing.isRetained)
    this.see(head, channel)
    this.readings.delete(channel)
    // With a large drawing, a change set, or an undone `clear`: nothing that the app waits for. [HI7]
    this.machine.unread.tellGathered(channel)
    this.behind.delete(channel)
    if (this.catchingUp.delete(channel)) this.machine.unread.emit({type: 'caughtUp', channel, head})
  }

  cleared({channel: handle, offset, user, time}) {
    const channel = this.machine.channels.byHandle.get(handle)?.channel
    if (channel === undefined) return
    this.see(offset, channel)
    this.machine.unread.tellGathered(channel)
    this.machine.unread.emit({type: 'cleared', channel, offset, user, wallMilliseconds: time})
  }

  /** As a subscription that is answered with `reset`. [BL4] */
  reset({channel: handle, epoch, head}) {
    const {kind, channel} = this.machine.channels.byHandle.get(handle) ?? {}
    if (kind !== 'message') return
    const receives = this.machine.session.wanted.channels.get(channelKey(kind, channel))?.features.includes('messages')
    this.dropPartials(channel, false)
    this.machine.unread.gathered.delete(channel)
    this.machine.unread.emit({type: 'messagesMissed', channel, epoch, extent: 'reset'})
    this.missedThrough.delete(channel)
    this.positions.set(channel, {epoch, offset: receives ? 0 : head})
    if (!receives) return
    this.catchingUp.add(channel)
    this.readings.set(channel, {after: 0, head})
  }

  /** Drops a channel's incomplete drawings, and ends reading its board. */
  forgetBoard(channel) {
    this.dropPartials(channel, false)
    this.machine.unread.tellGathered(channel)
    for (const known of [this.readings, this.missedThrough, this.behind]) known.delete(channel)
  }
}
