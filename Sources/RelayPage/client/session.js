// The session: what the app wants, and how it is had again after a break. [SE9]
import {Access} from './access.js'
import {fault} from './errors.js'
import {channelID, channelKey, partsOfKey, sorted, stayKey} from './keys.js'
import {Limits} from './limits.js'

/** What was asked of a message channel. */
const startOf = since => since ? (since.beginning ? 'beginning' : 'elsewhere') : 'goesOn'

/** What the app has asked for, and what is left of it on a new link. */
export class Session {
  constructor(machine) {
    this.machine = machine
    this.logins = 0
    /** What the app wants, to be had again in a new session, by `channelKey` or `topicKey`. */
    this.wanted = {
      channels: new Map(),
      publishing: new Map(),
      selections: new Map(),
      states: new Map(),
      /** Users whose metadata is subscribed. */
      userMetadata: new Set(),
      /** Topics in which a packet was sent with an echo: own packets come back, and can be lost. */
      echoing: new Set(),
    }
    /** @type {string|undefined} */
    this.resumeToken = undefined
    /** Until the pong behind a login that resumed. */
    this.awaitsRestoration = false
    /** Channels known before a resumption that it has not named so far. */
    this.unconfirmedChannels = new Set()
  }

  welcome(body, now) {
    const {machine} = this
    if (machine.state !== 'connecting') throw fault('a second welcome')
    // It has had the login; nothing else of what waits is for it. [SE6]
    if (machine.settings.acceptsRelay?.(body.relay) === false) return machine.finish({kind: 'otherRelay', relay: body.relay})
    machine.state = 'live'
    machine.liveSince = now
    this.logins++
    if (machine.settings.code !== undefined) this.learnUser(body)
    machine.sent.giveUpSent(now, body.forgotten ?? false)
    this.resumeToken = body.resumeToken
    machine.access = new Access(body.access)
    machine.relayID = body.relay
    if (body.joinKey !== undefined) this.learnKey(body)
    machine.limits = body.limits
    machine.heartbeat.intervalMs = Math.max(100, body.heartbeatMs)
    machine.messages.users.set(body.handle, body.user)
    machine.unread.emit({type: 'link', state: 'connected', resumed: body.resumed})
    machine.settleConnecting({})
    // Its pong comes behind all that a resumption restores. [SE9]
    machine.heartbeat.sendPing(now)
    machine.credits.renew(body, now)
    this.awaitsRestoration = body.resumed
    if (body.resumed) {
      machine.flows.unconfirmed = new Set(machine.flows.byHandle.keys())
      this.unconfirmedChannels = new Set(this.wanted.channels.keys())
    } else {
      const asked = machine.requests.askedAgain.splice(0)
      machine.requests.forgetEnded(asked)
      this.askForAll()
      for (const {request, pending} of asked) if (pending) machine.requests.askAgain(request, pending)
    }
    machine.queue.dropStalePackets(now)
  }

  /** Whose the code was; it is used up, and from now on the user and its secret stand in its place. [AC17] */
  learnUser({user, secret}) {
    Object.assign(this.machine.settings, {user, secret, code: undefined})
    this.machine.effects.push({userLearned: {user, secret}})
  }

  /** What the join code stood for, which may be void when the client comes back. [AC20] */
  learnKey({joinKey: key, channel}) {
    this.machine.credential = {key}
    this.machine.invitation = {key, channel}
  }

  /** A resumption has named all that is there: the rest is gone, or was asked for by requests that went with a link. */
  restorationEnded() {
    const {flows, requests} = this.machine
    flows.closeUnconfirmed()
    const again = requests.askedAgain.splice(0)
    const wantedAgain = new Set(again.filter(({pending}) => !pending).map(({request}) => stayKey(request)))
    // Left by a request whose answer was lost with the link, unless it is asked for anew.
    for (const key of sorted(this.unconfirmedChannels)) if (!wantedAgain.has(key)) this.left(channelID(key))
    for (const {request, pending} of again) {
      const key = stayKey(request)
      // Nobody waits for it: that request was heard, and only its answer lost.
      if (!pending && key && !this.unconfirmedChannels.has(key)) continue
      requests.askAgain(request, pending)
    }
    this.unconfirmedChannels.clear()
  }

  /** With the place of the app in each message channel. [SE2] More than a login may hold is not resumed. */
  get resumption() {
    const {machine: {messages: {positions, readings}, requests}, resumeToken: token} = this
    if (token === undefined) return undefined
    // A board that is being read wants its own records, too. [BL3]
    const places = new Map([...positions].map(([channel, position]) => [channel, {...position, own: readings.has(channel)}]))
    for (const {request: {body}} of requests.askedAgain) {
      const asked = requests.placeAsked(body.channel)
      if (asked) places.set(body.channel, asked)
    }
    const place = ({beginning, offset, epoch, own}) => beginning ? [] : [offset, epoch.start, epoch.incarnation, ...own ? [1] : []]
    const seen = places.size > 0 ? Object.fromEntries([...places].map(([channel, since]) => [channel, place(since)])) : undefined
    return JSON.stringify(seen ?? {}).length > Limits.placesBytesMax ? undefined : {token, seen}
  }

  /** A new session has nothing: everything the app wants is asked for again, in the order of names. */
  askForAll() {
    const {channels: told, flows, messages, requests} = this.machine
    for (const handle of flows.byHandle.keys()) flows.unconfirmed.add(handle)
    flows.closeUnconfirmed()
    // The handles of another start of the relay mean other things.
    told.byHandle.clear()
    told.snapshotGoesOn.clear()
    flows.ownFlows.clear()
    flows.closed.clear()
    messages.catchingUp.clear()
    messages.behind.clear()
    const {states, channels, selections, userMetadata, publishing} = this.wanted
    const each = (map, use) => sorted(map.keys()).forEach(key => use(key, map.get?.(key)))
    each(states, (key, values) => requests.ask({type: 'setStates', body: {...channelID(key), states: values}}))
    each(channels, (key, {features, quiet, token}) => {
      const {kind, channel} = channelID(key)
      requests.askAgain({type: kind === 'message' ? 'subscribe' : 'join', body: {channel, features, quiet, token}})
    })
    each(selections, (key, {all, listed}) => {
      const [channel, topic] = partsOfKey(key)
      if (all) requests.ask({type: 'subscribeTopic', body: {channel, topic}})
      if (listed.size > 0) requests.ask({type: 'subscribeTopic', body: {channel, topic, users: sorted(listed)}})
    })
    each(userMetadata, user => requests.ask({type: 'subscribeUserMetadata', body: {user}}))
    each(publishing, (key, options) => {
      const [channel, topic] = partsOfKey(key)
      requests.ask({type: 'joinTopic', body: {channel, topic, ...options}})
    })
  }

  /** One channel of a resumed session. [SE9] */
  restored(body) {
    const {channels, messages, requests} = this.machine
    if (!this.awaitsRestoration || channels.byHandle.size >= Limits.channelsMax) throw fault('the relay restores what was not there')
    const {kind, channel, handle} = body
    const key = channelKey(kind, channel)
    channels.byHandle.set(handle, {kind, channel})
    this.unconfirmedChannels.delete(key)
    // Subscribed by a request whose answer was lost with the link.
    if (!this.wanted.channels.has(key)) this.wanted.channels.set(key, {features: body.features, quiet: body.quiet})
    channels.stands(body)
    // What is kept may all come before the answers do.
    for (const {pending} of requests.askedOfStay(key)) pending?.began()
    messages.behind.delete(channel)
    messages.standing(body, startOf(requests.placeAsked(channel)))
    // All had come when the link ended, but for the word that it had.
    if (kind === 'message' && body.after === undefined && messages.catchingUp.has(channel)) {
      messages.caughtUp({channel: handle, head: body.head})
    }
    // It begins there now, and goes on where it is from here on.
    for (const asked of requests.askedOfStay(key)) {
      asked.request = {...asked.request, body: {...asked.request.body, since: undefined}}
    }
  }

  entered(answer, request, isOfApp) {
    const {channels, messages} = this.machine
    const {kind, channel, handle} = answer
    const {features, quiet, token, since} = request.body
    const key = channelKey(kind, channel)
    const start = startOf(isOfApp ? since : undefined)
    this.wanted.channels.set(key, {features, quiet, token})
    channels.byHandle.set(handle, {kind, channel})
    this.unconfirmedChannels.delete(key)
    channels.stands(answer)
    if (kind === 'message' && !features.includes('messages')) {
      messages.catchingUp.delete(channel)
      messages.forgetBoard(channel)
    }
    messages.standing(answer, start)
  }

  left({kind, channel}) {
    const {channels, flows, messages} = this.machine
    const key = channelKey(kind, channel)
    this.wanted.channels.delete(key)
    this.wanted.states.delete(key)
    channels.metadataSets.delete(key)
    channels.modes.delete(key)
    for (const [handle, other] of channels.byHandle) if (other.kind === kind && other.channel === channel) channels.byHandle.delete(handle)
    if (kind === 'message') {
      messages.positions.delete(channel)
      messages.catchingUp.delete(channel)
      messages.forgetBoard(channel)
    } else {
      for (const topic of [...this.wanted.publishing.keys()]) if (partsOfKey(topic)[0] === channel) this.leftTopic(topic)
      for (const topic of this.wanted.selections.keys()) if (partsOfKey(topic)[0] === channel) this.wanted.selections.delete(topic)
      for (const [handle, flow] of flows.byHandle) if (flow.channel === channel) flows.byHandle.delete(handle)
    }
  }

  leftTopic(key) {
    this.wanted.publishing.delete(key)
    this.wanted.echoing.delete(key)
    this.machine.flows.ownFlows.delete(key)
  }
}
