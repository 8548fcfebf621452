// What waits to be sent, in the order of the calls.
import {checkedChanges} from './changes.js'
import {clientClosed, outcomeUnknown, problem, tooLarge} from './errors.js'
import {putInteger} from './frames.js'
import {writeJSON} from './json.js'
import {partsOfKey, sorted, topicKey} from './keys.js'
import {Limits} from './limits.js'
import {OutgoingDrawing} from './outgoing-drawing.js'
import {Pending} from './pending.js'
import {checkedName, contentOf, payloadOf, utf8} from './text.js'

/** Messages, packets, drawings and requests that wait for their turn. */
export class SendQueue {
  constructor(machine) {
    this.machine = machine
    /** Each item has a `kind`: message, direct, packet, drawing or request. */
    this.items = []
    /** Sums over the items. */
    this.bytes = 0
    this.packets = 0
    this.messages = 0
    /** The number of the last drawing without a key. */
    this.lastDrawing = 0
    /** What an earlier client object had not seen to its end, with what settles it. */
    this.takenUp = []
  }

  checkSize(bytes, customType, limit, what) {
    if (customType !== undefined) {
      const size = utf8(customType).length
      if (size < 1 || size > Limits.customTypeBytesMax) throw tooLarge('a custom type has 1 and', Limits.customTypeBytesMax, size)
      bytes += size
    }
    if (bytes > limit) throw tooLarge(what, limit, bytes)
    return bytes
  }

  /**
   * A message of its own; `key` with `isRetained` makes it the record of the key. [MS1, BL1]
   *
   * @throws {RelayError} `badName`, `tooLarge`, `badText`, `unsentFull`, `clientClosed`: nothing was queued
   */
  send({payload, channel, customType, echo = false, isKept = true, key, isRetained = false, accepted, stored}, now) {
    checkedName(channel)
    if (isRetained) checkedName(key)
    const {bytes, text} = payloadOf(payload)
    const size = this.checkSize(bytes.length, customType, this.machine.limits.messageBytesMax, 'payload and custom type have')
    const message = {channel, bytes, text, size, customType, echo, isKept, key, isRetained, accepted, stored}
    this.add({kind: 'message', message, size}, now)
  }

  sendDirect({payload, user, customType, pending}, now) {
    checkedName(user)
    const {bytes, text} = payloadOf(payload)
    const size = this.checkSize(bytes.length, customType, this.machine.limits.messageBytesMax, 'payload and custom type have')
    this.add({kind: 'direct', pending, user, bytes, text, customType, size}, now)
  }

  sendPacket({payload, channel, topic, slot, senderTime, echo}, now) {
    const key = topicKey(checkedName(channel), checkedName(topic))
    if (!this.machine.session.wanted.publishing.has(key)) throw problem('topicNotJoined', `topic ${topic} is not joined`)
    const {bytes, text} = payloadOf(payload)
    if (bytes.length > this.machine.limits.packetBytesMax) throw tooLarge('a packet has', this.machine.limits.packetBytesMax, bytes.length)
    for (const value of [slot, senderTime]) if (value !== undefined) putInteger([], value, 4)
    this.add({kind: 'packet', key, bytes, text, slot, senderTime, echo, queuedAt: now, size: bytes.length}, now)
  }

  /**
   * A drawing of up to 8 MiB, in parts where one message does not hold it. [BL8]
   *
   * The queue gets a marker only: when that has its turn the parts leave whenever the queue leaves room. What is sent behind
   * goes before it, but for messages and drawings with its key, which wait until it is accepted.
   */
  sendLarge({payload, channel, customType, key, isRetained, echo, accepted, stored}, now) {
    checkedName(channel)
    if (key !== undefined || isRetained) checkedName(key)
    const {bytes, text} = payloadOf(payload)
    if (bytes.length === 0) throw problem('badRequest', 'an empty payload removes a record: that is a call of its own')
    const {largeMessageBytesMax} = this.machine.limits
    const size = this.checkSize(bytes.length, customType, largeMessageBytesMax, 'payload and custom type of a drawing have')
    if (size <= this.machine.limits.messageBytesMax) {
      // One message that is not retained is a message like any other, without a key. [MS7]
      return this.send({
        payload: text ? payload : bytes, channel, customType, echo, key: isRetained ? key : undefined, isRetained, accepted, stored,
      }, now)
    }
    // Without a link they are many: as many as other messages, by their bytes.
    const [limit, actual] = [this.machine.settings.unsentBytesMax, this.machine.unsent.bytes + bytes.length]
    if (this.machine.drawings.list.length >= Limits.drawingsMax && actual > limit) {
      throw problem('unsentFull', 'too many bytes wait to be sent', {limit, actual})
    }
    const drawing = new OutgoingDrawing({
      channel, key: key ?? `part-${this.machine.instance}-${++this.lastDrawing}`, customType, isRetained, echo, text, bytes,
      accepted, stored,
    })
    if (!drawing.cut(this.machine.limits)) {
      throw problem('tooLarge', `a drawing has at most ${Limits.partsMax} parts`, {limit: Limits.partsMax})
    }
    this.addDrawing(drawing, now)
  }

  /** Many records of one board together, in parts of their own. [BL11] */
  sendChanges({changes, channel, accepted, stored}, now) {
    checkedName(channel)
    const {messageBytesMax, largeMessageBytesMax} = this.machine.limits
    const check = (bytes, customType) => this.checkSize(bytes, customType, messageBytesMax, 'payload and custom type have')
    const checked = checkedChanges(changes, check)
    const set = new OutgoingDrawing({channel, changes: checked, echo: false, accepted, stored})
    const bytes = set.places.reduce((sum, {contentBytes}) => sum + contentBytes, 0)
    if (bytes > largeMessageBytesMax) throw tooLarge('payloads and custom types of a change set have', largeMessageBytesMax, bytes)
    const waiting = this.machine.drawings.list.reduce((sum, other) => sum + (other.changes ? other.bytes.length : 0), set.bytes.length)
    const {unsentBytesMax} = this.machine.settings
    if (waiting > unsentBytesMax) {
      throw problem('unsentFull', 'too many bytes wait to be sent', {limit: unsentBytesMax, actual: waiting})
    }
    set.cut(this.machine.limits)
    this.addDrawing(set, now)
  }

  addDrawing(drawing, now) {
    this.machine.drawings.list.push(drawing)
    try {
      this.add({kind: 'drawing', drawing, size: 0}, now)
    } catch (error) {
      this.machine.drawings.list.pop()
      throw error
    }
  }

  /** @throws {RelayError} `tooLarge` (a body that is too large for a frame would end the connection), `unsentFull`, `clientClosed` */
  request(type, body, pending, now, texts = undefined) {
    const textBytes = texts ? texts.reduce((sum, text) => sum + text.length, 0) : 0
    if (texts) {
      const bytes = body.items.reduce((sum, {key}) => sum + key.length, textBytes)
      if (bytes > Limits.metadataBytesMax) throw tooLarge('keys and values of a set of metadata have', Limits.metadataBytesMax, bytes)
    }
    const bytes = writeJSON({...body, id: 2 ** 32 - 1}).length
    if (bytes > Limits.jsonBodyBytesMax - 2) throw tooLarge(`the body of ${type} takes`, Limits.jsonBodyBytesMax - 2, bytes)
    this.add({kind: 'request', pending, request: {type, body, texts}, size: 256 + textBytes}, now)
  }

  add(item, now) {
    if (this.machine.state === 'closed' || this.machine.closePending) throw clientClosed()
    const {unsentCountMax, unsentBytesMax} = this.machine.settings
    if (this.items.length >= unsentCountMax) {
      throw problem('unsentFull', 'too much waits to be sent', {limit: unsentCountMax, actual: this.items.length + 1})
    }
    // Drawings are bounded for themselves: they do not keep a small message out.
    const bytes = this.bytes + this.machine.sent.unstoredBytes + item.size
    if (bytes > unsentBytesMax) throw problem('unsentFull', 'too many bytes wait to be sent', {limit: unsentBytesMax, actual: bytes})
    const entry = item.message ?? item.drawing
    if (entry?.isRetained) this.machine.outbox?.add(entry)
    this.items.push(item)
    this.count(item, 1)
    this.machine.pump.run(now)
  }

  count(item, sign) {
    this.bytes += sign * item.size
    if ((item.kind === 'message' && !item.message.part) || item.kind === 'direct') this.messages += sign
    else if (item.kind === 'packet') this.packets += sign
  }

  /**
   * What was kept over a reload goes on as after a break: with the instance and the numbers that it had. [MS9]
   *
   * New numbers begin far above all that any other copy of what was kept may have used (a duplicated tab has one).
   */
  takeUp({head, entries}, now) {
    if (entries.some(({number}) => number > 0)) {
      this.machine.instance = head.instance
      this.machine.sent.lastNumber = head.last + 2 ** 20 + Math.floor(this.machine.settings.random() * 2 ** 40)
      this.machine.sent.sentUntil = head.ageMs >= 0 ? now - head.ageMs : -Infinity
    }
    for (const {id, number, isLarge, ...fields} of entries) {
      const kept = {...fields, isRetained: true, size: fields.bytes?.length ?? 0, number, accepted: new Pending(), stored: new Pending()}
      const {channel, accepted, stored} = kept
      const content = ({key, customType, text, bytes}) => ({key, customType, payload: contentOf(bytes, text)})
      const pendings = {accepted, stored}
      this.takenUp.push(kept.changes ? {channel, changes: kept.changes.map(content), pendings} : {channel, ...content(kept), pendings})
      if (number < 0) {
        this.machine.outbox.entries.set(kept, {id})
        this.machine.sent.settle(kept, {error: outcomeUnknown('a record')})
        continue
      }
      let item = {kind: 'message', message: kept, size: kept.size}
      let entry = kept
      if (isLarge || kept.changes) {
        entry = new OutgoingDrawing(kept)
        entry.cut(this.machine.limits)
        this.machine.drawings.list.push(entry)
        item = {kind: 'drawing', drawing: entry, size: 0}
        if (number !== undefined) {
          // Its last part was sent: the relay is asked what has become of that.
          Object.assign(entry, {isUnderWay: true, next: entry.parts + 1})
          item = {kind: 'message', message: {...entry.part(entry.parts), number}, size: 0}
        }
      }
      this.machine.outbox.entries.set(entry, {id, number})
      this.items.push(item)
      this.count(item, 1)
    }
  }

  /** All items; the queue is empty then. */
  takeAll() {
    const {items} = this
    this.items = []
    this.bytes = 0
    this.messages = 0
    this.packets = 0
    return items
  }

  /** Those that wait to be sent again stand before everything else. */
  get hasNumbered() {
    return this.items[0]?.message?.number !== undefined
  }

  numbered(matches) {
    if (!this.hasNumbered) return []
    return this.items.map(({message}) => message).filter(message => message?.number !== undefined && matches(message))
  }

  dropNumbered(matches) {
    const over = new Set(this.numbered(matches))
    this.withdraw(item => over.has(item.message))
  }

  /** @returns whether anything was there */
  withdraw(matches) {
    const before = this.items.length
    this.items = this.items.filter(item => {
      if (!matches(item)) return true
      this.count(item, -1)
      return false
    })
    return this.items.length < before
  }

  dropped(count, key, reason) {
    const [channel, topic] = partsOfKey(key)
    this.machine.unread.emit({type: 'packetsDropped', channel, topic, reason, dropped: count})
  }

  /** After a break: points that are older than a packet lives are noise by now. */
  dropStalePackets(now) {
    this.dropPackets('linkDown', queuedAt => now - queuedAt > Limits.packetLifetimeMs)
  }

  dropPackets(reason, matches = () => true) {
    const stale = new Map()
    this.items = this.items.filter(item => {
      if (item.kind !== 'packet' || !matches(item.queuedAt)) return true
      stale.set(item.key, (stale.get(item.key) ?? 0) + 1)
      this.count(item, -1)
      return false
    })
    for (const key of sorted(stale.keys())) this.dropped(stale.get(key), key, reason)
  }
}
