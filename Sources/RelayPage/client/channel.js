// The handle of a channel, but for what whole.js adds to it. `relay-client.d.ts` says what its calls do.
import {Board} from './board.js'
import {isOverAlready} from './errors.js'
import {channelKey, sorted} from './keys.js'
import {Metadata} from './metadata.js'
import {listOf, optionsOf, taken} from './options.js'
import {Presence} from './presence.js'
import {checkedMessage, sendMessage} from './sending.js'
import {Topic} from './topics.js'
import {checkedName} from './text.js'
/** @import {Events} from './events.js' */
/** @import {CallOptions, OpenOptions, ReaderOptions} from './types.js' */

const allParts = ['messages', 'presence', 'metadata', 'locks']

/** A channel of a client: the same object for each call of `client.channel` with its name. */
export class Channel {
  /** @param {RelayClient} client @param {ChannelState} state */
  constructor(client, state) {
    Object.assign(this, {client, state})
    this.name = state.name
    this.board = new Board(this)
    this.presence = new Presence(this)
    this.metadata = new Metadata(client, {kind: 'message', channel: this.name}, () => state.contents)
  }

  /** @param {string} name */
  topic(name) {
    return new Topic(this, name)
  }

  /** What this client may here: names of rights. @returns {Set<string>|undefined} `undefined` before the first login */
  get rights() {
    return this.client.access?.rights(this.name)
  }

  /** What moderators set: `frozen`, `openEditing`; known while the client is in the channel. @returns {Set<string>} */
  get modes() {
    const {message, stream} = this.state.modes
    return new Set([...message, ...stream])
  }

  // MARK: Coming and going

  /** Receives what `parts` name. @param {OpenOptions & CallOptions} [options] @throws {RelayError} `limitReached`, `relayFull`, `notPermitted` */
  async open(options) {
    const [{parts = ['messages', 'presence'], from, quiet = false}, call] = taken('open', options, ['parts', 'from', 'quiet'])
    const unknown = listOf('open', 'parts', parts).find(part => !allParts.includes(part))
    if (unknown !== undefined) throw new TypeError(`open: there is no part ${unknown}; there are ${allParts.join(', ')}`)
    if (typeof from === 'object') optionsOf('from', from, ['epoch', 'offset'])
    else if (![undefined, 'board', 'now'].includes(from)) throw new TypeError(`open: from is 'board', 'now' or a position, not ${from}`)
    const {asked: before} = this.state
    const receives = parts.includes('messages')
    const start = receives ? from ?? (before.receives && !before.isOpening ? undefined : 'board') : undefined
    // Of this call: one that ends while another has begun leaves that one's alone.
    const asked = this.state.asked = {...before, message: true, receives, isOpening: true}
    const since = start === 'board' ? {beginning: true} : start === 'now' ? undefined : start
    const body = {channel: this.name, features: sorted(parts), quiet, since}
    try {
      await this.client.subscribe(this.state, body, call, start !== undefined || !receives)
    } catch (error) {
      // It is not open, as far as anybody knows.
      if (error.outcome !== 'unknown') Object.assign(asked, {message: before.message, receives: before.receives})
      throw error
    } finally {
      asked.isOpening = false
    }
  }

  /** Ends receiving, publishing in topics, and being seen; its readers end. @param {CallOptions} [options] */
  async leave(options) {
    const [, call] = taken('leave', options)
    const {client, state, name: channel} = this
    const {wanted} = client.machine.session
    // A call that failed can be made again.
    const isIn = kind => state.asked[kind] || (state.privateReads === 0 && wanted.channels.has(channelKey(kind, channel)))
    const [message, stream] = [isIn('message'), isIn('stream')]
    client.left(state)
    const leave = type => client.request(type, {channel}, call, {handsOver: true}).catch(error => {
      if (!isOverAlready(error)) throw error
    })
    await Promise.all([...message ? [leave('unsubscribe')] : [], ...stream ? [leave('leave')] : []])
  }

  // MARK: Messages

  send(payload, options) {
    const {customType, echo = false, storeInHistory = true} = optionsOf('send', options, ['customType', 'echo', 'storeInHistory'])
    const {name: channel} = this
    return sendMessage(this.client, {subject: 'message', channel}, (machine, {accepted}, now) => {
      const message = {payload, channel, customType, echo, accepted}
      if (checkedMessage(payload, {customType, storeInHistory}, machine.limits)) machine.sendLarge({...message, isRetained: false}, now)
      else machine.send({...message, isKept: storeInHistory}, now)
    })
  }

  /** [HI6] */
  async history(options) {
    const [{from, backwards, limit}, call] = taken('history', options, ['from', 'backwards', 'limit'])
    return this.client.request('history', {channel: this.name, from, backwards: backwards || undefined, limit}, call)
  }

  /** [HI8] */
  async upToDate(options) {
    const [, call] = taken('upToDate', options)
    await this.client.request('barrier', {channel: this.name}, call)
  }

  // MARK: Readers

  read(view, signal) {
    const {state} = this
    const reader = {}
    const events = this.client.read(view, signal, () => state.readers.delete(reader))
    reader.cursor = events.cursor
    if (!signal?.aborted) state.readers.add(reader)
    return events
  }

  /** All that happens in the channel, in the relay's order. @param {ReaderOptions} [options] @returns {Events} of `ClientEvent` */
  events(options) {
    const {signal} = optionsOf('events', options, ['signal'])
    const {name} = this
    return this.read(event => {
      if (event.type === 'boardChange') return undefined
      if (event.channel === name) return event
      const entries = event.type === 'packetsLost' ? event.entries.filter(({channel}) => channel === name) : []
      return entries.length > 0 ? {...event, entries} : undefined
    }, signal)
  }

  /** Messages that are no records, and `messagesMissed` in the place of others. @param {ReaderOptions} [options] @returns {Events} */
  messages(options) {
    const {signal} = optionsOf('messages', options, ['signal'])
    const {name} = this
    const isMeant = ({type, isRetained}) => type === 'messagesMissed' || (type === 'message' && !isRetained)
    return this.read(event => event.channel === name && isMeant(event) ? event : undefined, signal)
  }
}

/** Another user: what is sent to them, and known of them. */
export class Person {
  constructor(client, user) {
    Object.assign(this, {client, user: checkedName(user)})
    this.metadata = new Metadata(client, {user}, () => client.contentsOf(user))
  }

  send(payload, options) {
    const {customType} = optionsOf('send', options, ['customType'])
    const {user} = this
    return sendMessage(this.client, {subject: 'direct', user}, (machine, {accepted}, now) => {
      const answered = {settle: ({error}) => accepted.settle({error})}
      machine.sendDirect({payload, user, customType, pending: answered}, now)
    })
  }

  /** The channels in which the user is seen. @param {CallOptions} [options] @returns {Promise<string[]>} */
  async channels(options) {
    const [, call] = taken('channels', options)
    const found = await this.client.all('where', {user: this.user}, 'channels', call)
    return found.filter(({kind}) => kind === 'message').map(({channel}) => channel)
  }
}
