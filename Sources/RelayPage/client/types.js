// The types that the comments of the other modules name.

export {}

/**
 * @typedef {string|Uint8Array|ArrayBuffer} Payload text, or bytes; what comes is a string or a `Uint8Array`
 * @typedef {'messages'|'presence'|'metadata'|'locks'} ChannelPart
 * @typedef {{start: number, incarnation: number}} Epoch identity of a channel's numbering
 * @typedef {{epoch: Epoch, offset: number}} Position of a message, as it comes
 * @typedef {{kind: 'message'|'stream', channel: string}} ChannelID within the client and the protocol
 * @typedef {{signal?: AbortSignal, timeout?: number, offline?: 'wait'|'fail'}} CallOptions `signal`: aborted, the call ends as `cancelled`;
 *   `timeout`: 15,000 ms, `Infinity`: none; `offline`: `wait`, or `notConnected` at once
 * @typedef {{signal?: AbortSignal}} ReaderOptions `signal`: aborted, the reader ends
 * @typedef {{parts?: ChannelPart[], from?: 'board'|'now'|Position, quiet?: boolean}} OpenOptions `parts`: `messages` and `presence`;
 *   `from`: `board`, the records and messages that are kept come first; `quiet`: not seen by others; may publish, has no states
 * @typedef {{key: string}|{token: string}|{joinCode: string}} Credential what lets a client into a relay that is not open
 * @typedef {{user: string, states: Record<string, string>}} Member
 * @typedef {{key: string, value: string, revision: number, author?: string, wallMilliseconds?: number}} MetadataItem
 * @typedef {{lock: string, ttlMs: number, owner?: string, ownerDevice?: string, fencing?: number}} LockDetail
 * @typedef {{offset: number, records: number}} BoardClearing its place, and how many records went or came
 * @typedef {{key: string, payload?: string|Uint8Array, customType?: string, author: string, offset?: number, wallMilliseconds?: number,
 *   isPending?: boolean}} BoardRecord no payload: it was removed; `isPending`: one's own, not stored yet
 * @typedef {{records: ReadonlyMap<string, BoardRecord>, changed: Set<string>, progress?: number, isComplete: boolean}} BoardPicture
 *   `progress`: 0…1, while the board is read
 * @typedef {{type: 'records', records: BoardRecord[], progress?: number, isOwn?: boolean, receipt?: number}
 *   |{type: 'cleared', offset: number, user: string, wallMilliseconds: number}|{type: 'reset'}
 *   |{type: 'missed', from: number, to: number}|{type: 'caughtUp', head: number}} BoardChange
 * @typedef {{user: string, by: string, time: number, until?: number}} Ban times in milliseconds since 1970
 * @typedef {{user: string, device: string, client: string, peer: string, away: boolean, sessionMs: number, memoryBytes: number,
 *   queuedBytes: number, queuedPacketBytes: number, packetsLost: number, backlogMs: number}} UserStatus `client`: what it calls itself;
 *   `peer`: its address; `memoryBytes`: what it makes the relay hold; `packetsLost`: since its session began; `backlogMs`: for how long
 *   something has been waiting for it
 * @typedef {{address: string, sessions: number, memoryBytes: number}} AddressStatus `address`: of IPv6 the first 64 bits
 * @typedef {{uptimeMs: number, connections: number, sessions: {present: number, away: number}, channels: {message: number, stream: number},
 *   boards: number, boardBytes: number, queuedBytes: number, pinnedBytes: number, counters: Record<string, number>,
 *   storageFailure?: string, addresses: AddressStatus[],
 *   users: UserStatus[], next?: string}} RelayStatus `counters`: by the names of AC16; each only grows; `addresses`: those that hold
 *   most, on the first page
 * @typedef {{messages: (Message & {part?: {number: number, of: number, isText: boolean}})[], epoch?: Epoch, head: number, floor: number,
 *   next?: number}} HistoryPage
 * @typedef {{all: boolean, users: string[], failed: {user: string, code: number}[]}} Selection
 * @typedef {{revisions?: Record<string, number>, majorRevision?: number, lock?: string}} WriteConditions `revisions`: of items by key the
 *   revision each must have, 0 for "there is none"; `majorRevision`: the one the set must have; `lock`: one that this user must hold
 * @typedef {{customType?: string, echo?: boolean, storeInHistory?: boolean}} SendOptions `echo`: whether this client receives it as well;
 *   `storeInHistory: false`: a client without a link at that moment misses it
 * @typedef {{slot?: number, senderTime?: number, echo?: boolean}} PacketOptions `slot`: a slow reader gets the newest of a slot only;
 *   `senderTime`: the sender's own clock, passed on untouched; `echo`: whether this client receives it as well
 * @typedef {CallOptions & {qos?: 'ordered'|'unordered', priority?: 'highest'|'high'|'normal'|'low', meta?: string, lifetime?: number}}
 *   TopicOptions `meta` is told to followers; `lifetime`: how old a packet may become before a slow reader's link, 50…1,000 ms
 * @typedef {CallOptions & {wait?: number}} AcquireOptions `wait`: how long to stand in line for the lock, 1…300,000 ms, beyond which
 *   `timeout` counts; without it one is refused at once
 * @typedef {CallOptions & WriteConditions & {recordsUser?: boolean, recordsTime?: boolean}} WriteOptions whether to keep with the items who
 *   wrote them, and when
 * @typedef {CallOptions & {from?: number, backwards?: boolean, limit?: number}} HistoryOptions `from`: `next` of the page before
 * @typedef {CallOptions & {after?: string, limit?: number, user?: string}} StatusOptions `after`: the `next` of the page before; `limit`:
 *   1…100 users, fewer may come; `user`: the answer's `known` tells whether the relay knows this one
 * @typedef {{messages: number, packets: number, bytes: number, unstored: number, unkept: number}} Unsent `unstored`: records that were
 *   accepted and are not told durable; `unkept`: those that did not fit into the storage, and would be gone with the page
 * @typedef {{channel: string, records: number, bytes: number, changed: number}} BoardInfo
 * @typedef {{user?: string, code?: string, instance: string, secret?: string, device?: string, onlyDevice?: boolean,
 *   credential?: Credential, presenceTimeoutMs?: number, readerLimits?: ReaderLimits, description?: string, connectTimeoutMs?: number,
 *   unsentCountMax?: number, unsentBytesMax?: number, random?: () => number, outbox?: Outbox}} MachineSettings
 * @typedef {{more?: number, handsOver?: boolean, settled?: (result: object) => void, late?: (value: any) => void,
 *   texts?: Uint8Array[]}} AskHow `more`: added to the timeout, in milliseconds; `handsOver`: cancellation ends the waiting only;
 *   `settled`: called in the one order of what happens; `late`: called with what an answer brings that nobody waits for any more; `texts`:
 *   behind the request's body
 * @typedef {{channel: string, key: string, customType?: string, payload: Payload, receipt: StoredReceipt}
 *   |{channel: string, changes: {key: string, customType?: string, payload: Payload}[], receipt: StoredReceipt}} RestoredRecord
 * @typedef {Extract<ClientEvent, {type: 'packet'}>} Packet
 * @typedef {Extract<ClientEvent, {type: 'packetsLost'}>} PacketsLost
 * @typedef {Extract<ClientEvent, {type: 'refused'}>|{type: 'refused', subject: 'omitted', omitted: number}} Problem
 * @typedef {{getItem(key: string): string|null, setItem(key: string, value: string): void, removeItem(key: string): void}} KeptStorage
 * @typedef {{type: 'message', channel: string, sender: string, offset: number, epoch?: Epoch, wallMilliseconds: number,
 *   customType?: string,
 *   key?: string, isRetained: boolean, isRemoval: boolean, payload: string|Uint8Array, isOwn?: boolean, receipt?: number}} Message
 *   `isOwn`: a record of this client, with its receipt's id
 *
 * @typedef {{opened(): void, received(bytes: Uint8Array): void, ended(text: string): void}} LinkHandlers
 * @typedef {(handlers: LinkHandlers) => {send(bytes: Uint8Array): void, readonly bufferedBytes: number,
 *   close(): void, pause?(): void, resume?(): void}} Transport makes one link; calls no handler before it has returned; `bufferedBytes`:
 *   what was sent and has not left; `pause`: nothing is to come for a while
 *
 * @typedef {{packetsPerSecond?: number, bytesPerSecond?: number, waitingBytes?: number}} ReaderLimits 1…10,000; 1,024…1,000,000,000;
 *   16,384…262,144; absent: no limit [DL11]
 *
 * @typedef {object} ClientOptions
 * @property {KeptStorage} [storage] such as `localStorage`: keeps the client secret, and retained messages until they are durable;
 *   with `device` those of this device alone
 * @property {string} [scope] what their keys begin with, instead of the address's host
 * @property {string} [secret] 32 hexadecimal digits that show whose the user id is, instead of those kept [AC3]
 * @property {string} [code] of `handOver` of another device of the user: in place of the user's id and secret, which come with the
 *   login, and are kept in `storage`
 * @property {string} [device] 16 hexadecimal digits that tell this tab or installation from the user's others; else each tab is one, and
 *   without tabs each client object
 * @property {boolean} [onlyDevice] whether the user's other devices are replaced, which ends their clients
 * @property {(relay: string) => boolean} [acceptsRelay] asked at each login with the relay's public id [SE6]; where it says no, the client
 *   is closed with `otherRelay`, and that relay got nothing but the login
 * @property {Credential} [credential]
 * @property {() => Promise<string>} [token] gives a token at each login, and before one ends; in place of `credential`
 * @property {number} [presenceTimeout] how long others still see this user after its link broke, 5,000…300,000 ms
 * @property {ReaderLimits} [readerLimits] what it takes of packets, as on bad Wi-Fi; `RelayClient.setReaderLimits` changes it
 * @property {string} [description] what the client calls itself to operators, at most 64 bytes
 * @property {number} [connectTimeout] for one attempt to link up and log in: 10,000 ms
 * @property {number} [unsentCountMax] messages, packets and requests that may wait to be sent (10,000) …
 * @property {number} [unsentBytesMax] … and their payloads, in bytes (16 MiB)
 * @property {() => number} [random] dice for pauses, 0…1
 * @property {() => number} [wallClock] milliseconds since 1970
 *
 * @typedef {{kind: 'linkFailed'|'relayFault',
 *   text: string}|{kind: 'timedOut'|'relaySilent'|'closedByApp'}|{kind: 'relayClosed', code: number, text: string}
 *   |{kind: 'loginRefused', error: RelayError}|{kind: 'otherRelay', relay: string}
 *   |{kind: 'eventsNotRead', limit: number, waiting: number}} LinkEndReason
 * @typedef {{state: 'idle'|'connecting'}|{state: 'connected', resumed: boolean}|{state: 'waiting', afterMs: number, reason: LinkEndReason}
 *   |{state: 'paused'|'closed', reason: LinkEndReason}} LinkState `resumed`: others have not noticed the break, and what was missed is told
 *   exactly; otherwise the session is new, and packets of meanwhile, of whatever flow, are lost
 *
 * @typedef {Message
 *   |{type: 'board', channel: string, messages: Message[], progress: number, isOwn?: boolean, receipt?: number}
 *   |{type: 'cleared', channel: string, offset: number, user: string, wallMilliseconds: number}
 *   |{type: 'packet', channel: string, topic: string, publisher: string, device: string, flow: number, sequence: number,
 *     slot?: number, senderTime?: number, payload: string|Uint8Array}
 *   |{type: 'direct', sender: string, wallMilliseconds: number, customType?: string, payload: string|Uint8Array, acknowledge(): void}
 *   |{type: 'presence', channel: string, kind: 'snapshot', members: Member[], total: number}
 *   |{type: 'presence', channel: string, kind: 'joined', member: Member}
 *   |{type: 'presence', channel: string, kind: 'left'|'timedOut', user: string}
 *   |{type: 'presence', channel: string, kind: 'stateChanged', user: string, set: Record<string, string>, removed: string[]}
 *   |{type: 'presence', channel: string, kind: 'interval', joined: Member[], changed: Member[], left: string[], timedOut: string[]}
 *   |{type: 'topics', channel: string, kind: 'snapshot'|'joined'|'left',
 *     publishers: {topic: string, user: string, device: string, meta: string}[]}
 *   |{type: 'metadata', channel?: string, user?: string, majorRevision: number, isSnapshot: boolean,
 *     written: MetadataItem[], removed: string[], items: Map<string, MetadataItem>}
 *   |{type: 'locks', channel: string, kind: 'snapshot'|'set'|'acquired'|'released'|'revoked'|'expired'|'removed',
 *     locks: LockDetail[], formerOwner?: string, formerOwnerDevice?: string}
 *   |{type: 'packetsLost', reason: string, entries: {flow: number, channel: string, topic: string, publisher: string, device: string,
 *     first: number, last?: number}[]}
 *   |{type: 'packetsDropped', channel: string, topic: string, reason: 'overRate'|'linkDown'|'topicNotJoined'|'closed', dropped: number}
 *   |{type: 'messagesMissed', channel: string, epoch?: Epoch, extent: 'reset'|{from: number, to: number}}
 *   |{type: 'caughtUp', channel: string, head: number}
 *   |{type: 'refused', subject: string, channel?: string, topic?: string, users?: string[], user?: string, key?: string, receipt?: number,
 *     error: RelayError} `subject`: `message`, `record`, `changes`, `direct` (of a receipt), `packet`, `channel`, `topics`, …
 *   |{type: 'accessExpiring', inMs: number}
 *   |{type: 'accessChanged', access: Access, by: string}
 *   |{type: 'joinCodeEnded', reason: 'expired'|'wrongTries'|'keyChanged'|'notPermitted'}
 *   |{type: 'channelMode', channel: string, mode: 'frozen'|'openEditing', isOn: boolean, by?: string}
 *   |({type: 'link'} & LinkState)} ClientEvent
 */
