// The machine: a client as values in, values out.
import {bodyShapes, eventNames, holds} from './body-shapes.js'
import {Channels} from './channels.js'
import {Credits} from './credit.js'
import {ErrorCode, RelayError, clientClosed, fault, problem} from './errors.js'
import {Flows} from './flows.js'
import {frameHandlers} from './frame-handlers.js'
import {FrameReader} from './frames.js'
import {Heartbeat} from './heartbeat.js'
import {sorted} from './keys.js'
import {Limits, sessionLimitDefaults} from './limits.js'
import {Outbound} from './outbound.js'
import {Pump} from './pump.js'
import {ReceivedMessages} from './received-messages.js'
import {Requests} from './requests.js'
import {SendQueue} from './send-queue.js'
import {SentDrawings} from './sent-drawings.js'
import {SentMessages} from './sent-messages.js'
import {Session} from './session.js'
import {checkedName} from './text.js'
import {UnreadEvents} from './unread-events.js'
/** @import {MachineSettings} from './machine-types.js' */
/** @import {Credential, LinkState} from './types.js' */

/** Why a link ended, as the error for calls that still wait. */
function reasonError(reason) {
  switch (reason.kind) {
    case 'linkFailed': return problem('connectFailed', reason.text)
    case 'timedOut': return problem('timedOut', 'the relay did not let in in time')
    case 'relaySilent': return problem('timedOut', 'the relay has fallen silent')
    case 'relayClosed': return new RelayError(reason.code, reason.text)
    case 'loginRefused': return reason.error
    case 'relayFault': return problem('relayFault', reason.text)
    case 'otherRelay': return problem('otherRelay', `another relay answers here: ${reason.relay}`)
  }
  return clientClosed()
}

/**
 * A client without sockets, clocks and dice: calls and bytes in; bytes, effects and events out. `now` is in milliseconds on
 * any clock that does not run backwards.
 *
 * The shell tells what happens, then carries out `effects`, sends what `gather` gives, and calls `deadline` at `nextDeadline`.
 */
export class ClientMachine {
  /** @param {MachineSettings} settings */
  constructor(settings) {
    this.settings = {
      connectTimeoutMs: 10_000, unsentCountMax: 10_000, unsentBytesMax: 16 * 1024 * 1024, random: Math.random, ...settings,
    }
    if (settings.code === undefined) checkedName(settings.user)
    /** As the relay names it in flows and locks. [SE8] */
    this.device = settings.device?.toLowerCase() ?? '0'.repeat(16)
    this.instance = settings.instance
    /** Calls that wait until the client has logged in, or cannot. @type {Pending[]} */
    this.connecting = []
    /** Changed by `renew`. [AC8] */
    this.credential = settings.credential
    /** What the join code of the first login stood for. [AC20] @type {{key: string, channel: string}|undefined} */
    this.invitation = undefined
    this.outbox = settings.outbox
    /** @type {'idle'|'connecting'|'live'|'waiting'|'paused'|'closed'} `connecting` since `since`, `waiting` until `until` */
    this.state = 'idle'
    /** @type {LinkState} */
    this.linkState = {state: 'idle'}
    /** The number of the link: what an earlier one says is not heard. */
    this.attempt = 0
    /** Links that failed since one was good. */
    this.failures = 0
    this.closeBy = Infinity
    this.logoutIsSent = false
    this.limits = {...sessionLimitDefaults}
    this.effects = []
    this.reader = new FrameReader()
    /** Whether incoming bytes wait for the app's readers. */
    this.isHeldBack = false

    this.heartbeat = new Heartbeat(this)
    this.outbound = new Outbound()
    this.unread = new UnreadEvents(this)
    this.queue = new SendQueue(this)
    this.pump = new Pump(this)
    this.credits = new Credits(this)
    this.sent = new SentMessages(this)
    this.drawings = new SentDrawings(this)
    this.requests = new Requests(this)
    this.session = new Session(this)
    this.channels = new Channels(this)
    this.messages = new ReceivedMessages(this)
    this.flows = new Flows(this)
  }

  // MARK: Calls of the app

  send(message, now) {
    this.queue.send(message, now)
  }

  sendLarge(drawing, now) {
    this.queue.sendLarge(drawing, now)
  }

  sendChanges(set, now) {
    this.queue.sendChanges(set, now)
  }

  sendDirect(message, now) {
    this.queue.sendDirect(message, now)
  }

  sendPacket(packet, now) {
    this.queue.sendPacket(packet, now)
  }

  request(type, body, pending, now, texts) {
    this.queue.request(type, body, pending, now, texts)
  }

  /** Its caller has stopped waiting. @returns {'nothingHappened'|'unknown'} its outcome */
  withdraw(pending) {
    return this.requests.withdraw(pending)
  }

  // MARK: What the shell takes

  takeEffects() {
    const {effects} = this
    this.effects = []
    return effects
  }

  /**
   * Whole frames that wait for the link, at most 64 KiB or one larger frame; `undefined` if there are none. What is given
   * counts as sent.
   */
  gather(now) {
    const bytes = this.outbound.take()
    if (bytes) this.pump.run(now)
    return bytes
  }

  /** What has happened since: each event with what it holds, in bytes. @returns {{event: object, cost: number}[]} */
  takeEvents() {
    return this.unread.events.splice(0)
  }

  /** Tells the sender of a direct message that the app has it. [DM2] */
  acknowledge({delivery, attempt}) {
    if (attempt === this.attempt && this.state === 'live') this.outbound.write({type: 'directReceived', delivery})
  }

  /** Ends the link until `goOn`: too much waits for the app's readers. */
  pause(limit, waiting, now) {
    this.end({kind: 'eventsNotRead', limit, waiting}, now)
  }

  goOn(now) {
    if (this.state === 'paused') this.open(now)
  }

  get unsent() {
    const drawingBytes = this.drawings.list.reduce((sum, drawing) => sum + drawing.bytes.length, 0)
    return {
      messages: this.queue.messages + this.drawings.list.filter(drawing => !drawing.isAccepted).length, packets: this.queue.packets,
      bytes: this.queue.bytes + this.sent.unstoredBytes + drawingBytes, unstored: this.sent.unstored.size, unkept: this.outbox?.unkept ?? 0,
    }
  }

  get nextDeadline() {
    switch (this.state) {
      case 'connecting': return Math.min(this.since + this.settings.connectTimeoutMs, this.closeBy)
      case 'live': return Math.min(this.heartbeat.nextDeadline, this.pump.at, this.closeBy)
      case 'waiting': return Math.min(this.until, this.closeBy)
      default: return this.closeBy
    }
  }

  // MARK: What happens to the link

  /** @param {Pending} [pending] settled at the next login, or when the next attempt fails, with its error; the client goes on trying */
  connect(pending, now) {
    if (this.state === 'closed') return pending?.settle({error: clientClosed()})
    if (this.state === 'live') return pending?.settle({})
    if (pending) this.connecting.push(pending)
    if (this.state === 'idle') this.takeUp(now)
    if (this.state === 'idle' || this.state === 'waiting') this.open(now)
    return undefined
  }

  /** Who this is, where the shell has to look for it first. @param {{secret?: string, device: string, outbox?: Outbox}} identity */
  identify({secret, device, outbox}) {
    Object.assign(this.settings, {secret, device})
    this.device = device.toLowerCase()
    this.outbox = outbox
  }

  /** What an earlier client object has left, once. */
  takeUp(now) {
    if (this.outbox && !this.isTakenUp) this.queue.takeUp(this.outbox.load(), now)
    this.isTakenUp = true
  }

  settleConnecting(result) {
    for (const pending of this.connecting.splice(0)) pending.settle(result)
  }

  open(now) {
    this.attempt++
    this.state = 'connecting'
    this.since = now
    this.unread.emit({type: 'link', state: 'connecting'})
    this.effects.push({openLink: this.attempt})
  }

  linkOpened(attempt, now) {
    if (attempt !== this.attempt || this.state !== 'connecting') return
    this.reader = new FrameReader()
    this.flows.lostEarly = []
    this.outbound.drop()
    this.heartbeat.heard(now)
    const {user, secret, code, device, onlyDevice, presenceTimeoutMs, readerLimits, description, space} = this.settings
    // A code stands in place of user id and token, until the welcome has told the id. [AC17]
    const who = code === undefined ? {user, secret, ...this.credential} : {code, key: this.credential?.key}
    const body = {
      id: this.requests.nextID(), versions: [1], capabilities: ['goOn'], ...who, instance: this.instance,
      device, onlyDevice: onlyDevice || undefined, lastNumber: this.sent.lastNumber || undefined,
      presenceTimeoutMs, readerLimits, client: description, resume: this.session.resumption, space,
    }
    this.outbound.write({type: 'login', body})
  }

  linkEnded(attempt, text, now) {
    if (attempt === this.attempt) this.end({kind: 'linkFailed', text}, now)
  }

  /** Bytes from the relay: what is wrong with them ends the link with a reason. @param {Uint8Array} bytes */
  received(bytes, attempt, now) {
    if (attempt !== this.attempt) return
    this.heartbeat.heard(now)
    this.reader.push(bytes)
    try {
      for (let frame, before; before = this.reader.buffer.length, attempt === this.attempt && (frame = this.reader.next());) {
        this.unread.frameBytes = before - this.reader.buffer.length
        this.receive(frame, now)
        if (this.outbound.bytes > Limits.outboundBytesMax) {
          throw fault(`the relay asks and does not read: ${this.outbound.bytes} bytes wait for it`)
        }
      }
    } catch (error) {
      if (attempt === this.attempt) this.end({kind: 'relayFault', text: error.message}, now)
      if (!(error instanceof RelayError)) throw error
    } finally {
      this.unread.frameBytes = 0
      this.unread.flushBatch()
      this.pump.run(now)
    }
  }

  deadline(now) {
    if (now >= this.closeBy) {
      if (this.state !== 'live' || this.logoutIsSent) return this.finish({kind: 'closedByApp'})
      this.queue.dropPackets('closed')
      return this.pump.logOut(now)
    }
    if (this.state === 'connecting' && now >= this.since + this.settings.connectTimeoutMs) return this.end({kind: 'timedOut'}, now)
    if (this.state === 'waiting' && now >= this.until) return this.open(now)
    if (this.state !== 'live') return undefined
    if (this.heartbeat.deadline(now) === 'silent') return this.end({kind: 'relaySilent'}, now)
    this.pump.run(now)
    return undefined
  }

  wakeUp(now) {
    if (this.state === 'waiting') this.open(now)
    else if (this.state === 'live') this.heartbeat.probe(now)
  }

  /** The link is over; what follows depends on why. @param {string} [address] where the relay says that another serves */
  end(reason, now, address = undefined) {
    if (this.state === 'closed' || this.state === 'paused') return
    const wasLive = this.state === 'live'
    this.effects.push({closeLink: this.attempt})
    this.attempt++
    this.sent.failInFlight(now)
    this.unread.flushBatch()
    this.unread.forgetGathered()
    // A record is sent again from its first part; parts of other drawings are messages, which go on.
    for (const channel of sorted(this.messages.partials.keys())) this.messages.dropPartials(channel, false, drawing => drawing.isRetained)
    this.heartbeat.linkEnded()
    const comesBack = reason.kind === 'relayClosed' ? reason.code >= 200 && reason.code < 300
      // With another token it may, and the app can still bring one; and what is full now has a time. [AC8, ER5]
      : reason.kind === 'loginRefused' ? reason.error.retryAfterMs !== undefined
          || this.session.logins > 0 && reason.error.code === ErrorCode.tokenExpired
      : reason.kind !== 'closedByApp'
    if (this.closePending) return this.finish({kind: 'closedByApp'})
    if (!comesBack) return this.finish(reason)
    if (reason.kind === 'eventsNotRead') {
      this.state = 'paused'
      return this.unread.emit({type: 'link', state: 'paused', reason})
    }
    if (wasLive && now - this.liveSince >= Limits.linkGoodAfterMs) this.failures = 0
    const isElsewhere = this.settings.places?.moveOn(reason, wasLive, address)
    if (!isElsewhere) this.settleConnecting({error: reasonError(reason)})
    // "Full jitter" spreads the clients of a relay that restarts.
    const bound = Math.min(Limits.backoffCapMs, Limits.backoffBaseMs * 2 ** Math.min(this.failures - 1, 16))
    const pause = isElsewhere || this.failures === 0 ? 0 : Math.floor(this.settings.random() * bound)
    const afterMs = pause + (reason.error?.retryAfterMs ?? 0)
    if (!isElsewhere || this.failures === 0) this.failures++
    this.state = 'waiting'
    this.until = now + afterMs
    this.unread.emit({type: 'link', state: 'waiting', afterMs, reason})
  }

  finish(reason) {
    if (this.state === 'closed') return
    if (this.state !== 'paused') this.effects.push({closeLink: this.attempt})
    this.attempt++
    this.state = 'closed'
    this.closeBy = Infinity
    this.queue.dropPackets('closed')
    const error = reasonError(reason)
    this.sent.failAll(error)
    this.unread.emit({type: 'link', state: 'closed', reason})
    this.settleConnecting({error})
    this.closePending?.settle({})
  }

  /** Sends what waits, logs out, ends. @param {Pending} pending */
  close(pending, now) {
    if (this.state === 'closed') return pending.settle({})
    this.closePending?.settle({})
    this.closePending = pending
    // Packets are stale by then.
    const hasUnsent = this.queue.items.length - this.queue.packets + this.drawings.list.length + this.sent.unstored.size > 0
    if (this.state === 'idle' || (this.state !== 'live' && !hasUnsent)) return this.finish({kind: 'closedByApp'})
    this.closeBy = now + Limits.closeDrainTimeoutMs
    if (this.state === 'waiting') this.open(now)
    return this.pump.run(now)
  }

  /** Another credential: for the session that is there, or for the next login. [AC8] */
  renew(credential, pending, now) {
    if (credential.joinCode !== undefined) throw problem('badRequest', 'a join code is for the first login')
    if (this.state === 'live') return this.queue.request('renew', credential, pending, now)
    if (this.state === 'closed') throw clientClosed()
    this.credential = credential
    pending.settle({})
    return this.wakeUp(now)
  }

  /** What it takes of packets: now, and at each login. [DL11] */
  setReaderLimits(readerLimits, pending, now) {
    this.queue.request('setReaderLimits', readerLimits, pending, now)
    this.settings.readerLimits = readerLimits
  }

  receive(frame, now) {
    const {type, code, body} = frame
    // A newer relay may say what this client does not know. [FR6]
    if (type === undefined) return
    if (code < 0x80 && type !== 'ping' && type !== 'pong') throw fault(`the relay sent a ${type}, which only clients send`)
    const events = eventNames[type]
    if (events && typeof body.event === 'string' && !events.includes(body.event)) return
    if (bodyShapes[type]) holds(bodyShapes[type], body, type)
    frameHandlers[type]?.(this, body ?? frame, now, frame)
  }
}
