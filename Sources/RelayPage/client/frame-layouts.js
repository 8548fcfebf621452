// The layouts of all frames, by name and by number.

/**
 * Frames of fields: number, fields in wire order, flags. A field is `name:kind`, with `?flag` if a flag says that it is there.
 *
 * Kinds: `n` a name and `s` a text, both behind one length byte [FR8]; `rest` bytes to the end; `user` a name to the end;
 * `ranges` the ranges of `lost`. In front of all but `ping` and `pong` extensions may stand. [FR9]
 */
const fieldFrames = {
  ping: [0x03, 'payload:rest'],
  pong: [0x04, 'payload:rest'],
  publish: [0x10, 'number:u64 channel:n customType:s?2 key:n?4 part:u16?8 parts:u16?8 payload:rest',
    {text: 1, echo: 16, retain: 32, noHistory: 64}],
  publishPacket: [0x11, 'flow:u32 slot:u32?2 senderTime:u32?4 payload:rest', {text: 1, echo: 16}],
  direct: [0x12, 'number:u64 user:n customType:s?2 payload:rest', {text: 1}],
  publishChanges: [0x14, 'number:u64 channel:n part:u16 parts:u16 payload:rest'],
  directReceived: [0x13, 'delivery:u64'],
  deliver: [0x90, 'channel:u32 publisher:u32 offset:u64 time:u64 customType:s?2 key:n?4 part:u16?8 parts:u16?8 payload:rest',
    {text: 1, retain: 32}],
  packet: [0x91, 'flow:u32 sequence:u32 slot:u32?2 senderTime:u32?4 payload:rest', {text: 1}],
  directDeliver: [0x92, 'delivery:u64 time:u64 sender:n customType:s?2 payload:rest', {text: 1}],
  accepted: [0x93, 'number:u64 offset:u64 credit:u32'],
  confirmed: [0x94, 'number:u64'],
  historyItem: [0x95, 'id:u32 offset:u64 time:u64 publisher:n customType:s?2 key:n?4 part:u16?8 parts:u16?8 payload:rest',
    {text: 1}],
  stored: [0x96, 'number:u64 offset:u64'],
  userNamed: [0xa0, 'handle:u32 user:user'],
  lost: [0xa3, 'reason:u8 ranges:ranges'],
}

/** Frames whose body is JSON. */
const jsonFrames = {
  login: 0x01, logout: 0x02, renew: 0x05, setRole: 0x06, setMode: 0x07, endSession: 0x08, banUser: 0x09,
  unbanUser: 0x0a, getBans: 0x0b, forgetUser: 0x0c, status: 0x0d, cancel: 0x0e, setReaderLimits: 0x0f, goOn: 0x15, offerDevice: 0x16,
  endChannel: 0x17, offerJoinCode: 0x18, withdrawJoinCode: 0x19,
  subscribe: 0x20, unsubscribe: 0x21, join: 0x22, leave: 0x23, joinTopic: 0x24, leaveTopic: 0x25, subscribeTopic: 0x26,
  unsubscribeTopic: 0x27, subscribedUsers: 0x28, who: 0x29, where: 0x2a, setStates: 0x2b, removeStates: 0x2c, getStates: 0x2d,
  history: 0x2e, barrier: 0x2f, removeMetadata: 0x32, getMetadata: 0x33, subscribeUserMetadata: 0x34,
  unsubscribeUserMetadata: 0x35, setLock: 0x38, acquireLock: 0x39, releaseLock: 0x3a, revokeLock: 0x3b,
  removeLock: 0x3c, getLocks: 0x3d, clear: 0x40, undoClear: 0x41, boards: 0x42, removeBoard: 0x43, removeRecords: 0x44,
  welcome: 0x80,
  answer: 0x81, error: 0x82, closing: 0x83, restored: 0x84, notStored: 0x97, flowOpened: 0xa1, flowClosed: 0xa2,
  packetsDropped: 0xa4, presence: 0xb0, topics: 0xb1, locks: 0xb3, gap: 0xb4, caughtUp: 0xb5, catchingUp: 0xbc, cleared: 0xb6,
  reset: 0xb7, accessExpiring: 0xb8, removed: 0xb9, accessChanged: 0xba, modeChanged: 0xbb,
  credit: 0xbd, joinCodeEnded: 0xbe,
}

/** Frames with a head in JSON and the texts that it announces. [JS6] */
const textFrames = {
  setMetadata: 0x30, updateMetadata: 0x31, metadataPage: 0x85, metadata: 0xb2,
}

/**
 * @typedef {{type: string, number: number, body: 'fields'|'json'|'texts', fields: object[], flags: [string, number][],
 *   allowed: number}} Layout
 */

/** @type {Map<string, Layout>} */
export const layouts = new Map()
/** @type {Map<number, Layout>} */
export const layoutsByNumber = new Map()

function addLayout(type, number, body, fields, flags = {}) {
  const layout = {type, number, body, fields, flags: Object.entries(flags), allowed: 0}
  for (const [, bit] of layout.flags) layout.allowed |= bit
  for (const {flag} of fields) layout.allowed |= flag
  layouts.set(type, layout)
  layoutsByNumber.set(number, layout)
}

for (const [type, [number, fields, flags]] of Object.entries(fieldFrames)) {
  const all = type === 'ping' || type === 'pong' ? fields : `extensions:extensions?128 ${fields}`
  addLayout(type, number, 'fields', all.split(' ').map(field => {
    const [, name, kind, flag] = /^(\w+):(\w+)\??(\d*)$/.exec(field)
    return {name, kind, flag: Number(flag)}
  }), flags)
}
for (const [type, number] of Object.entries(jsonFrames)) addLayout(type, number, 'json', [])
for (const [type, number] of Object.entries(textFrames)) addLayout(type, number, 'texts', [])
