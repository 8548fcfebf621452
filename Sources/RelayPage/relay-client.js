// A client of a whiteboard relay: docs/protocol.md as one ES module, without dependencies and without a build step.
// docs/javascript.md shows how to use it. It needs no secure context: plain http in a LAN is enough.
//
//     import {RelayClient} from './relay-client.js'
//     const client = await RelayClient.connect('http://192.168.1.5:7420/#key=…', 'alice')
//     client.on('message', ({sender, payload}) => console.log(sender, payload))
//     await client.subscribe('lesson')
//     client.send('hello', {to: 'lesson'})
//
// Sections: errors · limits · text and JSON · frames · bodies · pacing · drawings in parts · the machine · what is kept
// over a reload · links · the client. All up to the machine is pure: no clock, socket or dice of its own. Names and
// behaviour are those of the Swift client (Sources/RelayClient). [XY1] names a rule of docs/protocol.md.
//
// It is served without comments and indentation, which are left out line by line, without a parser: so no string or template
// goes over the end of its line, and a block comment that begins a line ends with one (Tests/Page/support/strip.mjs).
//
// The whiteboard that the relay serves gets it without its regions too: the lines from one that begins with `// #region` up to the
// next `// #endregion`. They hold what that page does not use. Nothing outside them calls what stands in one, and a frame
// whose row stands in one is there a frame that the client does not know (FR6). Tests/Page/served.test.mjs shows both.

// MARK: - Errors

/** What went wrong, by name: compare `error.code` with these, never texts. 9xx are the client's own, never on the wire. */
export const ErrorCode = Object.freeze({
  badRequest: 100, badName: 104, badText: 105, tooLarge: 106, rateLimited: 107, topicNotJoined: 110, unknownFlow: 111,
  limitReached: 112, outcomeUnknown: 116, notSupported: 117, revisionMismatch: 120, storageFull: 122, storageFailed: 123,
  busy: 124, notAccepted: 128, boardFull: 129, quotaReached: 130, nothingToUndo: 132, partMissing: 133, tokenInvalid: 134,
  tokenExpired: 135, keyWrong: 136, credentialRequired: 137, userIDTaken: 138, notPermitted: 139,
  protocolError: 300, replaced: 302, abuse: 303, frameTooLarge: 305, credentialsWrong: 307, keyChanged: 308,
  endedByModerator: 309, banned: 310,
  connectFailed: 900, timedOut: 901, unsentFull: 902, clientClosed: 903, relayFault: 904,
  // #region codes of which the whiteboard knows no more than their text
  unknownFrame: 101, loginRequired: 102, alreadyLoggedIn: 103, notSubscribed: 108, notJoined: 109, channelFull: 113,
  userOffline: 114, unconfirmed: 115, relayFull: 118, notPresent: 119, itemNotFound: 121, lockNotFound: 125, lockHeld: 126,
  lockNotHeld: 127, boardNotFound: 131, notBanned: 140,
  shuttingDown: 200, slowConsumer: 201, heartbeatTimeout: 202, loginTimeout: 203, tooManyConnections: 204, accessExpired: 205,
  tooManySessions: 206,
  versionNotSupported: 301, loggedOut: 304, notRelayProtocol: 306,
  // #endregion
})

const codeNames = new Map(Object.entries(ErrorCode).map(([name, code]) => [code, name]))

/** Why something did not happen: `tooLarge: a packet has at most 1024 bytes, not 1025`. */
export class RelayError extends Error {
  /**
   * @param {number} code one of `ErrorCode`, or of a newer relay
   * @param {string} text one sentence for people
   * @param {{limit?: number, actual?: number, retryAfterMs?: number}} [values]
   */
  constructor(code, text, {limit, actual, retryAfterMs} = {}) {
    super(text)
    /** For programs. */
    this.code = code
    /** The code's name in docs/protocol.md. */
    this.name = codeNames.get(code) ?? `code ${code}`
    /** The bound that was passed, and the value that was found. */
    this.limit = limit
    this.actual = actual
    /** How long to wait before the same can succeed. */
    this.retryAfterMs = retryAfterMs
  }
}

const problem = (name, text, values) => new RelayError(ErrorCode[name], text, values)
const fault = text => problem('protocolError', text)
const tooLarge = (what, limit, actual) => problem('tooLarge', `${what} at most ${limit} bytes, not ${actual}`, {limit, actual})
const outcomeUnknown = what => problem('outcomeUnknown', `the link ended before ${what} was answered: it may have happened or not`)
const clientClosed = () => problem('clientClosed', 'the client is closed')

// MARK: - Limits

/** Numbers that the protocol fixes, and the client's own, each with its unit. */
export const Limits = Object.freeze({
  frameHeadBytes: 6,
  // [FR3]
  frameBodyBytesMax: 80 * 1024,
  // Of a request [JS1]
  jsonBodyBytesMax: 16 * 1024,
  // [JS4]
  jsonDepthMax: 8,
  // [SE4]
  bytesBeforeLoginMax: 4 * 1024,
  // [MS2]
  customTypeBytesMax: 32,
  // [MD4]
  metadataBytesMax: 64 * 1024,
  metadataItemsMax: 1_000,
  // How long a relay knows what became of a client's publishes [MS9]
  publishMemoryMs: 600_000,
  publishWindowMax: 256,
  // [BL8]
  partsMax: 65_535,
  // #region moderation
  // [AC12]
  endReasonBytesMax: 256,
  // #endregion
  // The pause before coming back: nothing the first time, then a random part of a bound that doubles.
  backoffBaseMs: 500,
  backoffCapMs: 15_000,
  // A session of this length was good: the next break starts with an immediate attempt again
  linkGoodAfterMs: 15_000,
  // How long a link that may be dead gets to answer
  probeTimeoutMs: 2_000,
  // A deadline later than this shows that the host slept [HB4]
  latenessToleratedMs: 1_000,
  roundTripEveryIntervals: 4,
  // How long `close` goes on sending …
  closeDrainTimeoutMs: 2_000,
  // … and waits for the logout's answer
  logoutTimeoutMs: 500,
  // Of one that waits while the link is down: stale points are noise
  packetLifetimeMs: 1_000,
  // [MS3]
  unansweredMax: 128,
  // Under way at once, as many as a relay stages; more wait [BL8]
  drawingsMax: 4,
  drawingRoundsMax: 5,
  // Of a channel's rate; the rest is for what is drawn meanwhile
  drawingRatePercent: 75,
  // More stays in the queue, where it can still be taken back
  outboundBytes: 64 * 1024,
  // A relay that asks and does not read is given up
  outboundBytesMax: 1024 * 1024,
  // What a relay can make a client remember; one that wants more is at fault.
  userNamesMax: 200_000,
  flowsMax: 100_000,
  closedFlowsMax: 1_024,
  // As many positions fit into a login
  resumedChannelsMax: 100,
  partialDrawingsMax: 256,
  partialDrawingsBytesFactor: 4,
  drawingBytesMax: 64 * 1024 * 1024,
  ownAheadMax: 1_024,
  batchMessagesMax: 256,
  batchBytesMax: 512 * 1024,
  // #region history
  historyItemsMax: 1_000,
  // #endregion
  // #region losses
  toldRangesMax: 4_096,
  // #endregion
  channelsMax: 1_000,
  ownFlowsMax: 1_024,
  // #region many channels
  pacersMax: 256,
  // #endregion
  // What an unread event counts besides what it carries
  eventBytes: 128,
})

// MARK: - Text and JSON

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true})
const noBytes = new Uint8Array(0)

/** @param {string} text @throws {RelayError} `badText` for half a surrogate pair, which no UTF-8 can say */
function utf8(text) {
  if (/\p{Surrogate}/u.test(text)) throw problem('badText', 'text with half a surrogate pair')
  return encoder.encode(text)
}

/** @param {Uint8Array} bytes */
function textOf(bytes) {
  try {
    return decoder.decode(bytes)
  } catch {
    throw problem('badText', 'text that is not well-formed UTF-8')
  }
}

const isName = text => typeof text === 'string' && /^[!-)+-.0-[\]^\x60-~][ -)+-.0-[\]-~]{0,63}$/.test(text)

/** @param {string} text @throws {RelayError} `badName`: names have 1…64 bytes of ASCII without `* / \`, the first neither `_` nor space [NM1] */
export function checkedName(text) {
  if (!isName(text)) throw problem('badName', `${JSON.stringify(String(text).slice(0, 80))} is no name: 1…64 bytes of ASCII without * / \\, not beginning with _ or space`)
  return text
}

/** What a message or packet carries, as bytes of its own. @param {Payload} payload */
function payloadOf(payload) {
  if (typeof payload === 'string') return {bytes: utf8(payload), text: true}
  if (payload instanceof ArrayBuffer || ArrayBuffer.isView(payload)) {
    const view = ArrayBuffer.isView(payload) ? new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength) : payload
    return {bytes: new Uint8Array(view), text: false}
  }
  throw new TypeError('a payload is a string or bytes')
}

/**
 * JSON as the relay writes it: keys sorted, no spaces, `undefined` left out.
 *
 * @throws {RelayError} `badRequest` for a number that is no integer, which JSON would say as another one, or as `null` [JS3]
 */
function writeJSON(value) {
  return encoder.encode(JSON.stringify(value, (key, part) => {
    if (typeof part === 'number' && !Number.isSafeInteger(part)) throw problem('badRequest', `${key}: ${part} is no integer within ±(2⁵³−1)`)
    return part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.keys(part).sort().map(name => [name, part[name]])) : part
  }))
}

/**
 * Strict JSON: one object, ASCII keys, none twice, integers within ±(2⁵³−1), at most 8 deep, whole scalars. [JS1–JS4]
 *
 * Objects have no prototype, so that no key means anything by itself; `null` stands for an absent field.
 *
 * @param {Uint8Array} bytes
 */
export function readJSON(bytes) {
  const text = textOf(bytes)
  let at = 0
  let depth = 0
  const wrong = what => problem('badRequest', `JSON, character ${at}: ${what}`)
  const token = pattern => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at = pattern.lastIndex
    return found?.[0]
  }
  const space = () => token(/[ \t\n\r]*/y)
  const string = () => {
    const raw = token(/"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"/y)
    if (raw === undefined) throw wrong('a string is expected')
    const value = JSON.parse(raw)
    if (/\p{Surrogate}/u.test(value)) throw wrong('half a surrogate pair')
    return value
  }
  // What stands between the brackets of an object or array, `item` for each.
  const list = (end, item) => {
    if (++depth > Limits.jsonDepthMax) throw wrong(`deeper than ${Limits.jsonDepthMax}`)
    at++
    space()
    if (text[at] !== end) {
      for (;;) {
        item()
        space()
        if (text[at] === end) break
        if (text[at] !== ',') throw wrong(`a comma or ${end} is expected`)
        at++
        space()
      }
    }
    at++
    depth--
  }
  const value = () => {
    if (text[at] === '{') {
      const object = Object.create(null)
      const keys = new Set()
      list('}', () => {
        const key = string()
        if (/[^\x00-\x7f]/.test(key)) throw problem('badName', 'JSON: a key that is not ASCII')
        if (keys.has(key)) throw wrong(`key ${key} stands twice`)
        keys.add(key)
        space()
        if (text[at] !== ':') throw wrong('a colon is expected')
        at++
        space()
        const found = value()
        if (found !== null) object[key] = found
      })
      return object
    }
    if (text[at] === '[') {
      const array = []
      list(']', () => array.push(value()))
      return array
    }
    if (text[at] === '"') return string()
    const word = token(/true|false|null/y)
    if (word) return JSON.parse(word)
    const number = token(/-?(?:0|[1-9][0-9]{0,15})(?![0-9.eE])/y)
    if (number === undefined || !Number.isSafeInteger(Number(number))) throw wrong('a value is expected; numbers are integers within ±(2⁵³−1)')
    return Number(number)
  }
  space()
  if (text[at] !== '{') throw wrong('a body is one object')
  const body = value()
  space()
  if (at !== text.length) throw wrong('something stands behind the object')
  return body
}

// MARK: - Frames

/**
 * Frames by name: number, then what the body is. `json`; `texts`: a head in JSON and the texts it announces [JS6]; otherwise
 * fields in wire order, each `name:kind`, with `?flag` if a flag says that it is there. `n`: a name, `s`: a text, both
 * behind one length byte [FR8]; `rest`: bytes to the end; `user`: a name to the end; `ranges`: of `lost`.
 */
const frameTable = {
  ping: [0x03, 'payload:rest'],
  pong: [0x04, 'payload:rest'],
  publish: [0x10, 'number:u64 channel:n customType:s?2 key:n?4 part:u16?8 parts:u16?8 payload:rest', {text: 1, echo: 16, retain: 32, noHistory: 64}],
  publishPacket: [0x11, 'flow:u32 slot:u32?2 senderTime:u32?4 payload:rest', {text: 1, echo: 16}],
  // #region direct
  direct: [0x12, 'number:u64 user:n customType:s?2 payload:rest', {text: 1}],
  directReceived: [0x13, 'delivery:u64'],
  // #endregion
  deliver: [0x90, 'channel:u32 publisher:u32 offset:u64 time:u64 customType:s?2 key:n?4 part:u16?8 parts:u16?8 payload:rest', {text: 1, retain: 32}],
  packet: [0x91, 'flow:u32 sequence:u32 slot:u32?2 senderTime:u32?4 payload:rest', {text: 1}],
  // #region direct
  directDeliver: [0x92, 'delivery:u64 time:u64 sender:n customType:s?2 payload:rest', {text: 1}],
  // #endregion
  accepted: [0x93, 'number:u64 offset:u64'],
  // #region direct
  confirmed: [0x94, 'number:u64'],
  // #endregion
  // #region history
  historyItem: [0x95, 'id:u32 offset:u64 time:u64 publisher:n customType:s?2 key:n?4 part:u16?8 parts:u16?8 payload:rest', {text: 1, retain: 32}],
  // #endregion
  stored: [0x96, 'number:u64 offset:u64'],
  userNamed: [0xa0, 'handle:u32 user:user'],
  // #region losses
  lost: [0xa3, 'reason:u8 ranges:ranges'],
  // #endregion
}
const jsonFrames = {
  json: [
    'login:01 logout:02 subscribe:20 join:22 joinTopic:24 subscribeTopic:26 who:29 setStates:2b removeStates:2c clear:40 undoClear:41 welcome:80',
    'answer:81 error:82 closing:83 restored:84 notStored:97 flowOpened:a1 flowClosed:a2 presence:b0 topics:b1 caughtUp:b5',
    'cleared:b6 reset:b7 removed:b9 accessChanged:ba channelFrozen:bb',
    // #region losses
    'packetsDropped:a4',
    // #endregion
    // #region gaps
    'gap:b4',
    // #endregion
    // #region locks
    'setLock:38 acquireLock:39 releaseLock:3a revokeLock:3b removeLock:3c getLocks:3d locks:b3',
    // #endregion
    // #region moderation
    'setRole:06 freezeChannel:07 endSession:08 banUser:09 unbanUser:0a getBans:0b forgetUser:0c',
    // #endregion
    'status:0d',
    // #region renewal
    'renew:05 accessExpiring:b8',
    // #endregion
    // #region leaving
    'unsubscribe:21 leave:23 leaveTopic:25 unsubscribeTopic:27',
    // #endregion
    // #region questions
    'subscribedUsers:28 where:2a getStates:2d boards:42 removeBoard:43',
    // #endregion
    // #region history
    'history:2e',
    // #endregion
    // #region metadata
    'removeMetadata:32 getMetadata:33 subscribeUserMetadata:34 unsubscribeUserMetadata:35',
    // #endregion
  ],
  texts: [
    'setMetadata:30 metadata:b2',
    // #region metadata
    'updateMetadata:31 metadataPage:85',
    // #endregion
  ],
}

const layouts = new Map()
const layoutsByNumber = new Map()

function addLayout(type, number, body, fields, flags = {}) {
  const layout = {type, number, body, fields, flags: Object.entries(flags), allowed: 0}
  for (const [, bit] of layout.flags) layout.allowed |= bit
  for (const {flag} of fields) layout.allowed |= flag
  layouts.set(type, layout)
  layoutsByNumber.set(number, layout)
}

for (const [type, [number, fields, flags]] of Object.entries(frameTable)) {
  addLayout(type, number, 'fields', fields.split(' ').map(field => {
    const [, name, kind, flag] = /^(\w+):(\w+)\??(\d*)$/.exec(field)
    return {name, kind, flag: Number(flag)}
  }), flags)
}
for (const [body, types] of Object.entries(jsonFrames)) {
  for (const [type, hex] of types.join(' ').split(' ').map(word => word.split(':'))) addLayout(type, parseInt(hex, 16), body, [])
}

/** Writes `value` behind what is there, big-endian. @param {number[]} out */
function putInteger(out, value, bytes) {
  if (!Number.isSafeInteger(value) || value < 0 || (bytes < 8 && value >= 2 ** (8 * bytes))) throw new RangeError(`${value} is no integer of ${bytes} bytes`)
  for (let byte = bytes - 1; byte >= 0; byte--) out.push(Math.floor(value / 2 ** (8 * byte)) % 256)
}

/**
 * A frame as it goes over the wire, with its length.
 *
 * @param {{type: string, body?: object, texts?: Uint8Array[], payload?: Uint8Array, [field: string]: any}} frame as `decodeFrame` gives it
 * @returns {Uint8Array}
 */
export function encodeFrame(frame) {
  const layout = layouts.get(frame.type)
  let flags = 0
  const head = []
  let rest = []
  if (layout.body === 'json') {
    rest = [writeJSON(frame.body)]
  } else if (layout.body === 'texts') {
    const json = writeJSON(frame.body)
    putInteger(head, json.length, 2)
    rest = [json, ...frame.texts]
  }
  for (const [name, bit] of layout.flags) if (frame[name]) flags |= bit
  for (const {name, kind, flag} of layout.fields) {
    const value = frame[name]
    if (flag && value === undefined) continue
    flags |= flag
    if (kind === 'rest' || kind === 'user') {
      rest = [kind === 'rest' ? value ?? noBytes : utf8(value)]
    } else if (kind === 'n' || kind === 's') {
      const bytes = utf8(value)
      putInteger(head, bytes.length, 1)
      head.push(...bytes)
    // #region losses
    } else if (kind === 'ranges') {
      putInteger(head, value.length, 2)
      for (const range of value) for (const number of [range.flow, range.first, range.last]) putInteger(head, number, 4)
    // #endregion
    } else {
      putInteger(head, value, Number(kind.slice(1)) / 8)
    }
  }
  const bodyBytes = rest.reduce((sum, bytes) => sum + bytes.length, head.length)
  const start = []
  putInteger(start, bodyBytes + 2, 4)
  const out = new Uint8Array(Limits.frameHeadBytes + bodyBytes)
  out.set([...start, layout.number, flags])
  out.set(head, Limits.frameHeadBytes)
  let at = Limits.frameHeadBytes + head.length
  for (const bytes of rest) {
    out.set(bytes, at)
    at += bytes.length
  }
  return out
}

/**
 * Reads one whole frame.
 *
 * @param {Uint8Array} bytes
 * @returns {{type: string|undefined, number: number, [field: string]: any}} without `type` of one that this client does not know [FR6]
 * @throws {RelayError} for a flag or body that its type does not allow [FR4, FR7]
 */
export function decodeFrame(bytes) {
  const layout = layoutsByNumber.get(bytes[4])
  const flags = bytes[5]
  if (!layout) return {type: undefined, number: bytes[4]}
  if (flags & ~layout.allowed) throw problem('badRequest', `flags 0x${flags.toString(16)} of ${layout.type} have bits that it does not define`)
  const body = bytes.subarray(Limits.frameHeadBytes)
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  let at = 0
  const take = count => {
    if (at + count > body.length) throw problem('badRequest', `the body of ${layout.type} ends in the middle of a field`)
    at += count
    return body.subarray(at - count, at)
  }
  const integer = count => {
    take(count)
    if (count === 1) return body[at - 1]
    if (count === 2) return view.getUint16(at - 2)
    if (count === 4) return view.getUint32(at - 4)
    const value = view.getUint32(at - 8) * 2 ** 32 + view.getUint32(at - 4)
    if (!Number.isSafeInteger(value)) throw problem('badRequest', `a number of ${layout.type} is above 2⁵³−1`)
    return value
  }
  const frame = {type: layout.type, code: layout.number}
  if (layout.body === 'json') {
    frame.body = readJSON(body)
    return frame
  }
  if (layout.body === 'texts') {
    frame.body = readJSON(take(integer(2)))
    const items = Array.isArray(frame.body.items) ? frame.body.items : []
    frame.texts = items.map(item => take(Number.isSafeInteger(item?.bytes) && item.bytes >= 0 ? item.bytes : body.length + 1))
    frame.texts.forEach(textOf)
  }
  for (const [name, bit] of layout.flags) if (flags & bit) frame[name] = true
  for (const {name, kind, flag} of layout.fields) {
    if (flag && !(flags & flag)) continue
    if (kind === 'rest') frame[name] = take(body.length - at)
    else if (kind === 'user') frame[name] = checkedName(textOf(take(body.length - at)))
    else if (kind === 'n') frame[name] = checkedName(textOf(take(integer(1))))
    else if (kind === 's') frame[name] = textOf(take(integer(1)))
    // #region losses
    else if (kind === 'ranges') frame[name] = Array.from({length: integer(2)}, () => ({flow: integer(4), first: integer(4), last: integer(4)}))
    // #endregion
    else frame[name] = integer(Number(kind.slice(1)) / 8)
  }
  if (at !== body.length) throw problem('badRequest', `${body.length - at} bytes behind the last field of ${layout.type}`)
  return frame
}

/** Cuts a stream of bytes into frames, however it arrives. [FR2] */
export class FrameReader {
  constructor() {
    this.buffer = noBytes
  }

  /** @param {Uint8Array} bytes */
  push(bytes) {
    if (this.buffer.length === 0) {
      this.buffer = bytes
      return
    }
    const joined = new Uint8Array(this.buffer.length + bytes.length)
    joined.set(this.buffer)
    joined.set(bytes, this.buffer.length)
    this.buffer = joined
  }

  /**
   * The next whole frame, or `undefined` until more bytes come.
   *
   * @throws {RelayError} for a length outside the limits: the stream cannot be read on [FR3]
   */
  next() {
    const {buffer} = this
    if (buffer.length < 4) return undefined
    const length = new DataView(buffer.buffer, buffer.byteOffset).getUint32(0)
    if (length < 2) throw fault(`a frame's length is at least 2, not ${length}`)
    if (length > Limits.frameBodyBytesMax + 2) throw problem('frameTooLarge', `a frame body has at most ${Limits.frameBodyBytesMax} bytes, not ${length - 2}`)
    if (buffer.length < length + 4) return undefined
    this.buffer = buffer.subarray(length + 4)
    return decodeFrame(buffer.subarray(0, length + 4))
  }
}

// MARK: - Bodies

const limitNames = ['messageBytesMax', 'largeMessageBytesMax', 'messagesPerSecond', 'packetBytesMax', 'packetsPerSecond', 'directMessagesPerSecond',
  'requestsPerSecond', 'subscribedChannelsMax', 'joinedChannelsMax', 'publishedTopicsMax', 'subscribedTopicsMax', 'unansweredMax']

/** What happens by these frames; others are of a newer relay. [FR6] */
const eventNames = {
  presence: ['snapshot', 'join', 'leave', 'timeout', 'stateChanged', 'interval'],
  topics: ['snapshot', 'publisherJoined', 'publisherLeft'],
  metadata: ['snapshot', 'changed'],
  // #region locks
  locks: ['snapshot', 'set', 'acquired', 'released', 'revoked', 'expired', 'removed'],
  // #endregion
}

// #region shapes
// What the relay's JSON must look like before anything looks at it; unknown fields are left alone. [FR6, JS5]
// The whiteboard speaks only with the relay that its own code came from: there a wrong form ends the link where it is met.

const kinds = {
  bool: value => typeof value === 'boolean',
  text: value => typeof value === 'string',
  name: isName,
  int: value => Number.isSafeInteger(value) && value >= 0,
  u32: value => Number.isSafeInteger(value) && value >= 0 && value < 2 ** 32,
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
  return (value, where) => isObject(value) && all.every(([name, kind]) => {
    const key = name.replace('?', '')
    return value[key] === undefined ? name.endsWith('?') : holds(kind, value[key], `${where}.${key}`)
  })
}
function holds(kind, value, where) {
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
const enteredShape = shape('name channel, u32 handle, bool quiet recovered? reset? frozen?, int head? after?', {
  kind: isKind, features: listOf('text'), 'epoch?': epochShape, 'missed?': rangeShape,
})
const itemShape = shape('name key author?, int bytes revision time?')
const lockShape = shape('name lock owner?, int ttlMs fencing?')
const topicUsers = shape('bool all', {succeeded: listOf('text'), failed: listOf(shape('text user, int code'))})

const bodyShapes = {
  welcome: shape('u32 id handle start, int version heartbeatMs presenceTimeoutMs, name user, text resumeToken, bool resumed', {
    access: accessShape, limits: shape(`int ${limitNames.join(' ')}`), 'lastEnd?': shape('int code, text text'),
  }),
  answer: shape('u32 id'),
  error: shape('u32 id? flow?, int number? code limit? actual? retryAfterMs?, text text'),
  closing: shape('int code, text text'),
  restored: enteredShape,
  notStored: shape('int number code, text text'),
  flowOpened: shape('u32 flow channel next from?, name topic user, text meta'),
  flowClosed: shape('u32 flow last'),
  packetsDropped: shape('u32 flow, int dropped total'),
  presence: shape('u32 channel, text event, int total?, name user?', {
    'members?': listOf(memberShape), 'states?': mapOf('text'), 'removed?': listOf('name'), 'joined?': listOf(memberShape),
    'changed?': listOf(memberShape), 'left?': listOf('name'), 'timedOut?': listOf('name'),
  }),
  topics: shape('u32 channel, text event, bool more?', {publishers: listOf(shape('name topic user, text meta'))}),
  metadata: shape('u32 channel?, name user?, text event, int majorRevision, bool more?', {items: listOf(itemShape), 'removed?': listOf('name')}),
  metadataPage: shape('u32 id, int majorRevision, name next?', {items: listOf(itemShape)}),
  locks: shape('u32 channel, text event, name user?', {locks: listOf(lockShape)}),
  gap: shape('u32 channel, int from to'),
  caughtUp: shape('u32 channel, int head'),
  cleared: shape('u32 channel, int offset time, name user'),
  reset: shape('u32 channel, int head', {epoch: epochShape}),
  accessExpiring: shape('int inMs'),
  removed: shape('u32 channel, int code, text text'),
  accessChanged: shape('text role?, int untilMs?, name by', accessFields),
  channelFrozen: shape('u32 channel, bool frozen, name by'),
}
const answerShapes = {
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
  getBans: shape('name next?', {bans: listOf(shape('name user by, int time until?'))}),
  status: shape('int uptimeMs connections boards boardBytes queuedBytes pinnedBytes, text storageFailure? joinKey?, bool known?, name next?', {
    sessions: shape('int present away'), channels: shape('int message stream'), counters: mapOf('int'),
    users: listOf(shape('name user, text client peer, bool away, int sessionMs queuedBytes queuedPacketBytes packetsLost backlogMs')),
  }),
  clear: shape('int offset records'), undoClear: shape('int offset records'),
  boards: shape('int bytes bytesMax, name next?', {boards: listOf(shape('name channel, int records bytes changed'))}),
}
// #endregion

const rolesRights = {
  reader: ['subscribe', 'presence'],
  editor: ['subscribe', 'presence', 'publish', 'stream', 'metadata', 'lock', 'direct'],
  moderator: ['subscribe', 'presence', 'publish', 'stream', 'metadata', 'lock', 'direct', 'clear'],
}

/** What a session may do: a role, which counts in every channel, and grants by channel pattern. [AC4] */
export class Access {
  constructor({role, grants = {}, untilMs}) {
    /** @type {'reader'|'editor'|'moderator'|undefined} */
    this.role = Object.hasOwn(rolesRights, role ?? '') ? role : undefined
    /** Names of rights by pattern: a channel's name, or the beginning of one and `*`. @type {Record<string, string[]>} */
    this.grants = grants
    /** When it all ended, counted from the answer that told it, in milliseconds; `undefined`: it has no end. */
    this.untilMs = untilMs
  }

  /** Rights in a channel: `subscribe`, `presence`, `publish`, `stream`, `metadata`, `lock`, `clear`, `direct`. @returns {Set<string>} */
  rights(channel) {
    const matching = Object.keys(this.grants).filter(pattern => pattern.endsWith('*') ? channel.startsWith(pattern.slice(0, -1)) : pattern === channel)
    return new Set([...this.role ? rolesRights[this.role] : [], ...matching.flatMap(pattern => this.grants[pattern])])
  }
}

// MARK: - Pacing

/**
 * Paces what is answered, so that the relay never refuses one for its rate: at most `limit` are unanswered or were answered
 * less than a second and a bit ago. Why no jitter of the network can break it: the relay accepts number k at the earliest
 * when k was sent, which is a second after one of k − limit … k − 1 was answered, and so accepted.
 */
class AnswerWindow {
  static spanMs = 1_005
  unanswered = 0
  /** @type {number[]} */
  answeredAt = []

  forget(now) {
    while (this.answeredAt.length > 0 && this.answeredAt[0] + AnswerWindow.spanMs <= now) this.answeredAt.shift()
  }
  // #region many channels
  isIdle(now) {
    this.forget(now)
    return this.unanswered === 0 && this.answeredAt.length === 0
  }
  // #endregion
  /** @returns {number} 0: now; else when, `Infinity`: after an answer */
  permission(limit, now) {
    this.forget(now)
    if (this.unanswered + this.answeredAt.length < limit) return 0
    return this.answeredAt.length > 0 ? this.answeredAt[0] + AnswerWindow.spanMs : Infinity
  }
  answered(now) {
    this.unanswered--
    this.answeredAt.push(now)
  }
  /** Nothing of the old link is accepted from here on. */
  linkRenewed(now) {
    for (; this.unanswered > 0; this.unanswered--) this.answeredAt.push(now)
  }
}

/** Paces packets, which nobody answers: the relay's rate, but half of its bucket, for a network that bunches them. */
class TokenBucket {
  constructor(rate, now) {
    this.rate = rate
    this.filledAt = now
    this.tokens = this.capacity
  }
  get capacity() {
    return Math.max(1, Math.floor(this.rate / 2))
  }
  refill(rate, now) {
    this.tokens = Math.min(this.capacity, this.tokens + Math.max(0, now - this.filledAt) * this.rate / 1000)
    this.filledAt = Math.max(now, this.filledAt)
    this.rate = rate
    this.tokens = Math.min(this.capacity, this.tokens)
  }
  /** @returns {number} 0, and a token is taken; or when there will be one */
  take(rate, now) {
    this.refill(rate, now)
    if (this.tokens < 1 - 1e-9) return now + (1 - this.tokens) * 1000 / rate
    this.tokens -= 1
    return 0
  }
}

// MARK: - Drawings in parts

/** A drawing above the size of one message, on its way to the relay. [BL8] */
class OutgoingDrawing {
  constructor(fields) {
    Object.assign(this, fields)
    /** Its marker has left the queue. */
    this.isUnderWay = false
    /** Its last part was accepted, and it is not told durable. */
    this.isAccepted = false
    this.round = 1
  }
  /** @returns {boolean} false when it would be too many parts */
  cut(limits) {
    this.partBytes = limits.messageBytesMax - (this.customType === undefined ? 0 : utf8(this.customType).length)
    this.parts = this.partBytes > 0 ? Math.ceil(this.bytes.length / this.partBytes) : 0
    this.next = 1
    return this.parts >= 2 && this.parts <= Limits.partsMax
  }
  get hasMore() {
    return this.next <= this.parts
  }
  part(number) {
    const {channel, customType, key, isRetained, echo, text} = this
    const part = {drawing: this, round: this.round, number, of: this.parts, isLast: number === this.parts}
    return {channel, customType, key, isRetained, echo, text, bytes: noBytes, size: 0, part}
  }
  /** Text is cut wherever it comes: it is text as a whole. */
  bytesOf({number}) {
    return this.bytes.subarray((number - 1) * this.partBytes, number * this.partBytes)
  }
  /** From part 1, with new numbers. @returns {boolean} false when that has been tried often enough */
  beginAnew(limits) {
    if (this.round >= Limits.drawingRoundsMax || !this.cut(limits)) return false
    this.round++
    this.isAccepted = false
    return true
  }
}

/** The large drawings of one channel whose last part has not come: told apart by publisher and key, a retained one by its offset. */
class PartialDrawings {
  /** Oldest first, by their newest part. */
  drawings = []
  bytes = 0

  /** @returns {{whole?: Uint8Array, isBroken?: boolean, givenUp: object[]}} what the part makes, and what was given up for the bound on all */
  add(part, bytesMax) {
    const same = drawing => drawing.isRetained === part.isRetained
      && (part.isRetained ? drawing.offset === part.offset : drawing.sender === part.sender && drawing.key === part.key)
    let [drawing] = this.remove(same)
    if (part.part === 1) {
      drawing = {...part, pieces: [part.bytes], size: part.bytes.length, next: 2}
    } else {
      const goesOn = drawing && part.part === drawing.next
        && ['parts', 'isText', 'customType', 'key', 'sender'].every(field => part[field] === drawing[field])
      if (!goesOn) return {isBroken: true, givenUp: []}
      drawing.pieces.push(part.bytes)
      drawing.size += part.bytes.length
      drawing.next++
      drawing.offset = part.offset
    }
    if (drawing.size + utf8(part.customType ?? '').length > bytesMax) return {isBroken: true, givenUp: []}
    if (part.part === part.parts) {
      const whole = new Uint8Array(drawing.size)
      drawing.pieces.reduce((at, piece) => (whole.set(piece, at), at + piece.length), 0)
      return {whole, givenUp: []}
    }
    this.drawings.push(drawing)
    this.bytes += drawing.size
    const givenUp = []
    while (this.drawings.length > Limits.partialDrawingsMax || this.bytes > bytesMax * Limits.partialDrawingsBytesFactor) {
      const oldest = this.drawings[0]
      givenUp.push(...this.remove(other => other === oldest))
    }
    return {givenUp}
  }
  remove(isOver) {
    const over = this.drawings.filter(isOver)
    this.drawings = this.drawings.filter(drawing => !over.includes(drawing))
    for (const drawing of over) this.bytes -= drawing.size
    return over
  }
}

// MARK: - The machine

/** What somebody waits for. The promise never counts as unhandled: receipts need not be awaited. */
class Pending {
  /** @type {{value?: any, error?: RelayError}|undefined} */
  result
  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.settle = result => {
        if (this.result) return
        this.result = result
        if (result.error) reject(result.error)
        else resolve(result.value)
      }
    })
    this.promise.catch(() => {})
  }
}

const channelKey = (kind, channel) => `${channel}\n${kind}`
const topicKey = (channel, topic) => `${channel}\n${topic}`
const parts = key => key.split('\n')
const channelID = key => ({kind: parts(key)[1], channel: parts(key)[0]})
const ownerKey = owner => owner.user === undefined ? channelKey(owner.kind, owner.channel) : `\n${owner.user}`
const isSameEpoch = (left, right) => left?.start === right?.start && left?.incarnation === right?.incarnation
const sorted = keys => [...keys].sort((left, right) => left < right ? -1 : left > right ? 1 : 0)
const entering = {subscribe: 'message', join: 'stream'}
const everyPart = () => true

/** Why a link ended, as the error for those who still wait. */
function reasonError(reason) {
  // #region reasons
  switch (reason.kind) {
    case 'linkFailed': return problem('connectFailed', reason.text)
    case 'timedOut': return problem('timedOut', 'the relay did not let in in time')
    case 'relaySilent': return problem('timedOut', 'the relay has fallen silent')
    case 'relayClosed': return new RelayError(reason.code, reason.text)
    case 'loginRefused': return reason.error
    case 'relayFault': return problem('relayFault', reason.text)
    case 'eventsNotRead': return problem('clientClosed', 'events were not read', {limit: reason.limit, actual: reason.waiting})
  }
  // #endregion
  return clientClosed()
}

/**
 * A client without sockets, clocks and dice: calls and bytes in; bytes, effects and events out. `now` is in milliseconds on
 * any clock that does not run backwards.
 *
 * The shell tells what happens, then carries out `effects`, sends what `gather` gives, and calls `deadline` at `nextDeadline`.
 */
export class ClientMachine {
  /**
   * @param {{user: string, instance: string, secret?: string, credential?: Credential, presenceTimeoutMs?: number, description?: string,
   *   retriesFirstConnect?: boolean, connectTimeoutMs?: number, unsentCountMax?: number, unsentBytesMax?: number, eventsCountMax?: number,
   *   eventsBytesMax?: number, random?: () => number, outbox?: Outbox}} settings
   */
  constructor(settings) {
    this.settings = {
      retriesFirstConnect: false, connectTimeoutMs: 10_000, unsentCountMax: 10_000, unsentBytesMax: 16 * 1024 * 1024,
      // #region slow readers
      eventsCountMax: 10_000, eventsBytesMax: 16 * 1024 * 1024,
      // #endregion
      random: Math.random, ...settings,
    }
    checkedName(settings.user)
    this.instance = settings.instance
    // Changed by `renew`. [AC8]
    this.credential = settings.credential
    // `idle`, `connecting` since `since`, `live`, `waiting` until `until`, `paused` or `closed`.
    this.state = 'idle'
    // Numbers links, so that what one says that was given up is not heard.
    this.attempt = 0
    this.logins = 0
    // Since a link was good.
    this.failures = 0
    this.closeBy = Infinity
    this.logoutIsSent = false
    /** @type {LinkState} */
    this.linkState = {state: 'connecting'}

    // The link. `pingIsOut`: a ping was sent, and nothing has come since.
    this.reader = new FrameReader()
    this.dropOutbound()
    this.heartbeatMs = 5_000
    this.pingIsOut = false
    // What a relay has by default.
    const defaults = [32_768, 8 * 1024 * 1024, 60, 1_024, 200, 60, 200, 50, 100, 8, 50, 128]
    this.limits = Object.fromEntries(limitNames.map((name, index) => [name, defaults[index]]))

    // What the app wants, to be had again in a new session: by `channelKey` or `topicKey`.
    this.wanted = {channels: new Map(), publishing: new Map(), selections: new Map(), states: new Map(), userMetadata: new Set()}
    // #region losses
    // Topics in which a packet was sent with an echo: one's own come back, and can be lost.
    this.wanted.echoing = new Set()
    // #endregion
    // What the relay has told, by handle: channels, names of users, flows ({channel, topic, user, next, told}); own flows by
    // topic, and the reverse; sets of metadata by owner. Of message channels by name: positions (the newest offset seen,
    // everything before it has come, or was told), offsets of own messages accepted above what has come, up to where messages
    // were told missed, boards that are being read from the beginning or anew ({after, head}), drawings whose last part has not
    // come.
    for (const name of ['channels', 'users', 'flows', 'ownFlows', 'ownTopics', 'metadataSets', 'positions', 'ownAhead', 'missedThrough', 'readings', 'partials']) this[name] = new Map()
    // Flows that closed lately, which a resumption names again; flows and channels known before a resumption and not named so
    // far; stream channels whose topics snapshot is not over; message channels that catch up; those restored by a relay that
    // was not told what had been seen: nothing of them is taken until the subscription that says so is answered; channels that
    // are frozen, as far as it is in them. [AC11]
    for (const name of ['closedFlows', 'unconfirmedFlows', 'unconfirmedChannels', 'snapshotGoesOn', 'catchingUp', 'untold', 'frozen']) this[name] = new Set()
    // Told lost of flows whose opening is still to come on this link. [DL6]
    // #region losses
    this.lostEarly = []
    // #endregion
    // What the machine itself had asked when the link ended before the answer.
    this.askedAgain = []
    // Until the pong behind a login that resumed.
    this.awaitsRestoration = false

    // What is asked and sent: in the queue, unanswered by number, accepted and not told durable in the order of acceptance. [BL2]
    this.queue = []
    this.queuedBytes = this.queuedPackets = this.queuedMessages = 0
    this.lastRequest = this.lastNumber = this.lastDrawing = 0
    this.requests = new Map()
    this.publishes = new Map()
    this.unstored = new Map()
    this.unstoredBytes = 0
    this.drawings = []
    this.windows = new Map()
    this.directWindow = new AnswerWindow()
    this.topicBuckets = new Map()
    this.pumpAt = Infinity

    // What comes out. `drawingsDropped`: large ones of others that did not come to their end.
    this.effects = []
    this.events = []
    this.eventsBytes = this.frameBytes = this.batchBytes = this.drawingsDropped = 0
    this.outbox = settings.outbox
    // What an earlier client object had not seen to its end.
    /** @type {RestoredMessage[]} */
    this.takenUp = []
  }

  // MARK: What the shell takes

  takeEffects() {
    const {effects} = this
    this.effects = []
    return effects
  }

  /** Whole frames that wait for the link, at most 64 KiB or one larger frame; `undefined` if there are none. What is given counts as sent. */
  gather(now) {
    if (this.outbound.length === 0) return undefined
    let bytes = 0
    let count = 0
    while (count < this.outbound.length && (count === 0 || bytes + this.outbound[count].length <= Limits.outboundBytes)) bytes += this.outbound[count++].length
    const batch = new Uint8Array(bytes)
    this.outbound.splice(0, count).reduce((at, frame) => (batch.set(frame, at), at + frame.length), 0)
    this.outboundBytes -= bytes
    this.pump(now)
    return batch
  }

  /** The next event. A direct message is acknowledged to its sender by being taken. [DM2] */
  nextEvent(now) {
    const unread = this.events.shift()
    if (!unread) return undefined
    this.eventsBytes -= unread.cost
    // #region direct
    if (unread.delivery !== undefined && unread.attempt === this.attempt && this.state === 'live') this.write({type: 'directReceived', delivery: unread.delivery})
    // #endregion
    // #region slow readers
    if (this.state === 'paused' && this.events.length <= this.settings.eventsCountMax / 2 && this.eventsBytes <= this.settings.eventsBytesMax / 2) this.open(now)
    // #endregion
    return unread.event
  }

  get unsent() {
    const drawingBytes = this.drawings.reduce((sum, drawing) => sum + drawing.bytes.length, 0)
    return {
      messages: this.queuedMessages + this.drawings.filter(drawing => !drawing.isAccepted).length, packets: this.queuedPackets,
      bytes: this.queuedBytes + this.unstoredBytes + drawingBytes, unstored: this.unstored.size, unkept: this.outbox?.unkept ?? 0,
    }
  }

  get nextDeadline() {
    switch (this.state) {
      case 'connecting': return this.since + this.settings.connectTimeoutMs
      case 'live': {
        // A link that is being probed is judged by that alone.
        const silence = this.probeBy ?? this.lastHeard + this.heartbeatMs * (this.pingIsOut ? 2 : 1)
        const roundTrip = this.pingSentAt === undefined ? Infinity : this.pingSentAt + this.heartbeatMs * Limits.roundTripEveryIntervals
        return Math.min(silence, roundTrip, this.pumpAt, this.closeBy)
      }
      case 'waiting': return Math.min(this.until, this.closeBy)
      default: return this.closeBy
    }
  }

  // MARK: What happens to the link

  /** @param {Pending} pending settled at the first login, or with why there was none */
  connect(pending, now) {
    this.connectPending = pending
    if (this.outbox) this.takeUp(this.outbox.load(), now)
    this.open(now)
  }

  /**
   * What was kept over a reload goes on as after a break: with the instance and the numbers that it had. [MS9]
   *
   * New numbers begin far above all that any other copy of what was kept may have used (a duplicated tab has one).
   */
  takeUp({head, entries}, now) {
    if (entries.some(({number}) => number > 0)) {
      this.instance = head.instance
      this.relayStart = head.start
      this.lastNumber = head.last + 2 ** 20 + Math.floor(this.settings.random() * 2 ** 40)
      this.sentUntil = head.ageMs >= 0 ? now - head.ageMs : -Infinity
    }
    for (const {id, number, isLarge, ...fields} of entries) {
      const kept = {...fields, isRetained: true, size: fields.bytes.length, number, accepted: new Pending(), stored: new Pending()}
      const {channel, key, customType, text, bytes, accepted, stored} = kept
      this.takenUp.push({channel, key, customType, payload: received(bytes, text), receipt: new StoredReceipt(accepted, stored)})
      if (number < 0) {
        this.outbox.entries.set(kept, {id})
        this.settle(kept, {error: outcomeUnknown('a record')})
        continue
      }
      let item = {kind: 'message', message: kept, size: kept.size}
      let entry = kept
      if (isLarge) {
        entry = new OutgoingDrawing(kept)
        entry.cut(this.limits)
        this.drawings.push(entry)
        item = {kind: 'drawing', drawing: entry, size: 0}
        if (number !== undefined) {
          // Its last part was sent: the relay is asked what has become of that.
          Object.assign(entry, {isUnderWay: true, next: entry.parts + 1})
          item = {kind: 'message', message: {...entry.part(entry.parts), number}, size: 0}
        }
      }
      this.outbox.entries.set(entry, {id, number})
      this.queue.push(item)
      this.count(item, 1)
    }
  }

  open(now) {
    this.attempt++
    this.state = 'connecting'
    this.since = now
    this.emit({type: 'link', state: 'connecting'})
    this.effects.push({openLink: this.attempt})
  }

  linkOpened(attempt, now) {
    if (attempt !== this.attempt || this.state !== 'connecting') return
    this.reader = new FrameReader()
    // #region losses
    this.lostEarly = []
    // #endregion
    this.dropOutbound()
    this.lastHeard = now
    this.pingIsOut = false
    const {user, secret, presenceTimeoutMs, description} = this.settings
    const body = {
      id: this.nextRequest(), version: 1, user, secret, instance: this.instance, presenceTimeoutMs, client: description, ...this.credential,
      resume: this.resumption,
    }
    // More than may come before a login: a new session then asks for each channel from where it was.
    if (encodeFrame({type: 'login', body}).length > Limits.bytesBeforeLoginMax) delete body.resume
    this.write({type: 'login', body})
  }

  /** With the last offset seen of each message channel, by the handle that it has in the session so far. [SE9] */
  get resumption() {
    if (this.resumeToken === undefined) return undefined
    const seen = []
    for (const [handle, {kind, channel}] of [...this.channels].sort(([left], [right]) => left - right)) {
      const position = kind === 'message' && this.positions.get(channel)
      if (!position) continue
      // A board that is being read wants its own records, too. [BL3]
      seen.push([handle, position.offset, position.epoch.start, position.epoch.incarnation, ...this.readings.has(channel) ? [1] : []])
    }
    return seen.length > Limits.resumedChannelsMax ? undefined : {token: this.resumeToken, seen: seen.length > 0 ? seen : undefined}
  }

  linkEnded(attempt, text, now) {
    if (attempt === this.attempt) this.end({kind: 'linkFailed', text}, now)
  }

  /** Bytes from the relay: what is wrong with them ends the link with a reason. @param {Uint8Array} bytes */
  received(bytes, attempt, now) {
    if (attempt !== this.attempt) return
    this.lastHeard = now
    this.probeBy = undefined
    this.pingIsOut = false
    this.reader.push(bytes)
    try {
      for (let frame, before; before = this.reader.buffer.length, attempt === this.attempt && (frame = this.reader.next());) {
        this.frameBytes = before - this.reader.buffer.length
        this.receive(frame, now)
        if (this.outboundBytes > Limits.outboundBytesMax) throw fault(`the relay asks and does not read: ${this.outboundBytes} bytes wait for it`)
      }
    } catch (error) {
      if (attempt === this.attempt) this.end({kind: 'relayFault', text: error.message}, now)
      if (!(error instanceof RelayError)) throw error
    } finally {
      this.frameBytes = 0
      this.flushBatch()
      this.pump(now)
    }
  }

  deadline(now) {
    if (now >= this.closeBy) {
      if (this.state !== 'live' || this.logoutIsSent) return this.finish({kind: 'closedByApp'})
      this.dropPackets('closed')
      return this.logOut(now)
    }
    if (this.state === 'connecting' && now >= this.since + this.settings.connectTimeoutMs) return this.end({kind: 'timedOut'}, now)
    if (this.state === 'waiting' && now >= this.until) return this.open(now)
    if (this.state !== 'live') return undefined
    const {heartbeatMs, lastHeard, pingSentAt} = this
    if (this.probeBy !== undefined) {
      if (now >= this.probeBy) return this.end({kind: 'relaySilent'}, now)
    } else if (this.pingIsOut && now >= lastHeard + heartbeatMs * 2) {
      // The host slept: the relay gets a chance to be heard before it is judged. [HB4]
      if (now - lastHeard - heartbeatMs * 2 <= Limits.latenessToleratedMs) return this.end({kind: 'relaySilent'}, now)
      this.probe(now)
    } else if (!this.pingIsOut && now >= lastHeard + heartbeatMs) {
      this.sendPing(now)
    } else if (now >= pingSentAt + heartbeatMs * Limits.roundTripEveryIntervals) {
      this.sendPing(now)
    }
    this.pump(now)
    return undefined
  }

  wakeUp(now) {
    if (this.state === 'waiting') this.open(now)
    else if (this.state === 'live') this.probe(now)
  }

  probe(now) {
    this.probeBy = now + Limits.probeTimeoutMs
    this.sendPing(now)
  }

  sendPing(now) {
    this.pingSentAt = now
    this.pingIsOut = true
    const payload = new Uint8Array(8)
    new DataView(payload.buffer).setFloat64(0, now)
    this.write({type: 'ping', payload})
  }

  ping({payload}) {
    this.write({type: 'pong', payload})
  }

  pong({payload}, now) {
    if (payload.length !== 8) return
    const sent = new DataView(payload.buffer, payload.byteOffset).getFloat64(0)
    if (sent <= now) this.roundTripMs = now - sent
    if (!this.awaitsRestoration) return
    this.awaitsRestoration = false
    this.restorationEnded()
  }

  /** The link is over; what follows depends on why. */
  end(reason, now) {
    if (this.state === 'closed' || this.state === 'paused') return
    const wasLive = this.state === 'live'
    this.effects.push({closeLink: this.attempt})
    this.attempt++
    this.failInFlight(now)
    this.flushBatch()
    // A record is sent again from its first part; parts of other drawings are messages, which go on.
    for (const channel of sorted(this.partials.keys())) this.dropPartials(channel, false, drawing => drawing.isRetained)
    this.pingSentAt = undefined
    this.probeBy = undefined
    const comesBack = reason.kind === 'relayClosed' ? reason.code >= 200 && reason.code < 300
      // With another token it may, and the app can still bring one. [AC8]
      : reason.kind === 'loginRefused' ? this.logins > 0 && reason.error.code === ErrorCode.tokenExpired
      : reason.kind !== 'closedByApp'
    if (this.closePending) return this.finish({kind: 'closedByApp'})
    if (!comesBack || (this.logins === 0 && !this.settings.retriesFirstConnect)) return this.finish(reason)
    // #region slow readers
    if (reason.kind === 'eventsNotRead') {
      this.state = 'paused'
      return this.emit({type: 'link', state: 'paused', reason})
    }
    // #endregion
    if (wasLive && now - this.liveSince >= Limits.linkGoodAfterMs) this.failures = 0
    // "Full jitter" spreads the clients of a relay that restarts.
    const bound = this.failures === 0 ? 0 : Math.min(Limits.backoffCapMs, Limits.backoffBaseMs * 2 ** Math.min(this.failures - 1, 16))
    const afterMs = Math.floor(this.settings.random() * bound)
    this.failures++
    this.state = 'waiting'
    this.until = now + afterMs
    this.emit({type: 'link', state: 'waiting', afterMs, reason})
  }

  finish(reason) {
    if (this.state === 'closed') return
    if (this.state !== 'paused') this.effects.push({closeLink: this.attempt})
    this.attempt++
    this.state = 'closed'
    this.closeBy = Infinity
    this.dropPackets('closed')
    this.emit({type: 'link', state: 'closed', reason})
    const error = reasonError(reason)
    this.failAll(error)
    this.connectPending?.settle({error})
    this.closePending?.settle({})
  }

  /** Sends what waits, logs out, ends. @param {Pending} pending */
  close(pending, now) {
    if (this.state === 'closed') return pending.settle({})
    this.closePending?.settle({})
    this.closePending = pending
    if (this.state !== 'live') return this.finish({kind: 'closedByApp'})
    this.closeBy = now + Limits.closeDrainTimeoutMs
    return this.pump(now)
  }

  // #region renewal
  /** Another credential: for the session that is there, or for the next login. [AC8] */
  renew(credential, pending, now) {
    if (this.state === 'live') return this.request('renew', credential, pending, now)
    if (this.state === 'closed') throw clientClosed()
    this.credential = credential
    pending.settle({})
    return this.wakeUp(now)
  }
  // #endregion

  // MARK: Events

  /** @param {number} [bytes] about what it holds; if it is not said, what the frame has that it tells */
  emit(event, bytes = this.frameBytes, delivery = undefined) {
    this.flushBatch()
    if (event.type === 'link') {
      const {type, ...state} = event
      this.linkState = state
    }
    const cost = Limits.eventBytes + bytes
    this.events.push({event, delivery, attempt: this.attempt, cost})
    this.eventsBytes += cost
  }

  // #region slow readers
  /** An app that does not read is told, not grown. */
  boundEvents(now) {
    const {eventsCountMax, eventsBytesMax} = this.settings
    if (this.events.length > eventsCountMax) this.end({kind: 'eventsNotRead', limit: eventsCountMax, waiting: this.events.length}, now)
    else if (this.eventsBytes > eventsBytesMax) this.end({kind: 'eventsNotRead', limit: eventsBytesMax, waiting: this.eventsBytes}, now)
  }
  // #endregion

  dropOutbound() {
    this.outbound = []
    this.outboundBytes = 0
  }

  write(frame) {
    const bytes = encodeFrame(frame)
    this.outbound.push(bytes)
    this.outboundBytes += bytes.length
  }

  nextRequest() {
    this.lastRequest = this.lastRequest >= 2 ** 32 - 1 ? 1 : this.lastRequest + 1
    return this.lastRequest
  }

  // MARK: Into the queue

  checkSize(bytes, customType, limit, what) {
    if (customType !== undefined) {
      const size = utf8(customType).length
      if (size < 1 || size > Limits.customTypeBytesMax) throw tooLarge('a custom type has 1 and', Limits.customTypeBytesMax, size)
      bytes += size
    }
    if (bytes > limit) throw tooLarge(what, limit, bytes)
    return bytes
  }

  /**
   * A message of its own; `key` with `isRetained` makes it the record of the key. [MS1, BL1]
   *
   * @throws {RelayError} `badName`, `tooLarge`, `badText`, `unsentFull`, `clientClosed`: nothing was queued
   */
  send({payload, channel, customType, echo = false, isKept = true, key, isRetained = false, accepted, stored}, now) {
    checkedName(channel)
    if (isRetained) checkedName(key)
    const {bytes, text} = payloadOf(payload)
    const size = this.checkSize(bytes.length, customType, this.limits.messageBytesMax, 'payload and custom type have')
    const message = {channel, bytes, text, size, customType, echo, isKept, key, isRetained, accepted, stored}
    this.enqueue({kind: 'message', message, size}, now)
  }

  // #region direct
  sendDirect({payload, user, customType, pending}, now) {
    checkedName(user)
    const {bytes, text} = payloadOf(payload)
    const size = this.checkSize(bytes.length, customType, this.limits.messageBytesMax, 'payload and custom type have')
    this.enqueue({kind: 'direct', pending, user, bytes, text, customType, size}, now)
  }
  // #endregion

  sendPacket({payload, channel, topic, slot, senderTime, echo}, now) {
    const key = topicKey(checkedName(channel), checkedName(topic))
    if (!this.wanted.publishing.has(key)) throw problem('topicNotJoined', `topic ${topic} is not joined`)
    const {bytes, text} = payloadOf(payload)
    if (bytes.length > this.limits.packetBytesMax) throw tooLarge('a packet has', this.limits.packetBytesMax, bytes.length)
    for (const value of [slot, senderTime]) if (value !== undefined) putInteger([], value, 4)
    this.enqueue({kind: 'packet', key, bytes, text, slot, senderTime, echo, queuedAt: now, size: bytes.length}, now)
  }

  /**
   * A drawing of up to 8 MiB, in parts where one message does not hold it. [BL8]
   *
   * The queue gets a marker only: when that has its turn the parts leave whenever the queue leaves room. What is sent behind
   * goes before it, but for messages and drawings with its key, which wait until it is accepted.
   */
  sendLarge({payload, channel, customType, key, isRetained, echo, accepted, stored}, now) {
    checkedName(channel)
    if (key !== undefined || isRetained) checkedName(key)
    const {bytes, text} = payloadOf(payload)
    // #region empty drawings
    if (bytes.length === 0) throw problem('badRequest', 'an empty payload removes a record: that is a call of its own')
    // #endregion
    const size = this.checkSize(bytes.length, customType, this.limits.largeMessageBytesMax, 'payload and custom type of a drawing have')
    if (size <= this.limits.messageBytesMax) {
      // One message that is not retained is a message like any other, without a key. [MS7]
      return this.send({payload: text ? payload : bytes, channel, customType, echo, key: isRetained ? key : undefined, isRetained, accepted, stored}, now)
    }
    // Without a link they are many: as many as other messages, by their bytes.
    const [limit, actual] = [this.settings.unsentBytesMax, this.unsent.bytes + bytes.length]
    if (this.drawings.length >= Limits.drawingsMax && actual > limit) throw problem('unsentFull', 'too many bytes wait to be sent', {limit, actual})
    const drawing = new OutgoingDrawing({
      channel, key: key ?? `part-${this.instance}-${++this.lastDrawing}`, customType, isRetained, echo, text, bytes, accepted, stored,
    })
    if (!drawing.cut(this.limits)) throw problem('tooLarge', `a drawing has at most ${Limits.partsMax} parts`, {limit: Limits.partsMax})
    this.drawings.push(drawing)
    try {
      return this.enqueue({kind: 'drawing', drawing, size: 0}, now)
    } catch (error) {
      this.drawings.pop()
      throw error
    }
  }

  /** @throws {RelayError} `tooLarge` (a body that is too large for a frame would end the connection), `unsentFull`, `clientClosed` */
  request(type, body, pending, now, texts = undefined) {
    const textBytes = texts ? texts.reduce((sum, text) => sum + text.length, 0) : 0
    // #region sizes of requests
    if (texts) {
      const bytes = body.items.reduce((sum, {key}) => sum + key.length, textBytes)
      if (bytes > Limits.metadataBytesMax) throw tooLarge('keys and values of a set of metadata have', Limits.metadataBytesMax, bytes)
    }
    const bytes = writeJSON({...body, id: 2 ** 32 - 1}).length
    if (bytes > Limits.jsonBodyBytesMax - 2) throw tooLarge(`the body of ${type} takes`, Limits.jsonBodyBytesMax - 2, bytes)
    // #endregion
    this.enqueue({kind: 'request', pending, request: {type, body, texts}, size: 256 + textBytes}, now)
  }

  enqueue(item, now) {
    if (this.state === 'closed' || this.closePending) throw clientClosed()
    const {unsentCountMax, unsentBytesMax} = this.settings
    if (this.queue.length >= unsentCountMax) throw problem('unsentFull', 'too much waits to be sent', {limit: unsentCountMax, actual: this.queue.length + 1})
    // Drawings are bounded for themselves: they do not keep a small message out.
    const bytes = this.queuedBytes + this.unstoredBytes + item.size
    if (bytes > unsentBytesMax) throw problem('unsentFull', 'too many bytes wait to be sent', {limit: unsentBytesMax, actual: bytes})
    const entry = item.message ?? item.drawing
    if (entry?.isRetained) this.outbox?.add(entry)
    this.queue.push(item)
    this.count(item, 1)
    this.pump(now)
  }

  count(item, sign) {
    this.queuedBytes += sign * item.size
    if ((item.kind === 'message' && !item.message.part) || item.kind === 'direct') this.queuedMessages += sign
    else if (item.kind === 'packet') this.queuedPackets += sign
  }

  // MARK: Out of the queue

  /** Encodes what may be sent now, in order; whatever must wait holds back what comes after it. */
  pump(now) {
    this.pumpAt = Infinity
    if (this.state !== 'live' || this.logoutIsSent) return
    // What was asked again stands before what the app asks now.
    while (this.outboundBytes < Limits.outboundBytes && this.askedAgain.length === 0 && this.queue.length > 0 && this.mayLeave(this.queue[0], now)) {
      const item = this.queue.shift()
      this.count(item, -1)
      this.encode(item, now)
    }
    if (this.askedAgain.length === 0) this.pumpDrawings(now)
    const isIdle = this.queue.length + this.publishes.size + this.requests.size + this.unstored.size + this.drawings.length === 0
    if (this.closePending && isIdle) this.logOut(now)
    // #region slow readers
    this.boundEvents(now)
    // #endregion
  }

  /** Nothing is sent behind it. */
  logOut(now) {
    this.logoutIsSent = true
    this.write({type: 'logout', body: {id: this.nextRequest()}})
    this.closeBy = now + Limits.logoutTimeoutMs
  }

  get unansweredMax() {
    return Math.min(this.limits.unansweredMax, Limits.unansweredMax)
  }

  mayLeave(item, now) {
    switch (item.kind) {
      case 'request': return true
      case 'drawing': return !this.drawings.some(drawing => drawing === item.drawing && this.waitsForDrawing(drawing.channel, drawing.key))
      case 'message': {
        const {channel, key, number} = item.message
        if (this.publishes.size >= this.unansweredMax) return false
        // One that is sent again has its number, and stands before all that are new.
        if (number === undefined && (!this.numbersMayGoOn || this.waitsForDrawing(channel, key))) return false
        return this.mayPublish(channel, this.limits.messagesPerSecond, now)
      }
      // #region direct
      case 'direct':
        return this.publishes.size < this.unansweredMax && this.wait(this.directWindow.permission(this.limits.directMessagesPerSecond, now))
      // #endregion
      default: {
        // Its topic is being joined again, or was left: then it is dropped when its turn comes.
        if (!this.wanted.publishing.has(item.key)) return true
        if (!this.ownFlows.has(item.key)) return false
        const rate = Math.max(1, this.limits.packetsPerSecond)
        let bucket = this.topicBuckets.get(item.key)
        if (!bucket) {
          // #region many channels
          if (this.topicBuckets.size >= Limits.pacersMax) {
            for (const [key, other] of this.topicBuckets) if ((other.refill(other.rate, now), other.tokens === other.capacity)) this.topicBuckets.delete(key)
          }
          // #endregion
          this.topicBuckets.set(item.key, bucket = new TokenBucket(rate, now))
        }
        return this.wait(bucket.take(rate, now))
      }
    }
  }

  mayPublish(channel, limit, now) {
    return this.wait(this.window(channel, now).permission(Math.max(1, limit), now))
  }

  window(channel, now) {
    let window = this.windows.get(channel)
    if (!window) {
      // #region many channels
      // Of channels that are not used any more: what is as good as new may be forgotten.
      if (this.windows.size >= Limits.pacersMax) for (const [name, other] of this.windows) if (other.isIdle(now)) this.windows.delete(name)
      // #endregion
      this.windows.set(channel, window = new AnswerWindow())
    }
    return window
  }

  /** @returns {boolean} whether `until` is now */
  wait(until) {
    if (until > 0) this.pumpAt = Math.min(this.pumpAt, until)
    return until === 0
  }

  encode(item, now) {
    switch (item.kind) {
      case 'message': {
        const {message} = item
        const {part, channel, customType, key, text, echo, isRetained} = message
        // Of a drawing that has ended or begun anew meanwhile nothing is sent.
        const payload = part ? this.bytesOf(part) : message.bytes
        if (!payload) return
        const number = message.number ?? this.lastNumber + 1
        this.lastNumber = Math.max(this.lastNumber, number)
        this.publishes.set(number, {message})
        this.window(channel, now).unanswered++
        // What is kept over a reload must know the number before the relay does.
        if (isRetained && (!part || part.isLast)) this.outbox?.numbered(part ? part.drawing : message, number, this)
        this.write({
          type: 'publish', number, channel, customType, key, part: part?.number, parts: part?.of, text, echo, retain: isRetained,
          noHistory: message.isKept === false, payload,
        })
        return
      }
      case 'drawing':
        item.drawing.isUnderWay = true
        return
      // #region direct
      case 'direct': {
        const {pending, user, customType, text, bytes} = item
        this.publishes.set(++this.lastNumber, {direct: pending})
        this.directWindow.unanswered++
        this.write({type: 'direct', number: this.lastNumber, user, customType, text, payload: bytes})
        return
      }
      // #endregion
      case 'packet': {
        const flow = this.ownFlows.get(item.key)
        if (flow === undefined) {
          // #region losses
          this.dropped(1, item.key, 'topicNotJoined')
          // #endregion
          return
        }
        // #region losses
        if (item.echo) this.wanted.echoing.add(item.key)
        // #endregion
        return this.write({...item, type: 'publishPacket', flow, payload: item.bytes})
      }
      default: this.ask(item.request, item.pending)
    }
  }

  ask(request, pending = undefined) {
    const id = this.nextRequest()
    this.requests.set(id, {request, pending, items: []})
    this.write({type: request.type, body: {...request.body, id}, texts: request.texts})
  }

  // #region losses
  dropped(count, key, reason) {
    const [channel, topic] = parts(key)
    this.emit({type: 'packetsDropped', channel, topic, reason, dropped: count})
  }
  // #endregion

  /** After a break: points that are older than a packet lives are noise by now. */
  dropStalePackets(now) {
    this.dropPackets('linkDown', queuedAt => now - queuedAt > Limits.packetLifetimeMs)
  }

  dropPackets(reason, matches = () => true) {
    // #region losses
    const stale = new Map()
    // #endregion
    this.queue = this.queue.filter(item => {
      if (item.kind !== 'packet' || !matches(item.queuedAt)) return true
      // #region losses
      stale.set(item.key, (stale.get(item.key) ?? 0) + 1)
      // #endregion
      this.count(item, -1)
      return false
    })
    // #region losses
    for (const key of sorted(stale.keys())) this.dropped(stale.get(key), key, reason)
    // #endregion
  }

  // MARK: Messages that were sent

  /** Whether the relay would still know the oldest message not told durable, with one number more. [MS9] */
  get numbersMayGoOn() {
    for (const oldest of this.unstored.keys()) return this.lastNumber + 1 - Math.min(oldest, this.lastNumber) < Limits.publishWindowMax
    return true
  }

  /** Those that wait to be sent again stand before everything else. */
  get hasNumbered() {
    return this.queue[0]?.message?.number !== undefined
  }
  numbered(matches) {
    return this.hasNumbered ? this.queue.filter(({message}) => message?.number !== undefined && matches(message)).map(({message}) => message) : []
  }
  dropNumbered(matches) {
    const over = new Set(this.numbered(matches))
    this.queue = this.queue.filter(item => {
      if (!over.has(item.message)) return true
      this.count(item, -1)
      return false
    })
  }

  /** The outcome of a message, whatever it was. */
  settle(message, result) {
    if (message.isSettled) return
    this.settleAccepted(message, result)
    message.stored?.settle(result)
    message.isSettled = true
    if (message.isRetained) this.outbox?.remove(message)
  }

  settleAccepted(message, result) {
    message.accepted?.settle(result)
    message.accepted = undefined
  }

  addUnstored(number, message) {
    this.unstored.set(number, message)
    this.unstoredBytes += message.bytes.length
  }
  takeUnstored(number) {
    const message = this.unstored.get(number)
    if (message && this.unstored.delete(number)) this.unstoredBytes -= message.bytes.length
    return message
  }

  /** Frees the place of what was answered. */
  answered(number, now) {
    const publish = this.publishes.get(number)
    if (!publish) return undefined
    this.publishes.delete(number)
    const window = publish.message ? this.windows.get(publish.message.channel) : this.directWindow
    window?.answered(now)
    return publish
  }

  accepted({number, offset}, now) {
    const publish = this.answered(number, now)
    // #region direct
    if (publish?.direct) publish.direct.settle({value: {offset}})
    // #endregion
    const message = publish?.message
    if (!message) return
    // With an echo it is still to come, and the link may end before that. [SE9]
    if (!message.echo && !this.catchingUp.has(message.channel) && !this.untold.has(message.channel)) this.seeOwn(offset, message.channel)
    if (message.part) return this.partAccepted(message, number, offset)
    if (!message.isRetained) return this.settle(message, {value: offset})
    // It was told before it was answered.
    if (message.isSettled) return
    this.settleAccepted(message, {value: offset})
    this.addUnstored(number, message)
  }

  /** `stored` or `notStored`, maybe before the number was sent again, or before that is answered. [BL2] */
  settleStored(number, result) {
    const waiting = this.takeUnstored(number) ?? this.publishes.get(number)?.message ?? this.numbered(message => message.number === number)[0]
    if (!waiting?.isRetained) return
    if (!waiting.part) this.settle(waiting, result)
    else if (waiting.part.isLast && this.isCurrent(waiting.part)) this.finishDrawing(waiting.part.drawing, result)
    this.dropNumbered(message => message.number === number)
  }

  /** What was written and not answered may have happened or not. [SE11] Messages are sent again. [MS9] */
  failInFlight(now) {
    const again = []
    for (const number of [...this.publishes.keys(), ...this.unstored.keys()].sort((left, right) => left - right)) {
      const message = this.publishes.get(number)?.message ?? this.unstored.get(number)
      if (!message) continue
      this.publishes.delete(number)
      const isOver = message.part ? !this.isCurrent(message.part) : message.isSettled
      if (!isOver) again.push({kind: 'message', message: Object.assign(message, {number}), size: message.size})
    }
    this.unstored.clear()
    this.unstoredBytes = 0
    this.queue.unshift(...again)
    for (const item of again) this.count(item, 1)
    // Those that waited to be sent again when this link ended, too.
    if (this.hasNumbered && this.sentUntil === undefined) this.sentUntil = now
    // #region direct
    for (const [number, {direct}] of this.publishes) direct.settle({error: outcomeUnknown(`message ${number}`)})
    // #endregion
    this.publishes.clear()
    for (const {request, pending} of this.requests.values()) {
      if (pending) pending.settle({error: outcomeUnknown('a request')})
      else this.askedAgain.push(request)
    }
    this.requests.clear()
    this.dropOutbound()
    for (const window of [...this.windows.values(), this.directWindow]) window.linkRenewed(now)
  }

  /**
   * A relay that was started anew, or after too long a time, knows nothing of what was sent, but for what is retained: that it
   * knows when it is durable, and otherwise it is not there. [MS9, BL2]
   */
  giveUpSent(now, isSameStart) {
    const isTooLate = this.sentUntil !== undefined && now - this.sentUntil > Limits.publishMemoryMs
    this.sentUntil = undefined
    if (isSameStart && !isTooLate) return
    this.giveUpParts(isTooLate)
    const isGivenUp = message => !message.part && (isTooLate || !message.isRetained)
    for (const message of this.numbered(isGivenUp)) this.settle(message, {error: outcomeUnknown(`message ${message.number}`)})
    this.dropNumbered(isGivenUp)
  }

  /** The end: nothing that waits will be sent by this client. What is kept over a reload stays for the next. */
  failAll(error) {
    this.failInFlight(this.lastHeard)
    const {outbox, queue} = this
    this.outbox = undefined
    this.queue = []
    this.queuedBytes = this.queuedMessages = this.queuedPackets = 0
    for (const {message, pending} of queue) {
      if (message && !message.part) this.settle(message, {error: message.number === undefined ? error : outcomeUnknown(`message ${message.number}`)})
      pending?.settle({error})
    }
    for (const drawing of [...this.drawings]) {
      this.finishDrawing(drawing, {error: drawing.isUnderWay && !drawing.hasMore ? outcomeUnknown('a drawing') : error})
    }
    this.outbox = outbox
  }

  // MARK: Large drawings that are sent

  isCurrent({drawing, round}) {
    return drawing.round === round && this.drawings.includes(drawing)
  }
  /** `undefined` for a part of an earlier round. */
  bytesOf(part) {
    return this.isCurrent(part) ? part.drawing.bytesOf(part) : undefined
  }

  /** Whether something with this key is to wait for a drawing that was sent before it. */
  waitsForDrawing(channel, key) {
    return key !== undefined && this.drawings.some(other => other.isUnderWay && !other.isAccepted && other.channel === channel && other.key === key)
  }

  /** The first that may is brought to its end before the next. */
  pumpDrawings(now) {
    // Numbers rise: those that are sent again go first.
    if (this.hasNumbered) return
    const limit = Math.floor(this.limits.messagesPerSecond * Limits.drawingRatePercent / 100)
    for (const drawing of this.drawings) {
      // A relay stages so many. [BL8]
      if (drawing.next === 1 && this.drawings.filter(other => other.next > 1 && !other.isAccepted).length >= Limits.drawingsMax) break
      while (this.outboundBytes < Limits.outboundBytes && drawing.isUnderWay && drawing.hasMore && this.publishes.size < this.unansweredMax
        && this.numbersMayGoOn && this.mayPublish(drawing.channel, limit, now)) {
        this.encode({kind: 'message', message: drawing.part(drawing.next++)}, now)
      }
    }
  }

  partAccepted(message, number, offset) {
    const {part} = message
    if (!part.isLast || !this.isCurrent(part)) return
    this.settleAccepted(part.drawing, {value: offset})
    if (!part.drawing.isRetained) return this.finishDrawing(part.drawing, {value: offset})
    part.drawing.isAccepted = true
    this.addUnstored(number, message)
  }

  /** A part that the relay did not take: it begins anew where no part was shown to anybody. */
  partRefused(part, error) {
    if (!this.isCurrent(part)) return
    const begins = error.code === ErrorCode.partMissing || error.code === ErrorCode.notAccepted || (error.code === ErrorCode.outcomeUnknown && !part.isLast)
    if (begins) this.beginAnew(part.drawing, error)
    else this.finishDrawing(part.drawing, {error})
  }

  /** From part 1 with new numbers, a few times; then `error` is the outcome. */
  beginAnew(drawing, error) {
    this.dropNumbered(message => message.part?.drawing === drawing)
    // It was accepted once, and its key was written since: sent again it would take that one's place.
    const sent = [...[...this.publishes.values()].map(({message}) => message), ...this.unstored.values(), ...this.numbered(everyPart)]
    const isSuperseded = !drawing.accepted && sent.some(message =>
      message && message.key === drawing.key && message.channel === drawing.channel && message.part?.drawing !== drawing)
    if (isSuperseded || !drawing.beginAnew(this.limits)) this.finishDrawing(drawing, {error})
  }

  finishDrawing(drawing, result) {
    this.drawings = this.drawings.filter(other => other !== drawing)
    this.dropNumbered(message => message.part?.drawing === drawing)
    this.settle(drawing, result)
  }

  /**
   * A relay that was started anew knows a drawing only if it is durable, and says so of its last part. Before that part was
   * sent nobody has seen the drawing: it begins anew.
   */
  giveUpParts(isTooLate) {
    for (const drawing of this.drawings.filter(({isUnderWay}) => isUnderWay)) {
      const [last] = this.numbered(({part}) => part?.drawing === drawing && part.isLast)
      if (!last) {
        // Also when all that left was answered: a relay does not say of parts that are messages that some are missing.
        if (drawing.next > 1) this.beginAnew(drawing, problem('partMissing', 'the relay was started anew too often'))
      } else if (drawing.isRetained && !isTooLate) {
        this.dropNumbered(({part}) => part?.drawing === drawing && !part.isLast)
      } else {
        this.finishDrawing(drawing, {error: outcomeUnknown(`message ${last.number}`)})
      }
    }
  }

  // MARK: The session

  welcome(body, now) {
    if (this.state !== 'connecting') throw fault('a second welcome')
    this.state = 'live'
    this.liveSince = now
    this.logins++
    this.giveUpSent(now, this.relayStart === body.start)
    this.relayStart = body.start
    this.resumeToken = body.resumeToken
    this.access = new Access(body.access)
    this.limits = body.limits
    this.heartbeatMs = Math.max(100, body.heartbeatMs)
    this.users.set(body.handle, body.user)
    this.emit({type: 'link', state: 'connected', resumed: body.resumed})
    this.connectPending?.settle({})
    this.connectPending = undefined
    // Its pong comes behind all that a resumption restores. [SE9]
    this.sendPing(now)
    this.awaitsRestoration = body.resumed
    this.untold.clear()
    if (body.resumed) {
      this.unconfirmedFlows = new Set(this.flows.keys())
      this.unconfirmedChannels = new Set(this.wanted.channels.keys())
    } else {
      this.askedAgain = []
      this.askForAll()
    }
    this.dropStalePackets(now)
  }

  /** A resumption has named all that is there: the rest is gone, or was asked for by requests that went with a link. */
  restorationEnded() {
    this.closeUnconfirmedFlows()
    const again = this.askedAgain
    this.askedAgain = []
    const keyOf = ({type, body}) => entering[type] && channelKey(entering[type], body.channel)
    const wantedAgain = new Set(again.map(keyOf))
    // Left by a request whose answer was lost with the link, unless it is asked for anew.
    for (const key of sorted(this.unconfirmedChannels)) if (!wantedAgain.has(key)) this.left(channelID(key))
    for (const request of again) {
      // That request was heard, and only its answer lost. Where a message channel was left the relay has forgotten.
      const key = keyOf(request)
      if (key && !this.unconfirmedChannels.has(key) && !(request.type === 'subscribe' && this.untold.has(request.body.channel))) continue
      this.askAgain(request)
    }
    this.unconfirmedChannels.clear()
  }

  /** A new session has nothing: everything the app wants is asked for again, in the order of names. */
  askForAll() {
    for (const handle of this.flows.keys()) this.unconfirmedFlows.add(handle)
    this.closeUnconfirmedFlows()
    // The handles of another start of the relay mean other things.
    for (const told of [this.channels, this.ownFlows, this.catchingUp, this.ownAhead, this.snapshotGoesOn, this.closedFlows]) told.clear()
    const {states, channels, selections, userMetadata, publishing} = this.wanted
    const each = (map, use) => sorted(map.keys()).forEach(key => use(key, map.get?.(key)))
    each(states, (key, values) => this.ask({type: 'setStates', body: {...channelID(key), states: values}}))
    each(channels, (key, {features, quiet, token}) => {
      const {kind, channel} = channelID(key)
      this.askAgain({type: kind === 'message' ? 'subscribe' : 'join', body: {channel, features, quiet, token}})
    })
    each(selections, (key, {all, listed}) => {
      const [channel, topic] = parts(key)
      if (all) this.ask({type: 'subscribeTopic', body: {channel, topic}})
      if (listed.size > 0) this.ask({type: 'subscribeTopic', body: {channel, topic, users: sorted(listed)}})
    })
    // #region metadata
    each(userMetadata, user => this.ask({type: 'subscribeUserMetadata', body: {user}}))
    // #endregion
    each(publishing, (key, options) => this.ask({type: 'joinTopic', body: {channel: parts(key)[0], topic: parts(key)[1], ...options}}))
  }

  /** Nobody waits for its answer; a message channel is taken up where it was left. */
  askAgain({type, body, texts}) {
    const position = type === 'subscribe' ? this.positions.get(body.channel) : undefined
    const since = position && {...position, ...this.readings.has(body.channel) && {own: true}}
    this.ask({type, body: type === 'subscribe' ? {...body, since} : body, texts})
  }

  /** One channel of a resumed session. [SE9] */
  restored(body) {
    if (!this.awaitsRestoration || this.channels.size >= Limits.channelsMax) throw fault('the relay restores what was not there')
    const {kind, channel, handle} = body
    const key = channelKey(kind, channel)
    const position = this.positions.get(channel)
    // The login tells positions by the handles of the session. The answer to a subscription of a new session has a new one, and
    // it went with the link: the relay goes on with what is accepted, above what the app has seen.
    if (kind === 'message' && !this.channels.has(handle) && position && body.after === undefined
      && !(position.offset === (body.head ?? 0) && isSameEpoch(position.epoch, body.epoch ?? position.epoch))) this.untold.add(channel)
    this.channels.set(handle, {kind, channel})
    this.unconfirmedChannels.delete(key)
    // Subscribed by a request whose answer was lost with the link.
    if (!this.wanted.channels.has(key)) this.wanted.channels.set(key, {features: body.features, quiet: body.quiet})
    this.stands(body)
    if (kind !== 'message' || !this.untold.has(channel)) this.standing(body, 'goesOn')
  }

  /**
   * Where a message channel stands: what was missed is told, and what is kept follows.
   *
   * Another epoch without `reset` is the same board after a restart of the relay: it goes on. [BL5]
   */
  standing({kind, channel, epoch, head, reset, missed, after}, start) {
    if (kind !== 'message' || epoch === undefined || head === undefined) return
    if (reset) this.emit({type: 'messagesMissed', channel, epoch, extent: 'reset'})
    if (reset || start !== 'goesOn') this.missedThrough.delete(channel)
    // #region gaps
    if (missed) this.tellMissed(missed, channel, epoch)
    // #endregion
    if (reset || missed) this.dropPartials(channel, false)
    this.ownAhead.delete(channel)
    if (after !== undefined) {
      this.catchingUp.add(channel)
      if (reset || start === 'beginning') this.readings.set(channel, {after, head})
      else if (start === 'elsewhere') this.readings.delete(channel)
      else if (this.readings.has(channel)) this.readings.get(channel).head = head
      this.positions.set(channel, {epoch, offset: after})
    } else if (!this.catchingUp.has(channel)) {
      this.positions.set(channel, {epoch, offset: head})
    }
  }

  entered(answer, request, isOfApp) {
    const {kind, channel, handle} = answer
    const {features, quiet, token, since} = request.body
    const key = channelKey(kind, channel)
    const start = since?.beginning ? 'beginning' : since && isOfApp ? 'elsewhere' : 'goesOn'
    const position = this.positions.get(channel)
    // It may be catching up without having been told, and then has not got all up to the head: it is where it was. [BL6, BL8]
    const goesOn = kind === 'message' && start === 'goesOn' && position && this.wanted.channels.get(key)?.features.includes('messages')
    if (goesOn && isSameEpoch(position.epoch, answer.epoch) && answer.after === undefined) answer.head = position.offset
    this.wanted.channels.set(key, {features, quiet, token})
    this.channels.set(handle, {kind, channel})
    this.unconfirmedChannels.delete(key)
    this.stands(answer)
    if (kind === 'message') {
      this.untold.delete(channel)
      // #region many channels
      if (!features.includes('messages')) {
        this.catchingUp.delete(channel)
        this.forgetBoard(channel)
      }
      // #endregion
    }
    this.standing(answer, start)
  }

  left({kind, channel}) {
    const key = channelKey(kind, channel)
    this.wanted.channels.delete(key)
    this.wanted.states.delete(key)
    this.metadataSets.delete(key)
    this.frozen.delete(key)
    for (const [handle, other] of this.channels) if (other.kind === kind && other.channel === channel) this.channels.delete(handle)
    if (kind === 'message') {
      this.positions.delete(channel)
      this.catchingUp.delete(channel)
      this.untold.delete(channel)
      this.forgetBoard(channel)
    } else {
      for (const topic of [...this.wanted.publishing.keys()]) if (parts(topic)[0] === channel) this.leftTopic(topic)
      for (const topic of this.wanted.selections.keys()) if (parts(topic)[0] === channel) this.wanted.selections.delete(topic)
      for (const [handle, flow] of this.flows) if (flow.channel === channel) this.flows.delete(handle)
    }
  }

  leftTopic(key) {
    this.wanted.publishing.delete(key)
    // #region losses
    this.wanted.echoing.delete(key)
    // #endregion
    this.ownFlows.delete(key)
  }

  answer(body) {
    const found = this.requests.get(body.id)
    if (!found) return
    this.requests.delete(body.id)
    const {request, pending, items} = found
    // #region shapes
    if (answerShapes[request.type]) holds(answerShapes[request.type], body, request.type)
    // #endregion
    const value = this.achieved(request, body, items, pending !== undefined)
    pending?.settle({value})
  }

  /** Takes over what a request has achieved. @returns what its caller gets */
  achieved({type, body: asked}, body, items, isOfApp) {
    const topic = asked.topic !== undefined ? topicKey(asked.channel, asked.topic) : ''
    const {wanted} = this
    switch (type) {
      case 'subscribe':
      case 'join': return this.entered(body, {body: asked}, isOfApp)
      // #region leaving
      case 'unsubscribe': return this.left({kind: 'message', channel: asked.channel})
      case 'leave': return this.left({kind: 'stream', channel: asked.channel})
      // #endregion
      case 'joinTopic': {
        const {qos, priority, meta, lifetimeMs} = asked
        wanted.publishing.set(topic, {qos, priority, meta, lifetimeMs})
        this.ownFlows.set(topic, body.flow)
        if (this.ownTopics.size >= Limits.ownFlowsMax) this.ownTopics.clear()
        this.ownTopics.set(body.flow, topic)
        return undefined
      }
      // #region leaving
      case 'leaveTopic': return this.leftTopic(topic)
      // #endregion
      case 'subscribeTopic': {
        const selection = wanted.selections.get(topic) ?? {all: false, listed: new Set()}
        if (asked.users) for (const user of body.succeeded) selection.listed.add(user)
        else selection.all = true
        return this.select(topic, selection, body)
      }
      // #region leaving
      case 'unsubscribeTopic': {
        let selection = wanted.selections.get(topic) ?? {all: false, listed: new Set()}
        if (!asked.users) selection = {all: false, listed: new Set()}
        for (const user of body.succeeded) selection.listed.delete(user)
        for (const [handle, flow] of this.flows) {
          if (topicKey(flow.channel, flow.topic) === topic && !selection.all && !selection.listed.has(flow.user)) this.flows.delete(handle)
        }
        return this.select(topic, selection, body)
      }
      // #endregion
      case 'setStates':
      case 'removeStates': {
        const key = channelKey(asked.kind, asked.channel)
        const states = asked.states || asked.keys ? Object.assign(Object.create(null), wanted.states.get(key), asked.states) : {}
        for (const name of asked.keys ?? []) delete states[name]
        if (Object.keys(states).length > 0) wanted.states.set(key, states)
        else wanted.states.delete(key)
        return undefined
      }
      // #region history
      case 'history': {
        const {epoch, head, floor, next} = body
        return {messages: items.map(item => ({...item, channel: asked.channel, epoch})), epoch, head, floor, next}
      }
      // #endregion
      // #region metadata
      case 'getMetadata': throw fault('the relay answered getMetadata without a page')
      case 'subscribeUserMetadata':
        wanted.userMetadata.add(asked.user)
        this.metadataSets.set(ownerKey(asked), {items: new Map(), majorRevision: 0})
        return undefined
      case 'unsubscribeUserMetadata':
        wanted.userMetadata.delete(asked.user)
        this.metadataSets.delete(ownerKey(asked))
        return undefined
      // #endregion
      // #region renewal
      case 'renew':
        this.credential = asked
        this.access = new Access(body.access)
        return undefined
      // #endregion
      default: return body
    }
  }

  select(topic, selection, {all, succeeded, failed}) {
    if (selection.all || selection.listed.size > 0) this.wanted.selections.set(topic, selection)
    else this.wanted.selections.delete(topic)
    return {all, users: succeeded, failed: failed.map(({user, code}) => ({user, code}))}
  }

  refused(body, now) {
    const error = new RelayError(body.code, body.text, body)
    if (body.number !== undefined) {
      const publish = this.answered(body.number, now)
      // #region direct
      publish?.direct?.settle({error})
      // #endregion
      if (publish?.message?.part) this.partRefused(publish.message.part, error)
      else if (publish?.message) this.settle(publish.message, {error})
      return
    }
    const found = this.requests.get(body.id)
    if (found) {
      this.requests.delete(body.id)
      if (found.pending) found.pending.settle({error})
      else this.refusedAgain(found.request, error)
      return
    }
    if (this.state === 'connecting') return this.end({kind: 'loginRefused', error}, now)
    const key = this.ownTopics.get(body.flow)
    const refusal = {type: 'refused', subject: body.flow === undefined ? 'unknown' : 'packet', error}
    if (key) {
      // Left by a request whose answer was lost with the link, or the right to has ended.
      const isOver = error.code === ErrorCode.unknownFlow || error.code === ErrorCode.notPermitted
      if (isOver && this.ownFlows.get(key) === body.flow) this.leftTopic(key)
      Object.assign(refusal, {channel: {kind: 'stream', channel: parts(key)[0]}, topic: parts(key)[1]})
    }
    this.emit(refusal)
  }

  /** What the app wanted is not to be had in the new session: it is told, and the machine stops wanting it. */
  refusedAgain({type, body}, error) {
    const {topic, users = [], user} = body
    const kind = entering[type] ?? body.kind ?? 'stream'
    const channel = body.channel === undefined ? undefined : {kind, channel: body.channel}
    const key = topic === undefined ? '' : topicKey(body.channel, topic)
    const subjects = {
      subscribe: ['channel', () => this.left(channel)],
      join: ['channel', () => this.left(channel)],
      joinTopic: ['publishedTopic', () => this.leftTopic(key)],
      subscribeTopic: ['subscribedTopic', () => this.wanted.selections.delete(key)],
      setStates: ['states', () => this.wanted.states.delete(channelKey(kind, body.channel))],
      // #region metadata
      subscribeUserMetadata: ['userMetadata', () => this.wanted.userMetadata.delete(user)],
      // #endregion
    }
    const [subject, forget] = subjects[type] ?? ['unknown', () => {}]
    forget()
    this.emit({type: 'refused', subject, channel, topic, users, user, error})
  }

  // MARK: Frames of the relay

  receive(frame, now) {
    const {type, code, body} = frame
    // A newer relay may say what this client does not know. [FR6]
    if (type === undefined) return
    if (code < 0x80 && type !== 'ping' && type !== 'pong') throw fault(`the relay sent a ${type}, which only clients send`)
    const events = eventNames[type]
    if (events && typeof body.event === 'string' && !events.includes(body.event)) return
    // #region shapes
    if (bodyShapes[type]) holds(bodyShapes[type], body, type)
    // #endregion
    // The method of the frame's name.
    this[type](body ?? frame, now, frame)
  }

  error(body, now) {
    this.refused(body, now)
  }
  closing({code, text}, now) {
    this.end({kind: 'relayClosed', code, text}, now)
  }
  // #region direct
  confirmed({number}, now) {
    if (this.publishes.get(number)?.direct) this.answered(number, now).direct.settle({value: {offset: 0}})
  }
  // #endregion
  userNamed({handle, user}) {
    if (this.users.size >= Limits.userNamesMax) throw fault('the relay names too many users')
    this.users.set(handle, user)
  }
  // #region direct
  directDeliver({sender, time, customType, payload, text, delivery}) {
    this.emit({type: 'direct', sender, wallMilliseconds: time, customType, payload: received(payload, text)}, undefined, delivery)
  }
  // #endregion
  // #region history
  historyItem(frame) {
    const found = this.requests.get(frame.id)
    const {part: number, parts: of, key, payload, text: isText = false} = frame
    if (number !== undefined && (of < 2 || number < 1 || number > of || key === undefined)) {
      throw fault(`part ${number} of ${of} of a drawing`)
    }
    // Text may be cut inside a character: it is checked as a whole. [BL8]
    const part = number === undefined ? {} : {payload: payload.slice(), part: {number, of, isText}}
    const message = messageOf(frame, {sender: frame.publisher, ...part})
    if (found?.request.type !== 'history') return
    if (found.items.length >= Limits.historyItemsMax) throw fault('the relay sends more of the history than it may')
    found.items.push(message)
  }
  // #endregion
  notStored({number, code, text}) {
    this.settleStored(number, {error: new RelayError(code, text)})
  }
  stored({number, offset}) {
    this.settleStored(number, {value: offset})
  }
  // #region renewal
  accessExpiring({inMs}) {
    this.emit({type: 'accessExpiring', inMs})
  }
  // #endregion
  removed(body) {
    const channel = this.channels.get(body.channel)
    if (!channel) return
    this.left(channel)
    this.emit({type: 'refused', subject: 'channel', channel, error: new RelayError(body.code, body.text)})
  }
  accessChanged({by, ...access}) {
    this.access = new Access(access)
    this.emit({type: 'accessChanged', access: this.access, by})
  }
  channelFrozen({channel: handle, frozen, by}) {
    const channel = this.channels.get(handle)
    if (channel) this.tellFrozen(channel, frozen, by)
  }
  /** How a channel is as one comes in, or comes back: told if that is news. [AC11] */
  stands({kind, channel, frozen = false}) {
    if (this.frozen.has(channelKey(kind, channel)) !== frozen) this.tellFrozen({kind, channel}, frozen)
  }
  tellFrozen(channel, isFrozen, by = undefined) {
    this.frozen[isFrozen ? 'add' : 'delete'](channelKey(channel.kind, channel.channel))
    this.emit({type: 'channelFrozen', channel, isFrozen, by})
  }
  flowClosed({flow}) {
    this.flows.delete(flow)
    this.closedFlows.add(flow)
    if (this.closedFlows.size > Limits.closedFlowsMax) this.closedFlows.delete(this.closedFlows.values().next().value)
  }
  // #region losses
  packetsDropped({flow, dropped}) {
    const key = this.ownTopics.get(flow)
    if (key) this.dropped(dropped, key, 'overRate')
  }
  // #endregion
  // #region locks
  locks({channel: handle, event, locks, user}) {
    const channel = this.channels.get(handle)
    if (channel) this.emit({type: 'locks', channel, kind: event, locks, formerOwner: user})
  }
  // #endregion

  presence({channel: handle, event, user, states = {}, removed = [], members = [], total = members.length, joined = [], changed = [], left = [], timedOut = []}) {
    const channel = this.channels.get(handle)
    if (!channel || (user === undefined && event !== 'snapshot' && event !== 'interval')) return
    const change = {
      snapshot: {kind: 'snapshot', members, total}, join: {kind: 'joined', member: {user, states}}, leave: {kind: 'left', user},
      timeout: {kind: 'timedOut', user}, stateChanged: {kind: 'stateChanged', user, set: states, removed},
      interval: {kind: 'interval', joined, changed, left, timedOut},
    }[event]
    this.emit({type: 'presence', channel, ...change})
  }

  topics({channel: handle, event, publishers, more}) {
    const channel = this.channels.get(handle)
    if (!channel) return
    // The rest of a long snapshot follows as `joined`.
    const kind = event === 'publisherLeft' ? 'left' : event === 'publisherJoined' || this.snapshotGoesOn.has(handle) ? 'joined' : 'snapshot'
    if (event === 'snapshot') this.snapshotGoesOn[more ? 'add' : 'delete'](handle)
    this.emit({type: 'topics', channel: channel.channel, kind, publishers: publishers.map(({topic, user, meta}) => ({topic, user, meta}))})
  }

  metadataItems({body, texts}) {
    return body.items.map(({key, revision, author, time}, index) => ({key, value: textOf(texts[index]), revision, author, wallMilliseconds: time}))
  }

  // #region metadata
  /** The answer to `getMetadata`. */
  metadataPage(body, now, frame) {
    const found = this.requests.get(body.id)
    if (!found) return
    this.requests.delete(body.id)
    found.pending?.settle({value: {items: this.metadataItems(frame), majorRevision: body.majorRevision, next: body.next}})
  }
  // #endregion

  metadata({channel, user, event, removed = [], more, majorRevision}, now, frame) {
    const owner = user === undefined ? this.channels.get(channel) : {user}
    const key = owner && ownerKey(owner)
    if (!owner || (user !== undefined && !this.metadataSets.has(key))) return
    const isSnapshot = event === 'snapshot'
    let picture = this.metadataSets.get(key)
    if (!picture || (isSnapshot && !picture.pages?.isSnapshot)) this.metadataSets.set(key, picture = {items: new Map(), majorRevision: 0})
    const pages = picture.pages ?? {written: [], removed: [], isSnapshot}
    pages.written.push(...this.metadataItems(frame))
    pages.removed.push(...removed)
    if (pages.written.length + pages.removed.length > 2 * Limits.metadataItemsMax) throw fault(`a set of more than ${Limits.metadataItemsMax} items`)
    picture.pages = more ? pages : undefined
    if (more) return
    for (const name of pages.removed) picture.items.delete(name)
    for (const item of pages.written) picture.items.set(item.key, item)
    picture.majorRevision = majorRevision
    this.emit({type: 'metadata', owner, majorRevision, ...pages, items: new Map(picture.items)})
  }

  // MARK: Messages that come

  deliver(frame) {
    const {key, part, parts: of, payload, offset, text, time, customType} = frame
    const isRetained = frame.retain ?? false
    if (part !== undefined && (of < 2 || part < 1 || part > of || key === undefined || payload.length === 0)) {
      throw fault(`part ${part} of ${of}, ${payload.length} bytes, of a drawing`)
    }
    const content = part === undefined ? received(payload, text) : undefined
    if (isRetained && key === undefined) throw fault('a record without a key')
    const channel = this.channels.get(frame.channel)?.channel
    if (channel === undefined) return
    const sender = this.users.get(frame.publisher)
    if (sender === undefined) throw fault(`a message of publisher ${frame.publisher}, who was not named`)
    if (this.untold.has(channel)) return
    // The parts of a record come one behind the other: of one below this, the rest will not come.
    this.dropPartials(channel, true, drawing => drawing.isRetained && drawing.offset < offset)
    const position = this.positions.get(channel)
    // What the parts of a drawing that is no record had in common says nothing to anybody else.
    const shown = {...frame, key: isRetained ? key : undefined}
    const tell = (bytes, carried) => this.tell(messageOf(shown, {channel, sender, epoch: position?.epoch, payload: carried}), channel, bytes.length)
    if (part === undefined) {
      this.see(offset, channel)
      return tell(payload, content)
    }
    // A retained one has not been seen before its last part.
    this.see(isRetained && part < of ? offset - Math.min(1, offset) : offset, channel)
    if (!this.partials.has(channel)) this.partials.set(channel, new PartialDrawings())
    const partials = this.partials.get(channel)
    const bytesMax = Math.min(this.limits.largeMessageBytesMax, Limits.drawingBytesMax)
    const {whole, isBroken, givenUp} = partials.add(
      {sender, key, isRetained, isText: text ?? false, customType, offset, time, part, parts: of, bytes: payload.slice()}, bytesMax)
    if (partials.drawings.length === 0) this.partials.delete(channel)
    this.drawingsGivenUp(givenUp, channel)
    if (isBroken) {
      this.drawingsDropped++
      // All parts of a record are sent; of others one may have come in the middle, or the publisher began anew.
      if (isRetained && part === of) this.missed(offset, channel)
    } else if (whole) {
      // Publishers' text that is none stays what it is, bytes. [BL8]
      let carried = whole
      try {
        if (text) carried = textOf(whole)
      } catch {}
      tell(whole, carried)
    }
    return undefined
  }

  /** Records that come while a board is read are gathered. */
  tell(message, channel, bytes) {
    const reading = this.readings.get(channel)
    if (!message.isRetained || !reading) return this.emit(message, bytes)
    if (this.batch?.channel !== channel) this.flushBatch()
    this.batch ??= {type: 'board', channel, messages: [], progress: 0}
    this.batch.messages.push(message)
    const {after, head} = reading
    this.batch.progress = head > after ? Math.min(1, Math.max(0, message.offset - after) / (head - after)) : 1
    this.batchBytes += bytes
    if (this.batch.messages.length >= Limits.batchMessagesMax || this.batchBytes >= Limits.batchBytesMax) this.flushBatch()
    return undefined
  }

  /** Before whatever comes behind it, and when nothing more has come for now. */
  flushBatch() {
    const {batch, batchBytes} = this
    if (!batch) return
    this.batch = undefined
    this.batchBytes = 0
    this.emit(batch, batchBytes + batch.messages.length * Limits.eventBytes)
  }

  dropPartials(channel, isTold, isOver = everyPart) {
    const partials = this.partials.get(channel)
    if (!partials) return
    const over = partials.remove(isOver)
    if (partials.drawings.length === 0) this.partials.delete(channel)
    if (isTold) this.drawingsGivenUp(over, channel)
    else this.drawingsDropped += over.length
  }
  drawingsGivenUp(drawings, channel) {
    this.drawingsDropped += drawings.length
    for (const {offset} of drawings) this.missed(offset, channel)
  }
  missed(offset, channel) {
    this.emit({type: 'messagesMissed', channel, epoch: this.positions.get(channel)?.epoch, extent: {from: offset, to: offset}})
  }

  see(offset, channel) {
    const position = this.positions.get(channel)
    if (!position) return
    let seen = Math.max(position.offset, offset)
    const ahead = this.ownAhead.get(channel) ?? []
    while (ahead.length > 0 && ahead[0] <= seen + 1) seen = Math.max(seen, ahead.shift())
    if (ahead.length === 0) this.ownAhead.delete(channel)
    this.positions.set(channel, {epoch: position.epoch, offset: seen})
  }

  /**
   * An own message that does not come back was accepted. It counts as seen when all before it has come: a relay brings large
   * drawings, and an undone `clear`, by catching up, and does not say when it begins with that. [BL6, BL8]
   */
  seeOwn(offset, channel) {
    const position = this.positions.get(channel)
    if (!position || offset <= position.offset) return
    if (offset === position.offset + 1) return this.see(offset, channel)
    const ahead = this.ownAhead.get(channel) ?? []
    // Without it more comes again than need be after a break: nothing is lost by that.
    if (ahead.length >= Limits.ownAheadMax) return
    this.ownAhead.set(channel, [...ahead, offset].sort((left, right) => left - right))
  }

  // #region gaps
  /** What was still to come is not kept any more. Records of its range may still come, so it counts as seen by nobody. [HI4, BL3] */
  gap({channel: handle, from, to}) {
    const channel = this.channels.get(handle)?.channel
    const position = this.positions.get(channel)
    if (!position) return
    this.dropPartials(channel, false, drawing => !drawing.isRetained)
    this.tellMissed({from, to}, channel, position.epoch)
  }

  /** Once: after a break the relay tells again what lies behind the last message that was seen. */
  tellMissed({from, to}, channel, epoch) {
    const through = this.missedThrough.get(channel)
    const told = isSameEpoch(through?.epoch, epoch) ? through.offset : 0
    if (to <= told) return
    this.missedThrough.set(channel, {epoch, offset: to})
    this.emit({type: 'messagesMissed', channel, epoch, extent: {from: Math.max(from, told + 1), to}})
  }
  // #endregion

  caughtUp({channel: handle, head}) {
    const channel = this.channels.get(handle)?.channel
    if (this.untold.has(channel) || !this.positions.has(channel)) return
    this.dropPartials(channel, true, drawing => drawing.isRetained)
    this.see(head, channel)
    this.readings.delete(channel)
    // One that was live caught up with a large drawing, or an undone `clear`: nothing that the app waits for. [BL6, BL8]
    if (this.catchingUp.delete(channel)) this.emit({type: 'caughtUp', channel, head})
  }

  cleared({channel: handle, offset, user, time}) {
    const channel = this.channels.get(handle)?.channel
    if (channel === undefined || this.untold.has(channel)) return
    this.see(offset, channel)
    this.emit({type: 'cleared', channel, offset, user, wallMilliseconds: time})
  }

  /** As a subscription that is answered with `reset`. [BL4] */
  reset({channel: handle, epoch, head}) {
    const {kind, channel} = this.channels.get(handle) ?? {}
    if (kind !== 'message' || this.untold.has(channel)) return
    const receives = this.wanted.channels.get(channelKey(kind, channel))?.features.includes('messages')
    this.dropPartials(channel, false)
    this.emit({type: 'messagesMissed', channel, epoch, extent: 'reset'})
    this.missedThrough.delete(channel)
    this.ownAhead.delete(channel)
    this.positions.set(channel, {epoch, offset: receives ? 0 : head})
    if (!receives) return
    this.catchingUp.add(channel)
    this.readings.set(channel, {after: 0, head})
  }

  /** Nothing of a channel is put together or read any more. */
  forgetBoard(channel) {
    this.dropPartials(channel, false)
    for (const map of [this.readings, this.missedThrough, this.ownAhead]) map.delete(channel)
  }

  // MARK: Packets that come, and what tells which of them will not [ST6, ST9, DL6, SE9]

  packet({flow: handle, sequence, slot, senderTime, payload, text}) {
    const flow = this.flows.get(handle)
    const content = received(payload, text)
    // What still comes of a topic that was given up is not wanted.
    if (!flow) return
    if (sequence < flow.next) throw fault(`packet ${sequence} of flow ${handle} after ${flow.next - 1}`)
    flow.next = sequence + 1
    // #region losses
    flow.told = flow.told.filter(([, last]) => last > sequence)
    // #endregion
    const {channel, topic, user} = flow
    this.emit({type: 'packet', channel, topic, publisher: user, flow: handle, sequence, slot, senderTime, payload: content})
  }

  // #region losses
  lost({reason, ranges}) {
    const entries = []
    for (const {flow: handle, first, last} of ranges) {
      if (first > last) throw fault(`a lost range ${first}…${last}`)
      const flow = this.flows.get(handle)
      if (flow) {
        if (flow.told.length >= Limits.toldRangesMax) throw fault('too many lost ranges of one flow')
        if (last >= flow.next) flow.told.push([first, last])
        entries.push(lostEntry(handle, flow, first, last))
      } else if (!this.closedFlows.has(handle)) {
        // The notice stands where the first packet was shed; this flow's opening may stand behind it. [DL6]
        // What is left of topics that were given up goes first.
        if (this.lostEarly.length >= Limits.toldRangesMax) this.lostEarly.shift()
        this.lostEarly.push({handle, reason, first, last})
      }
    }
    this.tellLost(['', 'slowReader', 'expired', 'catchingUp'][reason] || `other ${reason}`, entries)
  }

  tellLost(reason, entries) {
    if (entries.length > 0) this.emit({type: 'packetsLost', reason, entries})
  }
  // #endregion

  flowOpened({flow: handle, channel: channelHandle, topic, user, next, from}) {
    if (this.flows.size >= Limits.flowsMax) throw fault('the relay opens too many flows')
    const channel = this.channels.get(channelHandle)?.channel
    // A resumption names again what has closed lately. [SE9]
    if (channel === undefined || this.closedFlows.has(handle)) return
    this.unconfirmedFlows.delete(handle)
    // #region losses
    const known = this.flows.get(handle)
    // #endregion
    this.flows.set(handle, {channel, topic, user, next, told: []})
    // #region losses
    this.tellMissing(handle, known, from)
    // #endregion
  }

  // #region losses
  tellMissing(handle, known, from) {
    const flow = this.flows.get(handle)
    const {next} = flow
    // Of a flow that is new on this link all that was meant for the session went with the one before.
    const entries = []
    let missing = known ? Math.max(known.next, from ?? 1) : from ?? next
    for (const [first, last] of (known?.told ?? []).sort((left, right) => left[0] - right[0])) {
      if (last < missing) continue
      if (first > missing) entries.push(lostEntry(handle, flow, missing, Math.min(next - 1, first - 1)))
      missing = last + 1
    }
    if (missing <= next - 1) entries.push(lostEntry(handle, flow, missing, next - 1))
    if (this.isHeard(flow)) this.tellLost('linkBroken', entries)
    // What was told lost of it before it was opened.
    const early = this.lostEarly.filter(range => range.handle === handle)
    this.lostEarly = this.lostEarly.filter(range => range.handle !== handle)
    for (const {reason, first, last} of early) this.lost({reason, ranges: [{flow: handle, first, last}]})
  }

  /** Whether its packets come to this client: one's own do with an echo. [ST13] */
  isHeard({user, channel, topic}) {
    return user !== this.settings.user || this.wanted.echoing.has(topicKey(channel, topic))
  }
  // #endregion

  /** Flows that the relay did not name again after a resumption have closed meanwhile. [SE9] */
  closeUnconfirmedFlows() {
    for (const handle of [...this.unconfirmedFlows].sort((left, right) => left - right)) {
      // #region losses
      const flow = this.flows.get(handle)
      // #endregion
      this.flows.delete(handle)
      // #region losses
      if (flow && this.isHeard(flow)) this.tellLost('linkBroken', [lostEntry(handle, flow, flow.next, undefined)])
      // #endregion
    }
    this.unconfirmedFlows.clear()
  }
}

const received = (bytes, isText) => isText ? textOf(bytes) : bytes.slice()
// #region losses
const lostEntry = (flow, {channel, topic, user}, first, last) => ({flow, channel, topic, publisher: user, first, last})
// #endregion

/** A message as apps get it, from `deliver` or `historyItem`. */
function messageOf({offset, time, customType, key, retain = false, payload, text}, more) {
  return {
    type: 'message', offset, wallMilliseconds: time, customType, key, isRetained: retain, isRemoval: retain && payload.length === 0,
    ...'payload' in more ? {} : {payload: received(payload, text)}, ...more,
  }
}

// MARK: - What is kept over a reload

/**
 * Retained messages that are not told durable, in a storage such as `localStorage`: an entry for each, and one that lists
 * them with the numbers under which they were sent. A storage that is full, or closed, keeps less: `unsent.unkept` tells.
 *
 * There may be several on one storage: pages that were open at once, or a page that was not closed when the next one loaded. So
 * the list is read before it is written, and what another has added stays in it.
 */
export class Outbox {
  /** @param {KeptStorage} storage @param {string} prefix of its keys @param {() => number} [wallClock] in milliseconds */
  constructor(storage, prefix, wallClock = Date.now) {
    Object.assign(this, {storage, prefix, wallClock})
    this.entries = new Map()
    this.unkeptEntries = new Set()
    this.head = {}
  }

  /** Messages that could not be kept. */
  get unkept() {
    return this.unkeptEntries.size
  }

  /** What stands under a key, if it is what `use` wants. */
  read(id, use) {
    try {
      return use(JSON.parse(this.storage.getItem(this.prefix + id)))
    } catch {
      return undefined
    }
  }

  /** The list as it stands: under which instance messages were sent, and ids with their numbers. */
  list() {
    const {ids, ...head} = this.read('', list => ({...list})) ?? {}
    const {instance, start, last, at} = head
    const isHead = [start, last, at].every(Number.isSafeInteger) && /^[0-9a-f]{16}$/.test(instance)
    return [isHead ? {instance, start, last, at} : {}, Array.isArray(ids) ? ids.filter(Array.isArray).map(([id, number]) => [id, isHead ? number : 0]) : []]
  }

  /**
   * What an earlier client object has left: what was sent in the order of its numbers, then the rest in the order of the calls.
   * Below 0 is the number of one that was sent by another instance than the last: there is no asking for it.
   */
  load() {
    const [head, ids] = this.list()
    const entries = []
    for (const [id, number] of ids) {
      const entry = this.read(id, ({channel, key, customType, echo, isLarge, text, base64}) => ({
        id, number: number || undefined, channel: checkedName(channel), key: checkedName(key), customType, echo, isLarge,
        ...base64 === undefined ? payloadOf(text) : {bytes: fromBase64(base64), text: false},
      }))
      if (entry) entries.push(entry)
    }
    const sent = entries.filter(({number}) => number).sort((left, right) => left.number - right.number)
    if (sent.length > 0) this.head = head
    return {head: {...head, ageMs: this.wallClock() - head.at}, entries: [...sent, ...entries.filter(({number}) => !number)]}
  }

  /** @param {object} entry a message or drawing of the machine's */
  add(entry) {
    const id = `/${hexadecimal(8)}`
    const {channel, key, customType, echo, text, bytes} = entry
    const payload = text ? {text: textOf(bytes)} : {base64: toBase64(bytes)}
    this.keep(entry, () => {
      this.storage.setItem(this.prefix + id, JSON.stringify({channel, key, customType, echo, ...payload, isLarge: entry instanceof OutgoingDrawing}))
      this.entries.set(entry, {id})
      this.writeList()
    })
  }

  numbered(entry, number, {instance, relayStart, lastNumber}) {
    const kept = this.entries.get(entry)
    if (!kept) return
    kept.number = number
    this.head = {instance, start: relayStart, last: lastNumber, at: this.wallClock()}
    this.keep(entry, () => this.writeList())
  }

  remove(entry) {
    const kept = this.entries.get(entry)
    this.unkeptEntries.delete(entry)
    if (!kept) return
    this.entries.delete(entry)
    this.keep(undefined, () => {
      this.storage.removeItem(this.prefix + kept.id)
      this.writeList()
    })
  }

  /** Those of others stay where they are, as long as they are kept; their numbers count only under the instance that the list has. */
  writeList() {
    const [head, ids] = this.list()
    const own = new Map([...this.entries.values()].map(({id, number = 0}) => [id, number]))
    const isOther = this.head.instance && head.instance !== this.head.instance
    if (!isOther && head.last > this.head.last) this.head.last = head.last
    const kept = ids.filter(([id]) => own.has(id) || this.storage.getItem(this.prefix + id))
    const all = [...new Map([...kept.map(([id, number]) => [id, isOther && number ? -1 : number]), ...own])]
    if (all.length === 0) this.storage.removeItem(this.prefix)
    else this.storage.setItem(this.prefix, JSON.stringify({...head, ...this.head, ids: all}))
  }

  keep(entry, write) {
    try {
      write()
    } catch {
      if (entry) this.unkeptEntries.add(entry)
    }
  }
}

function toBase64(bytes) {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}
const fromBase64 = text => Uint8Array.from(atob(text), character => character.charCodeAt(0))

/** Random digits; `crypto.getRandomValues` is there without a secure context, too. */
function hexadecimal(digits) {
  return Array.from(crypto.getRandomValues(new Uint8Array(digits / 2)), byte => byte.toString(16).padStart(2, '0')).join('')
}

/** The client secret of an installation and user id, drawn at its first use. [SE2, AC3] */
function keptSecret(storage, key) {
  let secret
  try {
    secret = storage?.getItem(key)
    if (!/^[0-9a-f]{32}$/i.test(secret ?? '')) storage?.setItem(key, secret = hexadecimal(32))
  } catch {}
  return secret ?? hexadecimal(32)
}

// MARK: - Links

/**
 * A link over WebSocket. Each message of it is one or more whole frames with their lengths; what the relay sends may be cut
 * anywhere.
 *
 * @param {string|URL} address `http:`, `https:`, `ws:`, `wss:` or `relay:`, as a relay prints it or a board's link has it. What stands
 *   behind `#` is no part of the place; a path that ends in `/` is that of the relay's page, and its WebSockets are at `ws` there
 * @returns {Transport}
 */
export function webSocketTransport(address) {
  const url = new URL(String(address).replace(/^(http|relay)/, 'ws'))
  url.hash = ''
  // #region addresses
  if (url.pathname.endsWith('/')) url.pathname += 'ws'
  // #endregion
  return ({opened, received, ended}) => {
    // #region addresses
    if (!globalThis.WebSocket) throw problem('notSupported', 'there is no WebSocket here, as in Node 20: give the client a transport of your own instead of an address')
    // #endregion
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    socket.onopen = opened
    socket.onmessage = ({data}) => typeof data === 'string' ? ended('the relay sent text') : received(new Uint8Array(data))
    // #region addresses
    // The close behind it says as much. Of Node's `ws` an error that nobody hears ends the program.
    socket.onerror = () => {}
    // #endregion
    socket.onclose = ({code, reason}) => ended(reason || `the WebSocket was closed with ${code}`)
    return {send: bytes => socket.send(bytes), get bufferedBytes() { return socket.bufferedAmount }, close: () => socket.close()}
  }
}

// #region addresses
/**
 * What stands behind `#` in an address that a relay has printed, or in a link to a board: `http://192.168.1.5:7420/#key=…`, `…#token=…`,
 * `…/#/b/lesson?k=…`, `…?t=…`.
 *
 * @returns {Credential|undefined}
 */
export function credentialOf(address) {
  const found = /(?:^|[?&])(?:(k|key)|t|token)=([^&]+)/.exec(String(address).split('#').slice(1).join('#'))
  return found ? {[found[1] ? 'key' : 'token']: found[2]} : undefined
}
// #endregion

/** Tells a client when a page comes back to the foreground or to a network. @param {RelayClient} client @returns {() => void} ends it */
export function wakeUpWithPage(client) {
  const wake = () => document.visibilityState === 'visible' && client.wakeUp()
  const sources = [[document, 'visibilitychange'], [window, 'pageshow'], [window, 'online']]
  for (const [source, type] of sources) source.addEventListener(type, wake)
  return () => sources.forEach(([source, type]) => source.removeEventListener(type, wake))
}

// MARK: - The client

// #region plain messages
/** What becomes of a message that was sent. */
export class Receipt {
  constructor(pending) {
    /**
     * The answer of the relay; `offset` is 0 for a message to one user, whose app has taken it then.
     *
     * Rejected with why it was refused; `outcomeUnknown` when the link broke before the answer. It need not be awaited.
     *
     * @type {Promise<{offset: number}>}
     */
    this.value = pending.promise.then(offset => typeof offset === 'object' ? offset : {offset})
    this.value.catch(() => {})
  }
}
// #endregion

/**
 * What becomes of a message that is kept for good, or of a large drawing. [BL2]
 *
 * Others see it from `accepted` on; a relay that ends before `stored` may have lost it again.
 *
 * **Who reads the board at the same time** [BL3], from its beginning or anew after `messagesMissed` with `reset`, gets own
 * records among the others. One whose `accepted` or `stored` comes behind the `caughtUp` of such a reading, with an offset that
 * is not above its `head`, was among what was read, or has been superseded or removed since: do not draw it again, and do not
 * put it in place of what was read.
 *
 * A record that another user wrote is replaced or removed only by who has the right `clear`: `notPermitted`. [BL10]
 */
export class StoredReceipt {
  constructor(accepted, stored) {
    /**
     * The offset, once the relay has taken it; of a large drawing that of its last part. Rejected with why it was refused
     * (`notPermitted`, `boardFull`, `quotaReached`, `storageFull`, `busy`, …), `storageFailed` when it was told not durable before it was
     * answered, `outcomeUnknown` when the relay does not know any more.
     *
     * @type {Promise<number>}
     */
    this.accepted = accepted.promise
    /**
     * The offset, once it is durable; of what is not retained the same as `accepted`. After a break it is sent again until it
     * is told, to the same relay started anew, too. Rejected with what `accepted` is; `storageFailed`: it was accepted and is
     * gone, and who received it is told (`messagesMissed` with `reset`); `notAccepted` or `outcomeUnknown`.
     *
     * @type {Promise<number>}
     */
    this.stored = stored.promise
  }
}

/**
 * A client of a whiteboard relay.
 *
 * Every call takes its place in the one order before it returns; what comes back comes in one sequence, in the relay's order.
 * A broken link is made again by itself, with all that was subscribed; what was missed meanwhile is told.
 */
export class RelayClient {
  // #region connecting
  /**
   * Connects and logs in.
   *
   * @param {string|URL|Transport} address as the relay prints it, or a link to a board; its `#key=…` is the credential if the options have none
   * @param {string} user the user's id [NM1]
   * @param {ClientOptions} [options]
   * @throws {RelayError} `badName`; `connectFailed` or `timedOut` when the relay cannot be reached; a code of the relay's
   */
  static async connect(address, user, options) {
    const client = new RelayClient(address, user, options)
    await client.ready
    return client
  }
  // #endregion

  /** As `connect`, for who wants to send before the first login: what is sent waits. */
  constructor(address, user, {storage, scope, secret, wallClock, credential, ...settings} = {}) {
    const isAddress = typeof address !== 'function'
    // #region addresses
    if (isAddress) {
      scope ??= new URL(address).host
      credential ??= credentialOf(address)
    }
    // #endregion
    const key = what => `boardrelay.${what}.${scope ?? 'relay'}.${checkedName(user)}`
    this.transport = isAddress ? webSocketTransport(address) : address
    this.handlers = new Map()
    // #region iteration
    this.iterators = []
    // #endregion
    this.isDelivering = false
    this.machine = new ClientMachine({
      description: 'relay-client.js', ...settings, user, instance: hexadecimal(16), secret: secret ?? keptSecret(storage, key('secret')), credential,
      outbox: storage && new Outbox(storage, key('outbox'), wallClock),
    })
    /** Settled at the first login, or with why there was none. @type {Promise<void>} */
    this.ready = this.ask((machine, pending, now) => machine.connect(pending, now))
    this.ready.catch(() => {})
  }

  // MARK: Events

  /**
   * Has `handler` called with each event of a type (`ClientEvent`), or with all (`*`), in the relay's order. Events that come
   * before there is any handler wait for the first; later ones of a type that has none are dropped.
   *
   * @template {ClientEvent['type']|'*'} Type
   * @param {Type} type
   * @param {(event: Type extends '*' ? ClientEvent : Extract<ClientEvent, {type: Type}>) => void} handler
   * @returns {() => void} takes the handler away
   */
  on(type, handler) {
    const handlers = this.handlers.get(type) ?? new Set()
    this.handlers.set(type, handlers.add(handler))
    queueMicrotask(() => this.deliver())
    return () => handlers.delete(handler)
  }

  // #region iteration
  /**
   * Everything that happens, for `for await`. For one reader: with several, each event goes to one of them. As long as one is
   * open an event is taken when it asks; handlers are called at that moment.
   *
   * @returns {AsyncIterable<ClientEvent>}
   */
  get events() {
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = {waiting: []}
        this.iterators.push(iterator)
        return {
          next: () => new Promise(resolve => {
            iterator.waiting.push(resolve)
            this.deliver()
          }),
          return: async () => {
            this.iterators = this.iterators.filter(other => other !== iterator)
            for (const resolve of iterator.waiting) resolve({done: true, value: undefined})
            this.deliver()
            return {done: true, value: undefined}
          },
        }
      },
    }
  }
  // #endregion

  /** Hands over what is there. */
  deliver() {
    if (this.isDelivering) return
    this.isDelivering = true
    for (;;) {
      let isRead = this.handlers.size > 0
      // #region iteration
      const reader = this.iterators.find(({waiting}) => waiting.length > 0)
      if (this.iterators.length > 0) isRead = reader !== undefined
      // #endregion
      const event = isRead && this.machine.nextEvent(performance.now())
      // #region iteration
      if (isRead && !event && this.machine.state === 'closed') {
        for (const {waiting} of this.iterators) for (const resolve of waiting.splice(0)) resolve({done: true, value: undefined})
      }
      // #endregion
      if (!event) break
      for (const handler of [...this.handlers.get(event.type) ?? [], ...this.handlers.get('*') ?? []]) {
        try {
          handler(event)
        } catch (error) {
          // It is the app's, and reaches what watches for errors; the others still get the event.
          queueMicrotask(() => { throw error })
        }
      }
      // #region iteration
      reader?.waiting.shift()({done: false, value: event})
      // #endregion
    }
    this.isDelivering = false
    this.carryOut()
  }

  // MARK: Message channels

  /**
   * Receives a message channel's messages, presence, or more. Calling again changes what is received.
   *
   * @param {string} channel
   * @param {object} [options]
   * @param {Feature[]} [options.features]
   * @param {boolean} [options.quiet] not seen by others; may publish, has no states
   * @param {Since} [options.since] where to begin: kept messages come first, then `caughtUp`, then what is sent, without a hole
   *   or a duplicate between them. Without it: what is sent from now on. What is not kept any more is told (`messagesMissed`).
   *   After a break the client goes on where it was by itself.
   * @throws {RelayError} `badName`, `limitReached`, `relayFull`, `outcomeUnknown`, or why the relay was not reached
   */
  async subscribe(channel, {features = ['messages', 'presence'], quiet = false, since} = {}) {
    await this.request('subscribe', {channel: checkedName(channel), features: sorted(features), quiet, since: since === 'beginning' ? {beginning: true} : since})
  }

  // #region leaving
  /** Ends receiving a message channel and being seen in it. @param {string} channel */
  async unsubscribe(channel) {
    await this.request('unsubscribe', {channel: checkedName(channel)})
  }
  // #endregion

  /**
   * Publishes a message; it has its place in the order when this returns. After a break it is sent again until its outcome is
   * known: the relay accepts it once.
   *
   * - `send('hello', {to: 'lesson', customType, echo, storeInHistory})`: to a message channel
   * - `send('hello', {toUser: 'bob', customType})`: to one user; the receipt comes when the receiving app has taken it
   * - `send(json, {to: 'lesson', retainedAs: 's1', customType, echo})`: kept for good as the newest of its key
   * - `send({removing: 's1', from: 'lesson'})`: removes the record of a key; others receive a message with `isRemoval`. Another
   *   user's takes the right `clear`, as it does to replace it: the receipt is rejected with `notPermitted` [BL10]
   *
   * @template {SendOptions} Options
   * @param {Payload|{removing: string, from: string}} payload with its custom type at most 32,768 bytes; 1 or more if it is retained
   * @param {Options} [options] `echo`: whether this client receives it as well; `storeInHistory: false`: who has no link that takes it misses it
   * @returns {Options extends {to: string, retainedAs?: undefined} | {toUser: string} ? Receipt : StoredReceipt}
   * @throws {RelayError} `badName`, `badText`, `tooLarge`, `badRequest` for an empty record, `unsentFull`, `clientClosed`: nothing was sent then
   */
  send(payload, {to, toUser, retainedAs, customType, echo = false, storeInHistory = true} = {}) {
    const accepted = new Pending()
    const stored = new Pending()
    // #region direct
    if (toUser !== undefined) {
      this.act((machine, now) => machine.sendDirect({payload, user: toUser, customType, pending: accepted}, now))
      return new Receipt(accepted)
    }
    // #endregion
    const removing = payload?.removing
    const key = removing ?? retainedAs
    const isRetained = key !== undefined
    // #region plain messages
    if (removing === undefined && isRetained && payloadOf(payload).bytes.length === 0) throw problem('badRequest', 'an empty payload removes a record: that is a call of its own')
    // #endregion
    const message = {
      payload: removing === undefined ? payload : noBytes, channel: removing === undefined ? to : payload.from, customType, echo,
      isKept: storeInHistory, key, isRetained, accepted, stored: isRetained ? stored : undefined,
    }
    this.act((machine, now) => machine.send(message, now))
    // #region plain messages
    if (!isRetained) return new Receipt(accepted)
    // #endregion
    return new StoredReceipt(accepted, stored)
  }

  /**
   * Publishes a drawing of up to 8 MiB, in parts where one message does not hold it; it arrives as one message or not at all.
   *
   * Parts take at most three quarters of the rate. What is sent meanwhile goes before it, but for messages and drawings with
   * its key. After a break it goes on, or begins anew, at most 5 times.
   *
   * @param {Payload} payload 1 byte or more
   * @param {{to: string, customType?: string, key?: string, retain?: boolean, echo?: boolean}} options
   * @returns {StoredReceipt}
   * @throws {RelayError} as `send`; `badName` for a record without a key; `unsentFull` when those that wait have too many bytes
   */
  sendLarge(payload, {to, customType, key, retain = false, echo = false}) {
    const accepted = new Pending()
    const stored = new Pending()
    this.act((machine, now) => machine.sendLarge({payload, channel: to, customType, key, isRetained: retain, echo, accepted, stored}, now))
    return new StoredReceipt(accepted, stored)
  }

  // #region history
  /**
   * Kept messages of a channel, a page at a time; no subscription is needed. [HI6]
   *
   * @param {string} channel
   * @param {{from?: number, backwards?: boolean, limit?: number}} [options] `from`: `next` of the page before
   * @returns {Promise<{messages: (Message & {part?: {number: number, of: number, isText: boolean}})[], epoch?: Epoch, head: number, floor: number,
   *   next?: number}>} a message with `part` is one part of a large one: the others have the same sender and key, and bytes as payload
   */
  async history(channel, {from, backwards, limit} = {}) {
    return this.request('history', {channel: checkedName(channel), from, backwards: backwards || undefined, limit})
  }
  // #endregion

  /** What a message channel keeps for good: `clear`, `undoClear`. @param {string} channel */
  board(channel) {
    return new Board(this, checkedName(channel))
  }

  // #region questions
  /** All boards of the relay, in order of names. @returns {Promise<{channel: string, records: number, bytes: number, changed: number}[]>} */
  async boards() {
    return this.all('boards', {}, 'boards')
  }

  /** Removes a board with all that is known of it; subscribers begin anew (`messagesMissed` with `reset`). [BL9] @param {string} channel */
  async removeBoard(channel) {
    await this.request('removeBoard', {channel: checkedName(channel)})
  }
  // #endregion

  // MARK: Stream channels, presence, metadata, locks

  /**
   * Joins a stream channel.
   *
   * @param {string} channel
   * @param {{features?: Feature[], quiet?: boolean, token?: string}} [options]
   */
  async join(channel, {features = ['presence'], quiet = false, token} = {}) {
    await this.request('join', {channel: checkedName(channel), features: sorted(features), quiet, token})
    return new StreamChannel(this, channel)
  }

  /** Presence and states of a channel: `presence({message: 'lesson'})`. @param {ChannelReference} reference */
  presence(reference) {
    return new Presence(this, owner(reference))
  }

  // #region questions
  /** The channels in which a user is seen. @param {string} user @returns {Promise<ChannelID[]>} */
  async channels(user) {
    return this.all('where', {user: checkedName(user)}, 'channels')
  }
  // #endregion

  /** The metadata of a channel or user: `metadata({user: 'alice'})`. @param {MetadataReference} reference */
  metadata(reference) {
    return new Metadata(this, owner(reference))
  }

  // #region locks
  /** The locks of a channel. @param {ChannelReference} reference */
  locks(reference) {
    return new Locks(this, owner(reference))
  }
  // #endregion

  // MARK: Access and the link

  /** What this client may; `undefined` before the first login. @returns {Access|undefined} */
  get access() {
    return this.machine.access
  }

  // #region renewal
  /**
   * Brings another credential for the same user id. Without a link it is used for the next login, which is tried at once.
   *
   * @param {Credential} credential
   * @throws {RelayError} `tokenInvalid`, `tokenExpired`, `keyWrong`, with which nothing has changed; `clientClosed`, `outcomeUnknown`
   */
  async renew(credential) {
    await this.ask((machine, pending, now) => machine.renew(credential, pending, now))
  }
  // #endregion

  // #region moderation
  /** What a moderator decides about others. */
  get moderation() {
    return new Moderation(this)
  }
  // #endregion

  /** How the client stands with its relay, as the last `link` event says, whether it was read or not. @returns {LinkState} */
  get linkState() {
    return this.machine.linkState
  }

  /**
   * What waits to be sent: while the link is down, or for the rates. `unstored`: retained messages that were accepted and are
   * not told durable; `unkept`: those that did not fit into the storage, and would be gone with the page.
   *
   * @returns {{messages: number, packets: number, bytes: number, unstored: number, unkept: number}}
   */
  get unsent() {
    return this.machine.unsent
  }

  /** Retained messages of an earlier client object that `storage` had kept, now under way, with their receipts. @returns {RestoredMessage[]} */
  get restored() {
    return this.machine.takenUp
  }

  // #region questions
  /** Last measured time to the relay and back, in milliseconds. @returns {number|undefined} */
  get roundTripMs() {
    return this.machine.roundTripMs
  }

  /** What the app has subscribed or joined, in order of name. @returns {ChannelID[]} */
  get subscribedChannels() {
    return sorted(this.machine.wanted.channels.keys()).map(channelID)
  }
  // #endregion

  /**
   * For moderators: the key with which others come in, as it is now. [AC16]
   *
   * @returns {Promise<string|undefined>} `undefined` if the relay has none, or does not take the own key any more
   */
  async joinKey() {
    return (await this.request('status', {limit: 1, joinKey: true})).joinKey
  }

  /** For an app that comes to the foreground: a client that waits tries at once, a link that may be dead is probed. */
  wakeUp() {
    this.act((machine, now) => machine.wakeUp(now))
  }

  /** Sends what waits (for at most 2 s), logs out, and ends; others see this user leave. Events end after it. */
  async close() {
    await this.ask((machine, pending, now) => machine.close(pending, now))
  }

  // MARK: The machine and its link

  /** Changes the machine and carries out what follows from it. */
  act(change) {
    try {
      return change(this.machine, performance.now())
    } finally {
      this.carryOut()
      if (this.machine.events.length > 0 || this.machine.state === 'closed') queueMicrotask(() => this.deliver())
    }
  }

  /** @returns {Promise<any>} */
  ask(change) {
    const pending = new Pending()
    this.act((machine, now) => change(machine, pending, now))
    return pending.promise
  }

  request(type, body, texts = undefined) {
    return this.ask((machine, pending, now) => machine.request(type, body, pending, now, texts))
  }

  // #region questions
  /** The answers of a list's pages, one behind the other, as many as it takes. */
  async *pages(type, body) {
    const place = next => typeof next === 'string' ? next : channelKey(next.kind, next.channel)
    for (let after; ;) {
      const page = await this.request(type, {...body, after})
      yield page
      if (page.next === undefined) return
      // A relay that names a page again would be asked for ever.
      if (after !== undefined && place(page.next) <= place(after)) throw problem('relayFault', `the pages of ${type} do not go on`)
      after = page.next
    }
  }

  async all(type, body, field) {
    const found = []
    for await (const page of this.pages(type, body)) found.push(...page[field])
    return found
  }
  // #endregion

  carryOut() {
    const {machine} = this
    for (const {openLink, closeLink} of machine.takeEffects()) {
      if (openLink !== undefined) this.open(openLink)
      else if (closeLink === this.link?.attempt) this.closeLink()
    }
    while (this.link?.isOpen && this.link.bufferedBytes < Limits.outboundBytes) {
      const bytes = machine.gather(performance.now())
      if (!bytes) break
      this.link.send(bytes)
    }
    clearTimeout(this.timer)
    // A link that takes no more says nothing when it does again.
    const wait = this.link?.isOpen && machine.outboundBytes > 0 ? 20 : machine.nextDeadline - performance.now()
    if (wait < Infinity) this.timer = setTimeout(() => this.act((machine, now) => machine.deadline(now)), Math.max(0, Math.ceil(wait)))
  }

  closeLink() {
    this.link?.close()
    this.link = undefined
  }

  open(attempt) {
    this.closeLink()
    const tell = change => (...values) => {
      if (this.link === link) this.act((machine, now) => change(machine, now, ...values))
    }
    const ended = tell((machine, now, text) => {
      this.closeLink()
      machine.linkEnded(attempt, text, now)
    })
    let link = {attempt, close() {}}
    try {
      link = this.transport({
        opened: tell((machine, now) => {
          link.isOpen = true
          machine.linkOpened(attempt, now)
        }),
        received: tell((machine, now, bytes) => machine.received(bytes, attempt, now)),
        ended,
      })
      link.attempt = attempt
    } catch (error) {
      queueMicrotask(() => ended(String(error)))
    }
    this.link = link
  }
}

/** A part of what a client does, in one place. */
class Part {
  constructor(client, place) {
    this.client = client
    this.place = place
  }
}

/** `{message: name}`, `{stream: name}` or `{user: id}` as the protocol names it. */
function owner({message, stream, user}) {
  if (user !== undefined) return {user: checkedName(user)}
  return {kind: message === undefined ? 'stream' : 'message', channel: checkedName(message ?? stream)}
}

/**
 * What a message channel keeps for good. Records are written with `send(…, {retainedAs})` and `sendLarge`, removed with
 * `send({removing, from})`, and read by `subscribe` with `since: 'beginning'`: they come as `board` events, then `caughtUp`.
 */
class Board extends Part {
  async change(type) {
    const {offset, records} = await this.client.request(type, {channel: this.place})
    return {offset, records}
  }

  /** Removes all records, as one event (`cleared`). @returns {Promise<BoardChange>} its place, and how many went; it is durable [BL6] */
  async clear() {
    return this.change('clear')
  }

  /** Brings back what the newest `clear` of the last 10 minutes took away, but for keys that were written or removed since. @returns {Promise<BoardChange>} */
  async undoClear() {
    return this.change('undoClear')
  }
}

/** A stream channel that was joined. */
class StreamChannel extends Part {
  request(type, topic, more) {
    return this.client.request(type, {channel: this.place, topic: checkedName(topic), ...more})
  }

  /**
   * Begins to publish in a topic.
   *
   * @param {string} topic
   * @param {{qos?: 'ordered'|'unordered', priority?: 'highest'|'high'|'normal'|'low', meta?: string, lifetimeMs?: number}} [options] `meta` is
   *   told to subscribers; `lifetimeMs`: how old a packet may become before a slow reader's link, 50…1,000
   */
  async joinTopic(topic, {qos = 'ordered', priority = 'normal', meta = '', lifetimeMs} = {}) {
    await this.request('joinTopic', topic, {qos, priority, meta, lifetimeMs})
  }

  // #region leaving
  /** Ends publishing in a topic. @param {string} topic */
  async leaveTopic(topic) {
    await this.request('leaveTopic', topic)
  }
  // #endregion

  /** Hears users in a topic, without `users` everybody, now and later; adds to what is heard already. @returns {Promise<Selection>} */
  async subscribeTopic(topic, {users} = {}) {
    return this.request('subscribeTopic', topic, {users})
  }

  // #region leaving
  /** Takes users away, without `users` the whole selection. @param {string} topic @returns {Promise<Selection>} */
  async unsubscribeTopic(topic, /** @type {{users?: string[]}} */ {users} = {}) {
    return this.request('unsubscribeTopic', topic, {users})
  }
  // #endregion

  // #region questions
  /** Those listed; with `all` everybody who publishes now. @param {string} topic @returns {Promise<Selection>} */
  async subscribedUsers(topic) {
    const found = {all: false, users: [], failed: []}
    for await (const {all, users} of this.client.pages('subscribedUsers', {channel: this.place, topic: checkedName(topic)})) {
      found.all = all
      found.users.push(...users)
    }
    return found
  }
  // #endregion

  /**
   * Publishes a packet; it has its place in the order, among messages too, when this returns.
   *
   * @param {Payload} payload
   * @param {{topic: string, slot?: number, senderTime?: number, echo?: boolean}} options `slot`: "latest wins", a slow reader gets
   *   the newest of a slot only; `senderTime`: the sender's own clock, passed on untouched
   * @throws {RelayError} `topicNotJoined`, `tooLarge`, `unsentFull`, `clientClosed`: nothing was sent then
   */
  send(payload, {topic, slot, senderTime, echo = false}) {
    this.client.act((machine, now) => machine.sendPacket({payload, channel: this.place, topic, slot, senderTime, echo}, now))
  }

  // #region leaving
  /** Leaves the channel and all its topics. */
  async leave() {
    await this.client.request('leave', {channel: this.place})
  }
  // #endregion
}

/** Presence and states of one channel; it need not be subscribed for reading. */
class Presence extends Part {
  /**
   * Members in order of user id: at most 100; `next` is the `after` to read on with.
   *
   * @param {{after?: string, limit?: number}} [page]
   * @returns {Promise<{members: Member[], total: number, next?: string}>}
   */
  async users({after, limit} = {}) {
    const {members, total, next} = await this.client.request('who', {...this.place, after, limit})
    return {members, total, next}
  }

  /** Creates or replaces states of this user in the channel. @param {Record<string, string>} states */
  async setStates(states) {
    for (const [key, value] of Object.entries(states)) utf8(checkedName(key) + value)
    await this.client.request('setStates', {...this.place, states: {...states}})
  }

  /** Removes states of this user, all without `keys`. @param {string[]|undefined} keys */
  async removeStates(keys) {
    await this.client.request('removeStates', {...this.place, keys: keys?.map(checkedName)})
  }

  // #region questions
  /** The states of a user in this channel; none for one who is not there. @param {string} user @returns {Promise<Record<string, string>>} */
  async states(user) {
    return (await this.client.request('getStates', {...this.place, user: checkedName(user)})).states
  }
  // #endregion
}

/**
 * The metadata of a channel or user: small texts by key that outlive everybody's session. Neither a subscription nor membership
 * is needed. Who wants to be told of changes subscribes the channel with the feature `metadata`, or a user's with `subscribe`.
 */
class Metadata extends Part {
  /**
   * Creates or replaces items, all of them or none.
   *
   * @param {Record<string, string>} values
   * @param {WriteConditions & {recordsUser?: boolean, recordsTime?: boolean}} [options] whether to keep with the items who wrote
   *   them, and when
   * @returns {Promise<number>} the set's major revision after it, which is also the revision of each item written
   * @throws {RelayError} `revisionMismatch` (with the revision found as `actual`), `lockNotFound`, `lockNotHeld`, `tooLarge`, `limitReached`,
   *   `storageFull`, `storageFailed`, `busy`, `rateLimited`: nothing was changed then; `outcomeUnknown` when the link broke before the answer
   */
  async set(values, options) {
    return this.write('setMetadata', values, options)
  }

  // #region metadata
  /** As `set`, of items that exist; `itemNotFound` if one does not. @returns {Promise<number>} */
  async update(values, options) {
    return this.write('updateMetadata', values, options)
  }
  // #endregion

  async write(type, values, {revisions = {}, majorRevision, lock, recordsUser, recordsTime} = {}) {
    const keys = sorted(Object.keys(values))
    const texts = keys.map(key => utf8(values[key]))
    const items = keys.map((key, index) => ({key: checkedName(key), bytes: texts[index].length, revision: revisions[key]}))
    const body = {...this.place, items, majorRevision, lock, recordUser: recordsUser || undefined, recordTime: recordsTime || undefined}
    return (await this.client.request(type, body, texts)).majorRevision
  }

  // #region metadata
  /** Removes items, all of them or none. @param {string[]} keys @returns {Promise<number>} */
  async remove(keys, /** @type {WriteConditions} */ {revisions = {}, majorRevision, lock} = {}) {
    const items = keys.map(key => ({key: checkedName(key), revision: revisions[key]}))
    return (await this.client.request('removeMetadata', {...this.place, items, majorRevision, lock})).majorRevision
  }

  /** Removes every item. The major revision goes on counting. @returns {Promise<number>} */
  async removeAll(/** @type {{majorRevision?: number, lock?: string}} */ {majorRevision, lock} = {}) {
    return (await this.client.request('removeMetadata', {...this.place, majorRevision, lock})).majorRevision
  }

  /** Everything, as it was at one moment, over as many pages as it takes. @returns {Promise<{items: MetadataItem[], majorRevision: number}>} */
  async get() {
    reading: for (let round = 0; round < 8; round++) {
      const found = {items: [], majorRevision: undefined}
      for await (const {items, majorRevision} of this.client.pages('getMetadata', this.place)) {
        found.majorRevision ??= majorRevision
        if (found.majorRevision !== majorRevision) continue reading
        found.items.push(...items)
      }
      return found
    }
    throw problem('busy', 'the metadata changed each time it was read')
  }

  /** Receives the changes of a user's metadata as `metadata` events, beginning with all of it. */
  async subscribe() {
    await this.client.request('subscribeUserMetadata', {user: this.user})
  }

  /** Ends `subscribe`. */
  async unsubscribe() {
    await this.client.request('unsubscribeUserMetadata', {user: this.user})
  }

  get user() {
    if (this.place.user === undefined) throw problem('badRequest', "a channel's metadata comes with its subscription: subscribe it with the feature metadata")
    return this.place.user
  }
  // #endregion
}

// #region locks
/** The locks of a channel: named leases, each free or owned by one user, as long as that has a live connection and the ttl longer. */
class Locks extends Part {
  request(type, lock, more) {
    return this.client.request(type, {...this.place, lock: checkedName(lock), ...more})
  }

  /** Makes a lock, or changes the ttl of one that is there: how long it outlives its owner's last connection, 1…300 s. @param {string} lock */
  async set(lock, /** @type {{ttlMs?: number}} */ {ttlMs = 10_000} = {}) {
    await this.request('setLock', lock, {ttlMs})
  }

  /**
   * Makes this user the owner.
   *
   * @param {string} lock
   * @param {{waitMs?: number}} [options] how long to stand in line for it, 1…300,000; without it one is refused at once
   * @returns {Promise<number>} the fencing number: greater than that of every earlier acquisition of any lock of this relay
   * @throws {RelayError} `lockHeld` (the text names the owner), `lockNotFound`, `limitReached` when 100 wait already
   */
  async acquire(lock, {waitMs} = {}) {
    return (await this.request('acquireLock', lock, {waitMs})).fencing
  }

  /** Gives the lock back; who waits longest gets it. @param {string} lock */
  async release(lock) {
    await this.request('releaseLock', lock)
  }

  /** Takes the lock from a user. @param {string} lock */
  async revoke(lock, /** @type {{from: string}} */ {from}) {
    await this.request('revokeLock', lock, {owner: checkedName(from)})
  }

  /** Takes the lock away, held or not. Those who wait for it are refused. @param {string} lock */
  async remove(lock) {
    await this.request('removeLock', lock)
  }

  /** All locks of the channel, in order of name. @returns {Promise<LockDetail[]>} */
  async all() {
    return (await this.client.request('getLocks', this.place)).locks
  }
}
// #endregion

// #region moderation
/**
 * What a moderator decides about others, who may draw, where, and who may come in, and sees of the relay. [AC10–AC16]
 *
 * Everything here wants the role moderator (`notPermitted`). What is decided holds at once, and is logged by the relay with this
 * client's user id. What is to hold over restarts is durable when it returns; on a relay that cannot store it is `storageFailed`.
 */
class Moderation extends Part {
  async decide(type, body) {
    await this.client.request(type, body)
  }

  /**
   * Makes a user, there or not, a reader or an editor, until that is set anew. `reader` takes away what readers may not; `editor`
   * gives that role to who has less; `undefined`: what the user's credential gives counts again.
   *
   * @param {'reader'|'editor'|undefined} role
   * @param {{of: string}} options
   * @throws {RelayError} `notPermitted` also for oneself and for a user who is a moderator by its credential; `limitReached`
   */
  async setRole(role, {of: user}) {
    await this.decide('setRole', {user: checkedName(user), role})
  }

  /** Lets everybody but moderators only look on, in the message and the stream channel of this name. @param {string} channel @throws {RelayError} `limitReached` */
  async freeze(channel) {
    await this.decide('freezeChannel', {channel: checkedName(channel), frozen: true})
  }

  /** Ends that. @param {string} channel */
  async unfreeze(channel) {
    await this.decide('freezeChannel', {channel: checkedName(channel), frozen: false})
  }

  /**
   * Ends the session of a user, who may come in again, but whose client does not by itself.
   *
   * @param {{of: string, reason?: string}} options `reason`: told the user, at most 256 bytes
   * @throws {RelayError} `userOffline` without a session, `tooLarge`
   */
  async endSession({of: user, reason}) {
    const bytes = reason === undefined ? 0 : utf8(reason).length
    if (bytes > Limits.endReasonBytesMax) throw tooLarge('a reason has', Limits.endReasonBytesMax, bytes)
    await this.decide('endSession', {user: checkedName(user), reason})
  }

  /**
   * Keeps a user out, and the client that used the id last, and ends its sessions. Who has a shared key may come back under
   * another id: see docs/security.md.
   *
   * @param {string} user
   * @param {{forMs?: number}} [options] 1 s to 365 days; without it: until `unban`
   * @throws {RelayError} `notPermitted` also for oneself and for a user who is a moderator by its credential; `badRequest` for
   *   another time, `limitReached`
   */
  async ban(user, {forMs} = {}) {
    await this.decide('banUser', {user: checkedName(user), forMs})
  }

  /** Takes a ban back. @param {string} user @throws {RelayError} `notBanned` */
  async unban(user) {
    await this.decide('unbanUser', {user: checkedName(user)})
  }

  /** Who is banned, in order of user ids; `until` is absent where `unban` ends it. Times are the relay's. @returns {Promise<Ban[]>} */
  async bans() {
    return this.client.all('getBans', {}, 'bans')
  }

  /**
   * Removes what the relay keeps of a user: its metadata, its role, and, unless it is there, whose the id is. Not its ban. It is done when
   * the relay's files hold nothing of it any more.
   *
   * @param {{user: string, withRecords?: boolean}} options `withRecords`: what the user drew goes from all boards, too
   * @throws {RelayError} `storageFailed`, also when it is gone for everybody but not yet from the disk
   */
  async forget({user, withRecords}) {
    await this.decide('forgetUser', {user: checkedName(user), withRecords: withRecords ? true : undefined})
  }

  /**
   * How the relay is at this moment, and a page of those who are there, in order of their ids, with what waits for each. Cheap
   * enough to be asked once a second; rates are the differences of two answers' `counters` over that of their `uptimeMs`.
   *
   * @param {{after?: string, limit?: number, user?: string}} [options] `after`: the `next` of the page before; `limit`: 1…100 users, fewer may
   *   come; `user`: the answer's `known` tells whether the relay knows this one
   * @returns {Promise<RelayStatus>}
   */
  async status({after, limit, user} = {}) {
    const name = text => text === undefined ? undefined : checkedName(text)
    const {id, ...status} = await this.client.request('status', {after: name(after), limit, user: name(user)})
    return status
  }
}
// #endregion

/**
 * @typedef {string|Uint8Array|ArrayBuffer} Payload text, or bytes; what comes is a string or a `Uint8Array`
 * @typedef {'messages'|'presence'|'metadata'|'locks'} Feature
 * @typedef {{start: number, incarnation: number}} Epoch identity of a channel's numbering
 * @typedef {'beginning'|{epoch: Epoch, offset: number, own?: boolean}} Since `own`: of a reader that was getting a board from its beginning
 * @typedef {{kind: 'message'|'stream', channel: string}} ChannelID
 * @typedef {{message: string}|{stream: string}} ChannelReference
 * @typedef {ChannelReference|{user: string}} MetadataReference
 * @typedef {{key: string}|{token: string}} Credential what lets a client into a relay that is not open
 * @typedef {{user: string, states: Record<string, string>}} Member
 * @typedef {{key: string, value: string, revision: number, author?: string, wallMilliseconds?: number}} MetadataItem
 * @typedef {{lock: string, ttlMs: number, owner?: string, fencing?: number}} LockDetail
 * @typedef {{offset: number, records: number}} BoardChange
 * @typedef {{user: string, by: string, time: number, until?: number}} Ban times in milliseconds since 1970
 * @typedef {{user: string, client: string, peer: string, away: boolean, queuedBytes: number, queuedPacketBytes: number, packetsLost: number,
 *   backlogMs: number}} UserStatus `client`: what it calls itself; `peer`: its address; `packetsLost`: since its session began; `backlogMs`:
 *   for how long something has been waiting for it
 * @typedef {{uptimeMs: number, connections: number, sessions: {present: number, away: number}, channels: {message: number, stream: number},
 *   boards: number, boardBytes: number, queuedBytes: number, pinnedBytes: number, counters: Record<string, number>, storageFailure?: string,
 *   users: UserStatus[], next?: string}} RelayStatus `counters`: by the names of AC16; each only grows
 * @typedef {{all: boolean, users: string[], failed: {user: string, code: number}[]}} Selection
 * @typedef {{revisions?: Record<string, number>, majorRevision?: number, lock?: string}} WriteConditions `revisions`: of items by key the
 *   revision each must have, 0 for "there is none"; `majorRevision`: the one the set must have; `lock`: one that this user must hold
 * @typedef {{to?: string, toUser?: string, retainedAs?: string, customType?: string, echo?: boolean, storeInHistory?: boolean}} SendOptions
 * @typedef {{channel: string, key: string, customType?: string, payload: Payload, receipt: StoredReceipt}} RestoredMessage
 * @typedef {{getItem(key: string): string|null, setItem(key: string, value: string): void, removeItem(key: string): void}} KeptStorage
 * @typedef {{type: 'message', channel: string, sender: string, offset: number, epoch?: Epoch, wallMilliseconds: number, customType?: string,
 *   key?: string, isRetained: boolean, isRemoval: boolean, payload: string|Uint8Array}} Message
 *
 * @typedef {{opened(): void, received(bytes: Uint8Array): void, ended(text: string): void}} LinkHandlers
 * @typedef {(handlers: LinkHandlers) => {send(bytes: Uint8Array): void, readonly bufferedBytes: number, close(): void}} Transport makes one link;
 *   calls no handler before it has returned; `bufferedBytes`: what was sent and has not left
 *
 * @typedef {object} ClientOptions
 * @property {KeptStorage} [storage] such as `localStorage`: keeps the client secret, and retained messages until they are durable
 * @property {string} [scope] what their keys begin with, instead of the address's host
 * @property {string} [secret] 32 hexadecimal digits that show whose the user id is, instead of those kept [AC3]
 * @property {Credential} [credential]
 * @property {number} [presenceTimeoutMs] how long others still see this user after its link broke, 5,000…300,000
 * @property {string} [description] what the client calls itself to operators, at most 64 bytes
 * @property {boolean} [retriesFirstConnect] whether a link that fails before the first login is tried again
 * @property {number} [connectTimeoutMs] for one attempt to link up and log in: 10,000
 * @property {number} [unsentCountMax] messages, packets and requests that may wait to be sent (10,000) …
 * @property {number} [unsentBytesMax] … and their payloads, in bytes (16 MiB)
 * @property {number} [eventsCountMax] events that may wait to be read (10,000); beyond it the client pauses and says so …
 * @property {number} [eventsBytesMax] … and about what they hold, in bytes (16 MiB)
 * @property {() => number} [random] dice for pauses, 0…1
 * @property {() => number} [wallClock] milliseconds since 1970
 *
 * @typedef {{kind: 'linkFailed'|'relayFault', text: string}|{kind: 'timedOut'|'relaySilent'|'closedByApp'}|{kind: 'relayClosed', code: number, text: string}
 *   |{kind: 'loginRefused', error: RelayError}|{kind: 'eventsNotRead', limit: number, waiting: number}} LinkEndReason
 * @typedef {{state: 'connecting'}|{state: 'connected', resumed: boolean}|{state: 'waiting', afterMs: number, reason: LinkEndReason}
 *   |{state: 'paused'|'closed', reason: LinkEndReason}} LinkState `resumed`: others have not noticed the break, and what was missed is told
 *   exactly; otherwise the session is new, and packets of meanwhile, of whatever flow, are lost
 *
 * @typedef {Message
 *   |{type: 'board', channel: string, messages: Message[], progress: number}
 *   |{type: 'cleared', channel: string, offset: number, user: string, wallMilliseconds: number}
 *   |{type: 'packet', channel: string, topic: string, publisher: string, flow: number, sequence: number, slot?: number, senderTime?: number, payload: string|Uint8Array}
 *   |{type: 'direct', sender: string, wallMilliseconds: number, customType?: string, payload: string|Uint8Array}
 *   |{type: 'presence', channel: ChannelID, kind: 'snapshot', members: Member[], total: number}
 *   |{type: 'presence', channel: ChannelID, kind: 'joined', member: Member}
 *   |{type: 'presence', channel: ChannelID, kind: 'left'|'timedOut', user: string}
 *   |{type: 'presence', channel: ChannelID, kind: 'stateChanged', user: string, set: Record<string, string>, removed: string[]}
 *   |{type: 'presence', channel: ChannelID, kind: 'interval', joined: Member[], changed: Member[], left: string[], timedOut: string[]}
 *   |{type: 'topics', channel: string, kind: 'snapshot'|'joined'|'left', publishers: {topic: string, user: string, meta: string}[]}
 *   |{type: 'metadata', owner: ChannelID|{user: string}, majorRevision: number, isSnapshot: boolean, written: MetadataItem[], removed: string[], items: Map<string, MetadataItem>}
 *   |{type: 'locks', channel: ChannelID, kind: 'snapshot'|'set'|'acquired'|'released'|'revoked'|'expired'|'removed', locks: LockDetail[], formerOwner?: string}
 *   |{type: 'packetsLost', reason: string, entries: {flow: number, channel: string, topic: string, publisher: string, first: number, last?: number}[]}
 *   |{type: 'packetsDropped', channel: string, topic: string, reason: 'overRate'|'linkDown'|'topicNotJoined'|'closed', dropped: number}
 *   |{type: 'messagesMissed', channel: string, epoch?: Epoch, extent: 'reset'|{from: number, to: number}}
 *   |{type: 'caughtUp', channel: string, head: number}
 *   |{type: 'refused', subject: string, channel?: ChannelID, topic?: string, users?: string[], user?: string, error: RelayError}
 *   |{type: 'accessExpiring', inMs: number}
 *   |{type: 'accessChanged', access: Access, by: string}
 *   |{type: 'channelFrozen', channel: ChannelID, isFrozen: boolean, by?: string}
 *   |({type: 'link'} & LinkState)} ClientEvent
 */
