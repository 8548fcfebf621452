// Those who read a client: each has a cursor of its own, nobody hurts anybody, and nothing grows.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {Limits} from '../../Sources/RelayPage/client/limits.js'
import {Readers} from '../../Sources/RelayPage/client/readers.js'
import {deliver, record} from './support/machine-driver.mjs'
import {openLesson, PlayedRelay, turn} from './support/played-relay.mjs'

const {readerBytesMax, readersBytesMax, readerPatienceMs} = Limits
const all = event => event

/** Everything that a reader has waiting, taken. */
async function rest(readers, cursor, now = 0) {
  const taken = []
  while (cursor.count > 0) taken.push((await readers.take(cursor, now)).value)
  return taken
}

test('each reader gets everything from where it was made on, whatever the others do', async () => {
  const {relay, lesson, client} = await openLesson()
  const [first, second] = [lesson.messages(), lesson.messages()]
  relay.say(deliver(1, 'a'), deliver(2, 'b'))
  await turn()
  const late = client.events()
  relay.say(deliver(3, 'c'))
  await turn()
  const payloads = async (reader, count) => {
    const taken = []
    for (let at = 0; at < count; at++) taken.push((await reader.next()).value.payload)
    return taken
  }
  assert.deepEqual(await payloads(first, 3), ['a', 'b', 'c'])
  assert.deepEqual(await payloads(late, 1), ['c'])
  assert.deepEqual(await payloads(second, 3), ['a', 'b', 'c'], 'it did not read while the first did')
  await client.close()
  for (const reader of [first, second]) assert.deepEqual(await reader.next(), {done: true, value: undefined})
  assert.equal((await late.next()).value.state, 'closed')
})

test('what open brings waits for readers that were made before it, before there is a connection', async () => {
  const relay = new PlayedRelay()
  const lesson = relay.client.channel('lesson')
  const [changes, pictures, states] = [lesson.board.changes(), lesson.board.pictures(), relay.client.linkStates()]
  assert.equal(relay.links, 0, 'a reader connects nobody')
  assert.deepEqual([(await states.next()).value.state, (await pictures.next()).value.records.size], ['idle', 0])
  const opening = lesson.open()
  await turn()
  await turn()
  relay.opened({after: 0, head: 2})
  relay.say({type: 'userNamed', handle: 2, user: 'bob'}, record(1, 'a', 'x'), record(2, 'b', 'y'),
    {type: 'caughtUp', body: {channel: 7, head: 2}})
  await opening
  await turn()
  const {value} = await changes.next()
  assert.deepEqual([value.type, value.records.map(({key, author}) => [key, author])], ['records', [['a', 'bob'], ['b', 'bob']]])
  assert.deepEqual((await changes.next()).value, {type: 'caughtUp', head: 2})
  assert.equal((await states.next()).value.state, 'connected', 'what was not taken is skipped')
  const picture = (await pictures.next()).value
  assert.deepEqual([[...picture.records.keys()], [...picture.changed], picture.isComplete], [['a', 'b'], ['a', 'b'], true])
  await relay.client.close()
})

test('nobody reads, and nothing hangs or grows: neither without readers, nor with one that takes nothing', async () => {
  const {relay, lesson, client} = await openLesson()
  const payload = Buffer.alloc(30_000, 'x')
  const forgotten = lesson.events()
  let offset = 0
  for (let round = 0; round < 300; round++) {
    relay.say(deliver(++offset, '', {payload}))
    await turn()
  }
  assert.deepEqual([client.readers.bytes, client.readers.cursors.size], [0, 0], '9 MB were told')
  assert.deepEqual([client.link.state, client.machine.unread.events.length], ['connected', 0])
  const receipt = lesson.send('still here')
  await turn()
  relay.say({type: 'accepted', number: 1, offset: ++offset})
  assert.equal(await receipt.accepted, offset)
  await assert.rejects(forgotten.next(), {name: 'tooSlow', limit: readerBytesMax})
  assert.deepEqual(await forgotten.next(), {done: true, value: undefined}, 'it is told once')
  await client.close()
})

test('break, a signal, leave and close end a loop without an error; what it had waiting goes', async () => {
  const {relay, lesson, client} = await openLesson()
  const abort = new AbortController()
  const loops = []
  const loop = async reader => {
    const taken = []
    for await (const {payload} of reader) {
      taken.push(payload)
      if (payload === 'break') break
    }
    return taken
  }
  loops.push(loop(lesson.messages()), loop(lesson.messages({signal: abort.signal})), loop(lesson.messages()), loop(client.events()))
  relay.say(deliver(1, 'a'), deliver(2, 'break'))
  await turn()
  assert.deepEqual(await loops[0], ['a', 'break'])
  assert.deepEqual(await loop(lesson.messages({signal: AbortSignal.abort()})), [])
  abort.abort()
  assert.deepEqual(await loops[1], ['a', 'break'])
  const left = lesson.leave()
  await turn()
  relay.answer('unsubscribe')
  await left
  await client.close()
  assert.deepEqual((await Promise.all(loops)).map(taken => taken.length > 0), [true, true, true, true])
  assert.deepEqual([client.readers.bytes, client.readers.cursors.size], [0, 0])
  assert.deepEqual(await loop(client.events()), [], 'a reader of a client that is closed is over')
})

// MARK: The bounds, on a clock moved by hand

const message = (number, text = 'm') => ({type: 'message', number, text})
const packet = (sequence, flow = 5) =>
  ({type: 'packet', flow, sequence, channel: 'lesson', topic: 'points', publisher: 'bob', device: 'bb'})

test('who lags loses packets first, told by flow in the place of the first; messages come all', async () => {
  const readers = new Readers()
  const cursor = readers.open(all, 0)
  const cost = readerBytesMax / 8
  const events = [message(1), packet(1), packet(2), message(2), packet(1, 6), packet(3), message(3), packet(4),
    message(4), message(5), message(6)]
  for (const event of events) readers.append(event, cost, false, 0)
  const taken = await rest(readers, cursor)
  assert.deepEqual(taken.map(({type, number}) => number ?? type), [1, 'packetsLost', 2, 3, 4, 5, 6])
  const [, lost] = taken
  assert.deepEqual([lost.reason, lost.entries.map(({flow, first, last}) => [flow, first, last])],
      ['readerLag', [[5, 1, 4], [6, 1, 1]]])
  assert.deepEqual([readers.bytes, cursor.bytes], [0, 0])
})

test('who lags with messages alone is told tooSlow, and others go on; one event that is larger than the bound ends nobody', async () => {
  const readers = new Readers()
  const [slow, fast, other] = [readers.open(all, 0), readers.open(all, 0), readers.open(({number}) => number > 6 ? number : undefined, 0)]
  for (let number = 1; number <= 9; number++) {
    readers.append(message(number), readerBytesMax / 4, false, 0)
    await rest(readers, fast)
  }
  await assert.rejects(readers.take(slow, 0), {name: 'tooSlow', limit: readerBytesMax})
  assert.deepEqual(await rest(readers, other), [7, 8, 9], 'it lags by what it wants')
  assert.equal(readers.bytes, 0)
  const patient = readers.open(all, 0)
  readers.append(message(1), 100, false, 0)
  readers.append(message(2), 2 * readerBytesMax, false, 0)
  assert.equal((await rest(readers, patient)).length, 2)
})

test('all readers together have a bound, where what several wait for counts once', async () => {
  const readers = new Readers()
  const cursors = Array.from({length: 8}, () => readers.open(all, 0))
  const cost = Math.floor(readerBytesMax / 4)
  for (let number = 1; number <= 4; number++) readers.append(message(number), cost, false, 0)
  assert.equal(readers.bytes, 4 * cost)
  assert.deepEqual(cursors.map(({count}) => count), Array(8).fill(4))
  // Each wants other events: together it is too much, and the one that lags most goes.
  const own = new Readers()
  const each = Array.from({length: 8}, (_, index) => own.open(({of}) => of === index ? of : undefined, 0))
  for (let of = 0; of < 8; of++) for (let count = 0; count < 3; count++) own.append({of}, Math.floor(readerBytesMax / 3), false, 0)
  assert.ok(own.bytes <= readersBytesMax)
  assert.ok(each.filter(({end}) => end?.error?.name === 'tooSlow').length >= 3)
  assert.equal(own.bytes, each.reduce((sum, {bytes}) => sum + bytes, 0))
})

test('while a channel catches up a full reader holds the relay back, until it has taken half; after 10 s in which it took nothing it ends',
    async () => {
  const readers = new Readers()
  const cursor = readers.open(all, 0)
  for (let number = 1; number <= 8; number++) readers.append(message(number), readerBytesMax / 4, true, 0)
  assert.deepEqual([readers.holdsBack, cursor.count, readers.nextDeadline], [true, 8, readerPatienceMs])
  readers.deadline(readerPatienceMs - 1)
  for (let count = 0; count < 6; count++) {
    assert.equal(readers.holdsBack, true)
    await readers.take(cursor, 9_000)
  }
  assert.deepEqual([readers.holdsBack, readers.nextDeadline], [false, Infinity])
  for (let number = 1; number <= 8; number++) readers.append(message(number), readerBytesMax / 4, true, 9_000)
  assert.equal(readers.nextDeadline, 9_000 + readerPatienceMs)
  readers.deadline(9_000 + readerPatienceMs)
  assert.equal(readers.holdsBack, false)
  await assert.rejects(readers.take(cursor, 20_000), {name: 'tooSlow'})
  assert.equal(readers.bytes, 0)
})

test('a board that comes faster than it is read waits in the link, and comes whole', async () => {
  const {relay, lesson, client} = await openLesson({}, {isReading: true, head: 400})
  const changes = lesson.board.changes()
  const large = 'x'.repeat(30_000)
  for (let offset = 1; offset <= 400; offset++) {
    relay.say(record(offset, `k${offset}`, large))
    await turn()
  }
  relay.say({type: 'caughtUp', body: {channel: 7, head: 400}})
  await turn()
  assert.deepEqual([relay.isPaused, client.machine.isHeldBack, client.heldBytes > 0], [true, true, true])
  assert.ok(client.readers.bytes < readerBytesMax + 1_000_000, `${client.readers.bytes}`)
  const keys = []
  for await (const {type, records} of changes) {
    if (type === 'caughtUp') break
    keys.push(...records.map(({key}) => key))
    assert.ok(client.readers.bytes < readerBytesMax + 1_000_000)
  }
  assert.equal(new Set(keys).size, 400)
  assert.deepEqual([relay.isPaused, client.machine.isHeldBack, client.heldBytes, client.link.state], [false, false, 0, 'connected'])
  await client.close()
})

test('where too much waits in a link that cannot be held back, it ends, and is taken up again where the reader stood', async () => {
  const {relay, lesson, client} = await openLesson({}, {isReading: true, head: 800})
  const [changes, states] = [lesson.board.changes(), client.linkStates()]
  const large = 'x'.repeat(30_000)
  for (let offset = 1; offset <= 800 && client.link.state === 'connected'; offset++) {
    relay.say(record(offset, `k${offset}`, large))
    await turn()
  }
  assert.deepEqual([client.link.state, client.link.reason.kind, client.heldBytes], ['paused', 'eventsNotRead', 0])
  const {offset: seen} = client.machine.messages.positions.get('lesson')
  let read = 0
  while (client.link.state === 'paused') read += (await changes.next()).value.records.length
  await turn()
  await turn()
  assert.deepEqual([client.link.state, client.link.resumed, relay.links, read > 0], ['connected', true, 2, true])
  assert.ok(seen < 400, `${seen}: what was not read counts as seen by nobody`)
  assert.equal((await states.next()).value.state, 'connected')
  await client.close()
})
