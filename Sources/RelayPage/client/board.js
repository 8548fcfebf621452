// The board of a message channel.
import {Part} from './part.js'
/** @import {BoardChange} from './types.js' */

/**
 * What a message channel keeps for good. Records are written with `send(…, {retainedAs})` and `sendLarge`, removed with
 * `send({removing, from})`, and read by `subscribe` with `since: 'beginning'`: they come as `board` events, then `caughtUp`.
 */
export class Board extends Part {
  async change(type) {
    const {offset, records} = await this.client.request(type, {channel: this.place})
    return {offset, records}
  }

  /** Removes all records, as one event (`cleared`). @returns {Promise<BoardChange>} its place, and how many went; it is durable [BL6] */
  async clear() {
    return this.change('clear')
  }

  /**
   * Brings back what the newest `clear` of the last 10 minutes took away, but for keys that were written or removed since.
   *
   * @returns {Promise<BoardChange>}
   */
  async undoClear() {
    return this.change('undoClear')
  }
}
