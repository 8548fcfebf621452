// Calls that end: at cancellation, when their time is over, without a link; and what is known of them then. The relay is played.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {deliver} from './support/machine-driver.mjs'
import {openLesson, PlayedRelay, turn} from './support/played-relay.mjs'

const entered = {kind: 'message', channel: 'lesson', handle: 7, features: [], quiet: false, epoch: {start: 1000, incarnation: 1}, head: 0}
const joined = {kind: 'stream', channel: 'lesson', handle: 9, features: [], quiet: false}
const status = {uptimeMs: 1, connections: 1, boards: 0, boardBytes: 0, queuedBytes: 0, pinnedBytes: 0, sessions: {present: 1, away: 0},
  channels: {message: 0, stream: 0}, counters: {}, addresses: [], users: []}
const revision = {majorRevision: 1}

/**
 * Every call that waits: its name, how an app makes it, the request that it makes, what the relay answers; `handsOver` where cancellation
 * ends the waiting only.
 */
const calls = [
  ['open', ({lesson}, call) => lesson.open(call), 'subscribe', entered],
  ['leave', ({lesson}, call) => lesson.leave(call), 'unsubscribe', {}, {handsOver: true, isOpen: true}],
  ['upToDate', ({lesson}, call) => lesson.upToDate(call), 'barrier', {}],
  ['client.upToDate', ({client}, call) => client.upToDate(call), 'barrier', {}],
  ['history', ({lesson}, call) => lesson.history({limit: 1, ...call}), 'history', {head: 0, count: 0, floor: 0}],
  ['locks', ({lesson}, call) => lesson.locks(call), 'getLocks', {locks: []}],
  ['boards', ({client}, call) => client.boards(call), 'boards', {bytes: 0, bytesMax: 1, boards: []}],
  ['boards unused', ({client}, call) => client.boards({unusedFor: 1, ...call}), 'boards', {bytes: 0, bytesMax: 1, boards: []}],
  ['records', ({lesson}, call) => lesson.board.records(call), 'subscribe', entered, {leaves: 'unsubscribe'}],
  ['clear', ({lesson}, call) => lesson.board.clear(call), 'clear', {offset: 1, records: 0}],
  ['undoClear', ({lesson}, call) => lesson.board.undoClear(call), 'undoClear', {offset: 1, records: 0}],
  ['board.delete', ({lesson}, call) => lesson.board.delete(call), 'removeBoard', {}],
  ['board.delete unused', ({lesson}, call) => lesson.board.delete({unusedFor: 1, ...call}), 'removeBoard', {}],
  ['presence.set', ({lesson}, call) => lesson.presence.set({name: 'A'}, call), 'setStates', {}],
  ['presence.remove', ({lesson}, call) => lesson.presence.remove(['name'], call), 'removeStates', {}],
  ['presence.users', ({lesson}, call) => lesson.presence.users(call), 'who', {total: 0, members: []}],
  ['presence.states', ({lesson}, call) => lesson.presence.states('bob', call), 'getStates', {states: {}}],
  ['metadata.set', ({lesson}, call) => lesson.metadata.set({title: 'x'}, call), 'setMetadata', revision],
  ['metadata.update', ({lesson}, call) => lesson.metadata.update({title: 'x'}, call), 'updateMetadata', revision],
  ['metadata.remove', ({lesson}, call) => lesson.metadata.remove(['title'], call), 'removeMetadata', revision],
  ['metadata.removeAll', ({lesson}, call) => lesson.metadata.removeAll(call), 'removeMetadata', revision],
  ['metadata.get', ({lesson}, call) => lesson.metadata.get(call), 'getMetadata', undefined],
  ['metadata.follow', ({client}, call) => client.person('bob').metadata.follow(call), 'subscribeUserMetadata', {}],
  ['metadata.unfollow', ({client}, call) => client.person('bob').metadata.unfollow(call), 'unsubscribeUserMetadata', {},
    {handsOver: true}],
  ['lock.make', ({lesson}, call) => lesson.lock('pen').make(call), 'setLock', {}],
  ['lock.acquire', ({lesson}, call) => lesson.lock('pen').acquire(call), 'acquireLock', {fencing: 1}, {cancels: true}],
  ['lock.with', ({lesson}, call) => lesson.lock('pen').with(() => {}, call), 'acquireLock', {fencing: 1},
    {cancels: true, then: 'releaseLock'}],
  ['lock.release', ({lesson}, call) => lesson.lock('pen').release(call), 'releaseLock', {}, {handsOver: true}],
  ['lock.revoke', ({lesson}, call) => lesson.lock('pen').revoke({from: 'bob', ...call}), 'revokeLock', {}],
  ['lock.remove', ({lesson}, call) => lesson.lock('pen').remove(call), 'removeLock', {}],
  ['startPublishing', ({lesson}, call) => lesson.topic('points').startPublishing(call), 'join', joined, {then: 'joinTopic'}],
  ['follow', ({lesson}, call) => lesson.topic('points').follow(call), 'join', joined, {then: 'subscribeTopic'}],
  ['followed', ({lesson}, call) => lesson.topic('points').followed(call), 'subscribedUsers', {all: true, users: []}],
  ['person.channels', ({client}, call) => client.person('bob').channels(call), 'where', {channels: []}],
  ['handOver', ({client}, call) => client.handOver(call), 'offerDevice', {code: 'x', validMs: 1}],
  ['renew', ({client}, call) => client.renew({key: 'k'}, call), 'renew', {access: {role: 'reader'}}, {isAtOnce: true}],
  ['setReaderLimits', ({client}, call) => client.setReaderLimits({}, call), 'setReaderLimits', {}],
  ['joinKey', ({client}, call) => client.joinKey(call), 'status', status],
  ['status', ({client}, call) => client.moderation.status(call), 'status', status],
  ['setRole', ({client}, call) => client.moderation.setRole('reader', {of: 'bob', ...call}), 'setRole', {}],
  ['freeze', ({client}, call) => client.moderation.freeze('lesson', call), 'setMode', {}],
  ['offerJoinCode', ({client}, call) => client.moderation.offerJoinCode('lesson', call), 'offerJoinCode', {code: 'x', validMs: 1}],
  ['withdrawJoinCode', ({client}, call) => client.moderation.withdrawJoinCode(call), 'withdrawJoinCode', {}],
  ['openEditing', ({client}, call) => client.moderation.openEditing('lesson', call), 'setMode', {}],
  ['endSession', ({client}, call) => client.moderation.endSession({of: 'bob', ...call}), 'endSession', {}],
  ['endChannel', ({client}, call) => client.moderation.endChannel('lesson', call), 'endChannel', {}],
  ['ban', ({client}, call) => client.moderation.ban('bob', call), 'banUser', {}],
  ['unban', ({client}, call) => client.moderation.unban('bob', call), 'unbanUser', {}],
  ['bans', ({client}, call) => client.moderation.bans(call), 'getBans', {bans: []}],
  ['forget', ({client}, call) => client.moderation.forget({user: 'bob', ...call}), 'forgetUser',
    {metadata: 0, role: false, idFreed: false, boards: 0, records: 0, keptBytes: 0, banned: false, here: true}],
  ['removeRecords', ({client}, call) => client.moderation.removeRecords({of: 'bob', from: 'lesson', ...call}), 'removeRecords',
    {records: 0}],
]

async function start({isOpen} = {}) {
  if (isOpen) return openLesson()
  const relay = await new PlayedRelay().connected()
  return {relay, client: relay.client, lesson: relay.client.channel('lesson')}
}

/** A client whose link does not come about. */
function offline() {
  const relay = new PlayedRelay()
  relay.isUp = false
  return {relay, client: relay.client, lesson: relay.client.channel('lesson')}
}

const types = ({frames}) => frames.map(({type}) => type)

for (const [name, make, type, answer, how = {}] of calls) {
  const {handsOver = false, isOpen = false, isAtOnce = false, cancels = false, then, leaves} = how

  test(`${name}: cancelled before it begins it ${handsOver ? 'hands its work over' : 'sends nothing'}`, async () => {
    const at = await start(how)
    at.relay.frames = []
    const outcome = handsOver ? 'unknown' : 'nothingHappened'
    await assert.rejects(make(at, {signal: AbortSignal.abort()}), {name: 'cancelled', code: 141, outcome})
    await turn()
    assert.deepEqual(types(at.relay).filter(sent => sent !== leaves), handsOver ? [type] : [])
    await at.relay.leave()
  })

  if (!isOpen && !isAtOnce) test(`${name}: cancelled, or out of time, while it waits here it is withdrawn; offline 'fail' does not wait`,
      async () => {
    const at = offline()
    const abort = new AbortController()
    const outcome = handsOver ? 'unknown' : 'nothingHappened'
    const waiting = make(at, {signal: abort.signal})
    await turn()
    abort.abort()
    await assert.rejects(waiting, {name: 'cancelled', outcome})
    await assert.rejects(make(at, {timeout: 1}), {name: 'timedOut', code: 901, outcome})
    await assert.rejects(make(at, {offline: 'fail'}), {name: 'notConnected', outcome: 'nothingHappened'})
    at.relay.isUp = true
    while (at.client.link.state !== 'connected') await turn()
    await turn()
    assert.deepEqual(types(at.relay).filter(sent => sent !== leaves), handsOver ? [type, type] : [])
    await at.relay.leave()
  })

  test(`${name}: cancelled, or out of time, once it was sent nobody knows; an answer that comes late hurts nobody`, async () => {
    for (const end of ['cancelled', 'timedOut']) {
      const at = await start(how)
      const abort = new AbortController()
      at.relay.frames = []
      const waiting = make(at, end === 'cancelled' ? {signal: abort.signal} : {timeout: 20})
      await turn()
      assert.equal(types(at.relay)[0], type)
      abort.abort()
      await assert.rejects(waiting, {name: end, outcome: 'unknown'})
      await turn()
      const rest = types(at.relay).slice(1).filter(sent => sent !== leaves)
      assert.deepEqual(rest, cancels || type === 'barrier' ? ['cancel'] : [])
      if (answer) at.relay.answer(type, answer)
      await turn()
      assert.equal(at.client.link.state, 'connected')
      await at.relay.leave()
    }
  })

  if (answer && name !== 'records') test(`${name}: cancelled behind its answer nothing changes`, async () => {
    const at = await start(how)
    const abort = new AbortController()
    const waiting = make(at, {signal: abort.signal})
    await turn()
    at.relay.answer(type, answer)
    await turn()
    if (then === 'joinTopic') at.relay.answer(then, {flow: 50, next: 1})
    else if (then === 'subscribeTopic') at.relay.answer(then, {all: true, succeeded: [], failed: []})
    else if (then) at.relay.answer(then)
    await waiting
    const sent = types(at.relay).length
    abort.abort()
    await turn()
    assert.equal(types(at.relay).length, sent)
    await at.relay.leave()
  })
}

test('connect: it only waits; cancelled, failed or out of time the client goes on trying', async () => {
  const {relay, client} = offline()
  await assert.rejects(client.connect({signal: AbortSignal.abort()}), {name: 'cancelled', outcome: 'nothingHappened'})
  assert.equal(relay.links, 0)
  await assert.rejects(client.connect(), {name: 'connectFailed'})
  const states = client.linkStates()
  assert.notEqual((await states.next()).value.state, 'closed')
  relay.isUp = true
  await client.connect({timeout: 20_000})
  assert.equal(client.link.state, 'connected')
  await client.connect()
  await client.close()
  await assert.rejects(client.connect(), {name: 'clientClosed'})
})

test('close: cancellation ends the waiting only; a client that never connected closes at once', async () => {
  const {relay, client} = await start()
  const sent = client.channel('lesson').send('last')
  await client.close({signal: AbortSignal.abort()})
  assert.equal(client.link.state, 'connected', 'it is on its way')
  relay.say({type: 'accepted', number: 1, offset: 1})
  assert.equal(await sent.accepted, 1)
  await turn()
  await turn()
  assert.equal(client.link.state, 'closed')
  const never = offline()
  await never.client.close()
  assert.deepEqual([never.client.link.state, never.relay.links], ['closed', 0])
})

test('what is sent before there is a relay waits, is shown, and goes when there is one; sending takes no signal', async () => {
  const {relay, client, lesson} = offline()
  const pictures = lesson.board.pictures()
  const receipt = lesson.board.put('s1', 'x')
  const {value} = await pictures.next()
  assert.deepEqual([value.records.get('s1').isPending, client.unsent.messages], [true, 1])
  const opening = lesson.open()
  await turn()
  relay.isUp = true
  client.wakeUp()
  await turn()
  await turn()
  await turn()
  assert.deepEqual(types(relay), ['publish', 'subscribe'], 'in the order of the calls')
  relay.say({type: 'accepted', number: 1, offset: 1}, {type: 'stored', number: 1, offset: 1})
  relay.opened()
  assert.deepEqual([await receipt.stored, await opening], [1, undefined])
  assert.throws(() => lesson.board.put('s1', 'x', {signal: AbortSignal.abort()}), TypeError)
  await client.close()
})

test('a channel that is opened again while a call before is withdrawn is open, from the board', async () => {
  const {relay, client, lesson} = offline()
  const abort = new AbortController()
  const first = lesson.open({signal: abort.signal})
  abort.abort()
  const second = lesson.open()
  await assert.rejects(first, {name: 'cancelled', outcome: 'nothingHappened'})
  relay.isUp = true
  while (client.link.state !== 'connected') await turn()
  await turn()
  assert.deepEqual(relay.frames.map(({type, body: {since}}) => [type, since?.beginning]), [['subscribe', true]])
  const changes = lesson.board.changes()
  relay.opened({after: 0})
  relay.say({type: 'caughtUp', body: {channel: 7, head: 0}})
  await second
  assert.deepEqual(await changes.next(), {done: false, value: {type: 'caughtUp', head: 0}})
  // One that fails behind both leaves it as it was.
  await assert.rejects(lesson.open({parts: [], signal: AbortSignal.abort()}), {name: 'cancelled'})
  assert.equal(lesson.state.asked.receives, true)
  await relay.leave()
})

// MARK: Options and problems

test('an option that there is not is an error that names the nearest one', async () => {
  const {client, lesson} = offline()
  const wrong = {
    'put has no option retian; the nearest is customType': () => lesson.board.put('s1', 'x', {retian: true}),
    'put has no option custmType; the nearest is customType': () => lesson.board.put('s1', 'x', {custmType: 'a'}),
    'send has no option ecko; the nearest is echo': () => lesson.send('x', {ecko: true}),
    'open has no option form; the nearest is from': () => lesson.open({form: 'now'}),
    'open has no option part; the nearest is parts': () => lesson.open({part: []}),
    'acquire has no option waitMs; the nearest is wait': () => lesson.lock('pen').acquire({waitMs: 5}),
    'packets has no option form; the nearest is from': () => lesson.topic('points').packets({form: []}),
    'clear has no option timeOut; the nearest is timeout': () => lesson.board.clear({timeOut: 5}),
    'new RelayClient has no option storge; the nearest is storage': () => new RelayClient(() => {}, 'alice', {storge: 1}),
    'open: there is no part message; there are messages, presence, metadata, locks': () => lesson.open({parts: ['message']}),
    "open: offline is 'wait' or 'fail', not yes": () => lesson.open({offline: 'yes'}),
    'open: timeout is a number of milliseconds, not soon': () => lesson.open({timeout: 'soon'}),
    'open: signal is an AbortSignal': () => lesson.open({signal: {}}),
    'open: options are an object': () => lesson.open('now'),
    "open: parts is a list, not 'presence'": () => lesson.open({parts: 'presence'}),
    'open: parts is a list, not null': () => lesson.open({parts: null}),
    "remove: keys is a list, not 'name'": () => lesson.presence.remove('name'),
    "remove: keys is a list, not 'title'": () => lesson.metadata.remove('title'),
    'remove: keys is a list, not undefined': () => lesson.metadata.remove(),
    "packets: from is a list, not 'bob'": () => lesson.topic('points').packets({from: 'bob'}),
    "follow: from is a list, not 'bob'": () => lesson.topic('points').follow({from: 'bob'}),
    "set: states is an object of texts, not 'name'": () => lesson.presence.set('name'),
    'set: states is an object of texts, not null': () => lesson.presence.set(null),
    'set: values is an object of texts, not a list': () => lesson.metadata.set(['title']),
    'update: title is a text, not 5': () => lesson.metadata.update({title: 5}),
    'set: name is a text, not undefined': () => lesson.presence.set({name: undefined}),
  }
  for (const [message, call] of Object.entries(wrong)) await assert.rejects(async () => call(), {name: 'TypeError', message})
  assert.throws(() => client.channel('a/b'), {name: 'badName'})
  assert.throws(() => new RelayClient(() => {}, 'a/b'), {name: 'badName'})
  assert.equal(client.channel('lesson'), lesson, 'two handles of a name are one')
  await client.close()
})

test('problems: failures of receipts that nobody asked, and refusals that no call waited for; the last 100 for the first reader', async () => {
  const {warn} = console
  const lines = []
  console.warn = line => lines.push(line)
  const {relay, client, lesson} = await start()
  try {
    const fail = async send => {
      const {number} = await send()
      relay.say({type: 'error', body: {number, code: 139, name: 'notPermitted', text: 'no', retry: 'never', credit: 60}})
      await turn()
    }
    const sent = async receipt => (await turn(), {number: relay.frames.findLast(({number}) => number).number, receipt})
    for (let count = 0; count < 102; count++) await fail(() => sent(lesson.board.put(`k${count}`, 'x')))
    const asked = []
    await fail(() => {
      const receipt = lesson.board.put('asked', 'x')
      asked.push(assert.rejects(receipt.stored, {name: 'notPermitted'}))
      return sent(receipt)
    })
    await Promise.all(asked)
    assert.equal(lines.length, 1, 'one line a minute')
    assert.match(lines[0], /record, notPermitted/)
    const problems = client.problems()
    const next = async () => (await problems.next()).value
    assert.deepEqual(await next(), {type: 'refused', subject: 'omitted', omitted: 2})
    const first = await next()
    assert.deepEqual([first.subject, first.channel, first.key, first.receipt, first.error.name],
        ['record', 'lesson', 'k2', 3, 'notPermitted'])
    for (let count = 0; count < 99; count++) await next()
    relay.say({type: 'error', body: {code: 111, name: 'unknownFlow', text: 'gone', retry: 'never', flow: 3}})
    await turn()
    assert.equal((await next()).subject, 'packet')
    await fail(() => sent(lesson.send('x')))
    assert.equal((await next()).subject, 'message')
    assert.equal(lines.length, 1, 'somebody reads')
  } finally {
    console.warn = warn
    await relay.leave()
  }
})

test('[DM2] reading acknowledges no direct message; its receipt is accepted when the app says so', async () => {
  const {relay, client} = await start()
  const events = client.events()
  relay.say({type: 'directDeliver', delivery: 3, time: 1, sender: 'bob', text: true, payload: Buffer.from('hi')})
  const {value} = await events.next()
  await turn()
  assert.deepEqual([value.payload, types(relay)], ['hi', []])
  value.acknowledge()
  await turn()
  assert.deepEqual(relay.frames.map(({type, delivery}) => [type, delivery]), [['directReceived', 3]])
  await client.close()
})

test('own records come back among the changes once they are stored, marked with their receipt; a batch as one', async () => {
  const {relay, client, lesson} = await openLesson()
  const [changes, events] = [lesson.board.changes(), lesson.events()]
  const receipt = lesson.board.put('mine', 'x')
  const answers = ['accepted', 'stored'].map(type => ({type, number: 1, offset: 1}))
  relay.say(answers[0], deliver(2, 'y', {key: 'theirs', retain: true}), answers[1])
  await turn()
  await turn()
  const [theirs, own] = [(await changes.next()).value, (await changes.next()).value]
  assert.deepEqual([theirs.isOwn, theirs.records[0].key], [undefined, 'theirs'])
  assert.deepEqual([own.isOwn, own.receipt, own.records.map(({key, offset, author, isPending}) => [key, offset, author, isPending])],
      [true, receipt.id, [['mine', 1, 'alice', undefined]]])
  const batch = lesson.board.batch(set => {
    set.put('a', '1')
    set.remove('theirs')
  })
  await turn()
  const number = relay.frames.findLast(({type}) => type === 'publishChanges').number
  relay.say({type: 'accepted', number, offset: 4}, {type: 'stored', number, offset: 4})
  const {value} = await changes.next()
  assert.deepEqual([value.receipt, value.records.map(({key, offset, payload}) => [key, offset, payload])],
      [batch.id, [['a', 3, '1'], ['theirs', 4, undefined]]])
  const seen = []
  for (let count = 0; count < 3; count++) seen.push((await events.next()).value)
  assert.deepEqual(seen.map(({type, key, isOwn, receipt}) => [type, key, isOwn, receipt]),
      [['message', 'theirs', undefined, undefined], ['message', 'mine', true, receipt.id], ['board', undefined, true, batch.id]])
  await client.close()
})
