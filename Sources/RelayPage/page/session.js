// The page's place at the relay: the board's channel, its live points, people and title, and what the page sends.
import {ClientCore} from '../client/client.js'
import {ErrorCode} from '../client/errors.js'
import {wakeUpWithPage} from '../client/page-wake-up.js'
import {hundredths} from './format.js'
import {home, isOwnRelay, loginWith, open} from './identity.js'
import {writePackets} from './points.js'
import {Writer} from './writer.js'

/** Others see a page that lost its link for so long: a tablet that sleeps for a moment does not leave. */
const presenceTimeoutMs = 60_000
const cursorEveryMs = 50
const namesMax = 1_000
/** The page waits for its relay as long as it takes. */
const patient = {timeout: Infinity}
/** The page is out of the channel: it is told why by itself, with `channelEnded` or by its rights. [AC19] */
const isOutside = ({code}) => code === ErrorCode.notJoined || code === ErrorCode.channelEnded

export class Session extends Writer {
  /** Names of present and former users, by id. */
  names = new Map()
  /** States of present users, oneself included, by id. */
  members = new Map()
  Client = ClientCore
  isFrozen = false
  /** Who may draw may also change what others drew. */
  isOpen = false
  cursorAt = 0

  /** @param {{board, user, device, name, credential, records, live, changed: (what: string) => void, failed: (error: Error, what?: string) => void}} parts */
  constructor(parts) {
    super()
    Object.assign(this, parts)
    this.makeTakers()
    document.addEventListener('visibilitychange', () => this.tellAway())
  }

  /**
   * Takes part; what an earlier page could not send is under way again. After the end of that, once more, maybe as another user
   * or with another key: all is read anew, and what is not sent is sent by the new client.
   */
  connect(user, device = this.device) {
    const {records} = this
    const unsent = new Map([this.board, ...this.left.keys()].map(board => [board, this.recordsOf(board).takeOwn()]))
    if (this.client) {
      this.stopWaking()
      this.client.close().catch(() => {})
      records.reset()
      unsent.get(this.board).forEach(({key}) => records.touched.add(key))
    }
    Object.assign(this, {user, device, inUse: new Map()})
    this.client = new this.Client(home(), user, {
      storage: open('localStorage'), scope: location.host, credential: loginWith(this.credential), presenceTimeout: presenceTimeoutMs,
          device, acceptsRelay: relay => isOwnRelay(relay, this.credential),
          description: [...this.name].slice(0, 12).join('') + ' (whiteboard)',
    })
    this.stopWaking = wakeUpWithPage(this.client)
    this.begin()
    for (const {channel, changes, receipt, ...record} of this.client.restored) {
      const shown = ({key, customType, payload}) => ({key, record: payload.length ? {customType, payload} : undefined})
      this.followAll((changes ?? [record]).map(shown), receipt, channel)
    }
    // What no storage has kept.
    for (const [board, changes] of unsent) {
      const isRestored = new Set(this.recordsOf(board).own.map(({key}) => key))
      const last = new Map(changes.map(change => [change.key, change]))
      const isLeft = change => last.get(change.key) === change && !isRestored.has(change.key)
      for (const together of new Set(changes.map(({together}) => together))) this.writeAll(together.filter(isLeft), board)
    }
    this.enter()
  }

  /** So long a board's channel is not free to be opened anew: it is being left, or read. */
  uses(board, what) {
    const ended = Promise.all([this.inUse.get(board), what]).catch(() => {}).then(() => {
      if (this.inUse.get(board) === ended) this.inUse.delete(board)
    })
    this.inUse.set(board, ended)
  }

  /** What begins anew with each board. `isWaiting`: its channel is not free yet, and nothing of it counts. */
  begin(isWaiting = false) {
    Object.assign(this, {hasTopics: false, isFrozen: false, isOpen: false, isFollowing: false, isInside: false, isWaiting, publishers: {},
      stay: {}, channel: this.client.channel(this.board)})
    this.hear()
    this.followMembers()
  }
  enter() {
    const {channel, stay} = this
    this.rename(this.name)
    this.ask(async () => {
      await channel.open({parts: ['messages', 'metadata', 'presence'], ...patient})
      if (stay === this.stay) this.isInside = true
    })
    this.ask(async () => {
      await Promise.all(['points', 'cursors'].map(name => channel.topic(name).follow(patient)))
      if (stay !== this.stay) return
      this.isFollowing = true
      await this.takeUpTopics()
    })
  }
  /** What the page cannot do without is asked for again when the link ends before the answer. */
  async ask(question) {
    const {stay} = this
    await question().catch(error => {
      if (stay !== this.stay || this.state === 'closed') return
      if (error.code === ErrorCode.outcomeUnknown) this.ask(question)
      else if (!isOutside(error)) this.failed(error)
    })
  }

  /** To publish live points: when it may, and when it may again. */
  async takeUpTopics() {
    if (!this.mayDraw || this.hasTopics || !this.isFollowing) return
    this.hasTopics = true
    const {channel, stay} = this
    try {
      const publish = (name, priority) => channel.topic(name).startPublishing({priority, ...patient})
      const publishers = {points: await publish('points', 'normal'), cursors: await publish('cursors', 'low')}
      if (stay === this.stay) this.publishers = publishers
    } catch (error) {
      if (stay !== this.stay) return
      this.hasTopics = false
      // What was frozen meanwhile nobody has tried here.
      if (this.mayDraw && !isOutside(error)) this.failed(error)
    }
  }

  // MARK: What comes

  async hear() {
    const {client, stay} = this
    try {
      for await (const event of client.events()) {
        if (stay !== this.stay) return
        this.take(event)
      }
    } catch {
      // This page was too slow, and has missed something: all is read anew.
      if (stay === this.stay) this.connect(this.user)
    }
  }

  /** Every event of the client has its turn here, in the relay's order. */
  take(event) {
    try {
      if (!event.channel || (event.channel === this.board && !this.isWaiting)) this.takers[event.type]?.(event)
    } catch (error) {
      // It reaches what watches for errors; the next event still comes.
      queueMicrotask(() => { throw error })
    }
  }

  makeTakers() {
    const {records, live} = this
    this.takers = {}
    const on = (type, use) => this.takers[type] = use
    const isFinished = id => records.elements.has(id)
    const received = message => {
      if (message.isRemoval) live.drop(id => id === message.key)
      records.received(message)
    }
    on('message', message => {
      received(message)
      if (!message.isRetained) this.heard?.(message)
      this.applied()
    })
    on('board', ({messages, progress}) => {
      messages.forEach(received)
      this.progress = records.isReading ? progress : undefined
      this.applied()
    })
    on('cleared', ({offset}) => {
      records.cleared(offset)
      this.applied()
    })
    on('messagesMissed', ({extent}) => {
      if (extent === 'reset') records.reset()
      this.applied()
    })
    on('caughtUp', ({head}) => {
      records.caughtUp(head)
      this.progress = undefined
      this.writeUnknown(this.board)
      this.applied()
      this.changed('read')
    })
    on('packet', packet => live.packet(packet, isFinished))
    on('topics', ({kind, publishers}) => {
      if (kind === 'left') publishers.filter(({topic}) => topic === 'points').forEach(({user, device}) => live.left(user, device))
    })
    on('metadata', ({items}) => {
      Object.assign(this, {title: items.get('title'), paper: items.get('paper')})
      this.changed('metadata')
    })
    on('channelMode', ({mode, isOn}) => {
      this[mode === 'frozen' ? 'isFrozen' : 'isOpen'] = isOn
      this.access()
    })
    on('accessChanged', () => this.access())
    // Live points are lost without harm. A freeze closes their topics; they are taken up again when it ends.
    on('refused', ({subject, topic, receipt, error}) => {
      if (error.code === ErrorCode.channelEnded) return subject === 'channel' && this.changed('ended')
      return topic || receipt || subject === 'packet' || this.failed(error)
    })
    on('link', link => {
      if (link.state === 'connected') {
        if (!link.resumed) live.drop(() => true, () => true)
        this.tellAway()
        this.access()
        if (link.resumed) this.mustBeInside()
      }
      this.changed('link')
    })
  }

  /** While this page was away its board may have ended: nobody tells it, but it is out of the channel. [AC19] */
  async mustBeInside() {
    const {stay} = this
    await this.channel.upToDate(patient).catch(error => {
      const isOut = stay === this.stay && this.isInside && error.code === ErrorCode.notSubscribed && this.rights?.has('subscribe')
      if (isOut) this.changed('ended')
    })
  }

  applied() {
    this.records.flush()
    this.live.drop(id => this.records.elements.has(id))
    this.changed('board')
  }

  async followMembers() {
    const {stay} = this
    for await (const members of this.channel.presence.members()) if (stay === this.stay) this.present(members)
  }
  /** Who is here, oneself among them. */
  present(members) {
    const before = this.members
    this.members = new Map([...members].map(([user, {states}]) => [user, states]))
    for (const [user, {name}] of this.members) if (name?.trim()) this.names.delete(user), this.names.set(user, name.trim())
    for (const user of this.names.keys()) if (this.names.size > namesMax) this.names.delete(user)
    for (const user of before.keys()) if (!members.has(user)) this.live.left(user)
    if (before.has(this.user)) this.toldBySelf(before.get(this.user), this.members.get(this.user) ?? {})
    this.changed('people')
  }

  /** What this person's other devices say: a new name is theirs as well, and one that is looked at says so when another sleeps. [PR8] */
  toldBySelf(before, now) {
    if (now.name && now.name !== before.name) this.name = now.name
    if (now.away && !document.hidden) this.tell({away: ''})
  }
  /** States that others see; it is no harm if they are not set. */
  tell(states) {
    this.channel.presence.set(states, patient).catch(() => {})
  }

  // MARK: What this page may

  /** Of the link. */
  get state() {
    return this.client?.link.state ?? 'connecting'
  }
  get rights() {
    return this.client?.access?.rights(this.board)
  }
  /** Before the first login it is not known, and what is drawn waits. */
  get mayDraw() {
    return (this.rights?.has('publish') ?? true) && (!this.isFrozen || this.mayClear)
  }
  get mayRevise() {
    return (this.rights?.has('revise') || (this.isOpen && this.rights?.has('publish'))) ?? false
  }
  get mayClear() {
    return this.rights?.has('clear') ?? false
  }
  /** Whether this page decides about others. */
  get mayModerate() {
    return this.client?.access?.role === 'moderator'
  }
  /** The word of what may not be drawn, and by whom; nothing where everybody may draw. */
  get standing() {
    if (this.isFrozen) return this.mayDraw ? 'standing.pausedForGuests' : 'standing.paused'
    return this.mayDraw ? undefined : 'standing.viewOnly'
  }
  /**
   * Asks the relay for the key with which a host invites: it may have been drawn anew since the page was opened.
   *
   * @returns {Promise<boolean>} whether it is another one
   */
  async renewGuestKey() {
    if (!this.mayClear || !this.credential?.key || this.state !== 'connected') return false
    const guestKey = await this.client.joinKey().catch(() => {})
    if (!guestKey || guestKey === this.credential.guestKey) return false
    this.credential = {...this.credential, guestKey}
    return true
  }
  /** Whether all records of an element are one's own, or one may change what others drew. [BL10] */
  mayChange(element) {
    return this.mayDraw && (this.mayRevise || element.records.every(({author}) => author === this.user))
  }
  access() {
    if (!this.mayDraw) this.hasTopics = false
    this.takeUpTopics()
    this.changed('access')
  }

  // MARK: What it sends

  /** Shows points of a line that is being drawn; they are lost without harm. @returns {number} up to which they were sent */
  sendPoints(stroke, from) {
    for (const packet of writePackets(stroke, from)) this.packet('points', packet)
    return stroke.xy.length / 2
  }
  /** Removes from others' screens the points of a line that was given up. */
  takeBack(id) {
    try {
      this.channel.board.remove(id)
    } catch {}
  }
  sendCursor(place, now = performance.now()) {
    if (place && now - this.cursorAt < cursorEveryMs) return
    Object.assign(this, {cursorAt: now, cursor: place})
    const {view} = this
    this.packet('cursors', JSON.stringify({v: 1, view, ...place && {x: hundredths(place.x), y: hundredths(place.y)}}), {slot: 1})
  }
  /** For followers: the box that this page shows. Until it is `undefined` each packet of the cursor has it. */
  sendView(view) {
    this.view = view
    this.sendCursor(this.cursor, Infinity)
    this.cursorAt = performance.now()
  }
  packet(topic, payload, options) {
    if (!this.hasTopics || this.state !== 'connected') return
    try {
      this.publishers[topic].send(payload, options)
    } catch {}
  }

  tellAway() {
    // Not removed: what another device of the person has set would be seen.
    if (document.hidden || this.isAway) this.tell({away: document.hidden ? '1' : ''})
    this.isAway = document.hidden
  }
  rename(name) {
    this.name = name
    this.channel.presence.set({name}, patient).catch(error => this.failed(error))
  }

  /** Tells all pages of the board something for this moment; nobody keeps it. */
  signal(customType, said) {
    this.channel.send(JSON.stringify({v: 1, ...said}), {customType, storeInHistory: false}).accepted.catch(error => this.failed(error))
  }

  /** `title` or `paper`, unless somebody else was faster. */
  async setItem(name, value) {
    await this.channel.metadata.set({[name]: value}, {revisions: {[name]: this[name]?.revision ?? 0}})
  }
  async clear() {
    await this.channel.board.clear()
  }
  async undoClear() {
    await this.channel.board.undoClear()
  }
}
