// What `relay-client.js` exports, for TypeScript and editors. docs/client-interface.md has the rules, `client/types.d.ts` the types of
// options, events and answers. Calls throw a `RelayError` with one of `ErrorCode`, or a `TypeError` for an option that there is not.
import type {
  AcquireOptions, AnyOf, Ban, BoardChange, BoardClearing, BoardInfo, BoardPicture, BoardRecord, CallOptions, ChannelMode, ClientEvent,
  ClientOptions, Credential, DirectMessage, Forgotten, HistoryOptions, HistoryPage, LinkState, LockDetail, Member, Message, MessagesMissed,
  MetadataContents, MetadataItem, OfferedCode, OpenOptions, Packet, PacketOptions, PacketsLost, Payload, Permissions, Problem,
  PublishedTopic, ReaderLimits, ReaderOptions, RecordOptions, RelayStatus, RestoredRecord, Right, Role, Selection, SendOptions,
  SessionLimits, StatusOptions, TopicOptions, Transport, Unsent, WriteConditions, WriteOptions,
} from './client/types.js'
export * from './client/types.js'

/** One device of one user at one relay. A broken link is made again by itself, with all that was open. */
export class RelayClient {
  /**
   * No input or output: the first call that needs the relay connects.
   *
   * @param address as the relay prints it, or a link to a board; its `#key=…` is the credential, each `also=HOST:PORT` another address
   * @param user the user's id; with the option `code` the relay tells it
   * @throws `badName`; `TypeError` for an unknown option, a malformed address, or addresses with TLS and without
   */
  constructor(address: string | URL | Transport, user: string | undefined, options?: ClientOptions)
  /** A client for as long as `body` runs; it is closed however that ends. */
  static withClient<Result>(address: string | URL | Transport, user: string | undefined, options: ClientOptions | undefined,
    body: (client: RelayClient) => Result | Promise<Result>): Promise<Result>

  /** Waits until the client is connected. @throws `connectFailed`, `timedOut` when an attempt fails: the client goes on trying */
  connect(options?: CallOptions): Promise<void>
  /** Sends what waits, for at most 2 s, logs out, and ends; it never throws. */
  close(options?: Pick<CallOptions, 'signal'>): Promise<void>
  /** For an app that comes to the foreground: a client that waits tries at once. */
  wakeUp(): void

  /** The same object each time. @throws `badName` */
  channel(name: string): Channel
  /** @throws `badName` */
  person(user: string): Person
  /** What a moderator decides about others. */
  readonly moderation: Moderation

  /** All that happens, in the relay's order. */
  events(options?: ReaderOptions): Events<ClientEvent>
  /**
   * Refusals that no call waited for, failures of receipts that nobody asked, own packets that were dropped, the end of a join code, and of
   * a token. The first reader gets the last 100 of before.
   */
  problems(options?: ReaderOptions): Events<Problem>
  /** Every direct message. Reading acknowledges none. */
  directMessages(options?: ReaderOptions): Events<DirectMessage>
  /** How the client stands with its relay. */
  linkStates(options?: ReaderOptions): Latest<LinkState>

  /** Readers may be behind it. */
  readonly link: LinkState
  /** `undefined` with a code, until the first login. */
  readonly user: string | undefined
  /** Which of the user's devices this is: 16 hexadecimal digits. */
  readonly device: string
  /** Of the relay that let the client in last: 32 hexadecimal digits. */
  readonly relayID: string | undefined
  /** What the join code stood for with which the client has come in. */
  readonly invitation: {key: string, channel: string} | undefined
  /** `undefined` before the first login. */
  readonly access: Access | undefined
  /** Before the first login what a relay allows by default. */
  readonly limits: SessionLimits
  readonly unsent: Unsent
  /** Records of an earlier client object that `storage` had kept, now under way. */
  readonly restored: RestoredRecord[]
  /** The last time to the relay and back. */
  readonly roundTripMs: number | undefined
  /** In order of name. */
  readonly openChannels: Channel[]

  /** All boards of the relay, by name; with `unusedFor` those that nobody has used for so many milliseconds. */
  boards(options?: {unusedFor?: number} & CallOptions): Promise<BoardInfo[]>
  /** As `upToDate` of a channel, for all. */
  upToDate(options?: CallOptions): Promise<void>
  /**
   * A code with which another device becomes one of this user's, once: it connects with the option `code`. It has ten characters, which
   * people may type in small letters, with hyphens and spaces.
   *
   * @throws `notPermitted` after a login with a token and no secret
   */
  handOver(options?: CallOptions): Promise<OfferedCode>
  /**
   * Brings another credential for the same user id. Without a link it is used for the next login, which is tried at once.
   *
   * @throws `tokenInvalid`, `tokenExpired`, `keyWrong`: nothing has changed then
   */
  renew(credential: Credential, options?: CallOptions): Promise<void>
  /**
   * What this client takes of packets from now on, over reconnects too; `{}`: all of them. The relay leaves others out and tells so
   * (`packetsLost` with `readerLimit`); of each slot the newest comes. Messages are never left out.
   *
   * @throws `badRequest` for a limit that is not in its range
   */
  setReaderLimits(limits: ReaderLimits, options?: CallOptions): Promise<void>
  /** For moderators: the key with which others come in now, if there is one. */
  joinKey(options?: CallOptions): Promise<string | undefined>
}

/** A channel of a client: the same object for each call of `client.channel` with its name. */
export class Channel {
  private constructor()
  readonly client: RelayClient
  readonly name: string
  readonly board: Board
  readonly presence: Presence
  readonly metadata: Metadata
  topic(name: string): Topic
  lock(name: string): Lock
  /** What this client may here; `undefined` before the first login. */
  readonly rights: ReadonlySet<Right> | undefined
  /** What moderators set; known while the client is in the channel. */
  readonly modes: ReadonlySet<ChannelMode>

  /** Receives what `parts` name. @throws `limitReached`, `relayFull`, `notPermitted` */
  open(options?: OpenOptions): Promise<void>
  /** Ends receiving, publishing in topics, and being seen; its readers end. */
  leave(options?: CallOptions): Promise<void>
  /**
   * Sends a message of up to 8 MiB; it has its place in the order when this returns. After a break it is sent again: the relay accepts it
   * once.
   *
   * @throws `badText`, `tooLarge`, `unsentFull`, `clientClosed`: nothing was sent then
   */
  send(payload: Payload, options?: SendOptions): Receipt
  /** Kept messages, a page at a time; the channel need not be open. Records are not among them. */
  history(options?: HistoryOptions): Promise<HistoryPage>
  /** Waits until every message that the relay accepted before has come. @throws `notSubscribed`, `limitReached` */
  upToDate(options?: CallOptions): Promise<void>
  /** By name. */
  locks(options?: CallOptions): Promise<LockDetail[]>

  /** All that happens in the channel, in the relay's order. */
  events(options?: ReaderOptions): Events<ClientEvent>
  /** Messages that are no records, and `messagesMissed` in the place of others. */
  messages(options?: ReaderOptions): Events<AnyOf<Message | MessagesMissed>>
  /** The locks by name; `open` with `locks` brings them. */
  lockStates(options?: ReaderOptions): Latest<ReadonlyMap<string, LockDetail>>
  /** Who publishes in which topic, in order of topic, user and device; the first use of a topic of the channel brings it. */
  publishedTopics(options?: ReaderOptions): Latest<PublishedTopic[]>
  /** `rights` and `modes`, whenever they change. */
  permissions(options?: ReaderOptions): Latest<Permissions>
}

/** What a channel keeps for good: records, each the newest under its key. It need not be open for writing. */
export interface Board {
  /** Keeps a record of 1 byte to 8 MiB. @throws `badName`, `badText`, `tooLarge`, `badRequest`, `unsentFull`, `clientClosed` */
  put(key: string, payload: Payload, options?: RecordOptions): StoredReceipt
  /** @throws as `put` */
  remove(key: string): StoredReceipt
  /** Makes 1…4,096 changes together, all of them or none. @throws as `put`, with `changeIndex`; `limitReached` */
  batch(make: (batch: Batch) => void): StoredReceipt
  /** Removes all records, as one change. */
  clear(options?: CallOptions): Promise<BoardClearing>
  /** Takes the newest `clear` of the last 10 minutes back, but for keys that were written or removed since. @throws `nothingToUndo` */
  undoClear(options?: CallOptions): Promise<BoardClearing>
  /** Removes the board with all that is known of it. */
  delete(options?: {unusedFor?: number} & CallOptions): Promise<void>

  /** Every change, own ones once they are stored. */
  changes(options?: ReaderOptions): Events<BoardChange>
  /** The board as it is shown, with own records on top that are not stored yet. */
  pictures(options?: ReaderOptions): Latest<BoardPicture>
  /** All records as the relay has them now, by key; the channel need not be open. @throws `badRequest` where it is, not from the board */
  records(options?: CallOptions): Promise<Map<string, BoardRecord>>
}

/** Changes that are made together, each of up to 32,768 bytes. */
export interface Batch {
  put(key: string, payload: Payload, options?: RecordOptions): void
  remove(key: string): void
}

/** Who is in a channel, with their states; it need not be open for asking. */
export interface Presence {
  /** The users by id, oneself among them, whenever that changes. */
  members(options?: ReaderOptions): Latest<ReadonlyMap<string, Member>>
  /** In order of id, at most 100; `next` is the `after` to read on with. */
  users(options?: {after?: string, limit?: number} & CallOptions): Promise<{members: Member[], total: number, next?: string}>
  /** Creates or replaces states of this user. */
  set(states: Record<string, string>, options?: CallOptions): Promise<void>
  /** Removes states of this user, all without `keys`. */
  remove(keys?: string[], options?: CallOptions): Promise<void>
  /** Of a user; empty for one that is not there. */
  states(user: string, options?: CallOptions): Promise<Record<string, string>>
}

/** Small texts by key that outlive everybody's session. Calls that write give the set's major revision after it. */
export interface Metadata {
  /**
   * Creates or replaces items, all of them or none.
   *
   * @throws `revisionMismatch` (with the revision found as `actual`), `lockNotFound`, `lockNotHeld`, `tooLarge`, `limitReached`,
   *   `storageFull`, `storageFailed`, `busy`: nothing was changed then
   */
  set(values: Record<string, string>, options?: WriteOptions): Promise<number>
  /** As `set`, of items that exist. @throws `itemNotFound` if one does not */
  update(values: Record<string, string>, options?: WriteOptions): Promise<number>
  /** Removes items, all of them or none. */
  remove(keys: string[], options?: WriteConditions & CallOptions): Promise<number>
  removeAll(options?: Omit<WriteConditions, 'revisions'> & CallOptions): Promise<number>
  /** Everything, as it was at one moment. @throws `busy` */
  get(options?: CallOptions): Promise<{items: MetadataItem[], majorRevision: number}>
  /** The whole set, whenever it changes. */
  contents(options?: ReaderOptions): Latest<MetadataContents>
}

/** A user's metadata: `contents` brings it while it is followed. */
export interface PersonMetadata extends Metadata {
  follow(options?: CallOptions): Promise<void>
  unfollow(options?: CallOptions): Promise<void>
}

/** A named lease, free or owned by one device of a user while that has a live connection, and the ttl longer. */
export interface Lock {
  readonly name: string
  /** Makes the lock, or changes its ttl: 1,000…300,000 ms, 10,000 if it is not said. */
  make(options?: {ttl?: number} & CallOptions): Promise<void>
  /** @throws `lockHeld` (the text names the owner), `lockNotFound`, `limitReached` */
  acquire(options?: AcquireOptions): Promise<Hold>
  /** Has the lock while `body` runs. The signal ends the waiting, not the body. @throws as `acquire`; `lockLost` */
  with<Result>(body: (hold: Hold) => Result | Promise<Result>, options?: AcquireOptions): Promise<Result>
  /** Ends all holds of this client. */
  release(options?: CallOptions): Promise<void>
  /** Takes the lock from a user, or from one of the user's devices. */
  revoke(options: {from: string, device?: string} & CallOptions): Promise<void>
  /** Removes the lock, held or not. */
  remove(options?: CallOptions): Promise<void>
}

/** A lock that this device has. */
export interface Hold {
  readonly lock: Lock
  /** Greater than that of every earlier acquisition of any lock of this relay. */
  readonly fencing: number
  /** As far as the client knows: told while the channel is open with `locks`. */
  readonly isHeld: boolean
  /** Gives it back: the lock goes with the last hold of this client. */
  release(options?: CallOptions): Promise<void>
}

/** A named flow of packets, which must be fresh. */
export interface Topic {
  readonly name: string
  startPublishing(options?: TopicOptions): Promise<Publisher>
  /** Every packet from now on, of everybody or of the users in `from`, and `packetsLost` in the place of those that are. */
  packets(options?: {from?: string[]} & ReaderOptions): Events<AnyOf<Packet | PacketsLost>>
  /** Has packets among `events()`, of everybody or of the users in `from`; adds to whom it follows already. */
  follow(options?: {from?: string[]} & CallOptions): Promise<Selection>
  /** Ends `follow`; readers go on. */
  unfollow(options?: CallOptions): Promise<void>
  followed(options?: CallOptions): Promise<Selection>
}

/** A topic in which this client publishes. */
export interface Publisher {
  /** A freeze, or another role, ends it, and `startPublishing` begins it again. */
  readonly isOpen: boolean
  /** Publishes a packet of at most 1,024 bytes. @throws `topicNotJoined`, `tooLarge`, `unsentFull`, `clientClosed`: not sent then */
  send(payload: Payload, options?: PacketOptions): void
  stop(options?: CallOptions): Promise<void>
}

/** Another user: what is sent to them, and known of them. */
export class Person {
  private constructor()
  readonly user: string
  readonly metadata: PersonMetadata
  /** Sends at most 32,768 bytes. The receipt is accepted when the user's app has acknowledged it; else `userOffline`, `unconfirmed`. */
  send(payload: Payload, options?: RecordOptions): Receipt<undefined>
  /** The channels in which the user is seen. */
  channels(options?: CallOptions): Promise<string[]>
}

/** A moderator's calls (`notPermitted` for others). What is to hold over restarts is durable when they return. */
export interface Moderation {
  /** Until it is set anew; `undefined`: what the user's credential gives counts again. */
  setRole(role: Exclude<Role, 'moderator'> | undefined, options: {of: string} & CallOptions): Promise<void>
  /** Lets everybody but moderators only look on. */
  freeze(channel: string, options?: CallOptions): Promise<void>
  unfreeze(channel: string, options?: CallOptions): Promise<void>
  /** Lets everybody who may publish also replace and remove others' records. */
  openEditing(channel: string, options?: CallOptions): Promise<void>
  closeEditing(channel: string, options?: CallOptions): Promise<void>
  /** Ends the sessions of a user, who may log in again. `reason`: told the user, at most 256 bytes. @throws `userOffline` */
  endSession(options: {of: string, reason?: string} & CallOptions): Promise<void>
  /** Ends a channel, with all that the relay keeps of it. `reason`: told everybody in it, at most 256 bytes. */
  endChannel(channel: string, options?: {reason?: string} & CallOptions): Promise<void>
  /** A code of six letters that stands for the join key, for 30 minutes. @throws `notSupported`, `limitReached` */
  offerJoinCode(channel: string, options?: CallOptions): Promise<OfferedCode>
  withdrawJoinCode(options?: CallOptions): Promise<void>
  /** The code of this client that holds now, `null` without one; `problems()` tell why one has ended. */
  joinCodes(options?: ReaderOptions): Latest<OfferedCode | null>
  /** Keeps a user out `for` 1 s to 365 days, in milliseconds, or until `unban`. */
  ban(user: string, options?: {for?: number} & CallOptions): Promise<void>
  /** @throws `notBanned` */
  unban(user: string, options?: CallOptions): Promise<void>
  bans(options?: CallOptions): Promise<Ban[]>
  /** Removes what the relay keeps of a user, `withRecords` also what the user drew, and gives what went and what stays. */
  forget(options: {user: string, withRecords?: boolean} & CallOptions): Promise<Forgotten>
  /** Removes all that a user drew on one board, and gives the number of records. @throws `boardNotFound`, `limitReached` */
  removeRecords(options: {of: string, from: string} & CallOptions): Promise<number>
  /** The relay's present state, and a page of its users, by id. */
  status(options?: StatusOptions): Promise<RelayStatus>
}

/** Everything from its making on, in the relay's order. It throws `tooSlow`, and why the relay has refused what it reads. */
export class Events<Value> implements AsyncIterableIterator<Value> {
  private constructor()
  [Symbol.asyncIterator](): this
  next(): Promise<IteratorResult<Value, undefined>>
  /** Ends the reader. */
  return(): Promise<IteratorReturnResult<undefined>>
}

/** The present value first, then the newest whenever it has changed. It never throws. */
export class Latest<Value> implements AsyncIterableIterator<Value> {
  private constructor()
  [Symbol.asyncIterator](): this
  next(): Promise<IteratorResult<Value, undefined>>
  /** Ends the reader. */
  return(): Promise<IteratorReturnResult<undefined>>
}

/** What becomes of a message. Where nobody has asked for its promise when it fails, the failure is among `problems()`. */
export class Receipt<Accepted = number> {
  protected constructor()
  /** Own records come back with it, as `receipt`. */
  readonly id: number
  /** The offset, once others see it. Rejected with why it was refused. */
  readonly accepted: Promise<Accepted>
}

/** What becomes of a record, or of a batch. */
export class StoredReceipt extends Receipt {
  /** The offset, once it is durable. Rejected like `accepted`, and with `storageFailed`, `notAccepted`, `outcomeUnknown`. */
  readonly stored: Promise<number>
}

/** What a session may do: a role, which counts in every channel, and grants by channel pattern. */
export class Access {
  private constructor()
  readonly role: Role | undefined
  /** Names of rights by pattern: a channel's name, or the beginning of one and `*`. */
  readonly grants: Readonly<Record<string, string[]>>
  /** When it all ended, counted from the answer that told it; `undefined`: it has no end. */
  readonly untilMs: number | undefined
  rights(channel: string): Set<Right>
}

/** Why something did not happen: `tooLarge: a packet has at most 1024 bytes, not 1025`. */
export class RelayError extends Error {
  constructor(code: number, text: string, values?: {limit?: number, actual?: number, retry?: string, retryAfterMs?: number,
    change?: number, outcome?: 'nothingHappened' | 'unknown'})
  /** One of `ErrorCode`, or of a newer relay. */
  readonly code: number
  /** The code's name. */
  name: string
  /** The bound that was passed … */
  readonly limit: number | undefined
  /** … and the value that was found. */
  readonly actual: number | undefined
  /** Whether asking again may help. */
  readonly retry: 'now' | 'later' | 'reconnect' | 'never'
  /** How long to wait before the same can succeed. */
  readonly retryAfterMs: number | undefined
  /** Of a call that ended before its answer: whether it was sent. */
  readonly outcome: 'nothingHappened' | 'unknown' | undefined
  /** Of a batch, the index of the change that was refused. */
  readonly changeIndex: number | undefined
}

/** What went wrong, by name: compare `error.code` with these, never texts. */
export const ErrorCode: Readonly<{
  badRequest: 100, unknownFrame: 101, loginRequired: 102, alreadyLoggedIn: 103,
  badName: 104, badText: 105, tooLarge: 106, rateLimited: 107, notSubscribed: 108,
  notJoined: 109, topicNotJoined: 110, unknownFlow: 111, limitReached: 112,
  channelFull: 113, userOffline: 114, unconfirmed: 115, outcomeUnknown: 116,
  notSupported: 117, relayFull: 118, notPresent: 119, revisionMismatch: 120,
  itemNotFound: 121, storageFull: 122, storageFailed: 123, busy: 124, lockNotFound: 125,
  lockHeld: 126, lockNotHeld: 127, notAccepted: 128, boardFull: 129, quotaReached: 130,
  boardNotFound: 131, nothingToUndo: 132, partMissing: 133, tokenInvalid: 134,
  tokenExpired: 135, keyWrong: 136, credentialRequired: 137, userIDTaken: 138,
  notPermitted: 139, notBanned: 140, cancelled: 141, behindRefused: 142, codeWrong: 143,
  channelEnded: 144, boardInUse: 145,
  shuttingDown: 200, slowConsumer: 201, heartbeatTimeout: 202,
  loginTimeout: 203, tooManyConnections: 204, accessExpired: 205, tooManySessions: 206, moved: 207,
  protocolError: 300, versionNotSupported: 301, replaced: 302, abuse: 303, loggedOut: 304,
  frameTooLarge: 305, notRelayProtocol: 306, credentialsWrong: 307, keyChanged: 308,
  endedByModerator: 309, banned: 310, tlsRequired: 311, spaceUnknown: 312, connectFailed: 900, timedOut: 901, unsentFull: 902,
  clientClosed: 903, relayFault: 904, notConnected: 905, tooSlow: 906, lockLost: 907,
  otherRelay: 908,
}>

/** Tells a client when a page comes back to the foreground or to a network. @returns ends it */
export function wakeUpWithPage(client: Pick<RelayClient, 'wakeUp'>): () => void
/** A link over WebSocket to an address as the relay prints it. */
export function webSocketTransport(address: string | URL): Transport
/** What stands behind `#` in an address that a relay has printed, or in a link to a board. */
export function credentialOf(address: string | URL): Credential | undefined
/** The name itself. @throws `badName`: names have 1…64 bytes of ASCII without `* / \`, the first neither `_` nor space */
export function checkedName(text: string): string
