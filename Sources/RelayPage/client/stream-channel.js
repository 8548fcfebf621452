// A stream channel that was joined.
import {pages} from './pages.js'
import {Part} from './part.js'
import {checkedName} from './text.js'
/** @import {Payload, Selection} from './types.js' */

/** A stream channel that was joined. */
export class StreamChannel extends Part {
  request(type, topic, more) {
    return this.client.request(type, {channel: this.place, topic: checkedName(topic), ...more})
  }

  /**
   * Begins to publish in a topic.
   *
   * @param {string} topic
   * @param {{qos?: 'ordered'|'unordered', priority?: 'highest'|'high'|'normal'|'low', meta?: string, lifetimeMs?: number}} [options]
   *   `meta` is
   *   told to subscribers; `lifetimeMs`: how old a packet may become before a slow reader's link, 50…1,000
   */
  async joinTopic(topic, {qos = 'ordered', priority = 'normal', meta = '', lifetimeMs} = {}) {
    await this.request('joinTopic', topic, {qos, priority, meta, lifetimeMs})
  }

  /** Ends publishing in a topic. @param {string} topic */
  async leaveTopic(topic) {
    await this.request('leaveTopic', topic)
  }

  /** Hears users in a topic, without `users` everybody, now and later; adds to what is heard already. @returns {Promise<Selection>} */
  async subscribeTopic(topic, {users} = {}) {
    return this.request('subscribeTopic', topic, {users})
  }

  /** Takes users away, without `users` the whole selection. @param {string} topic @returns {Promise<Selection>} */
  async unsubscribeTopic(topic, /** @type {{users?: string[]}} */ {users} = {}) {
    return this.request('unsubscribeTopic', topic, {users})
  }

  /** Those listed; with `all` everybody who publishes now. @param {string} topic @returns {Promise<Selection>} */
  async subscribedUsers(topic) {
    const found = {all: false, users: [], failed: []}
    for await (const {all, users} of pages(this.client, 'subscribedUsers', {channel: this.place, topic: checkedName(topic)})) {
      found.all = all
      found.users.push(...users)
    }
    return found
  }

  /**
   * Publishes a packet; it has its place in the order, among messages too, when this returns.
   *
   * @param {Payload} payload
   * @param {{topic: string, slot?: number, senderTime?: number, echo?: boolean}} options `slot`: "latest wins", a slow reader gets
   *   the newest of a slot only; `senderTime`: the sender's own clock, passed on untouched
   * @throws {RelayError} `topicNotJoined`, `tooLarge`, `unsentFull`, `clientClosed`: nothing was sent then
   */
  send(payload, {topic, slot, senderTime, echo = false}) {
    this.client.act((machine, now) => machine.sendPacket({payload, channel: this.place, topic, slot, senderTime, echo}, now))
  }

  /** Leaves the channel and all its topics. */
  async leave() {
    await this.client.request('leave', {channel: this.place})
  }
}
