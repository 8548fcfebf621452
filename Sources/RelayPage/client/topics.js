// Topics of a channel: packets that must be fresh.
import {isOverAlready} from './errors.js'
import {channelKey, topicKey} from './keys.js'
import {listOf, optionsOf, taken} from './options.js'
import {pages} from './pages.js'
import {checkedName} from './text.js'
/** @import {Events} from './events.js' */
/** @import {CallOptions, PacketOptions, Payload, ReaderOptions, Selection, TopicOptions} from './types.js' */

/** A topic in which this client publishes. */
export class Publisher {
  constructor(topic) {
    this.topic = topic
  }

  /** Whether it still publishes: a freeze, or another role, ends that, and `startPublishing` begins it again. */
  get isOpen() {
    const {client, channel, name} = this.topic
    return client.machine.session.wanted.publishing.has(topicKey(channel.name, name))
  }

  /**
   * Publishes a packet; it has its place in the order, among messages too, when this returns.
   *
   * @param {Payload} payload at most 1,024 bytes @param {PacketOptions} [options]
   * @throws {RelayError} `topicNotJoined`, `tooLarge`, `unsentFull`, `clientClosed`: nothing was sent then
   */
  send(payload, options) {
    const {slot, senderTime, echo = false} = optionsOf('send', options, ['slot', 'senderTime', 'echo'])
    const {client, channel, name} = this.topic
    client.reach((machine, now) => machine.sendPacket({payload, channel: channel.name, topic: name, slot, senderTime, echo}, now))
  }

  /** Ends publishing. */
  async stop(options) {
    const [, call] = taken('stop', options)
    await this.topic.request('leaveTopic', {}, call, {handsOver: true})
  }
}

/** A named flow of packets in a channel. */
export class Topic {
  constructor(channel, name) {
    Object.assign(this, {channel, client: channel.client, name: checkedName(name)})
  }
  request(type, more, call, how) {
    return this.client.request(type, {channel: this.channel.name, topic: this.name, ...more}, call, how)
  }

  /** Topics are in the stream channel of the name, which the first use of one joins. */
  async enter(call) {
    const {channel: {state, name}, client} = this
    state.asked.stream = true
    if (!client.machine.session.wanted.channels.has(channelKey('stream', name))) {
      await client.request('join', {channel: name, features: [], quiet: false}, call)
    }
  }

  /** @param {TopicOptions} [options] @returns {Promise<Publisher>} */
  async startPublishing(options) {
    const [{priority = 'normal', meta = '', lifetime}, call] = taken('startPublishing', options, ['priority', 'meta', 'lifetime'])
    await this.enter(call)
    await this.request('joinTopic', {priority, meta, lifetimeMs: lifetime}, call)
    return new Publisher(this)
  }

  /**
   * Every packet from now on, and `packetsLost` in the place of those that are. The topic is followed while this is open.
   *
   * @param {{from?: string[]} & ReaderOptions} [options] `from`: users, without it everybody
   * @returns {Events} of `Packet|PacketsLost`
   */
  packets(options) {
    const {from, signal} = optionsOf('packets', options, ['from', 'signal'])
    if (from !== undefined) listOf('packets', 'from', from)
    const {channel: {name: channel, state}, name: topic, client} = this
    const isMeant = entry => entry.channel === channel && entry.topic === topic && (!from || from.includes(entry.publisher))
    const hold = {topic}
    const events = client.read(event => {
      if (event.type === 'packet') return isMeant(event) ? event : undefined
      if (event.type !== 'packetsLost') return undefined
      const entries = event.entries.filter(isMeant)
      return entries.length > 0 ? {...event, entries} : undefined
    }, signal, () => {
      state.readers.delete(hold)
      this.letGo(hold).catch(() => {})
    })
    if (signal?.aborted) return events
    hold.cursor = events.cursor
    state.readers.add(hold)
    this.hold(hold, from, {timeout: Infinity}).catch(error => client.readers.finish(events.cursor, error))
    return events
  }

  /** Follows for `hold`, as long as there is one. */
  async hold(hold, users, call) {
    const {topics} = this.channel.state
    if (!topics.has(this.name)) topics.set(this.name, new Set())
    topics.get(this.name).add(hold)
    try {
      await this.enter(call)
      return await this.request('subscribeTopic', {users: users?.map(checkedName)}, call)
    } catch (error) {
      topics.get(this.name)?.delete(hold)
      throw error
    }
  }

  async letGo(hold, call = undefined) {
    const {topics} = this.channel.state
    const holds = topics.get(this.name)
    if (!holds?.delete(hold) || holds.size > 0) return
    topics.delete(this.name)
    await this.request('unsubscribeTopic', {}, call, {handsOver: true}).catch(error => {
      if (!isOverAlready(error)) throw error
    })
  }

  /**
   * Has the packets of users among `events()`, until `unfollow`; adds to whom it follows already.
   *
   * @param {{from?: string[]} & CallOptions} [options] without `from` everybody, now and later
   * @returns {Promise<Selection>}
   */
  async follow(options) {
    const [{from}, call] = taken('follow', options, ['from'])
    if (from !== undefined) listOf('follow', 'from', from)
    return this.hold(this.channel.state, from, call)
  }

  /** Ends `follow`; readers go on. */
  async unfollow(options) {
    const [, call] = taken('unfollow', options)
    await this.letGo(this.channel.state, call)
  }

  /** The users that this client follows; with `all` all present publishers. @returns {Promise<Selection>} */
  async followed(options) {
    const [, call] = taken('followed', options)
    const found = {all: false, users: [], failed: []}
    for await (const {all, users} of pages(this.client, 'subscribedUsers', {channel: this.channel.name, topic: this.name}, call)) {
      found.all = all
      found.users.push(...users)
    }
    return found
  }
}
