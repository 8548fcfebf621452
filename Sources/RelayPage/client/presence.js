// Who is in a channel.
import {Part} from './part.js'
import {checkedName, utf8} from './text.js'
/** @import {Member} from './types.js' */

/** Presence and states of one channel; it need not be subscribed for reading. */
export class Presence extends Part {
  /**
   * Members in order of user id: at most 100; `next` is the `after` to read on with.
   *
   * @param {{after?: string, limit?: number}} [page]
   * @returns {Promise<{members: Member[], total: number, next?: string}>}
   */
  async users({after, limit} = {}) {
    const {members, total, next} = await this.client.request('who', {...this.place, after, limit})
    return {members, total, next}
  }

  /** Creates or replaces states of this user in the channel. @param {Record<string, string>} states */
  async setStates(states) {
    for (const [key, value] of Object.entries(states)) utf8(checkedName(key) + value)
    await this.client.request('setStates', {...this.place, states: {...states}})
  }

  /** Removes states of this user, all without `keys`. @param {string[]|undefined} keys */
  async removeStates(keys) {
    await this.client.request('removeStates', {...this.place, keys: keys?.map(checkedName)})
  }

  /**
   * The states of a user in this channel; empty for a user that is not there.
   *
   * @param {string} user
   * @returns {Promise<Record<string, string>>}
   */
  async states(user) {
    return (await this.client.request('getStates', {...this.place, user: checkedName(user)})).states
  }
}
