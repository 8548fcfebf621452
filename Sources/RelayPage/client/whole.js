// The client with all that apps may want of it. The whiteboard keeps its board itself, reads events, and loads what moderators decide when
// one is there: it has the core without this.
import {BoardPicture} from './board-picture.js'
import {ReadBoard} from './board-reading.js'
import {Channel as ChannelCore} from './channel.js'
import {ClientCore} from './client.js'
import {Cell, Latest} from './latest.js'
import {Limits} from './limits.js'
import {Lock, LockUses} from './locks.js'
import {Moderation} from './moderation.js'
import {Newest} from './newest.js'
import {optionsOf, taken} from './options.js'
import {Places} from './places.js'
import {UnreadProblems, problemOf} from './problems.js'
/** @import {Events} from './events.js' */
/** @import {CallOptions, LockDetail, ReaderOptions} from './types.js' */

/** What may change what a client may. */
const changesRights = new Set(['link', 'accessChanged', 'renewed', 'channelMode'])

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

  /** The locks by name; `open` with `locks` brings them. @param {ReaderOptions} [options] @returns {Latest} of `Map<string, LockDetail>` */
  lockStates(options) {
    const {signal} = optionsOf('lockStates', options, ['signal'])
    return new Latest(this.state.newest.locks, signal)
  }

  /**
   * Who publishes in which topic, in order of topic, user and device; the first use of a topic of the channel brings it.
   *
   * @param {ReaderOptions} [options] @returns {Latest} of `PublishedTopic[]`
   */
  publishedTopics(options) {
    const {signal} = optionsOf('publishedTopics', options, ['signal'])
    const {newest} = this.state
    return new Latest(newest.topics, signal, () => newest.published)
  }

  /** What this client may here, and what moderators have set. @param {ReaderOptions} [options] @returns {Latest} of `Permissions` */
  permissions(options) {
    const {signal} = optionsOf('permissions', options, ['signal'])
    return new Latest(this.state.newest.permissions, signal)
  }
}

/** A client with all its parts: see `ClientCore`. */
export class RelayClient extends ClientCore {
  Channel = Channel
  Picture = BoardPicture
  Newest = Newest
  lockUses = new LockUses()
  /** The join code that holds, with its end: `{code, until}`. */
  codes = new Cell(null)
  unreadProblems = new UnreadProblems()

  /** As of `ClientCore`, with all the places that an address names. [SE17] */
  constructor(address, user, options) {
    super(address, user, options)
    if (typeof address === 'function') return
    const places = new Places(address)
    this.transport = places.link
    this.machine.settings.places = places
  }

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

  /**
   * Refusals that no call waited for, failures of receipts that nobody asked, own packets that were dropped, the end of a join code, and of
   * a token. The first reader gets those of before, at most 100.
   *
   * @param {ReaderOptions} [options] @returns {Events} of `Problem`
   */
  problems(options) {
    const {signal} = optionsOf('problems', options, ['signal'])
    const events = this.read(event => problemOf(event, this.token !== undefined), signal)
    const now = performance.now()
    for (const problem of this.unreadProblems.take()) this.readers.add(events.cursor, problem, problem, Limits.eventBytes, now)
    return events
  }

  /** Every direct message. Reading acknowledges none. @param {ReaderOptions} [options] @returns {Events} of `DirectMessage` */
  directMessages(options) {
    const {signal} = optionsOf('directMessages', options, ['signal'])
    return this.read(event => event.type === 'direct' ? event : undefined, signal)
  }

  noted(event, state) {
    const {codes} = this
    state?.newest.take(event)
    if (changesRights.has(event.type)) for (const {state} of this.handles.values()) state.newest.look()
    if (event.type === 'joinCode') {
      const {offered} = event
      codes.set(offered && {code: offered.code, until: performance.now() + offered.validMs})
    }
    // A session that is over takes its code along.
    const isOver = event.type === 'joinCodeEnded' || event.resumed === false || event.state === 'closed'
    if (isOver && codes.value) codes.set(null)
    if (event.state === 'closed') codes.end()
  }

  passed(event) {
    const problem = problemOf(event, this.token !== undefined)
    if (problem) this.unreadProblems.add(problem, performance.now())
  }

  /** What a moderator decides about others. */
  get moderation() {
    return new Moderation(this)
  }
}
