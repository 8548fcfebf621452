// The client with all that apps may want of it. The whiteboard keeps its board itself, and loads what moderators decide when one is
// there: it has the core without this.
import {BoardPicture} from './board-picture.js'
import {ReadBoard} from './board-reading.js'
import {Channel as ChannelCore} from './channel.js'
import {ClientCore} from './client.js'
import {Lock, LockUses} from './locks.js'
import {Moderation} from './moderation.js'
import {taken} from './options.js'
/** @import {CallOptions, LockDetail} from './types.js' */

/** A channel's handle with all its parts. */
export class Channel extends ChannelCore {
  constructor(client, state) {
    super(client, state)
    this.board = new ReadBoard(this)
  }

  /** @param {string} name */
  lock(name) {
    return new Lock(this, name)
  }

  /** All locks of the channel, by name. @returns {Promise<LockDetail[]>} */
  async locks(options) {
    const [, call] = taken('locks', options)
    return (await this.client.request('getLocks', {kind: 'message', channel: this.name}, call)).locks
  }
}

/** A client with all its parts: see `ClientCore`. */
export class RelayClient extends ClientCore {
  Channel = Channel
  Picture = BoardPicture
  lockUses = new LockUses()

  /**
   * A client for as long as `body` runs; it is closed however that ends.
   *
   * @template Result @param {(client: RelayClient) => Promise<Result>|Result} body @returns {Promise<Result>}
   */
  static async withClient(address, user, options, body) {
    const client = new RelayClient(address, user, options)
    try {
      return await body(client)
    } finally {
      await client.close()
    }
  }

  /** What a moderator decides about others. */
  get moderation() {
    return new Moderation(this)
  }
}
