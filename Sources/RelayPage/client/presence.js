// Presence and states of a channel.
import {Latest} from './latest.js'
import {listOf, optionsOf, taken, textsOf} from './options.js'
import {checkedName, utf8} from './text.js'
/** @import {CallOptions, Member, ReaderOptions} from './types.js' */

/** Who is in a channel, with their states; it need not be open for asking. */
export class Presence {
  constructor(channel) {
    this.channel = channel
    this.place = {kind: 'message', channel: channel.name}
  }
  request(type, body, call) {
    return this.channel.client.request(type, {...this.place, ...body}, call)
  }

  /**
   * The users by id, oneself among them, whenever that changes; `open` with `presence` brings them.
   *
   * @param {ReaderOptions} [options] @returns {Latest} of `Map<string, Member>`
   */
  members(options) {
    const {signal} = optionsOf('members', options, ['signal'])
    return new Latest(this.channel.state.members, signal)
  }

  /**
   * Users in order of id: at most 100; `next` is the `after` to read on with.
   *
   * @param {{after?: string, limit?: number} & CallOptions} [options]
   * @returns {Promise<{members: Member[], total: number, next?: string}>}
   */
  async users(options) {
    const [{after, limit}, call] = taken('users', options, ['after', 'limit'])
    const {members, total, next} = await this.request('who', {after, limit}, call)
    return {members, total, next}
  }

  /** Creates or replaces states of this user in the channel. @param {Record<string, string>} states */
  async set(states, options) {
    const [, call] = taken('set', options)
    for (const [key, value] of Object.entries(textsOf('set', 'states', states))) utf8(checkedName(key) + value)
    await this.request('setStates', {states: {...states}}, call)
  }

  /** Removes states of this user, all without `keys`. @param {string[]} [keys] */
  async remove(keys, options) {
    const [, call] = taken('remove', options)
    const names = keys === undefined ? undefined : listOf('remove', 'keys', keys).map(checkedName)
    await this.request('removeStates', {keys: names}, call)
  }

  /** The states of a user in this channel; empty for one that is not there. @returns {Promise<Record<string, string>>} */
  async states(/** @type {string} */ user, /** @type {CallOptions} */ options = undefined) {
    const [, call] = taken('states', options)
    return (await this.request('getStates', {user: checkedName(user)}, call)).states
  }
}
