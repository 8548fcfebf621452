// The surface of the client: an object of each class, as apps have them, and each call that takes options. No relay is needed.
import assert from 'node:assert/strict'
import {Access, Receipt, RelayClient, RelayError, StoredReceipt} from '../../../Sources/RelayPage/relay-client.js'
import {Batch} from '../../../Sources/RelayPage/client/board.js'
import {Hold} from '../../../Sources/RelayPage/client/locks.js'
import {Publisher} from '../../../Sources/RelayPage/client/topics.js'

const address = () => assert.fail('nothing connects')
const secret = '01'.repeat(16)

export function everything() {
  const client = new RelayClient(address, 'alice', {secret})
  const channel = client.channel('lesson')
  const [person, lock, topic] = [client.person('bob'), channel.lock('pen'), channel.topic('points')]
  return {
    RelayClient: client, Channel: channel, Board: channel.board, Batch: new Batch(), Presence: channel.presence,
    Metadata: channel.metadata, PersonMetadata: person.metadata, Lock: lock, Hold: new Hold(lock, 1), Topic: topic,
    Publisher: new Publisher(topic), Person: person, Moderation: client.moderation, Events: client.events(), Latest: client.linkStates(),
    Receipt: new Receipt(1, Promise.resolve(1)), StoredReceipt: new StoredReceipt(2), Access: new Access({role: 'editor'}),
    RelayError: new RelayError(100, 'no'),
  }
}

const [metadata, channel, user] = [{title: 'x'}, ['lesson'], ['bob']]
/** What each of these calls takes before its options. */
const before = {
  RelayClient: {
    connect: [], close: [], events: [], problems: [], directMessages: [], linkStates: [], boards: [], upToDate: [], handOver: [],
    joinKey: [], renew: [{key: 'k'}], setReaderLimits: [{}],
  },
  Channel: {
    open: [], leave: [], history: [], upToDate: [], locks: [], events: [], messages: [], lockStates: [], publishedTopics: [],
    permissions: [], send: ['x'],
  },
  Board: {clear: [], undoClear: [], delete: [], changes: [], pictures: [], records: [], put: ['s1', 'x']},
  Batch: {put: ['s1', 'x']},
  Presence: {members: [], users: [], set: [{name: 'A'}], remove: [['name']], states: user},
  Metadata: {set: [metadata], update: [metadata], remove: [['title']], removeAll: [], get: [], contents: []},
  PersonMetadata: {
    set: [metadata], update: [metadata], remove: [['title']], removeAll: [], get: [], contents: [], follow: [], unfollow: [],
  },
  Lock: {make: [], acquire: [], release: [], revoke: [], remove: [], with: [() => {}]},
  Hold: {release: []},
  Topic: {startPublishing: [], packets: [], follow: [], unfollow: [], followed: []},
  Publisher: {send: ['x'], stop: []},
  Person: {send: ['x'], channels: []},
  Moderation: {
    setRole: ['reader'], freeze: channel, unfreeze: channel, openEditing: channel, closeEditing: channel, endSession: [],
    endChannel: channel, offerJoinCode: channel, withdrawJoinCode: [], ban: user, unban: user, bans: [], forget: [], removeRecords: [],
    status: [], joinCodes: [],
  },
}

/** `{name, call(options)}`, the name as `Lock.with`. */
export function optionCalls() {
  const objects = everything()
  const calls = Object.entries(before).flatMap(([type, methods]) => Object.entries(methods).map(([method, values]) =>
    ({name: `${type}.${method}`, call: options => objects[type][method](...values, options)})))
  return [
    ...calls,
    {name: 'RelayClient.constructor', call: options => new RelayClient(address, 'alice', options)},
    {name: 'RelayClient.withClient', call: options => RelayClient.withClient(address, 'alice', options, () => {})},
  ]
}

/** The names of options that a call knows: it looks for an unknown one among them, and then says no. */
export async function optionsOf(call) {
  const unknown = 'zzqq'
  const {includes} = Array.prototype
  let names
  Array.prototype.includes = function (value) {
    if (value === unknown) names = [...this]
    return includes.call(this, value)
  }
  try {
    await call({[unknown]: 1})
  } catch (error) {
    return {names, error}
  } finally {
    Array.prototype.includes = includes
  }
  return {names}
}
