// The types that the comments of the other modules name.

export {}

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
 * @typedef {{lock: string, ttlMs: number, owner?: string, ownerDevice?: string, fencing?: number}} LockDetail
 * @typedef {{offset: number, records: number}} BoardChange
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
 * @typedef {{all: boolean, users: string[], failed: {user: string, code: number}[]}} Selection
 * @typedef {{revisions?: Record<string, number>, majorRevision?: number, lock?: string}} WriteConditions `revisions`: of items by key the
 *   revision each must have, 0 for "there is none"; `majorRevision`: the one the set must have; `lock`: one that this user must hold
 * @typedef {{to?: string, toUser?: string, retainedAs?: string, customType?: string, echo?: boolean, storeInHistory?: boolean}} SendOptions
 * @typedef {{channel: string, key: string, customType?: string, payload: Payload, receipt: StoredReceipt}
 *   |{channel: string, changes: {key: string, customType?: string, payload: Payload}[], receipt: StoredReceipt}} RestoredMessage
 * @typedef {{getItem(key: string): string|null, setItem(key: string, value: string): void, removeItem(key: string): void}} KeptStorage
 * @typedef {{type: 'message', channel: string, sender: string, offset: number, epoch?: Epoch, wallMilliseconds: number,
 *   customType?: string,
 *   key?: string, isRetained: boolean, isRemoval: boolean, payload: string|Uint8Array}} Message
 *
 * @typedef {{opened(): void, received(bytes: Uint8Array): void, ended(text: string): void}} LinkHandlers
 * @typedef {(handlers: LinkHandlers) => {send(bytes: Uint8Array): void, readonly bufferedBytes: number,
 *   close(): void}} Transport makes one link;
 *   calls no handler before it has returned; `bufferedBytes`: what was sent and has not left
 *
 * @typedef {{packetsPerSecond?: number, bytesPerSecond?: number, waitingBytes?: number}} ReaderLimits 1…10,000; 1,024…1,000,000,000;
 *   16,384…262,144; absent: no limit [DL11]
 *
 * @typedef {object} ClientOptions
 * @property {KeptStorage} [storage] such as `localStorage`: keeps the client secret, and retained messages until they are durable
 * @property {string} [scope] what their keys begin with, instead of the address's host
 * @property {string} [secret] 32 hexadecimal digits that show whose the user id is, instead of those kept [AC3]
 * @property {string} [code] of `offerDevice` of another device of the user: in place of the user's id and secret, which come with the
 *   login, and are kept in `storage`
 * @property {string} [device] 16 hexadecimal digits that tell this tab or installation from the user's others; else each tab is one, and
 *   without tabs each client object
 * @property {boolean} [onlyDevice] whether the user's other devices are replaced, which ends their clients
 * @property {Credential} [credential]
 * @property {number} [presenceTimeoutMs] how long others still see this user after its link broke, 5,000…300,000
 * @property {ReaderLimits} [readerLimits] what it takes of packets, as on bad Wi-Fi; `RelayClient.setReaderLimits` changes it
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
 * @typedef {{kind: 'linkFailed'|'relayFault',
 *   text: string}|{kind: 'timedOut'|'relaySilent'|'closedByApp'}|{kind: 'relayClosed', code: number, text: string}
 *   |{kind: 'loginRefused', error: RelayError}|{kind: 'eventsNotRead', limit: number, waiting: number}} LinkEndReason
 * @typedef {{state: 'connecting'}|{state: 'connected', resumed: boolean}|{state: 'waiting', afterMs: number, reason: LinkEndReason}
 *   |{state: 'paused'|'closed', reason: LinkEndReason}} LinkState `resumed`: others have not noticed the break, and what was missed is told
 *   exactly; otherwise the session is new, and packets of meanwhile, of whatever flow, are lost
 *
 * @typedef {Message
 *   |{type: 'board', channel: string, messages: Message[], progress: number}
 *   |{type: 'cleared', channel: string, offset: number, user: string, wallMilliseconds: number}
 *   |{type: 'packet', channel: string, topic: string, publisher: string, device: string, flow: number, sequence: number,
 *     slot?: number, senderTime?: number, payload: string|Uint8Array}
 *   |{type: 'direct', sender: string, wallMilliseconds: number, customType?: string, payload: string|Uint8Array}
 *   |{type: 'presence', channel: ChannelID, kind: 'snapshot', members: Member[], total: number}
 *   |{type: 'presence', channel: ChannelID, kind: 'joined', member: Member}
 *   |{type: 'presence', channel: ChannelID, kind: 'left'|'timedOut', user: string}
 *   |{type: 'presence', channel: ChannelID, kind: 'stateChanged', user: string, set: Record<string, string>, removed: string[]}
 *   |{type: 'presence', channel: ChannelID, kind: 'interval', joined: Member[], changed: Member[], left: string[], timedOut: string[]}
 *   |{type: 'topics', channel: string, kind: 'snapshot'|'joined'|'left',
 *     publishers: {topic: string, user: string, device: string, meta: string}[]}
 *   |{type: 'metadata', owner: ChannelID|{user: string}, majorRevision: number, isSnapshot: boolean,
 *     written: MetadataItem[], removed: string[], items: Map<string, MetadataItem>}
 *   |{type: 'locks', channel: ChannelID, kind: 'snapshot'|'set'|'acquired'|'released'|'revoked'|'expired'|'removed',
 *     locks: LockDetail[], formerOwner?: string, formerOwnerDevice?: string}
 *   |{type: 'packetsLost', reason: string, entries: {flow: number, channel: string, topic: string, publisher: string, device: string,
 *     first: number, last?: number}[]}
 *   |{type: 'packetsDropped', channel: string, topic: string, reason: 'overRate'|'linkDown'|'topicNotJoined'|'closed', dropped: number}
 *   |{type: 'messagesMissed', channel: string, epoch?: Epoch, extent: 'reset'|{from: number, to: number}}
 *   |{type: 'caughtUp', channel: string, head: number}
 *   |{type: 'refused', subject: string, channel?: ChannelID, topic?: string, users?: string[], user?: string, error: RelayError}
 *   |{type: 'accessExpiring', inMs: number}
 *   |{type: 'accessChanged', access: Access, by: string}
 *   |{type: 'channelMode', channel: ChannelID, mode: 'frozen'|'openEditing', isOn: boolean, by?: string}
 *   |({type: 'link'} & LinkState)} ClientEvent
 */
