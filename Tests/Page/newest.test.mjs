// Readers of what is newest of a channel, and of what concerns this client alone; the relay is played.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {plain} from './support/machine-driver.mjs'
import {openLesson, PlayedRelay, turn} from './support/played-relay.mjs'

const pen = {lock: 'pen', ttlMs: 1_000}
const locks = (event, ...list) => ({type: 'locks', body: {channel: 7, event, locks: list}})
const mode = (on, channel = 7) => ({type: 'modeChanged', body: {channel, mode: 'frozen', on, by: 'host'}})
const publisher = (topic, user, meta = '', device = 'd1') => ({topic, user, device, meta})
const topics = (event, publishers, more = {}) => ({type: 'topics', body: {channel: 9, event, publishers, ...more}})
const next = async reader => (await reader.next()).value
const over = {done: true, value: undefined}

/** In the stream channel of the lesson, too: it follows a topic. */
async function followed() {
  const at = await openLesson()
  const following = at.lesson.topic('points').follow()
  await turn()
  at.relay.answer('join', {kind: 'stream', channel: 'lesson', handle: 9, features: [], quiet: false})
  at.relay.say(topics('snapshot', []))
  await turn()
  at.relay.answer('subscribeTopic', {all: true, succeeded: [], failed: []})
  await following
  return at
}

async function left({relay, lesson}, types) {
  const leaving = lesson.leave()
  await turn()
  for (const type of types) relay.answer(type)
  await leaving
}

// MARK: Locks

test('lockStates: those that there are, by name, then the newest; what was not taken is skipped', async () => {
  const at = await openLesson()
  const {relay, lesson, client} = at
  const early = lesson.lockStates()
  assert.deepEqual(await next(early), new Map())
  relay.say(locks('snapshot', pen, {lock: 'page', ttlMs: 5_000}))
  await turn()
  const first = await next(early)
  assert.deepEqual([...first.keys()], ['pen', 'page'])
  relay.say(locks('acquired', {...pen, owner: 'bob', ownerDevice: 'b1', fencing: 3}))
  await turn()
  relay.say(locks('removed', {lock: 'page', ttlMs: 5_000}))
  await turn()
  const late = lesson.lockStates()
  for (const reader of [early, late]) {
    assert.deepEqual(plain([...await next(reader)]), [['pen', {...pen, owner: 'bob', ownerDevice: 'b1', fencing: 3}]])
  }
  assert.deepEqual([first.size, first.get('pen').owner], [2, undefined], 'what somebody has taken stays as it is')
  relay.say(locks('released', pen))
  await turn()
  assert.equal((await next(late)).get('pen').owner, undefined)
  relay.say(locks('snapshot'))
  await turn()
  assert.equal((await next(late)).size, 0, 'a snapshot is all there is')
  await left(at, ['unsubscribe'])
  assert.deepEqual([await next(early), await early.next(), await late.next()], [new Map(), over, over])
  assert.deepEqual(await next(lesson.lockStates()), new Map(), 'nothing is known of a channel that was left')
  await client.close()
})

test('lockStates: break and a signal end it', async () => {
  const {lesson, client} = await openLesson()
  const abort = new AbortController()
  const reader = lesson.lockStates({signal: abort.signal})
  await next(reader)
  const waiting = reader.next()
  abort.abort()
  assert.deepEqual(await waiting, over)
  for await (const states of lesson.lockStates()) {
    assert.equal(states.size, 0)
    break
  }
  await client.close()
})

// MARK: Topics

test('publishedTopics: who publishes, in order of topic, user and device, however long the snapshot is', async () => {
  const at = await followed()
  const {relay, lesson, client} = at
  const reader = lesson.publishedTopics()
  assert.deepEqual(await next(reader), [])
  relay.say(topics('snapshot', [publisher('points', 'bob'), publisher('cursors', 'eve')], {more: true}),
    topics('snapshot', [publisher('points', 'ann', 'red')]))
  await turn()
  const found = await next(reader)
  assert.deepEqual(found, [publisher('cursors', 'eve'), publisher('points', 'ann', 'red'), publisher('points', 'bob')])
  const joined = publisher => topics('publisherJoined', [publisher])
  relay.say(joined(publisher('points', 'ann', '', 'd0')), joined(publisher('points', 'bob', 'blue')),
    topics('publisherLeft', [publisher('cursors', 'eve')]))
  await turn()
  assert.deepEqual(await next(reader),
      [publisher('points', 'ann', '', 'd0'), publisher('points', 'ann', 'red'), publisher('points', 'bob', 'blue')])
  assert.equal(found.length, 3)
  relay.say(topics('snapshot', []))
  await turn()
  assert.deepEqual(await next(reader), [], 'a new session knows only what it is told')
  await left(at, ['unsubscribe', 'leave'])
  assert.deepEqual(await reader.next(), over)
  await client.close()
})

test('publishedTopics: a client that is out of the topics alone has none', async () => {
  const {relay, lesson, client} = await followed()
  relay.say(topics('publisherJoined', [publisher('points', 'bob')]))
  await turn()
  const reader = lesson.publishedTopics()
  assert.equal((await next(reader)).length, 1)
  relay.say({type: 'removed', body: {channel: 9, code: 139, text: 'no stream any more'}})
  await turn()
  assert.deepEqual(await next(reader), [])
  await client.close()
})

// MARK: Permissions

test('permissions: rights and modes, whatever changes them; without a change there is no other value', async () => {
  const relay = new PlayedRelay()
  const {client} = relay
  const lesson = client.channel('lesson')
  const reader = lesson.permissions()
  assert.deepEqual(await next(reader), {rights: undefined, modes: new Set()}, 'before the first login nobody knows')
  await relay.connected()
  const host = await next(reader)
  assert.deepEqual([host.rights.has('clear'), host.modes.size], [true, 0])
  const opening = lesson.open()
  await turn()
  relay.opened({modes: ['frozen']})
  await opening
  assert.deepEqual((await next(reader)).modes, new Set(['frozen']))
  relay.say({type: 'accessChanged', body: {role: 'reader', by: 'host'}})
  await turn()
  assert.deepEqual(await next(reader), {rights: new Set(['subscribe', 'presence']), modes: new Set(['frozen'])})
  const renewed = client.renew({key: 'other'})
  await turn()
  relay.answer('renew', {access: {role: 'editor'}})
  await renewed
  const {rights, modes} = await next(reader)
  assert.deepEqual([rights.has('publish'), rights.has('clear'), modes.size], [true, false, 1])
  relay.say(mode(false))
  await turn()
  const now = await next(reader)
  assert.deepEqual([now.rights, now.modes.size], [rights, 0])
  const late = lesson.permissions()
  assert.deepEqual(await next(late), now)
  relay.say({type: 'accessChanged', body: {role: 'editor', by: 'host'}})
  await turn()
  const waiting = reader.next()
  await turn()
  await client.close()
  assert.deepEqual([await waiting, await late.next()], [over, over], 'the same role is no news')
})

test('permissions: a freeze of both channels of a name ends with the last, and what is frozen stays so when topics are lost', async () => {
  const at = await followed()
  const {relay, lesson, client} = at
  const reader = lesson.permissions()
  await next(reader)
  relay.say(mode(true), mode(true, 9))
  await turn()
  assert.deepEqual((await next(reader)).modes, new Set(['frozen']))
  relay.say(mode(false))
  await turn()
  const waiting = reader.next()
  relay.say({type: 'removed', body: {channel: 9, code: 139, text: 'no stream any more'}})
  assert.equal((await waiting).value.modes.size, 0)
  await left(at, ['unsubscribe'])
  assert.deepEqual(await reader.next(), over)
  await client.close()
})

// MARK: Direct messages

test('[DM2] directMessages: every one, and nothing else; reading acknowledges none', async () => {
  const {relay, client} = await openLesson()
  const reader = client.directMessages()
  const told = (delivery, text) => ({type: 'directDeliver', delivery, time: 1, sender: 'bob', text: true, payload: Buffer.from(text)})
  relay.frames = []
  relay.say(told(3, 'hi'), mode(true), told(4, 'ho'))
  await turn()
  const [first, second] = [await next(reader), await next(reader)]
  assert.deepEqual([first.sender, first.payload, second.payload, relay.frames.length], ['bob', 'hi', 'ho', 0])
  second.acknowledge()
  await turn()
  assert.deepEqual(relay.frames.map(({type, delivery}) => [type, delivery]), [['directReceived', 4]])
  await client.close()
  assert.deepEqual(await reader.next(), over)
})

// MARK: Join codes

/** A host who has offered a code. */
async function offered(options = {}) {
  const {lesson, ...at} = await openLesson()
  const reader = at.client.moderation.joinCodes()
  assert.equal(await next(reader), null)
  const offering = at.client.moderation.offerJoinCode('lesson', options)
  await turn()
  at.relay.answer('offerJoinCode', {code: 'QPFDKW', validMs: 1_800_000})
  return {...at, reader, offering}
}

test('[AC20] joinCodes: the code that holds, until it is withdrawn or has ended', async () => {
  const {relay, client, reader, offering} = await offered()
  const {code} = await offering
  const shown = await next(reader)
  assert.deepEqual([code, Object.keys(shown), shown.code], ['QPFDKW', ['code', 'validMs'], 'QPFDKW'])
  assert.ok(shown.validMs > 1_700_000 && shown.validMs <= 1_800_000)
  assert.equal((await next(client.moderation.joinCodes())).code, 'QPFDKW', 'a reader that comes late has it, too')
  relay.say({type: 'joinCodeEnded', body: {reason: 'wrongTries'}})
  await turn()
  assert.equal(await next(reader), null)
  // What ends the code of before stands in front of the next one.
  const again = client.moderation.offerJoinCode('lesson')
  await turn()
  relay.say({type: 'joinCodeEnded', body: {reason: 'keyChanged'}},
    {type: 'answer', body: {id: relay.asked('offerJoinCode').id, code: 'BCDFGH', validMs: 1_000}})
  await again
  assert.equal((await next(reader)).code, 'BCDFGH')
  const withdrawn = client.moderation.withdrawJoinCode()
  await turn()
  relay.answer('withdrawJoinCode')
  await withdrawn
  assert.equal(await next(reader), null)
  await client.close()
  assert.deepEqual(await reader.next(), over)
})

test('[AC20] joinCodes: a caller who has gone changes nothing; a new session has no code, one that goes on has', async () => {
  const abort = new AbortController()
  const {relay, client, reader, offering} = await offered({signal: abort.signal})
  abort.abort()
  await assert.rejects(offering, {name: 'cancelled'})
  assert.equal((await next(reader)).code, 'QPFDKW')
  const {welcome} = relay
  for (const [resumed, code] of [[true, 'QPFDKW'], [false, undefined]]) {
    relay.welcome = ({resume, ...body}) => welcome.call(relay, resumed ? {...body, resume} : body)
    relay.end()
    while (client.link.state === 'connected') await turn()
    while (client.link.state !== 'connected') await turn()
    assert.equal((await next(client.moderation.joinCodes()))?.code, code)
  }
  assert.equal(await next(reader), null)
  await relay.leave()
})

// MARK: Problems that were events alone

test('problems: drops that nobody has read are one for each topic and reason, and push no refusal out', async () => {
  const {relay, lesson, client} = await followed()
  const starting = lesson.topic('points').startPublishing()
  await turn()
  relay.answer('joinTopic', {flow: 50, next: 1})
  await starting
  for (let total = 1; total <= 150; total++) relay.say({type: 'packetsDropped', body: {flow: 50, dropped: 1, total}})
  await turn()
  const problems = client.problems()
  const {subject, count, error} = await next(problems)
  assert.deepEqual([subject, count, error.name], ['packets', 150, 'rateLimited'])
  await client.close()
  assert.deepEqual(await problems.next(), over)
})

test('problems: packets that the client has dropped, with their number and why; events tell them as before', async () => {
  const {relay, lesson, client} = await followed()
  const starting = lesson.topic('points').startPublishing()
  await turn()
  relay.answer('joinTopic', {flow: 50, next: 1})
  const points = await starting
  const [problems, events] = [client.problems(), client.events()]
  relay.say({type: 'packetsDropped', body: {flow: 50, dropped: 2, total: 2}})
  await turn()
  const tooFast = await next(problems)
  assert.deepEqual({...tooFast, error: tooFast.error.name},
      {type: 'refused', subject: 'packets', channel: 'lesson', topic: 'points', count: 2, error: 'rateLimited'})
  assert.match(tooFast.error.message, /^packets were dropped: they came faster/)
  assert.deepEqual(await next(events), {type: 'packetsDropped', channel: 'lesson', topic: 'points', reason: 'overRate', dropped: 2})
  relay.isUp = false
  relay.end()
  while (client.link.state === 'connected') await turn()
  points.send('a')
  points.send('b')
  points.send('c')
  await client.close()
  const closed = await next(problems)
  assert.deepEqual([closed.count, closed.error.name], [3, 'clientClosed'])
  assert.deepEqual(await problems.next(), over)
})

test('[AC20, AC8] problems: why a join code ended, and that a token ends where the app brings none by itself', async () => {
  const {relay, client} = await openLesson()
  const problems = client.problems()
  const names = []
  for (const reason of ['expired', 'wrongTries', 'keyChanged', 'notPermitted', 'of a newer relay']) {
    relay.say({type: 'joinCodeEnded', body: {reason}})
    await turn()
    const {type, subject, error} = await next(problems)
    assert.deepEqual([type, subject], ['refused', 'joinCode'])
    names.push([error.name, error.retry])
  }
  assert.deepEqual(names, [['codeWrong', 'now'], ['rateLimited', 'now'], ['keyChanged', 'now'], ['notPermitted', 'never'],
    ['codeWrong', 'now']])
  relay.say({type: 'accessExpiring', body: {inMs: 30_000}})
  await turn()
  const {subject, error} = await next(problems)
  assert.deepEqual([subject, error.name], ['token', 'accessExpired'])
  await client.close()
  const tokens = await openLesson({token: () => 'a.b.c'})
  const quiet = tokens.client.problems()
  tokens.relay.say({type: 'accessExpiring', body: {inMs: 30_000}})
  await turn()
  tokens.relay.answer('renew', {access: {role: 'editor'}})
  await turn()
  await tokens.client.close()
  assert.deepEqual(await quiet.next(), over, 'it asks the app by itself')
})

test('problems: one that nobody reads is kept for the first reader, and logged; who reads events has it', async () => {
  const {warn} = console
  const lines = []
  console.warn = line => lines.push(line)
  try {
    const {relay, client} = await openLesson()
    relay.say({type: 'joinCodeEnded', body: {reason: 'expired'}})
    await turn()
    assert.match(lines.join(), /joinCode, codeWrong: the join code has expired/)
    assert.equal((await next(client.problems())).subject, 'joinCode')
    const events = client.events()
    relay.say({type: 'joinCodeEnded', body: {reason: 'expired'}})
    await turn()
    assert.equal((await next(events)).reason, 'expired')
    await client.close()
    assert.equal(lines.length, 1)
  } finally {
    console.warn = warn
  }
})
