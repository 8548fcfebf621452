// The types that apps pass and get. docs/javascript.md explains them; no browser loads this file. `relay-client.d.ts` has the classes.
import type {Access, RelayError, StoredReceipt} from '../relay-client.js'

/** Every field that some member of a union has. */
type FieldOf<Union> = Union extends unknown ? keyof Union : never
/** The union, with the fields of its other members as `undefined`: it can be taken apart before it is known which one it is. */
export type AnyOf<Union, All = Union> = Union extends unknown ? Union & {[Field in Exclude<FieldOf<All>, keyof Union>]?: undefined} : never

// MARK: What apps pass

/** Text or bytes. What comes is a string or a `Uint8Array`. */
export type Payload = string | ArrayBuffer | ArrayBufferView
/** What lets a client into a relay that is not open. */
export type Credential = {key: string} | {token: string} | {joinCode: string}
export type Role = 'reader' | 'editor' | 'coeditor' | 'moderator'
export type Right = 'subscribe' | 'presence' | 'publish' | 'stream' | 'metadata' | 'lock' | 'direct' | 'revise' | 'clear'
export type ChannelPart = 'messages' | 'presence' | 'metadata' | 'locks'
export type ChannelMode = 'frozen' | 'openEditing'

/** Such as `localStorage`. */
export interface KeptStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** What a link tells the client. */
export interface LinkHandlers {
  opened(): void
  received(bytes: Uint8Array): void
  ended(text: string): void
}
export interface Link {
  send(bytes: Uint8Array): void
  /** What was sent and has not left. */
  readonly bufferedBytes: number
  close(): void
  /** Nothing is to come for a while. */
  pause?(): void
  resume?(): void
}
/** Makes one link. It calls no handler before it has returned. */
export type Transport = (handlers: LinkHandlers) => Link

/** An absent field is no limit. [DL11] */
export interface ReaderLimits {
  /** 1…10,000 */ packetsPerSecond?: number
  /** 1,024…1,000,000,000 */ bytesPerSecond?: number
  /** 16,384…262,144 */ waitingBytes?: number
}

export interface ClientOptions {
  /** Keeps the client secret, and records until they are stored; with `device` those of this device alone. */
  storage?: KeptStorage
  /** What their keys begin with, instead of the address's host. */
  scope?: string
  /** Which of a relay's spaces is meant, instead of the one that the address's path names. */
  space?: string
  /** 32 hexadecimal digits that show whose the user id is, instead of those kept. [AC3] */
  secret?: string
  /** Of `handOver` of the user's other device: in place of id and secret, which come with the login and are kept in `storage`. */
  code?: string
  /** 16 hexadecimal digits that tell this tab or installation from the user's others; else each tab is one, without tabs each client. */
  device?: string
  /** Whether the user's other devices are replaced, which ends their clients. */
  onlyDevice?: boolean
  /** Asked at each login with the relay's public id [SE6]. Where it says no, the client is closed with `otherRelay`. */
  acceptsRelay?: (relay: string) => boolean
  credential?: Credential
  /** Gives a token at each login, and before one ends; in place of `credential`. */
  token?: () => string | Promise<string>
  /** How long others still see this user after its link broke: 5,000…300,000 ms. */
  presenceTimeout?: number
  /** What it takes of packets, as on bad Wi-Fi; `setReaderLimits` changes it. */
  readerLimits?: ReaderLimits
  /** What the client calls itself to operators, at most 64 bytes. */
  description?: string
  /** For one attempt to link up and log in: 10,000 ms. */
  connectTimeout?: number
  /** Messages, packets and requests that may wait to be sent: 10,000. */
  unsentCountMax?: number
  /** Their payloads: 16 MiB. */
  unsentBytesMax?: number
  /** Dice for pauses, 0…1. */
  random?: () => number
  /** Milliseconds since 1970. */
  wallClock?: () => number
}

/** Every call that waits has these. */
export interface CallOptions {
  /** Aborted, the call ends as `cancelled`. */
  signal?: AbortSignal
  /** 15,000 ms; `Infinity`: none. */
  timeout?: number
  /** `wait` (the default) for the relay, or `notConnected` at once. */
  offline?: 'wait' | 'fail'
}
export interface ReaderOptions {
  /** Aborted, the reader ends. */
  signal?: AbortSignal
}
export interface OpenOptions extends CallOptions {
  /** `messages` and `presence`, if it is not said. */
  parts?: ChannelPart[]
  /** `board`: the records and messages that are kept come first. */
  from?: 'board' | 'now' | Position
  /** Not seen by others; may publish, has no states. */
  quiet?: boolean
}
export interface SendOptions {
  /** At most 32 bytes. */
  customType?: string
  /** Whether this client receives it as well. */
  echo?: boolean
  /** `false`: a client without a link at that moment misses it. */
  storeInHistory?: boolean
}
/** `customType`: at most 32 bytes. */
export type RecordOptions = {customType?: string}
export interface PacketOptions {
  /** A slow reader gets the newest of a slot only. */
  slot?: number
  /** The sender's own clock, passed on untouched. */
  senderTime?: number
  /** Whether this client receives it as well. */
  echo?: boolean
}
export interface TopicOptions extends CallOptions {
  priority?: 'highest' | 'high' | 'normal' | 'low'
  /** Told to followers. */
  meta?: string
  /** How old a packet may become before a slow reader's link: 50…1,000 ms. */
  lifetime?: number
}
export interface AcquireOptions extends CallOptions {
  /** How long to stand in line, 1…300,000 ms, beyond which `timeout` counts; without it one is refused at once. */
  wait?: number
}
/** What must hold, or nothing is written. */
export interface WriteConditions {
  /** By key, the revision that an item must have: 0 where it must not exist. */
  revisions?: Record<string, number>
  /** The one that the set must have. */
  majorRevision?: number
  /** One that this user must hold. */
  lock?: string
}
export interface WriteOptions extends CallOptions, WriteConditions {
  /** Whether to keep with the items who wrote them. */
  recordsUser?: boolean
  /** Whether to keep with the items when that was. */
  recordsTime?: boolean
}
export interface HistoryOptions extends CallOptions {
  /** `next` of the page before. */
  from?: number
  backwards?: boolean
  limit?: number
}
export interface StatusOptions extends CallOptions {
  /** `next` of the page before. */
  after?: string
  /** 1…100 users; fewer may come. */
  limit?: number
  /** The answer's `known` tells whether the relay knows this one. */
  user?: string
  /** The answer's `hour` tells the last hour, and there are no users. */
  hour?: boolean
}

// MARK: What calls bring

/** Identity of a channel's numbering. */
export type Epoch = {start: number, incarnation: number}
/** Of a message, as it comes. */
export type Position = {epoch: Epoch, offset: number}
export type Member = {user: string, states: Record<string, string>}
export interface MetadataItem {
  key: string
  value: string
  revision: number
  author?: string
  wallMilliseconds?: number
}
/** The newest metadata, as readers get it. */
export type MetadataContents = {items: ReadonlyMap<string, MetadataItem>, majorRevision: number}
export interface LockDetail {
  lock: string
  ttlMs: number
  owner?: string
  ownerDevice?: string
  fencing?: number
}
/** One that publishes in a topic. */
export type PublishedTopic = {topic: string, user: string, device: string, meta: string}
/** What this client may in a channel (`undefined` before the first login), and what moderators set, while the client is in it. */
export type Permissions = {rights: ReadonlySet<Right> | undefined, modes: ReadonlySet<ChannelMode>}
/** A code, and for how long it holds. */
export type OfferedCode = {code: string, validMs: number}
/** Its place, and how many records went or came. */
export type BoardClearing = {offset: number, records: number}
export interface BoardInfo {
  channel: string
  records: number
  bytes: number
  /** Of its file. */
  fileBytes: number
  /** Who began it, and when, if the relay knows. Times are milliseconds since 1970. */
  owner?: string
  created?: number
  changed: number
  /** The last change, or the beginning of the last day (UTC) on which somebody was seen in its channel; now while somebody is. */
  used: number
}
/** What went of a user, `boards` being those it owned; and what stays: bytes of records, a ban, the id of one that is here. */
export type Forgotten = {metadata: number, role: boolean, idFreed: boolean, boards: number, records: number,
  keptBytes: number, banned: boolean, here: boolean}
/** Whom a client follows in a topic. */
export type Selection = {all: boolean, users: string[], failed: {user: string, code: number}[]}
export interface HistoryPage {
  /** One with `part` is one part of a large message. */
  messages: (Message & {part?: {number: number, of: number, isText: boolean}})[]
  epoch?: Epoch
  head: number
  floor: number
  /** `from` of the next page; absent on the last one. */
  next?: number
}
export interface Ban {
  user: string
  by: string
  /** Milliseconds since 1970. */
  time: number
  /** Milliseconds since 1970; absent where `unban` ends it. */
  until?: number
}
export interface UserStatus {
  user: string
  device: string
  /** What it calls itself. */
  client: string
  /** Its address. */
  peer: string
  away: boolean
  sessionMs: number
  /** What it makes the relay hold. */
  memoryBytes: number
  queuedBytes: number
  queuedPacketBytes: number
  /** Since its session began. */
  packetsLost: number
  /** For how long something has been waiting for it. */
  backlogMs: number
}
export interface AddressStatus {
  /** Of IPv6 the first 64 bits. */
  address: string
  sessions: number
  memoryBytes: number
}
type Sums = 'messagesIn' | 'messagesOut' | 'packetsIn' | 'packetsOut' | 'packetsLost' | 'bytesIn' | 'bytesOut'
/** A whole minute of the last hour: the most sessions in it, and that lagged; at its end the process's memory, and the data folder's files. */
export type StatusSample = Record<'sessions' | 'lagging' | Sums | 'memoryBytes', number> & {diskBytes?: number}
export interface RelayStatus {
  uptimeMs: number
  connections: number
  sessions: {present: number, away: number}
  channels: {message: number, stream: number}
  boards: number
  boardBytes: number
  queuedBytes: number
  pinnedBytes: number
  /** By the names of AC16; each only grows. */
  counters: Record<string, number>
  storageFailure?: string
  /** 60 samples at most, the newest last. */
  hour?: StatusSample[]
  /** Those that hold most, on the first page. */
  addresses: AddressStatus[]
  users: UserStatus[]
  /** Whether the relay knows the user who was asked for. */
  known?: boolean
  next?: string
}
/** What a relay allows a session. */
export interface SessionLimits {
  messageBytesMax: number
  largeMessageBytesMax: number
  messagesPerSecond: number
  packetBytesMax: number
  packetsPerSecond: number
  directMessagesPerSecond: number
  requestsPerSecond: number
  subscribedChannelsMax: number
  joinedChannelsMax: number
  publishedTopicsMax: number
  subscribedTopicsMax: number
  unansweredMax: number
}
export interface Unsent {
  messages: number
  packets: number
  bytes: number
  /** Records that were accepted and are not told stored. */
  unstored: number
  /** Those that did not fit into the storage, and would be gone with the page. */
  unkept: number
}
export type RecordChange = {key: string, customType?: string, payload: Payload}
/** Of an earlier client object, kept in `storage`, now under way. */
export type RestoredRecord = AnyOf<{channel: string, receipt: StoredReceipt} & (RecordChange | {changes: RecordChange[]})>

// MARK: What readers bring

export interface BoardRecord {
  key: string
  /** Absent: it was removed. */
  payload?: string | Uint8Array
  customType?: string
  author: string
  offset?: number
  wallMilliseconds?: number
  /** One's own, not stored yet. */
  isPending?: boolean
}
export interface BoardPicture {
  /** The board itself, which goes on changing: copy what you keep. */
  records: ReadonlyMap<string, BoardRecord>
  /** Keys since this reader's last picture, in the first one all. */
  changed: ReadonlySet<string>
  /** 0…1, while the board is read. */
  progress?: number
  isComplete: boolean
}
export type BoardChange = AnyOf<
  | {type: 'records', records: BoardRecord[], progress?: number, isOwn?: boolean, receipt?: number}
  | {type: 'cleared', offset: number, user: string, wallMilliseconds: number}
  | {type: 'reset'}
  | {type: 'missed', from: number, to: number}
  | {type: 'caughtUp', head: number}>

/** Why a link ended. */
export type LinkEndReason = AnyOf<
  | {kind: 'linkFailed' | 'relayFault', text: string}
  | {kind: 'timedOut' | 'relaySilent' | 'closedByApp'}
  | {kind: 'relayClosed', code: number, text: string}
  | {kind: 'loginRefused', error: RelayError}
  | {kind: 'otherRelay', relay: string}
  | {kind: 'eventsNotRead', limit: number, waiting: number}>
/**
 * How a client stands with its relay. `resumed`: others have not noticed the break, and what was missed is told exactly; otherwise the
 * session is new, and packets of meanwhile, of whatever flow, are lost.
 */
export type LinkState = AnyOf<
  | {state: 'idle' | 'connecting'}
  | {state: 'connected', resumed: boolean}
  | {state: 'waiting', afterMs: number, reason: LinkEndReason}
  | {state: 'paused' | 'closed', reason: LinkEndReason}>

export interface Message {
  type: 'message'
  channel: string
  sender: string
  offset: number
  epoch?: Epoch
  wallMilliseconds: number
  customType?: string
  key?: string
  isRetained: boolean
  isRemoval: boolean
  payload: string | Uint8Array
  /** A record of this client, with its receipt's id. */
  isOwn?: boolean
  receipt?: number
}
export interface Packet {
  type: 'packet'
  channel: string
  topic: string
  publisher: string
  device: string
  flow: number
  sequence: number
  slot?: number
  senderTime?: number
  payload: string | Uint8Array
}
export interface PacketsLost {
  type: 'packetsLost'
  /** `slowReader`, `expired`, `catchingUp`, `readerLimit`, `linkBroken`, `readerLag`, or of a newer relay. */
  reason: string
  entries: {flow: number, channel: string, topic: string, publisher: string, device: string, first: number, last?: number}[]
}
export interface MessagesMissed {
  type: 'messagesMissed'
  channel: string
  epoch?: Epoch
  extent: 'reset' | {from: number, to: number}
}
export interface DirectMessage {
  type: 'direct'
  sender: string
  wallMilliseconds: number
  customType?: string
  payload: string | Uint8Array
  /** Tells the sender that the app has it: within 10 s. */
  acknowledge(): void
}
export interface Refusal {
  type: 'refused'
  /** `message`, `record`, `changes`, `direct` (of a receipt), `packet`, `packets`, `channel`, `topics`, `token`, `joinCode`, … */
  subject: string
  channel?: string
  topic?: string
  users?: string[]
  user?: string
  key?: string
  receipt?: number
  /** Of `packets`: how many this client has dropped. */
  count?: number
  error: RelayError
}
/** What `problems()` gives: a refusal, or first the number of those that were not kept (`subject` is `omitted`). */
export type Problem = AnyOf<Refusal | {type: 'refused', subject: 'omitted', omitted: number}>

type In<Type, More> = {type: Type, channel: string} & More
/** All that happens. */
export type ClientEvent = AnyOf<
  | Message | Packet | PacketsLost | MessagesMissed | DirectMessage | Refusal
  | In<'board', {messages: Message[], progress: number, isOwn?: boolean, receipt?: number}>
  | In<'cleared', {offset: number, user: string, wallMilliseconds: number}>
  | In<'presence', {kind: 'snapshot', members: Member[], total: number}>
  | In<'presence', {kind: 'joined', member: Member}>
  | In<'presence', {kind: 'left' | 'timedOut', user: string}>
  | In<'presence', {kind: 'stateChanged', user: string, set: Record<string, string>, removed: string[]}>
  | In<'presence', {kind: 'interval', joined: Member[], changed: Member[], left: string[], timedOut: string[]}>
  | In<'topics', {kind: 'snapshot' | 'joined' | 'left', publishers: PublishedTopic[]}>
  | {type: 'metadata', channel?: string, user?: string, majorRevision: number, isSnapshot: boolean, written: MetadataItem[],
    removed: string[], items: ReadonlyMap<string, MetadataItem>}
  | In<'locks', {kind: 'snapshot' | 'set' | 'acquired' | 'released' | 'revoked' | 'expired' | 'removed', locks: LockDetail[],
    formerOwner?: string, formerOwnerDevice?: string}>
  | In<'packetsDropped', {topic: string, reason: 'overRate' | 'linkDown' | 'topicNotJoined' | 'closed', dropped: number}>
  | In<'caughtUp', {head: number}>
  | In<'channelMode', {mode: ChannelMode, isOn: boolean, by?: string}>
  | {type: 'accessExpiring', inMs: number}
  | {type: 'accessChanged', access: Access, by: string}
  | {type: 'joinCodeEnded', reason: 'expired' | 'wrongTries' | 'keyChanged' | 'notPermitted'}
  | {type: 'link'} & LinkState>
