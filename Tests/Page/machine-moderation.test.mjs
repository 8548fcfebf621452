// What moderators ask for, what those concerned are told, and whose a record is.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {Limits} from '../../Sources/RelayPage/client/limits.js'
import {Outbox} from '../../Sources/RelayPage/client/outbox.js'
import {ErrorCode, RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {MachineDriver, plain, record} from './support/machine-driver.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'

const frozen = (channel, isFrozen) => ({type: 'modeChanged', body: {channel, mode: 'frozen', on: isFrozen, by: 'host'}})
const restored = more => ({type: 'restored', body: {kind: 'message', channel: 'lesson', handle: 7, features: ['messages', 'presence'],
    quiet: false, epoch: {start: 1000, incarnation: 1}, head: 0, ...more}})
const freezes = driver => driver.events('channelMode').map(({channel, isOn, by}) => [channel.kind, isOn, by])

test('[AC10] accessChanged is what this client may from then on, over what the credential gave', () => {
  const driver = new MachineDriver()
  driver.logIn({access: {role: 'editor', untilMs: 9_000}})
  driver.events()
  driver.feed({type: 'accessChanged', body: {role: 'reader', by: 'host', grants: {'lesson-*': ['publish']}}})
  const [{access, by}] = driver.events('accessChanged')
  assert.deepEqual([access.role, by, access.untilMs, [...access.rights('lesson-7')], 'by' in access],
      ['reader', 'host', undefined, ['subscribe', 'presence', 'publish'], false])
  assert.equal(driver.machine.access, access)
  // A newer relay's role gives nothing here; grants may be absent.
  driver.feed({type: 'accessChanged', body: {role: 'director', by: 'host'}})
  assert.deepEqual([driver.machine.access.role, plain(driver.machine.access.grants)], [undefined, {}])
  driver.comeBack({resumed: true, access: {role: 'editor'}})
  assert.equal(driver.machine.access.role, 'editor')
})

test('[AC11] a freeze is told to who is there, by the channel one is in, and when it was over before one came', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({modes: ['frozen']})
  driver.hear()
  assert.deepEqual(freezes(driver), [['message', true, undefined]], 'who comes is told that it is so')
  driver.feed(frozen(9, true), frozen(7, false), frozen(99, true))
  assert.deepEqual(freezes(driver), [['stream', true, 'host'], ['message', false, 'host']])
  driver.subscribe()
  assert.deepEqual(freezes(driver), [], 'no news')
})

test('[AC11, SE9] of a freeze that began or ended while one was away the resumption, or the new session, tells; of one that goes on nothing', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  driver.comeBack()
  driver.feed(restored({modes: ['frozen']}))
  driver.pong()
  assert.deepEqual(freezes(driver), [['message', true, undefined]])
  driver.comeBack()
  driver.feed(restored({modes: ['frozen']}))
  driver.pong()
  assert.deepEqual(freezes(driver), [])
  driver.comeBack({resumed: false})
  const asked = driver.sent().find(({type}) => type === 'subscribe')
  const answer = {id: asked.body.id, kind: 'message', channel: 'lesson', handle: 70, features: ['messages', 'presence'], quiet: false,
      epoch: {start: 1000, incarnation: 1}, head: 0}
  driver.feed({type: 'answer', body: answer})
  assert.deepEqual(freezes(driver), [['message', false, undefined]])
})

test('[AC11, AC7] a frozen channel\'s own flows are left and told; whoever leaves the channel forgets that it was frozen', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.hear()
  driver.request('t', 'joinTopic', {channel: 'lesson', topic: 'points'})
  driver.answer({flow: 5, next: 1})
  driver.events()
  driver.feed(frozen(9, true), {type: 'error', body: {flow: 5, code: 139, name: 'notPermitted', text: 'frozen'}})
  assert.deepEqual(driver.events().map(({type, topic}) => [type, topic]), [['channelMode', undefined], ['refused', 'points']])
  assert.throws(() => driver.machine.sendPacket({payload: 'x', channel: 'lesson', topic: 'points'}, driver.now), {name: 'topicNotJoined'})
  driver.request('leave', 'leave', {channel: 'lesson'})
  driver.answer()
  driver.hear()
  assert.deepEqual(freezes(driver), [], 'it is as if it had never been here: not frozen is no news')
})

for (const [name, code] of [['endedByModerator', 309], ['banned', 310]]) {
  test(`[AC12, AC13] a client that is closed with ${name} does not come back, and tells why`, () => {
    const driver = new MachineDriver()
    driver.logIn()
    driver.send('x')
    driver.feed({type: 'closing', body: {code, name, text: 'the lesson is over'}})
    const {state, reason} = driver.events('link').at(-1)
    assert.deepEqual([state, reason], ['closed', {kind: 'relayClosed', code, text: 'the lesson is over'}])
    assert.equal(driver.machine.nextDeadline, Infinity)
    assert.deepEqual([ErrorCode[name], driver.outcomes('x').accepted.error.name], [code, 'outcomeUnknown'])
  })
}

test('[BL10] a record of another user is refused: its receipt says so, it is not sent again and not kept; a drawing ends with its part', () => {
  const storage = new MemoryStorage()
  const driver = new MachineDriver({outbox: new Outbox(storage, 'box')})
  driver.logIn()
  driver.retain('small')
  driver.sendLarge('large', {payload: 'x'.repeat(100_000)})
  const published = driver.sent().filter(({type}) => type === 'publish').map(({number}) => number)
  const refuse = number => driver.feed({type: 'error', body: {number, code: 139, name: 'notPermitted', text: 'another user wrote it'}})
  for (const number of published) refuse(number)
  assert.deepEqual([driver.state('small'), driver.state('large')], [['notPermitted', 'notPermitted'], ['notPermitted', 'notPermitted']])
  assert.deepEqual([storage.length, driver.machine.unsent.unstored, driver.machine.drawings.list.length], [0, 0, 0])
  driver.comeBack()
  driver.pong()
  assert.deepEqual(driver.sentTypes(), [])
})

for (const how of ['resumption', 'frame']) {
  test(`[BL3, BL4] own records come with the reading behind a reset (${how}); one told stored behind that keeps its place, and is no news`, () => {
    const driver = new MachineDriver()
    driver.logIn()
    driver.subscribe({head: 5})
    driver.retain('own')
    driver.sent()
    driver.comeBack()
    const epoch = {start: 1000, incarnation: 2}
    if (how === 'resumption') driver.feed(restored({epoch, head: 9, reset: true, recovered: false, after: 0}))
    else driver.feed(restored({head: 5}), {type: 'reset', body: {channel: 7, epoch, head: 9}})
    driver.pong()
    driver.feed({type: 'userNamed', handle: 1, user: 'alice'}, record(6, 'own', 'own', {publisher: 1}))
    // Coming back before its end says that own records are wanted still.
    assert.deepEqual(plain(driver.comeBack().resume.seen), {lesson: [6, 1000, 2, 1]})
    driver.feed(restored({epoch, head: 9, recovered: true, after: 6}), {type: 'caughtUp', body: {channel: 7, head: 9}})
    driver.pong()
    const told = driver.events().filter(({type}) => type !== 'link')
        .map(({extent, head, messages}) => extent ?? head ?? messages.map(({sender, key}) => `${sender} ${key}`))
    assert.deepEqual(told, ['reset', ['alice own'], 9])
    assert.equal(driver.state('own')[0], undefined, 'it is not answered yet')
    driver.feed({type: 'accepted', number: 1, offset: 6}, {type: 'stored', number: 1, offset: 6})
    assert.deepEqual(driver.state('own'), [6, 6])
    assert.deepEqual(driver.events(), [])
    assert.deepEqual(plain(driver.machine.messages.positions.get('lesson')), {epoch, offset: 9})
  })
}

test('[AC10–AC14, AC18, AC19] what a moderator asks for, and what is wrong with it before it is sent', async () => {
  const client = new RelayClient(() => ({send() {}, close() {}, bufferedBytes: 0}), 'host')
  const asked = []
  client.request = async (type, body) => {
    asked.push([type, plain(body)])
    return {records: 3}
  }
  const {moderation} = client
  await moderation.setRole('reader', {of: 'anna'})
  await moderation.setRole(undefined, {of: 'anna'})
  await moderation.freeze('lesson')
  await moderation.unfreeze('lesson')
  await moderation.endSession({of: 'anna'})
  await moderation.endSession({of: 'anna', reason: 'é'.repeat(128)})
  await moderation.ban('anna')
  await moderation.ban('anna', {for: 1_000})
  await moderation.unban('anna')
  await moderation.forget({user: 'anna'})
  await moderation.forget({user: 'anna', withRecords: true})
  assert.equal(await moderation.removeRecords({of: 'anna', from: 'lesson'}), 3)
  await moderation.endChannel('lesson')
  await moderation.endChannel('lesson', {reason: 'enough'})
  assert.deepEqual(asked, [
    ['setRole', {role: 'reader', user: 'anna'}], ['setRole', {user: 'anna'}], ['setMode', {channel: 'lesson', mode: 'frozen', on: true}],
    ['setMode', {channel: 'lesson', mode: 'frozen', on: false}], ['endSession', {user: 'anna'}],
        ['endSession', {user: 'anna', reason: 'é'.repeat(128)}],
    ['banUser', {user: 'anna'}], ['banUser', {user: 'anna', forMs: 1_000}], ['unbanUser', {user: 'anna'}], ['forgetUser', {user: 'anna'}],
    ['forgetUser', {user: 'anna', withRecords: true}], ['removeRecords', {channel: 'lesson', user: 'anna'}],
    ['endChannel', {channel: 'lesson'}], ['endChannel', {channel: 'lesson', reason: 'enough'}],
  ])
  await assert.rejects(moderation.endSession({of: 'anna', reason: 'é'.repeat(129)}),
      {name: 'tooLarge', limit: Limits.endReasonBytesMax, actual: 258})
  await assert.rejects(moderation.endChannel('lesson', {reason: 'é'.repeat(129)}), {name: 'tooLarge'})
  for (const wrong of [
    moderation.setRole('reader', {}), moderation.freeze('a/b'), moderation.unfreeze(''), moderation.endSession({}), moderation.ban(),
        moderation.unban('_'), moderation.forget({}), moderation.removeRecords({of: 'anna'}), moderation.removeRecords({from: 'lesson'}),
        moderation.endChannel('a/b'),
  ]) await assert.rejects(wrong, {name: 'badName'})
  assert.equal(asked.length, 14)
  await client.close()
})

test('[JS3, AC13] a number that JSON would say as another, or not at all, is refused at once, and nothing is sent', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.sent()
  // As `null` the time of a ban would be none: a ban for good.
  for (const forMs of [NaN, Infinity, 1.5, 2 ** 53]) assert.throws(() => driver.request('ban', 'banUser', {user: 'anna', forMs}),
      {name: 'badRequest'})
  assert.deepEqual(driver.sent(), [])
  driver.request('ban', 'banUser', {user: 'anna', forMs: 1_000})
  assert.deepEqual(driver.sent().map(({body}) => body.forMs), [1_000])
})

test('[AC16] status is asked for with a place and a size, wrong ones are refused before or by the relay, and the answer is checked field by field', async () => {
  const client = new RelayClient(() => ({send() {}, close() {}, bufferedBytes: 0}), 'host')
  const asked = []
  const told = {uptimeMs: 5, users: []}
  client.request = async (type, body) => {
    asked.push([type, plain(body)])
    return {id: 7, ...told}
  }
  assert.deepEqual(plain(await client.moderation.status()), told, 'without the id')
  await client.moderation.status({after: 'anna', limit: 20})
  await client.moderation.status({user: 'bob'})
  await client.moderation.status({hour: true})
  for (const name of ['after', 'user']) await assert.rejects(client.moderation.status({[name]: 'a/b'}), {name: 'badName'})
  assert.deepEqual(asked, [['status', {}], ['status', {after: 'anna', limit: 20}], ['status', {user: 'bob'}],
    ['status', {hour: true}]])
  await client.close()
  const user = {user: 'anna', device: 'd', client: '', peer: '', away: true, sessionMs: 0, memoryBytes: 0, queuedBytes: 0,
    queuedPacketBytes: 0, packetsLost: 0, backlogMs: 0}
  const sample = {sessions: 1, lagging: 0, messagesIn: 0, messagesOut: 0, packetsIn: 0, packetsOut: 0, packetsLost: 0, bytesIn: 0,
    bytesOut: 0, memoryBytes: 1}
  const answer = {
    uptimeMs: 1, connections: 1, sessions: {present: 1, away: 0}, channels: {message: 0, stream: 0}, boards: 0, boardBytes: 0,
        queuedBytes: 0, pinnedBytes: 0,
    counters: {refusals: 0, ofANewerRelay: 1}, addresses: [{address: '10.0.0.7', sessions: 1, memoryBytes: 5_000}], users: [user],
  }
  for (const [change, field] of [
    [{}], [{storageFailure: 'full', known: false, next: 'anna'}], [{known: 'no'}, 'known'], [{uptimeMs: -1}, 'uptimeMs'],
        [{sessions: {present: 1}}, 'sessions'], [{counters: {refusals: '1'}}, 'counters.refusals'],
    [{users: [{...user, peer: 7}]}, 'users[0].peer'], [{users: [{...user, memoryBytes: -1}]}, 'users[0].memoryBytes'],
    [{hour: [sample, {...sample, diskBytes: 7}]}], [{hour: [{...sample, lagging: -1}]}, 'hour[0].lagging'],
    [{users: [user, {...user, backlogMs: '1'}]}, 'users[1].backlogMs'], [{addresses: [{address: 7}]}, 'addresses[0].'],
  ]) {
    const driver = new MachineDriver()
    driver.logIn()
    driver.request('status', 'status', {})
    driver.answer({...answer, ...change})
    const {reason} = driver.events('link').at(-1)
    if (field) assert.ok(reason?.text.includes(`status.${field}`), `${field}: ${reason?.text}`)
    else assert.equal(reason, undefined)
  }
})

test('[AC13] bans come in pages, one behind the other; pages that do not go on are a fault of the relay', async () => {
  const client = new RelayClient(() => ({send() {}, close() {}, bufferedBytes: 0}), 'host')
  const ban = user => ({user, by: 'host', time: 1})
  const pages = {first: {bans: [ban('anna')], next: 'anna'}, anna: {bans: [ban('bob')]}}
  client.request = async (_, {after = 'first'}) => pages[after]
  assert.deepEqual((await client.moderation.bans()).map(({user}) => user), ['anna', 'bob'])
  pages.anna.next = 'anna'
  await assert.rejects(client.moderation.bans(), {name: 'relayFault'})
  const driver = new MachineDriver()
  driver.logIn()
  driver.request('bans', 'getBans', {})
  driver.answer({bans: [{user: 'anna', by: 'host', time: 'x'}]})
  assert.match(driver.events('link').at(-1).reason.text, /getBans.bans\[0\].time/)
  await client.close()
})
