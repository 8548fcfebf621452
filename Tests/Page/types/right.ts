// What an app in TypeScript may do, and what it gets. The compiler alone reads this file: see types.test.mjs.
import {
  Access, Channel, ErrorCode, Events, Latest, RelayClient, RelayError, StoredReceipt, webSocketTransport,
} from '../../../Sources/RelayPage/relay-client.js'
import type {
  BoardPicture, BoardRecord, ClientOptions, KeptStorage, LinkState, LockDetail, Member, Message, OfferedCode, Packet, Problem, Right,
  Transport,
} from '../../../Sources/RelayPage/relay-client.js'

/** Whether two types are one. */
type Same<One, Other> = (<Type>() => Type extends One ? 1 : 2) extends (<Type>() => Type extends Other ? 1 : 2) ? true : false
const is = <Yes extends true>() => {}

const storage: KeptStorage = localStorage
const options: ClientOptions = {storage, presenceTimeout: 10_000, token: async () => 'a.b.c', readerLimits: {packetsPerSecond: 20}}
const client = new RelayClient('https://board.school/#key=abc', 'ann', options)
const lesson: Channel = client.channel('lesson')
const {board, presence, metadata} = lesson

// A union can be taken apart before it is known which member it is.
async function events() {
  for await (const {type, mode, isOn, payload, error, sender} of client.events()) {
    if (type === 'channelMode') is<Same<typeof mode, 'frozen' | 'openEditing'>>()
    if (type === 'channelMode') is<Same<typeof isOn, boolean>>()
    if (type === 'message' || type === 'direct') is<Same<typeof sender, string>>()
    if (type === 'packet') is<Same<typeof payload, string | Uint8Array>>()
    if (type === 'refused') is<Same<typeof error, RelayError>>()
  }
  for await (const event of client.events()) {
    if (event.type === 'direct') event.acknowledge()
    if (event.type === 'presence' && event.kind === 'joined') is<Same<typeof event.member, Member>>()
    if (event.type === 'link' && event.state === 'waiting') is<Same<typeof event.afterMs, number>>()
    if (event.type === 'messagesMissed' && event.extent !== 'reset') is<Same<typeof event.extent.from, number>>()
  }
  for await (const {type, publisher, entries} of lesson.topic('points').packets({from: ['bob']})) {
    if (type === 'packet') is<Same<typeof publisher, string>>()
    else is<Same<typeof entries.length, number>>()
  }
  for await (const change of board.changes()) {
    if (change.type === 'records') is<Same<typeof change.records, BoardRecord[]>>()
    if (change.type === 'missed') is<Same<typeof change.to, number>>()
  }
  for await (const {subject, error, omitted} of client.problems()) {
    if (subject === 'omitted') is<Same<typeof omitted, number | undefined>>()
    if (error) is<Same<typeof error, RelayError>>()
  }
  for await (const {subject, count, channel, topic} of client.problems()) {
    if (subject === 'packets') is<Same<typeof count | typeof channel | typeof topic, number | string | undefined>>()
  }
  for await (const states of lesson.lockStates()) is<Same<typeof states, ReadonlyMap<string, LockDetail>>>()
  for await (const [{user, meta}] of lesson.publishedTopics()) is<Same<typeof user | typeof meta, string>>()
  for await (const {rights, modes} of lesson.permissions()) {
    is<Same<typeof rights, ReadonlySet<Right> | undefined>>()
    if (modes.has('frozen')) break
  }
  for await (const message of client.directMessages()) message.acknowledge()
  for await (const offered of client.moderation.joinCodes()) {
    is<Same<typeof offered, OfferedCode | null>>()
    if (offered) is<Same<typeof offered.validMs, number>>()
  }
  const {value, done} = await board.pictures({signal: new AbortController().signal}).next()
  is<Same<typeof value, BoardPicture | undefined>>()
  if (!done) is<Same<typeof value, BoardPicture>>()
}

async function calls() {
  await client.connect({timeout: Infinity, offline: 'fail', signal: new AbortController().signal})
  await lesson.open({parts: ['messages', 'presence', 'metadata', 'locks'], from: {epoch: {start: 1, incarnation: 1}, offset: 5}})
  const receipt: StoredReceipt = board.put('s1', new Uint8Array(4), {customType: 'stroke'})
  is<Same<Awaited<typeof receipt.stored>, number>>()
  board.batch(batch => {
    batch.put('s1', 'x', {customType: 'stroke'})
    batch.remove('s2')
  })
  is<Same<Awaited<ReturnType<typeof board.records>>, Map<string, BoardRecord>>>()
  const {next} = await presence.users({after: 'bob', limit: 10, timeout: 5_000})
  is<Same<typeof next, string | undefined>>()
  const revision: number = await metadata.set({title: 'Ink'}, {majorRevision: 3, recordsUser: true})
  const text: string = await lesson.lock('pen').with(async ({fencing, isHeld}) => `${fencing} ${isHeld} ${revision}`, {wait: 5_000})
  const pen = await lesson.topic('points').startPublishing({lifetime: 300, priority: 'high'})
  pen.send(text, {slot: 1, senderTime: Date.now()})
  const told: undefined = await client.person('bob').send('psst').accepted
  await client.person('bob').metadata.follow()
  await client.moderation.setRole(undefined, {of: 'bob'})
  await client.moderation.ban('eve', {for: 3_600_000})
  await client.moderation.forget({user: 'eve', withRecords: true})
  await client.renew({token: 'a.b.c'})
  const size: number = await RelayClient.withClient('relay://10.0.0.1:7420', 'bot', {}, bot => bot.limits.messageBytesMax)
  return [told, size]
}

function state() {
  const {link, access} = client
  if (link.state === 'closed' && link.reason.kind === 'relayClosed') is<Same<typeof link.reason.code, number>>()
  is<Same<typeof access, Access | undefined>>()
  is<Same<typeof lesson.rights, ReadonlySet<Right> | undefined>>()
  const [reader, newest]: [Events<Problem>, Latest<LinkState>] = [client.problems(), client.linkStates()]
  const error: unknown = new RelayError(ErrorCode.tooLarge, 'too large', {limit: 1})
  if (error instanceof RelayError && error.code === ErrorCode.revisionMismatch) is<Same<typeof error.actual, number | undefined>>()
  const kept: (Message | Packet)[] = []
  const transport: Transport = handlers => {
    const link = webSocketTransport('http://10.0.0.1:7420/')(handlers)
    return {send: bytes => link.send(bytes), get bufferedBytes() { return link.bufferedBytes }, close: () => link.close()}
  }
  return [reader, newest, kept, new RelayClient(transport, undefined, {code: 'ABCDEFGHJK'})]
}
export {calls, events, state}
