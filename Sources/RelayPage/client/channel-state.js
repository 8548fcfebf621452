// What a client knows of one channel, for all handles of its name.
import {Cell} from './latest.js'
import {Members} from './members.js'
/** @import {ClientEvent} from './types.js' */

/** Stands in for a board's picture (board-picture.js) if nobody reads one: readers of events keep the records themselves. */
export class NoPicture {
  own = new Map()
  begin = () => []
  take = () => []
  ownSent = () => []
  ownAccepted() {}
  ownEnded() {}
  end() {}
}

/** Stands in for what is newest of a channel (newest.js) if nobody reads it. */
export class NoNewest {
  look() {}
  take() {}
  topicsLeft() {}
  end() {}
}

/** One channel of a client, whether it is open or not. */
export class ChannelState {
  /** What the app has asked to be in, of the two channels of the name, and not to leave since; whether for messages. */
  asked = {message: false, stream: false, receives: false}
  /** Reads of `records()` that are under way for a channel that is not open. */
  privateReads = 0
  /** Open readers that end when the channel is left. @type {Set<{cursor: object, topic?: string}>} */
  readers = new Set()
  /** Who follows a topic. @type {Map<string, Set<object>>} */
  topics = new Map()

  /** @param {ClientCore} client @param {string} name @param {(after: string) => Promise<object>} readMembers a page of members */
  constructor(client, name, readMembers) {
    Object.assign(this, {client, name, readMembers})
    this.begin()
  }

  begin() {
    this.board = new this.client.Picture()
    this.members = new Members(this.readMembers)
    this.contents = new Cell({items: new Map(), majorRevision: 0})
    /** What moderators set of either channel of the name. */
    this.modes = {message: new Set(), stream: new Set()}
    this.newest = new this.client.Newest(this.client, this)
  }

  /** The channel is read for the client itself only: nobody else is told. */
  get isPrivate() {
    return this.privateReads > 0 && !this.asked.message
  }

  /** @param {ClientEvent} event @returns {object[]} what has changed on the board */
  take(event) {
    if (event.type === 'presence') this.members.take(event)
    if (event.type === 'metadata') this.contents.set({items: event.items, majorRevision: event.majorRevision})
    return this.board.take(event)
  }

  /** Ends readers of the newest value. */
  close() {
    for (const cell of [this.board, this.members, this.contents, this.newest]) cell.end()
  }

  /** The client is out of the channel: what is known of it is void, and its readers end. */
  end() {
    const {board} = this
    this.close()
    this.begin()
    // What was sent goes on, whether the channel is open or not.
    for (const [key, records] of board.own) {
      this.board.own.set(key, records)
      this.board.refresh(key)
    }
  }
}
