// What the JSON of a relay must look like before anything reads it; unknown fields are left alone. [FR6, JS5]
import {problem} from './errors.js'
import {Limits, sessionLimitDefaults} from './limits.js'
import {isName, utf8} from './text.js'

/** What happens by these frames; others are of a newer relay. [FR6] */
export const eventNames = {
  presence: ['snapshot', 'join', 'leave', 'timeout', 'stateChanged', 'interval'],
  topics: ['snapshot', 'publisherJoined', 'publisherLeft'],
  metadata: ['snapshot', 'changed'],
  locks: ['snapshot', 'set', 'acquired', 'released', 'revoked', 'expired', 'removed'],
}

// The whiteboard speaks only with the relay that its own code came from: there a wrong form ends the link where it is met.
const kinds = {
  bool: value => typeof value === 'boolean',
  text: value => typeof value === 'string',
  name: isName,
  int: value => Number.isSafeInteger(value) && value >= 0,
  u32: value => Number.isSafeInteger(value) && value >= 0 && value < 2 ** 32,
  address: value => kinds.text(value) && utf8(value).length <= Limits.addressBytesMax && /^relays?:\/\/[^\s/?#@]+:\d{1,5}$/.test(value),
}
const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value)
const listOf = kind => (value, where) => Array.isArray(value) && value.every((item, index) => holds(kind, item, `${where}[${index}]`))
const mapOf = kind => (value, where) => isObject(value) && Object.keys(value).every(key => holds(kind, value[key], `${where}.${key}`))

/** Fields by name, `?` behind those that may be absent: `shape('u32 id flow, name user?', {more: …})`. */
function shape(fields, more = {}) {
  const all = Object.entries(more)
  for (const group of fields.split(', ').filter(Boolean)) {
    const [kind, ...names] = group.split(' ')
    for (const name of names) all.push([name, kind])
  }
  const form = (value, where) => isObject(value) && all.every(([name, kind]) => {
    const key = name.replace('?', '')
    return value[key] === undefined ? name.endsWith('?') : holds(kind, value[key], `${where}.${key}`)
  })
  return Object.assign(form, {fields: all.map(([name]) => name)})
}

/** @throws {RelayError} `badRequest` unless `value` has the form; `where` names it */
export function holds(kind, value, where) {
  if ((typeof kind === 'string' ? kinds[kind] : kind)(value, where)) return true
  throw problem('badRequest', `${where} has the wrong form`)
}

const epochShape = shape('u32 start incarnation')
const rangeShape = shape('int from to')
const isKind = value => value === 'message' || value === 'stream'
const channelShape = shape('name channel', {kind: isKind})
const memberShape = shape('name user', {states: mapOf('text')})
const accessFields = {'grants?': mapOf(listOf('text'))}
const accessShape = shape('text role?, int untilMs?', accessFields)
const enteredShape = shape('name channel, u32 handle, bool quiet recovered? reset?, int head? after?', {
  'modes?': listOf('text'),
  kind: isKind, features: listOf('text'), 'epoch?': epochShape, 'missed?': rangeShape,
})
const itemShape = shape('name key author?, int bytes revision time?')
const lockShape = shape('name lock owner?, text ownerDevice?, int ttlMs fencing?')
const topicUsers = shape('bool all', {succeeded: listOf('text'), failed: listOf(shape('text user, int code'))})

/** By the type of a frame. */
export const bodyShapes = {
  welcome: shape('u32 id handle start, int version lastNumber heartbeatMs presenceTimeoutMs publishAfterMs?, name user channel?', {
    relay: 'text', 'secret?': 'text', 'joinKey?': 'text', resumeToken: 'text', resumed: 'bool', 'forgotten?': 'bool',
    capabilities: listOf('text'), access: accessShape,
    limits: shape(`int ${Object.keys(sessionLimitDefaults).join(' ')}`), 'lastEnd?': shape('int code, text text'),
  }),
  answer: shape('u32 id'),
  error: shape('u32 id? flow? credit?, int number? code change? limit? actual? retryAfterMs?, text text retry?'),
  closing: shape('int code, text text, address address?'),
  restored: enteredShape,
  notStored: shape('int number code, text text retry?'),
  flowOpened: shape('u32 flow channel next from?, name topic user, text device meta'),
  flowClosed: shape('u32 flow last'),
  packetsDropped: shape('u32 flow, int dropped total'),
  presence: shape('u32 channel, text event, int total?, name user?', {
    'members?': listOf(memberShape), 'states?': mapOf('text'), 'removed?': listOf('name'), 'joined?': listOf(memberShape),
    'changed?': listOf(memberShape), 'left?': listOf('name'), 'timedOut?': listOf('name'),
  }),
  topics: shape('u32 channel, text event, bool more?', {publishers: listOf(shape('name topic user, text device meta'))}),
  metadata: shape('u32 channel?, name user?, text event, int majorRevision, bool more?', {
    items: listOf(itemShape), 'removed?': listOf('name'),
  }),
  metadataPage: shape('u32 id, int majorRevision, name next?', {items: listOf(itemShape)}),
  locks: shape('u32 channel, text event device?, name user?', {locks: listOf(lockShape)}),
  gap: shape('u32 channel, int from to'),
  credit: shape('name channel, u32 credit'),
  catchingUp: shape('u32 channel, int after'),
  caughtUp: shape('u32 channel, int head'),
  cleared: shape('u32 channel, int offset time, name user'),
  reset: shape('u32 channel, int head', {epoch: epochShape}),
  accessExpiring: shape('int inMs'),
  removed: shape('u32 channel, int code, text text'),
  accessChanged: shape('text role?, int untilMs?, name by', accessFields),
  joinCodeEnded: shape('text reason'),
  modeChanged: shape('u32 channel, bool on, text mode, name by'),
}

/** By the type of the request that is answered. */
export const answerShapes = {
  subscribe: enteredShape, join: enteredShape, subscribeTopic: topicUsers, unsubscribeTopic: topicUsers,
  joinTopic: shape('u32 flow next'),
  subscribedUsers: shape('bool all, name next?', {users: listOf('name')}),
  who: shape('int total, name next?', {members: listOf(memberShape)}),
  where: shape('', {channels: listOf(channelShape), 'next?': channelShape}),
  getStates: shape('', {states: mapOf('text')}),
  history: shape('int head count floor next?', {'epoch?': epochShape}),
  setMetadata: shape('int majorRevision'), updateMetadata: shape('int majorRevision'), removeMetadata: shape('int majorRevision'),
  acquireLock: shape('int fencing'),
  getLocks: shape('', {locks: listOf(lockShape)}),
  renew: shape('', {access: accessShape}),
  offerDevice: shape('text code, u32 validMs'), offerJoinCode: shape('text code, u32 validMs'),
  getBans: shape('name next?', {bans: listOf(shape('name user by, int time until?'))}),
  status: shape('int uptimeMs connections boards boardBytes queuedBytes pinnedBytes, text storageFailure? joinKey?, bool known?', {
    'next?': 'name',
    sessions: shape('int present away'), channels: shape('int message stream'), counters: mapOf('int'),
    addresses: listOf(shape('text address, int sessions memoryBytes')),
    'hour?': listOf(shape('int sessions lagging messagesIn messagesOut packetsIn packetsOut packetsLost bytesIn bytesOut memoryBytes diskBytes?')),
    users: listOf(shape('name user, text device client peer, bool away,'
        + ' int sessionMs memoryBytes queuedBytes queuedPacketBytes packetsLost backlogMs')),
  }),
  clear: shape('int offset records'), undoClear: shape('int offset records'), removeRecords: shape('int records'),
  boards: shape('int bytes bytesMax, name next?',
    {boards: listOf(shape('name channel owner?, int records bytes fileBytes created? changed used'))}),
  forgetUser: shape('int metadata boards records keptBytes, bool role idFreed banned here'),
}
