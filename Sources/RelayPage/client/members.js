// Who is in a channel.
import {Cell} from './latest.js'
/** @import {ClientEvent, Member} from './types.js' */

/** The users of a channel with their states, by id, complete however many they are. */
export class Members extends Cell {
  /** Counts snapshots: pages of earlier ones are void. */
  snapshots = 0

  /** @param {(after: string) => Promise<{members: Member[], next?: string}>} readPage */
  constructor(readPage) {
    super(new Map())
    this.readPage = readPage
  }

  come({user, states}) {
    this.value.set(user, {user, states: {...states}})
  }

  /** @param {Extract<ClientEvent, {type: 'presence'}>} event */
  take({kind, members = [], total = 0, member, user, set, removed, joined = [], changed = [], left = [], timedOut = []}) {
    // A map that somebody has taken stays as it is.
    this.value = new Map(kind === 'snapshot' ? [] : this.value)
    for (const gone of [...left, ...timedOut]) this.value.delete(gone)
    for (const each of [...members, ...joined, ...changed]) this.come(each)
    if (kind === 'joined') this.come(member)
    if (kind === 'left' || kind === 'timedOut') this.value.delete(user)
    if (kind === 'stateChanged') {
      const states = {...this.value.get(user)?.states, ...set}
      for (const name of removed) delete states[name]
      this.come({user, states})
    }
    if (kind === 'snapshot') {
      this.snapshots++
      if (total > members.length) this.readRest(members.at(-1)?.user).catch(() => {})
    }
    this.tell()
  }

  /** A snapshot has at most 100 members; pages bring the rest. */
  async readRest(after) {
    const {snapshots} = this
    while (after !== undefined) {
      const {members, next} = await this.readPage(after)
      if (snapshots !== this.snapshots) return
      this.value = new Map(this.value)
      members.forEach(member => this.come(member))
      this.tell()
      after = next
    }
  }
}
