// What the relay tells of channels and their users.
import {Access} from './access.js'
import {RelayError, fault} from './errors.js'
import {channelKey, ownerKey} from './keys.js'
import {Limits} from './limits.js'
import {contentOf, textOf} from './text.js'
/** @import {ChannelID} from './machine-types.js' */

/** What moderators set of the channels of a name. [AC11] */
const channelModes = ['frozen', 'openEditing']

/** This client's channels, and what the relay tells of them. */
export class Channels {
  constructor(machine) {
    this.machine = machine
    /** @type {Map<number, ChannelID>} */
    this.byHandle = new Map()
    /** Handles of stream channels whose snapshot of topics is not over. */
    this.snapshotGoesOn = new Set()
    /** Of the channels that this client is in, by key. [AC11] @type {Map<string, Set<string>>} */
    this.modes = new Map()
    /** Sets of metadata, by owner. */
    this.metadataSets = new Map()
  }

  directDeliver({sender, time, customType, payload, text, delivery}) {
    const event = {type: 'direct', sender, wallMilliseconds: time, customType, payload: contentOf(payload, text)}
    this.machine.unread.emit({...event, acknowledgement: {delivery, attempt: this.machine.attempt}})
  }

  accessExpiring({inMs}) {
    this.machine.unread.emit({type: 'accessExpiring', inMs})
  }

  removed(body) {
    const channel = this.byHandle.get(body.channel)
    if (!channel) return
    this.machine.session.left(channel)
    this.machine.unread.emit({type: 'refused', subject: 'channel', channel, error: new RelayError(body.code, body.text)})
  }

  accessChanged({by, ...access}) {
    this.machine.access = new Access(access)
    this.machine.unread.emit({type: 'accessChanged', access: this.machine.access, by})
  }

  modeChanged({channel: handle, mode, on, by}) {
    const channel = this.byHandle.get(handle)
    if (channel) this.tellMode(channel, mode, on, by)
  }

  /** How a channel is as one comes in, or comes back: told if that is news. [AC11] */
  stands({kind, channel, modes = []}) {
    const before = this.modes.get(channelKey(kind, channel)) ?? new Set()
    for (const mode of channelModes) {
      if (before.has(mode) !== modes.includes(mode)) this.tellMode({kind, channel}, mode, modes.includes(mode))
    }
  }

  /** One that a later version has says nothing. */
  tellMode(channel, mode, isOn, by = undefined) {
    if (!channelModes.includes(mode)) return
    const key = channelKey(channel.kind, channel.channel)
    if (!this.modes.has(key)) this.modes.set(key, new Set())
    this.modes.get(key)[isOn ? 'add' : 'delete'](mode)
    this.machine.unread.emit({type: 'channelMode', channel, mode, isOn, by})
  }

  locks({channel: handle, event, locks, user, device}) {
    const channel = this.byHandle.get(handle)
    if (!channel) return
    this.machine.unread.emit({type: 'locks', channel, kind: event, locks, formerOwner: user, formerOwnerDevice: device})
  }

  presence({
    channel: handle, event, user, states = {}, removed = [], members = [], total = members.length,
    joined = [], changed = [], left = [], timedOut = [],
  }) {
    const channel = this.byHandle.get(handle)
    if (!channel || (user === undefined && event !== 'snapshot' && event !== 'interval')) return
    const change = {
      snapshot: {kind: 'snapshot', members, total}, join: {kind: 'joined', member: {user, states}}, leave: {kind: 'left', user},
      timeout: {kind: 'timedOut', user}, stateChanged: {kind: 'stateChanged', user, set: states, removed},
      interval: {kind: 'interval', joined, changed, left, timedOut},
    }[event]
    this.machine.unread.emit({type: 'presence', channel, ...change})
  }

  topics({channel: handle, event, publishers, more}) {
    const channel = this.byHandle.get(handle)
    if (!channel) return
    // The rest of a long snapshot follows as `joined`.
    const kind = event === 'publisherLeft' ? 'left' : event === 'publisherJoined' || this.snapshotGoesOn.has(handle) ? 'joined' : 'snapshot'
    if (event === 'snapshot') this.snapshotGoesOn[more ? 'add' : 'delete'](handle)
    const told = publishers.map(({topic, user, device, meta}) => ({topic, user, device, meta}))
    this.machine.unread.emit({type: 'topics', channel: channel.channel, kind, publishers: told})
  }

  itemsOf({body, texts}) {
    return body.items.map(({key, revision, author, time}, index) => (
      {key, value: textOf(texts[index]), revision, author, wallMilliseconds: time}
    ))
  }

  metadata({channel, user, event, removed = [], more, majorRevision}, now, frame) {
    const owner = user === undefined ? this.byHandle.get(channel) : {user}
    const key = owner && ownerKey(owner)
    if (!owner || (user !== undefined && !this.metadataSets.has(key))) return
    const isSnapshot = event === 'snapshot'
    let picture = this.metadataSets.get(key)
    if (!picture || (isSnapshot && !picture.pages?.isSnapshot)) this.metadataSets.set(key, picture = {items: new Map(), majorRevision: 0})
    const pages = picture.pages ?? {written: [], removed: [], isSnapshot}
    pages.written.push(...this.itemsOf(frame))
    pages.removed.push(...removed)
    if (pages.written.length + pages.removed.length > 2 * Limits.metadataItemsMax) {
      throw fault(`a set of more than ${Limits.metadataItemsMax} items`)
    }
    picture.pages = more ? pages : undefined
    if (more) return
    for (const name of pages.removed) picture.items.delete(name)
    for (const item of pages.written) picture.items.set(item.key, item)
    picture.majorRevision = majorRevision
    this.machine.unread.emit({type: 'metadata', owner, majorRevision, ...pages, items: new Map(picture.items)})
  }
}
