// What a client makes of the events of its machine: what apps get, and what is folded for them.
import {Cell} from './latest.js'
/** @import {ClientEvent} from './types.js' */

/** One name for both channels of a name; `undefined`: nothing for apps. @returns {ClientEvent|undefined} */
function shown(event, client, state) {
  const {channel} = event
  switch (event.type) {
    case 'presence':
    case 'locks': return channel.kind === 'message' ? {...event, channel: channel.channel} : undefined
    case 'metadata': {
      const {owner, ...rest} = event
      if (owner.user !== undefined) return {...rest, user: owner.user}
      return owner.kind === 'message' ? {...rest, channel: owner.channel} : undefined
    }
    case 'channelMode': {
      // A freeze is told of both: it begins with the first, and ends with the last.
      const {[channel.kind]: own, [channel.kind === 'message' ? 'stream' : 'message']: other} = state.modes
      own[event.isOn ? 'add' : 'delete'](event.mode)
      return other.has(event.mode) ? undefined : {...event, channel: channel.channel}
    }
    case 'refused': {
      if (typeof channel !== 'object') return event
      const subject = event.subject === 'channel' && channel.kind === 'stream' ? 'topics' : event.subject
      return {...event, subject, channel: channel.channel}
    }
    case 'direct': {
      const {acknowledgement, ...rest} = event
      return {...rest, acknowledge: () => client.act(machine => machine.acknowledge(acknowledgement))}
    }
    default: return event
  }
}

/** An own record, or several, as others get them. */
function echoOf(channel, {records, receipt}) {
  const messages = records.map(({author, payload, ...record}) => ({
    type: 'message', channel, sender: author, isRetained: true, isRemoval: payload === undefined, payload: payload ?? '', ...record,
  }))
  const own = {isOwn: true, receipt}
  return messages.length === 1 ? {...messages[0], ...own} : {type: 'board', channel, messages, progress: 1, ...own}
}

/** Tells apps what has happened, in order. */
export class Teller {
  constructor(client) {
    this.client = client
  }

  told(event, cost) {
    const {client} = this
    const state = client.handles.get(event.channel?.channel ?? event.channel ?? event.owner?.channel)?.state
    if (event.type === 'opened') return this.tellChanges(state, state.board.begin(event.isWhole), cost)
    if (event.type === 'ownStored') return this.tellOwn(state, event, cost)
    // What only the client's own readers are told.
    if (event.type === 'renewed' || event.type === 'joinCode') return client.noted(event)
    const told = shown(event, client, state)
    if (!told) return undefined
    client.noted(told, state)
    if (told.type === 'link') return this.tellLink(told, cost)
    if (told.type === 'locks') client.lockUses?.told(told, client.user, client.machine.device)
    const {user, items, majorRevision} = told
    if (told.type === 'metadata' && user !== undefined) client.contentsOf(user).set({items, majorRevision})
    const isOpen = state && (state.asked.message || state.privateReads > 0)
    // Whoever is told finds it on the board.
    const changes = isOpen ? state.take(told) : []
    if (!state?.isPrivate) this.append(told, cost)
    if (isOpen) this.tellChanges(state, changes, cost)
    if (told.type === 'refused' && state) this.refused(told, state)
    if (told.type === 'accessExpiring') client.renewByItself()
    return undefined
  }

  append(event, cost) {
    if (this.client.append(event, cost) === 0) this.client.passed(event)
  }

  tellChanges(state, changes, cost) {
    if (state.isPrivate) return
    for (const change of changes) {
      if (change.isOwn) this.client.append(echoOf(state.name, change), cost)
      this.client.append({type: 'boardChange', channel: state.name, change}, cost)
    }
  }

  /** Of a channel that is not open nobody is told, and nothing is kept. */
  tellOwn(state, event, cost) {
    if (state.asked.receives) this.tellChanges(state, state.take(event), cost)
    else state.board.ownEnded(event.records)
  }

  tellLink({type, ...state}, cost) {
    const {client} = this
    client.links.set(state)
    client.append({type, ...state}, cost)
    if (state.state !== 'closed') return
    for (const cursor of [...client.readers.cursors]) client.readers.finish(cursor)
    for (const {state} of client.handles.values()) state.close()
    for (const cell of [client.links, ...client.userContents.values()]) cell.end()
  }

  /** Ends the readers of what the relay has taken from the client. */
  refused({subject, topic, error}, state) {
    const {client} = this
    if (subject === 'channel') client.left(state, error)
    else if (subject === 'topics' || subject === 'subscribedTopic') client.leftTopics(state, error, topic)
  }
}

/** A user's metadata, for its followers. */
export const emptyContents = () => new Cell({items: new Map(), majorRevision: 0})
