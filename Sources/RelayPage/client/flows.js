// Flows of packets, and which of their packets are lost. [ST6, ST9, DL6, SE9]
import {fault} from './errors.js'
import {topicKey} from './keys.js'
import {Limits} from './limits.js'
import {contentOf} from './text.js'

const lostEntry = (flow, {channel, topic, user, device}, first, last) => ({flow, channel, topic, publisher: user, device, first, last})

/** The flows of others that are heard, and the own ones. */
export class Flows {
  constructor(machine) {
    this.machine = machine
    /** Of one user in one topic there may be several. @type {Map<number, {channel, topic, user, device, next, told: [number, number][]}>} */
    this.byHandle = new Map()
    /** Handles of own flows, by topic. @type {Map<string, number>} */
    this.ownFlows = new Map()
    /** The reverse. @type {Map<number, string>} */
    this.ownTopics = new Map()
    /** Flows that closed lately, which a resumption names again. */
    this.closed = new Set()
    /** Flows known before a resumption that it has not named so far. */
    this.unconfirmed = new Set()
    /** Told lost of flows whose opening is still to come on this link. [DL6] */
    this.lostEarly = []
  }

  packet({flow: handle, sequence, slot, senderTime, payload, text}) {
    const flow = this.byHandle.get(handle)
    const content = contentOf(payload, text)
    // What still comes of a topic that was given up is not wanted.
    if (!flow) return
    if (sequence < flow.next) throw fault(`packet ${sequence} of flow ${handle} after ${flow.next - 1}`)
    flow.next = sequence + 1
    flow.told = flow.told.filter(([, last]) => last > sequence)
    const {channel, topic, user, device} = flow
    const event = {channel, topic, publisher: user, device, flow: handle, sequence, slot, senderTime, payload: content}
    this.machine.unread.emit({type: 'packet', ...event})
  }

  lost({reason, ranges}) {
    const entries = []
    for (const {flow: handle, first, last} of ranges) {
      if (first > last) throw fault(`a lost range ${first}…${last}`)
      const flow = this.byHandle.get(handle)
      if (flow) {
        if (flow.told.length >= Limits.toldRangesMax) throw fault('too many lost ranges of one flow')
        if (last >= flow.next) flow.told.push([first, last])
        entries.push(lostEntry(handle, flow, first, last))
      } else if (!this.closed.has(handle)) {
        // The notice stands where the first packet was shed; this flow's opening may stand behind it. [DL6]
        // What is left of topics that were given up goes first.
        if (this.lostEarly.length >= Limits.toldRangesMax) this.lostEarly.shift()
        this.lostEarly.push({handle, reason, first, last})
      }
    }
    this.tellLost(['', 'slowReader', 'expired', 'catchingUp', 'readerLimit'][reason] || `other ${reason}`, entries)
  }

  tellLost(reason, entries) {
    if (entries.length > 0) this.machine.unread.emit({type: 'packetsLost', reason, entries})
  }

  opened({flow: handle, channel: channelHandle, topic, user, device, next, from}) {
    if (this.byHandle.size >= Limits.flowsMax) throw fault('the relay opens too many flows')
    const channel = this.machine.channels.byHandle.get(channelHandle)?.channel
    // A resumption names again what has closed lately. [SE9]
    if (channel === undefined || this.closed.has(handle)) return
    this.unconfirmed.delete(handle)
    const known = this.byHandle.get(handle)
    this.byHandle.set(handle, {channel, topic, user, device, next, told: []})
    this.tellMissing(handle, known, from)
  }

  closedByRelay({flow}) {
    this.byHandle.delete(flow)
    this.closed.add(flow)
    if (this.closed.size > Limits.closedFlowsMax) this.closed.delete(this.closed.values().next().value)
  }

  packetsDropped({flow, dropped}) {
    const key = this.ownTopics.get(flow)
    if (key) this.machine.queue.dropped(dropped, key, 'overRate')
  }

  tellMissing(handle, known, from) {
    const flow = this.byHandle.get(handle)
    const {next} = flow
    // Of a flow that is new on this link all that was meant for the session went with the one before.
    const missing = known ? Math.max(known.next, from ?? 1) : from ?? next
    this.tellUntold(handle, {...flow, next: missing, told: known?.told ?? []}, next - 1)
    // What was told lost of it before it was opened.
    const early = this.lostEarly.filter(range => range.handle === handle)
    this.lostEarly = this.lostEarly.filter(range => range.handle !== handle)
    for (const {reason, first, last} of early) this.lost({reason, ranges: [{flow: handle, first, last}]})
  }

  /** Packets of a flow that did not come and were not told lost, up to `end` or without one. */
  tellUntold(handle, flow, end = Infinity) {
    if (!this.isHeard(flow)) return
    const entries = []
    let missing = flow.next
    for (const [first, last] of flow.told.sort((left, right) => left[0] - right[0])) {
      if (last < missing) continue
      if (first > missing) entries.push(lostEntry(handle, flow, missing, Math.min(end, first - 1)))
      missing = last + 1
    }
    if (missing <= end) entries.push(lostEntry(handle, flow, missing, end === Infinity ? undefined : end))
    this.tellLost('linkBroken', entries)
  }

  /** Whether its packets come to this client: those of other devices of this user do, one's own with an echo. [ST13] */
  isHeard({user, device, channel, topic}) {
    const {settings, device: own} = this.machine
    return user !== settings.user || device !== own || this.machine.session.wanted.echoing.has(topicKey(channel, topic))
  }

  /** Flows that the relay did not name again after a resumption have closed meanwhile. [SE9] */
  closeUnconfirmed() {
    for (const handle of [...this.unconfirmed].sort((left, right) => left - right)) {
      const flow = this.byHandle.get(handle)
      this.byHandle.delete(handle)
      if (flow) this.tellUntold(handle, flow)
    }
    this.unconfirmed.clear()
  }
}
