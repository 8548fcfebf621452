// What is newest of a channel beside its board, its users and its metadata.
import {sorted} from './keys.js'
import {Cell} from './latest.js'
/** @import {ClientEvent, Permissions, PublishedTopic} from './types.js' */

/** @param {PublishedTopic} publisher */
const placeOf = ({topic, user, device}) => [topic, user, device].join('\n')

/** @param {Permissions} permissions */
const textOf = ({rights, modes}) => JSON.stringify([rights && sorted(rights), sorted(modes)])

/** Folds what a channel's readers get. */
export class Newest {
  /** By name. */
  locks = new Cell(new Map())
  /** By their place in the order. @type {Cell} of `Map<string, PublishedTopic>` */
  topics = new Cell(new Map())

  /** @param {RelayClient} client @param {ChannelState} state */
  constructor(client, state) {
    Object.assign(this, {client, state})
    this.permissions = new Cell(this.present)
  }

  /** @returns {Permissions} */
  get present() {
    const {message, stream} = this.state.modes
    return {rights: this.client.access?.rights(this.state.name), modes: new Set([...message, ...stream])}
  }

  /** What this client may: told if that is news. */
  look() {
    const {present, permissions} = this
    if (textOf(present) !== textOf(permissions.value)) permissions.set(present)
  }

  /** @param {ClientEvent} event of the channel */
  take({type, kind, locks, publishers}) {
    const {asked} = this.state
    if (type === 'locks' && asked.message) {
      // A map that somebody has taken stays as it is.
      const next = new Map(kind === 'snapshot' ? [] : this.locks.value)
      for (const lock of locks) {
        if (kind === 'removed') next.delete(lock.lock)
        else next.set(lock.lock, lock)
      }
      this.locks.set(next)
    }
    if (type === 'topics' && asked.stream) {
      const {topics: {value}} = this
      if (kind === 'snapshot') value.clear()
      for (const publisher of publishers) {
        if (kind === 'left') value.delete(placeOf(publisher))
        else value.set(placeOf(publisher), publisher)
      }
      this.topics.tell()
    }
  }

  /** @returns {PublishedTopic[]} */
  get published() {
    const {value} = this.topics
    return sorted(value.keys()).map(place => value.get(place))
  }

  /** The client is out of the topics. */
  topicsLeft() {
    if (this.topics.value.size > 0) this.topics.set(new Map())
    this.look()
  }

  end() {
    for (const cell of [this.locks, this.topics, this.permissions]) cell.end()
  }
}
