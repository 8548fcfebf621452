// The client that apps use, but for what whole.js adds to it. `relay-client.d.ts` says what its calls do.
import {Channel, Person} from './channel.js'
import {ChannelState, NoNewest, NoPicture} from './channel-state.js'
import {hexadecimal, keepSecret, keptSecret, tabsDevice} from './identity.js'
import {channelKey} from './keys.js'
import {Cell, Latest} from './latest.js'
import {credentialOf, spaceOf, webSocketTransport} from './links.js'
import {ClientMachine} from './machine.js'
import {optionsOf, taken} from './options.js'
import {Outbox} from './outbox.js'
import {all} from './pages.js'
import {followRecords} from './sending.js'
import {Shell} from './shell.js'
import {Teller, emptyContents} from './telling.js'
import {checkedName} from './text.js'
/** @import {Access} from './access.js' */
/** @import {Events} from './events.js' */
/** @import {CallOptions, ClientEvent, ClientOptions, LinkState, ReaderOptions, RestoredRecord, Transport, Unsent} from './types.js' */

const optionNames = ['storage', 'scope', 'secret', 'code', 'device', 'onlyDevice', 'acceptsRelay', 'credential', 'token', 'space',
  'presenceTimeout', 'readerLimits', 'description', 'connectTimeout', 'unsentCountMax', 'unsentBytesMax', 'random', 'wallClock']
const credentialNames = ['key', 'token', 'joinCode']
const readerLimitNames = ['packetsPerSecond', 'bytesPerSecond', 'waitingBytes']

/**
 * A client of a whiteboard relay: one device of one user. A broken link is made again by itself, with all that was open; what was missed
 * meanwhile is told. Every call that sends takes its place in the one order before it returns.
 */
export class ClientCore extends Shell {
  /** What its handles are made of, and the boards behind them. */
  Channel = Channel
  Picture = NoPicture
  Newest = NoNewest
  /** @type {Map<string, Channel>} */
  handles = new Map()
  teller = new Teller(this)
  links = new Cell({state: 'idle'})
  /** Metadata of users that is followed. @type {Map<string, Cell>} */
  userContents = new Map()
  receipts = 0

  /**
   * No input or output: the first call that needs the relay connects.
   *
   * @param {string|URL|Transport} address as the relay prints it, or a link to a board; its `#key=…` is the credential
   * @param {string|undefined} user the user's id [NM1]; with the option `code` the relay tells it
   * @param {ClientOptions} [options]
   * @throws {RelayError|TypeError} `badName`; `TypeError` for an unknown option or a malformed address
   */
  constructor(address, user, options) {
    const {storage, scope, secret, wallClock, credential, token, code, device, presenceTimeout, connectTimeout, ...settings} =
      optionsOf('new RelayClient', options, optionNames)
    const isAddress = typeof address !== 'function'
    if (isAddress) settings.space ??= spaceOf(address)
    const place = (scope ?? (isAddress ? new URL(address).host : 'relay')) + (settings.space ? `/${settings.space}` : '')
    if (code === undefined) checkedName(user)
    super(new ClientMachine({
      description: 'relay-client.js', presenceTimeoutMs: presenceTimeout, connectTimeoutMs: connectTimeout ?? 10_000, ...settings,
      ...code === undefined ? {user} : {code}, instance: hexadecimal(16),
      credential: optionsOf('credential', credential ?? (isAddress ? credentialOf(address) : undefined), credentialNames),
    }), isAddress ? webSocketTransport(address) : address)
    optionsOf('readerLimits', settings.readerLimits, readerLimitNames)
    this.token = token
    const key = (what, user) => `boardrelay.${what}.${place}.${checkedName(user)}`
    // An app that names its devices may have several at once: each sends what it has written itself.
    const own = device === undefined ? '' : `.${device}`
    const outbox = user => storage && new Outbox(storage, key('outbox', user) + own, wallClock)
    /** Reads the user's identity from storage, once, before anybody needs it. */
    this.identify = () => {
      this.identify = () => {}
      const who = code === undefined ? {secret: secret ?? keptSecret(storage, key('secret', user)), outbox: outbox(user)} : {}
      this.machine.identify({...who, device: device ?? tabsDevice(`boardrelay.device.${place}`)})
    }
    /** What comes of a code: kept as if the user had always been one of this installation. */
    this.keepUser = ({user, secret}) => {
      if (secret !== undefined) keepSecret(storage, key('secret', user), secret)
      this.machine.outbox = outbox(user)
    }
  }

  // MARK: Coming and going

  start() {
    if (this.machine.state !== 'idle') return
    this.kept ??= this.restore()
    this.act((machine, now) => machine.connect(undefined, now))
  }

  /**
   * Waits until the client is connected.
   *
   * @param {CallOptions} [options]
   * @throws {RelayError} `connectFailed` or `timedOut` when an attempt fails: the client goes on trying; else it is closed
   */
  async connect(options) {
    const [, call] = taken('connect', options)
    this.kept ??= this.restore()
    await this.ask((machine, pending, now) => machine.connect(pending, now), call)
  }

  /** Sends what waits (for at most 2 s), logs out, and ends; others see this user leave. @param {{signal?: AbortSignal}} [options] */
  async close(options) {
    const {signal} = optionsOf('close', options, ['signal'])
    this.act((machine, now) => machine.state === 'idle' && machine.finish({kind: 'closedByApp'}, now))
    const ask = (machine, pending, now) => machine.close(pending, now)
    await this.ask(ask, {signal, timeout: Infinity}, {handsOver: true}).catch(() => {})
  }

  /** For an app that comes to the foreground: a client that waits tries at once, a link that may be dead is probed. */
  wakeUp() {
    this.act((machine, now) => machine.wakeUp(now))
  }

  // MARK: Handles

  /** @param {string} name @returns {Channel} the same object each time @throws {RelayError} `badName` */
  channel(name) {
    if (!this.handles.has(name)) {
      const read = after => this.request('who', {kind: 'message', channel: name, after}, {timeout: Infinity})
      const state = new ChannelState(this, checkedName(name), read)
      if (this.machine.state === 'closed') state.close()
      this.handles.set(name, new this.Channel(this, state))
    }
    return this.handles.get(name)
  }

  /** @param {string} user @throws {RelayError} `badName` */
  person(user) {
    return new Person(this, user)
  }

  // MARK: Readers

  /** All that happens, in the relay's order. @param {ReaderOptions} [options] @returns {Events} of `ClientEvent` */
  events(options) {
    const {signal} = optionsOf('events', options, ['signal'])
    return this.read(event => event.type === 'boardChange' ? undefined : event, signal)
  }

  /** How the client stands with its relay. @param {ReaderOptions} [options] @returns {Latest} of `LinkState` */
  linkStates(options) {
    const {signal} = optionsOf('linkStates', options, ['signal'])
    return new Latest(this.links, signal)
  }

  // MARK: What is known

  /** How the client stands with its relay; readers may be behind it. @returns {LinkState} */
  get link() {
    return this.machine.linkState
  }

  /** The user's id; `undefined` with a code, until the first login. @returns {string|undefined} */
  get user() {
    return this.machine.settings.user
  }

  /** Which of the user's devices this is, as packets and locks name it. @returns {string} */
  get device() {
    this.identify()
    return this.machine.device
  }

  /** The public id of the relay that let the client in last: 32 hexadecimal digits. @returns {string|undefined} */
  get relayID() {
    return this.machine.relayID
  }

  /** What the join code stood for with which the client has come in: an app keeps the key, and goes to the channel. [AC20] */
  get invitation() {
    return this.machine.invitation
  }

  /** What this client may; `undefined` before the first login. @returns {Access|undefined} */
  get access() {
    return this.machine.access
  }

  /** What the relay allows; before the first login what one allows by default. */
  get limits() {
    return {...this.machine.limits}
  }

  /** What waits to be sent. @returns {Unsent} */
  get unsent() {
    return this.machine.unsent
  }

  /** Records of an earlier client object that `storage` had kept, now under way. @returns {RestoredRecord[]} */
  get restored() {
    return this.kept ??= this.restore()
  }

  restore() {
    this.identify()
    this.act((machine, now) => machine.takeUp(now))
    return this.machine.queue.takenUp.map(({pendings, ...entry}) => {
      const content = ({key, customType, payload}) => payload.length > 0 ? {key, customType, payload} : {key}
      const changes = (entry.changes ?? [entry]).map(content)
      const {receipt, show} = followRecords(this.channel(entry.channel), changes, 'record', pendings)
      show()
      return {...entry, receipt}
    })
  }

  /** Last measured time to the relay and back, in milliseconds. @returns {number|undefined} */
  get roundTripMs() {
    return this.machine.heartbeat.roundTripMs
  }

  /** Channels that are open, in order of name. @returns {Channel[]} */
  get openChannels() {
    const isOpen = ({name}) => this.machine.session.wanted.channels.has(channelKey('message', name))
    return [...this.handles.values()].filter(isOpen).sort(({name}, {name: other}) => name < other ? -1 : 1)
  }

  // MARK: What happens

  told(event, cost) {
    this.teller.told(event, cost)
  }

  /** Before readers get an event: for what is folded of it. @param {ChannelState} [state] of its channel */
  noted(event, state) {}

  /** Nobody has read an event. */
  passed(event) {}

  nextReceipt() {
    return ++this.receipts
  }

  contentsOf(user) {
    if (!this.userContents.has(user)) this.userContents.set(user, emptyContents())
    return this.userContents.get(user)
  }

  /** What is known of a channel's board begins anew, once, unless it goes on. */
  subscribe(state, body, call, begins = true) {
    const isWhole = body.since?.beginning ?? false
    let hasBegun = !begins
    const began = () => {
      if (!hasBegun) this.machine.unread.emit({type: 'opened', channel: state.name, isWhole}, 0)
      hasBegun = true
    }
    return this.request('subscribe', body, call, {began, settled: ({error}) => error || began()})
  }

  /** The client is out of a channel: its readers end. */
  left(state, error = undefined) {
    this.leftTopics(state, error)
    for (const {cursor} of state.readers) this.readers.finish(cursor, error)
    state.readers.clear()
    state.asked = {message: false, stream: false, receives: false}
    state.end()
  }

  /** Stops following its topics, or one of them. */
  leftTopics(state, error, topic = undefined) {
    if (topic === undefined) state.asked.stream = false
    for (const reader of [...state.readers]) {
      if (reader.topic === undefined || (topic ?? reader.topic) !== reader.topic) continue
      state.readers.delete(reader)
      this.readers.finish(reader.cursor, error)
    }
    if (topic !== undefined) return void state.topics.delete(topic)
    state.topics.clear()
    state.modes.stream.clear()
    state.newest.topicsLeft()
    return undefined
  }

  /** A token ends soon: the app is asked for another. */
  async renewByItself() {
    if (!this.token) return
    try {
      await this.renew({token: await this.token()})
    } catch (error) {
      this.act(machine => machine.unread.emit({type: 'refused', subject: 'token', error}, 0))
    }
  }

  /** With a token of the app's own, each login has a new one. */
  open(attempt) {
    if (!this.token) return super.open(attempt)
    this.closeLink()
    const end = error => this.act((machine, now) => machine.linkEnded(attempt, `no token: ${error.message}`, now))
    return Promise.resolve().then(this.token).then(token => {
      if (attempt !== this.machine.attempt) return
      this.machine.credential = {token}
      super.open(attempt)
    }).catch(end)
  }

  // MARK: Calls

  all(type, body, field, call) {
    return all(this, type, body, field, call)
  }

  async boards(options) {
    const [{unusedFor: unusedMs}, call] = taken('boards', options, ['unusedFor'])
    return this.all('boards', {unusedMs}, 'boards', call)
  }

  async upToDate(options) {
    const [, call] = taken('upToDate', options)
    await this.request('barrier', {}, call)
  }

  /** [AC17] */
  async handOver(options) {
    const [, call] = taken('handOver', options)
    // With a code of its own it does not know its secret before that.
    if (this.user === undefined) await this.connect(options)
    this.identify()
    const {code, validMs} = await this.request('offerDevice', {secret: this.machine.settings.secret}, call)
    return {code, validMs}
  }

  /** [AC8] */
  async renew(credential, options) {
    const [, call] = taken('renew', options)
    const given = optionsOf('credential', credential, credentialNames)
    const settled = ({error}) => error || this.machine.unread.emit({type: 'renewed'}, 0)
    await this.ask((machine, pending, now) => machine.renew(given, pending, now), call, {settled})
  }

  /** [DL11] */
  async setReaderLimits(limits, options) {
    const given = {...optionsOf('setReaderLimits', limits, readerLimitNames)}
    const [, call] = taken('setReaderLimits', options)
    await this.ask((machine, pending, now) => machine.setReaderLimits(given, pending, now), call)
  }

  /** [AC16] */
  async joinKey(options) {
    const [, call] = taken('joinKey', options)
    return (await this.request('status', {limit: 1, joinKey: true}, call)).joinKey
  }
}
