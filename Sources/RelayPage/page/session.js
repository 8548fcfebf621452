// The page's place at the relay: the board's channel, its live points, who is there, its title; and what it sends.
import {ClientCore} from '../client/client.js'
import {ErrorCode} from '../client/errors.js'
import {wakeUpWithPage} from '../client/page-wake-up.js'
import {hundredths} from './format.js'
import {isOwnRelay, open} from './identity.js'
import {writePackets} from './points.js'

/** Others see a page that lost its link for so long: a tablet that sleeps for a moment does not leave. */
const presenceTimeoutMs = 60_000
const cursorEveryMs = 50
const namesMax = 1_000
/** Where nothing was missed no `caughtUp` tells that the board is as it is at the relay. */
const readAgainMs = 5_000
/** The page waits for its relay as long as it takes. */
const patient = {timeout: Infinity}
/** What one change, and a set of them, may hold; larger drawings go in parts. */
const changeBytesMax = 32_768
const setBytesMax = 8_000_000
const setChangesMax = 4_096

/** The page is out of the channel: it is told why by itself, with `channelEnded` or by its rights. [AC19] */
const isOutside = ({code}) => code === ErrorCode.notJoined || code === ErrorCode.channelEnded

const encoder = new TextEncoder()
/** As these bounds count it, in bytes. */
const sizeOf = record => record ? encoder.encode(record.payload + (record.customType ?? '')).length : 0

export class Session {
  /** Names by user id of who is or was here. */
  names = new Map()
  /** States by user id of who is here, oneself included. */
  members = new Map()
  Client = ClientCore
  isFrozen = false
  /** Who may draw may also change what others drew. */
  isOpen = false
  cursorAt = 0

  /** @param {{board, user, device, name, credential, records, live, changed: (what: string) => void, failed: (error: Error, what?: string) => void}} parts */
  constructor(parts) {
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
    const unsent = records.takeOwn()
    if (this.client) {
      this.stopWaking()
      this.client.close().catch(() => {})
      records.reset()
      unsent.forEach(({key}) => records.touched.add(key))
    }
    Object.assign(this, {user, device, hasTopics: false, isFrozen: false, isOpen: false, isFollowing: false, publishers: {}})
    this.client = new this.Client(location.origin + '/ws', user, {
      storage: open('localStorage'), scope: location.host, credential: this.credential, presenceTimeout: presenceTimeoutMs,
          device, acceptsRelay: relay => isOwnRelay(relay, this.credential),
          description: [...this.name].slice(0, 12).join('') + ' (whiteboard)',
    })
    this.channel = this.client.channel(this.board)
    this.stopWaking = wakeUpWithPage(this.client)
    this.hear()
    this.followMembers()
    for (const {channel, changes, receipt, ...record} of this.client.restored) {
      const shown = ({key, customType, payload}) => ({key, record: payload.length ? {customType, payload} : undefined})
      if (channel === this.board) this.followAll((changes ?? [record]).map(shown), receipt)
    }
    // What no storage has kept.
    const isRestored = new Set(records.own.map(({key}) => key))
    const last = new Map(unsent.map(change => [change.key, change]))
    const isLeft = change => last.get(change.key) === change && !isRestored.has(change.key)
    for (const together of new Set(unsent.map(({together}) => together))) this.writeAll(together.filter(isLeft))
    this.enter()
  }

  enter() {
    const {channel} = this
    this.rename(this.name)
    this.ask(() => channel.open({parts: ['messages', 'metadata', 'presence'], ...patient}))
    this.ask(async () => {
      await Promise.all(['points', 'cursors'].map(name => channel.topic(name).follow(patient)))
      this.isFollowing = true
      await this.takeUpTopics()
    })
  }
  /** What the page cannot do without is asked for again when the link ends before the answer. */
  async ask(question) {
    const {client} = this
    await question().catch(error => {
      if (client !== this.client || this.state === 'closed') return
      if (error.code === ErrorCode.outcomeUnknown) this.ask(question)
      else if (!isOutside(error)) this.failed(error)
    })
  }

  /** To publish live points: when it may, and when it may again. */
  async takeUpTopics() {
    if (!this.mayDraw || this.hasTopics || !this.isFollowing) return
    this.hasTopics = true
    try {
      const publish = (name, priority) => this.channel.topic(name).startPublishing({priority, ...patient})
      this.publishers = {points: await publish('points', 'normal'), cursors: await publish('cursors', 'low')}
    } catch (error) {
      this.hasTopics = false
      // What was frozen meanwhile nobody has tried here.
      if (this.mayDraw && !isOutside(error)) this.failed(error)
    }
  }

  // MARK: What comes

  async hear() {
    const {client} = this
    try {
      for await (const event of client.events()) {
        if (client !== this.client) return
        this.take(event)
      }
    } catch {
      // This page was too slow, and has missed something: all is read anew.
      if (client === this.client) this.connect(this.user)
    }
  }

  /** Every event of the client has its turn here, in the relay's order. */
  take(event) {
    try {
      if (!event.channel || event.channel === this.board) this.takers[event.type]?.(event)
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
      new Set(records.own.filter(({isUnknown}) => isUnknown).map(({together}) => together)).forEach(changes => this.writeAgain(changes))
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
    const {client} = this
    await this.channel.upToDate(patient).catch(error => {
      const isOut = client === this.client && error.code === ErrorCode.notSubscribed && this.rights?.has('subscribe')
      if (isOut) this.changed('ended')
    })
  }

  applied() {
    this.records.flush()
    this.live.drop(id => this.records.elements.has(id))
    this.changed('board')
  }

  async followMembers() {
    const {client} = this
    for await (const members of this.channel.presence.members()) if (client === this.client) this.present(members)
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

  /** Keeps a record, or removes one (`undefined`); it is shown at once. */
  write(key, record) {
    const {board} = this.channel
    try {
      const receipt = record === undefined ? board.remove(key) : board.put(key, record.payload, {customType: record.customType})
      this.followAll([{key, record}], receipt)
    } catch (error) {
      this.failed(error)
    }
  }

  /** Several as one: all or none, and others see them at once. What is too large for that goes by itself. @param {{key, record}[]} changes */
  writeAll(changes) {
    const {board} = this.channel
    let [set, bytes] = [[], 0]
    const send = () => {
      const [all, isOne] = [set, set.length < 2]
      ;[set, bytes] = [[], 0]
      if (isOne) return all.forEach(({key, record}) => this.write(key, record))
      try {
        const make = (batch, {key, record}) => record ? batch.put(key, record.payload, {customType: record.customType}) : batch.remove(key)
        this.followAll(all, board.batch(batch => all.forEach(change => make(batch, change))))
      } catch (error) {
        this.failed(error)
      }
    }
    for (const change of changes) {
      const size = sizeOf(change.record)
      if (size > changeBytesMax) {
        this.write(change.key, change.record)
        continue
      }
      if (bytes + size > setBytesMax || set.length === setChangesMax) send()
      set.push(change)
      bytes += size
    }
    send()
  }

  /** Shows changes that were sent together, until the receipt tells what became of them: the last of them has its offset. */
  followAll(changes, receipt) {
    const {records} = this
    const together = changes.map(({key, record}) => {
      const before = records.ownOf(key)
      /** `befores`: what of this key the relay may have while it has not got this; one set for all that wait. */
      const befores = (before.at(-1)?.befores ?? new Set()).add(records.get(key)?.payload)
      // What waits to be written again is not any more: this comes after it.
      before.filter(({isWaiting}) => isWaiting).forEach(change => records.ended(change))
      const change = {key, record, customType: record?.customType, payload: record?.payload, author: this.user, at: Date.now(), befores}
      records.begin(change)
      return change
    })
    const told = how => offset => {
      together.forEach((change, index) => records[how](change, offset - (together.length - 1 - index)))
      this.applied()
    }
    for (const change of together) change.together = together
    receipt.accepted.then(told('accepted'), () => {})
    receipt.stored.then(told('ended'), error => this.notTaken(together, error))
    this.applied()
  }

  /** What was sent together was refused, or nobody knows whether it was taken. */
  notTaken(changes, error) {
    const {records, client} = this
    const own = changes.filter(change => records.isOwn(change))
    // With a link that is over, it is kept for the next time this page is opened.
    if (client.link.state === 'closed' || own.length === 0) return
    const isUnknown = error.code === ErrorCode.outcomeUnknown
    const isWaiting = isUnknown || error.retryAfterMs !== undefined
    for (const change of own) Object.assign(change, {isUnknown, isWaiting})
    if (!isWaiting) {
      own.forEach(change => records.ended(change))
      this.failed(error)
    } else setTimeout(() => this.writeAgain(own), error.retryAfterMs ?? readAgainMs)
    this.applied()
  }

  /** What the relay has not taken, or nobody knows whether it has: it stays shown, and is written where the board is as before it. */
  writeAgain(changes) {
    const {records} = this
    // Something later may have taken its place.
    const own = changes.filter(change => records.isOwn(change))
    if (records.isReading) return void own.forEach(change => { change.isUnknown = true })
    const left = own.filter(change => {
      const {key, payload, befores} = change
      const isLast = records.ownOf(key).at(-1) === change
      records.ended(change)
      const now = records.get(key)?.payload
      change.isOvertaken = isLast && now !== payload && payload !== undefined && !befores.has(now)
      return isLast && now !== payload && !change.isOvertaken
    })
    if (own.some(({isOvertaken}) => isOvertaken)) this.failed({name: 'outcomeUnknown'})
    this.writeAll(left)
    this.applied()
  }

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
  /** For who follows this page: what it shows, as a box. Until it is `undefined` each packet of the cursor has it. */
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
