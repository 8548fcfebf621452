// The client that apps use.
import {Board} from './board.js'
import {hexadecimal, keepSecret, keptSecret, tabsDevice} from './identity.js'
import {channelID, channelKey, sorted} from './keys.js'
import {Limits} from './limits.js'
import {credentialOf, webSocketTransport} from './links.js'
import {Locks} from './locks.js'
import {ClientMachine} from './machine.js'
import {Metadata} from './metadata.js'
import {Moderation} from './moderation.js'
import {Outbox} from './outbox.js'
import {all} from './pages.js'
import {ownerOf, waitingRequest} from './part.js'
import {Pending} from './pending.js'
import {Presence} from './presence.js'
import {Sending} from './sending.js'
import {StreamChannel} from './stream-channel.js'
import {checkedName} from './text.js'
/**
 * @import {ChannelID, ChannelReference, ClientEvent, ClientOptions, Credential, Epoch, Feature, LinkState, Message} from './types.js'
 * @import {MetadataReference, ReaderLimits, RestoredMessage, Since, Transport} from './types.js'
 */

/**
 * A client of a whiteboard relay.
 *
 * Every call takes its place in the one order before it returns; what comes back comes in one sequence, in the relay's order.
 * A broken link is made again by itself, with all that was subscribed; what was missed meanwhile is told.
 */
export class RelayClient extends Sending {
  /**
   * Connects and logs in.
   *
   * @param {string|URL|Transport} address as the relay prints it, or a link to a board; its `#key=…` is the credential if the
   *   options have none
   * @param {string|undefined} user the user's id [NM1]; with the option `code` the relay tells it
   * @param {ClientOptions} [options]
   * @throws {RelayError} `badName`; `connectFailed` or `timedOut` when the relay cannot be reached; a code of the relay's, such as
   *   `codeWrong`
   */
  static async connect(address, user, options) {
    const client = new RelayClient(address, user, options)
    await client.ready
    return client
  }

  /** As `connect`, for who wants to send before the first login: what is sent waits. */
  constructor(address, user, {storage, scope, secret, wallClock, credential, code, device, ...settings} = {}) {
    super()
    const isAddress = typeof address !== 'function'
    if (isAddress) {
      scope ??= new URL(address).host
      credential ??= credentialOf(address)
    }
    const place = scope ?? 'relay'
    const key = (what, user) => `boardrelay.${what}.${place}.${checkedName(user)}`
    const outbox = user => storage && new Outbox(storage, key('outbox', user), wallClock)
    const identity = code === undefined ? {user, secret: secret ?? keptSecret(storage, key('secret', user)), outbox: outbox(user)} : {code}
    /** What comes of a code: kept as if the user had always been one of this installation. */
    this.keepUser = ({user, secret}) => {
      if (secret !== undefined) keepSecret(storage, key('secret', user), secret)
      this.machine.outbox = outbox(user)
    }
    this.transport = isAddress ? webSocketTransport(address) : address
    this.handlers = new Map()
    this.iterators = []
    this.isDelivering = false
    this.machine = new ClientMachine({
      description: 'relay-client.js', ...settings, ...identity, instance: hexadecimal(16), credential,
      device: device ?? tabsDevice(`boardrelay.device.${place}`),
    })
    /** Settled at the first login, or with why there was none. @type {Promise<void>} */
    this.ready = this.ask((machine, pending, now) => machine.connect(pending, now))
    this.ready.catch(() => {})
  }

  /**
   * Has `handler` called with each event of a type (`ClientEvent`), or with all (`*`), in the relay's order. Events that come
   * before there is any handler wait for the first; later ones of a type that has none are dropped.
   *
   * @template {ClientEvent['type']|'*'} Type
   * @param {Type} type
   * @param {(event: Type extends '*' ? ClientEvent : Extract<ClientEvent, {type: Type}>) => void} handler
   * @returns {() => void} takes the handler away
   */
  on(type, handler) {
    const handlers = this.handlers.get(type) ?? new Set()
    this.handlers.set(type, handlers.add(handler))
    queueMicrotask(() => this.deliver())
    return () => handlers.delete(handler)
  }

  /**
   * Everything that happens, for `for await`. For one reader: with several, each event goes to one of them. As long as one is
   * open an event is taken when it asks; handlers are called at that moment.
   *
   * @returns {AsyncIterable<ClientEvent>}
   */
  get events() {
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = {waiting: []}
        this.iterators.push(iterator)
        return {
          next: () => new Promise(resolve => {
            iterator.waiting.push(resolve)
            this.deliver()
          }),
          return: async () => {
            this.iterators = this.iterators.filter(other => other !== iterator)
            for (const resolve of iterator.waiting) resolve({done: true, value: undefined})
            this.deliver()
            return {done: true, value: undefined}
          },
        }
      },
    }
  }

  /** Hands over what is there. */
  deliver() {
    if (this.isDelivering) return
    this.isDelivering = true
    for (;;) {
      let isRead = this.handlers.size > 0
      const reader = this.iterators.find(({waiting}) => waiting.length > 0)
      if (this.iterators.length > 0) isRead = reader !== undefined
      const event = isRead && this.machine.nextEvent(performance.now())
      if (isRead && !event && this.machine.state === 'closed') {
        for (const {waiting} of this.iterators) for (const resolve of waiting.splice(0)) resolve({done: true, value: undefined})
      }
      if (!event) break
      for (const handler of [...this.handlers.get(event.type) ?? [], ...this.handlers.get('*') ?? []]) {
        try {
          handler(event)
        } catch (error) {
          // It is the app's, and reaches what watches for errors; the others still get the event.
          queueMicrotask(() => { throw error })
        }
      }
      reader?.waiting.shift()({done: false, value: event})
    }
    this.isDelivering = false
    this.carryOut()
  }

  // MARK: Message channels

  /**
   * Receives a message channel's messages, presence, or more. Calling again changes what is received.
   *
   * @param {string} channel
   * @param {object} [options]
   * @param {Feature[]} [options.features]
   * @param {boolean} [options.quiet] not seen by others; may publish, has no states
   * @param {Since} [options.since] where to begin: kept messages come first, then `caughtUp`, then what is sent, without a hole
   *   or a duplicate between them. Without it: what is sent from now on. What is not kept any more is told (`messagesMissed`).
   *   After a break the client goes on where it was by itself.
   * @throws {RelayError} `badName`, `limitReached`, `relayFull`, or why the relay was not reached
   */
  async subscribe(channel, {features = ['messages', 'presence'], quiet = false, since} = {}) {
    const body = {
      channel: checkedName(channel), features: sorted(features), quiet, since: since === 'beginning' ? {beginning: true} : since,
    }
    await this.request('subscribe', body)
  }

  /** Ends receiving a message channel and being seen in it. @param {string} channel */
  async unsubscribe(channel) {
    await this.request('unsubscribe', {channel: checkedName(channel)})
  }

  /**
   * Kept messages of a channel, a page at a time; no subscription is needed. Records are not among them. [HI6]
   *
   * @param {string} channel
   * @param {{from?: number, backwards?: boolean, limit?: number}} [options] `from`: `next` of the page before
   * @returns {Promise<{messages: (Message & {part?: {number: number, of: number, isText: boolean}})[], epoch?: Epoch,
   *   head: number, floor: number,
   *   next?: number}>} a message with `part` is one part of a large one: the others have the same sender and key, and bytes as payload
   */
  async history(channel, {from, backwards, limit} = {}) {
    return this.request('history', {channel: checkedName(channel), from, backwards: backwards || undefined, limit})
  }

  /**
   * Waits until every message that the relay accepted before has come, of one message channel or of all. [HI8]
   *
   * @param {{channel?: string, signal?: AbortSignal}} [options] aborted, it is refused as `cancelled`
   * @throws {RelayError} `notSubscribed`, `limitReached` when 8 wait already
   */
  async barrier({channel, signal} = {}) {
    await waitingRequest(this, 'barrier', {channel: channel === undefined ? undefined : checkedName(channel)}, signal)
  }

  /** What a message channel keeps for good: `clear`, `undoClear`. @param {string} channel */
  board(channel) {
    return new Board(this, checkedName(channel))
  }

  /**
   * All boards of the relay, in order of names.
   *
   * @returns {Promise<{channel: string, records: number, bytes: number, changed: number}[]>}
   */
  async boards() {
    return all(this, 'boards', {}, 'boards')
  }

  /** Removes a board with all that is known of it; subscribers begin anew (`messagesMissed` with `reset`). [BL9] @param {string} channel */
  async removeBoard(channel) {
    await this.request('removeBoard', {channel: checkedName(channel)})
  }

  // MARK: Stream channels, presence, metadata, locks

  /**
   * Joins a stream channel.
   *
   * @param {string} channel
   * @param {{features?: Feature[], quiet?: boolean, token?: string}} [options]
   */
  async join(channel, {features = ['presence'], quiet = false, token} = {}) {
    await this.request('join', {channel: checkedName(channel), features: sorted(features), quiet, token})
    return new StreamChannel(this, channel)
  }

  /** Presence and states of a channel: `presence({message: 'lesson'})`. @param {ChannelReference} reference */
  presence(reference) {
    return new Presence(this, ownerOf(reference))
  }

  /** The channels in which a user is seen. @param {string} user @returns {Promise<ChannelID[]>} */
  async channels(user) {
    return all(this, 'where', {user: checkedName(user)}, 'channels')
  }

  /** The metadata of a channel or user: `metadata({user: 'alice'})`. @param {MetadataReference} reference */
  metadata(reference) {
    return new Metadata(this, ownerOf(reference))
  }

  /** The locks of a channel. @param {ChannelReference} reference */
  locks(reference) {
    return new Locks(this, ownerOf(reference))
  }

  /** What moderators set of a channel that this client is in: `frozen`, `openEditing`. @param {ChannelReference} reference */
  modes(reference) {
    const {kind, channel} = ownerOf(reference)
    return new Set(this.machine.channels.modes.get(channelKey(kind, channel)))
  }

  // MARK: Access and the link

  /** The user's id; `undefined` with a code, until the first login. @returns {string|undefined} */
  get user() {
    return this.machine.settings.user
  }

  /** Which of the user's devices this is, as flows and locks name it. @returns {string} */
  get device() {
    return this.machine.device
  }

  /**
   * A code with which another device becomes one of this user's, once: it connects with the option `code`. It has ten characters, which
   * people may type in small letters, with hyphens and spaces. An earlier code of this client is void. [AC17]
   *
   * @returns {Promise<{code: string, validMs: number}>} `validMs`: two minutes
   * @throws {RelayError} `notPermitted` for who came with a token and no secret
   */
  async offerDevice() {
    // With a code of its own it does not know its secret before that.
    await this.ready
    const {code, validMs} = await this.request('offerDevice', {secret: this.machine.settings.secret})
    return {code, validMs}
  }

  /** The public id of the relay that let the client in last: 32 hexadecimal digits. @returns {string|undefined} */
  get relayID() {
    return this.machine.relayID
  }

  /** What this client may; `undefined` before the first login. @returns {Access|undefined} */
  get access() {
    return this.machine.access
  }

  /**
   * Brings another credential for the same user id. Without a link it is used for the next login, which is tried at once.
   *
   * @param {Credential} credential
   * @throws {RelayError} `tokenInvalid`, `tokenExpired`, `keyWrong`, with which nothing has changed; `clientClosed`, `outcomeUnknown`
   */
  async renew(credential) {
    await this.ask((machine, pending, now) => machine.renew(credential, pending, now))
  }

  /**
   * Says what this client takes of packets from now on, over reconnects too; `{}`: all of them. The relay leaves others out and tells
   * so (`packetsLost` with `readerLimit`); of each slot the newest comes. Messages are never left out. [DL11]
   *
   * @param {ReaderLimits} limits
   * @throws {RelayError} `badRequest` for a limit that is not in its range
   */
  async setReaderLimits({packetsPerSecond, bytesPerSecond, waitingBytes}) {
    const limits = {packetsPerSecond, bytesPerSecond, waitingBytes}
    await this.ask((machine, pending, now) => machine.setReaderLimits(limits, pending, now))
  }

  /** What a moderator decides about others. */
  get moderation() {
    return new Moderation(this)
  }

  /** How the client stands with its relay, as the last `link` event says, whether it was read or not. @returns {LinkState} */
  get linkState() {
    return this.machine.linkState
  }

  /**
   * What waits to be sent: while the link is down, or for the rates. `unstored`: retained messages that were accepted and are
   * not told durable; `unkept`: those that did not fit into the storage, and would be gone with the page.
   *
   * @returns {{messages: number, packets: number, bytes: number, unstored: number, unkept: number}}
   */
  get unsent() {
    return this.machine.unsent
  }

  /** Retained messages of an earlier client object that `storage` had kept, now under way. @returns {RestoredMessage[]} */
  get restored() {
    return this.machine.queue.takenUp
  }

  /** Last measured time to the relay and back, in milliseconds. @returns {number|undefined} */
  get roundTripMs() {
    return this.machine.heartbeat.roundTripMs
  }

  /** What the app has subscribed or joined, in order of name. @returns {ChannelID[]} */
  get subscribedChannels() {
    return sorted(this.machine.session.wanted.channels.keys()).map(channelID)
  }

  /**
   * For moderators: the key with which others come in, as it is now. [AC16]
   *
   * @returns {Promise<string|undefined>} `undefined` if the relay has none, or does not take the own key any more
   */
  async joinKey() {
    return (await this.request('status', {limit: 1, joinKey: true})).joinKey
  }

  /** For an app that comes to the foreground: a client that waits tries at once, a link that may be dead is probed. */
  wakeUp() {
    this.act((machine, now) => machine.wakeUp(now))
  }

  /** Sends what waits (for at most 2 s), logs out, and ends; others see this user leave. Events end after it. */
  async close() {
    await this.ask((machine, pending, now) => machine.close(pending, now))
  }

  // MARK: The machine and its link

  /** Changes the machine and carries out what follows from it. */
  act(change) {
    try {
      return change(this.machine, performance.now())
    } finally {
      this.carryOut()
      if (this.machine.unread.events.length > 0 || this.machine.state === 'closed') queueMicrotask(() => this.deliver())
    }
  }

  /** @returns {Promise<any>} */
  ask(change) {
    const pending = new Pending()
    this.act((machine, now) => change(machine, pending, now))
    return pending.promise
  }

  request(type, body, texts = undefined) {
    return this.ask((machine, pending, now) => machine.request(type, body, pending, now, texts))
  }

  carryOut() {
    const {machine} = this
    for (const {openLink, closeLink, userLearned} of machine.takeEffects()) {
      if (userLearned) this.keepUser(userLearned)
      else if (openLink !== undefined) this.open(openLink)
      else if (closeLink === this.link?.attempt) this.closeLink()
    }
    while (this.link?.isOpen && this.link.bufferedBytes < Limits.outboundBytes) {
      const bytes = machine.gather(performance.now())
      if (!bytes) break
      this.link.send(bytes)
    }
    clearTimeout(this.timer)
    // A link that takes no more says nothing when it does again.
    const wait = this.link?.isOpen && machine.outbound.bytes > 0 ? 20 : machine.nextDeadline - performance.now()
    if (wait < Infinity) this.timer = setTimeout(() => this.act((machine, now) => machine.deadline(now)), Math.max(0, Math.ceil(wait)))
  }

  closeLink() {
    this.link?.close()
    this.link = undefined
  }

  open(attempt) {
    this.closeLink()
    const tell = change => (...values) => {
      if (this.link === link) this.act((machine, now) => change(machine, now, ...values))
    }
    const opened = tell((machine, now) => {
      link.isOpen = true
      machine.linkOpened(attempt, now)
    })
    const received = tell((machine, now, bytes) => machine.received(bytes, attempt, now))
    const ended = tell((machine, now, text) => {
      this.closeLink()
      machine.linkEnded(attempt, text, now)
    })
    let link = {attempt, close() {}}
    try {
      link = this.transport({opened, received, ended})
      link.attempt = attempt
    } catch (error) {
      queueMicrotask(() => ended(error instanceof Error ? error.message : String(error)))
    }
    this.link = link
  }
}
