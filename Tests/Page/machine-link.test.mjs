// The client's machine and its link, on a clock moved by hand.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {encodeFrame} from '../../Sources/RelayPage/client/frames.js'
import {Limits} from '../../Sources/RelayPage/client/limits.js'
import {bob, deliver, MachineDriver, plain} from './support/machine-driver.mjs'

const closing = (code, text = 'x') => ({type: 'closing', body: {code, name: 'x', text}})

test('[SE2, SE6] a login says who comes, and its welcome is the answer', () => {
  const driver = new MachineDriver({credential: {key: 'k'}, presenceTimeoutMs: 60_000, description: 'test'})
  driver.connect()
  const login = driver.logIn()
  assert.deepEqual(plain(login), {
    id: 1, versions: [1], capabilities: ['goOn'], user: 'alice',
    instance: '00000000000000aa', secret: '01'.repeat(16), key: 'k', presenceTimeoutMs: 60_000,
        client: 'test',
  })
  assert.equal(driver.result('connect'), 'done')
  assert.deepEqual(driver.takeLinks(), ['connecting', 'connected'])
  assert.deepEqual([...driver.machine.access.rights('lesson')].includes('clear'), true)
})

test('[ER3] after a break it comes back at once, then after random pauses whose bound doubles up to 15 s', () => {
  const driver = new MachineDriver({random: () => 0.999})
  driver.logIn()
  const pauses = []
  for (let round = 0; round < 8; round++) {
    driver.cut()
    pauses.push(driver.machine.nextDeadline - driver.now)
    assert.equal(driver.machine.linkState.state, 'waiting')
    assert.equal(driver.machine.linkState.afterMs, pauses.at(-1))
    driver.advanceTo(driver.machine.nextDeadline)
    driver.open()
  }
  assert.deepEqual(pauses, [0, 499, 999, 1998, 3996, 7992, 14985, 14985])
  driver.logIn()
  driver.advance(Limits.linkGoodAfterMs - 1)
  assert.equal(driver.machine.state, 'waiting', 'nobody answered its pings')
})

test('[HB3] a session that was good for 15 s comes back at once again', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.comeBack()
  driver.comeBack()
  for (let second = 0; second < 15; second++) {
    driver.advance(1_000)
    driver.pong()
    driver.feed({type: 'pong', payload: Uint8Array.of(1)})
  }
  driver.cut()
  assert.equal(driver.machine.nextDeadline, driver.now)
})

for (const [code, comesBack] of [[200, true], [201, true], [205, true], [299, true], [300, false], [302, false], [308, false]]) {
  test(`[ER3, SE8] closed with ${code} it ${comesBack ? 'comes back' : 'stays away'}`, () => {
    const driver = new MachineDriver()
    driver.logIn()
    driver.send('a')
    driver.feed(closing(code))
    assert.equal(driver.machine.state, comesBack ? 'waiting' : 'closed')
    assert.deepEqual(driver.state('a'), [comesBack ? undefined : 'outcomeUnknown', undefined])
    if (!comesBack) assert.throws(() => driver.send('b'), {name: 'clientClosed'})
  })
}

test('[AC1, AC8] a refused first login is the end; later an expired token is tried again, and a new one helps', async () => {
  const refused = new MachineDriver()
  refused.connect()
  refused.feed({type: 'error', body: {id: 1, code: 136, name: 'keyWrong', text: 'wrong'}})
  assert.equal(refused.result('connect'), 'keyWrong')
  assert.equal(refused.machine.state, 'closed')

  const driver = new MachineDriver({credential: {token: 'old'}})
  driver.logIn()
  driver.cut()
  driver.advance(0)
  driver.open()
  const login = driver.sent().findLast(({type}) => type === 'login')
  driver.feed({type: 'error', body: {id: login.body.id, code: 135, name: 'tokenExpired', text: 'over'}})
  assert.equal(driver.machine.state, 'waiting')
  driver.machine.renew({token: 'new'}, driver.watch('renew'), driver.now)
  assert.equal(driver.result('renew'), 'done')
  driver.open()
  assert.equal(driver.logIn({resumed: true}).token, 'new')
  driver.machine.renew({token: 'newer'}, driver.watch('renew'), driver.now)
  driver.answer({access: {role: 'reader', untilMs: 5}})
  assert.equal(driver.machine.access.role, 'reader')
  assert.deepEqual(driver.machine.credential, {token: 'newer'})
  driver.feed({type: 'accessExpiring', body: {inMs: 30_000}})
  assert.deepEqual(driver.events('accessExpiring'), [{type: 'accessExpiring', inMs: 30_000}])
})

test('[ER5] a login that is refused for a time is tried again after it, not before', () => {
  const driver = new MachineDriver()
  driver.connect()
  for (let round = 0; round < 3; round++) {
    const {body: {id}} = driver.sent().findLast(({type}) => type === 'login')
    driver.feed({type: 'error', body: {id, code: 118, name: 'relayFull', text: 'no place', retry: 'later', retryAfterMs: 60_000}})
    assert.equal(driver.machine.state, 'waiting')
    driver.advance(59_999)
    assert.equal(driver.machine.state, 'waiting')
    for (let step = 0; step < 4_000 && driver.machine.state === 'waiting'; step++) driver.advance(10)
    driver.open()
  }
  driver.logIn()
  assert.equal(driver.machine.state, 'live')
})

test('[DL11] what it takes of packets is told with each login, and changed by a request that is asked again', () => {
  const driver = new MachineDriver({readerLimits: {packetsPerSecond: 20}})
  assert.deepEqual(plain(driver.logIn()).readerLimits, {packetsPerSecond: 20})
  driver.sent()
  driver.machine.setReaderLimits({bytesPerSecond: 4_096}, driver.watch('limits'), driver.now)
  const [{type, body: {id, ...limits}}] = driver.sent()
  assert.deepEqual([type, plain(limits)], ['setReaderLimits', {bytesPerSecond: 4_096}])
  assert.deepEqual(plain(driver.comeBack()).readerLimits, {bytesPerSecond: 4_096})
  driver.pong()
  assert.equal(driver.result('limits'), undefined)
  const {body: asked} = driver.answer()
  assert.deepEqual(driver.result('limits'), {id: asked.id})
})

test('[HB1, HB2, HB3] after one silent interval it pings, after two it goes', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.pong()
  driver.advance(4_999)
  assert.deepEqual(driver.sent(), [])
  driver.advance(1)
  assert.deepEqual(driver.sent().map(({type}) => type), ['ping'])
  driver.advance(4_999)
  assert.equal(driver.machine.state, 'live')
  driver.advance(1)
  assert.equal(driver.events('link').findLast(({state}) => state === 'waiting')?.reason.kind, 'relaySilent')
  driver.open()
  driver.logIn({resumed: true})
  driver.feed({type: 'ping', payload: Uint8Array.of(1, 2)})
  assert.deepEqual(driver.sent().filter(({type}) => type === 'pong').map(({payload}) => [...payload]), [[1, 2]])
})

test('[HB4] a host that slept lets the relay speak before it judges it', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.pong()
  driver.advance(5_000)
  driver.now += 60_000
  driver.machine.deadline(driver.now)
  assert.equal(driver.machine.state, 'live')
  driver.advance(1_999)
  assert.equal(driver.machine.state, 'live')
  driver.advance(1)
  assert.equal(driver.events('link').findLast(({state}) => state === 'waiting')?.reason.kind, 'relaySilent')
})

test('wakeUp tries at once, or probes a link that may be dead', () => {
  const driver = new MachineDriver({random: () => 0.999})
  driver.logIn()
  driver.cut()
  driver.advance(0)
  driver.cut()
  assert.equal(driver.machine.state, 'waiting')
  driver.machine.wakeUp(driver.now)
  driver.open()
  driver.logIn({resumed: true})
  driver.pong()
  driver.machine.wakeUp(driver.now)
  driver.advance(1_000)
  driver.pong()
  driver.advance(3_000)
  assert.equal(driver.machine.state, 'live')
  driver.machine.wakeUp(driver.now)
  driver.advance(2_000)
  assert.equal(driver.machine.linkState.reason.kind, 'relaySilent')
})

test('an attempt to link up and log in has its time; who waits for a connection is told of one that fails, and the client goes on', () => {
  const slow = new MachineDriver()
  slow.connect()
  slow.advance(10_000)
  assert.equal(slow.result('connect'), 'timedOut')
  assert.ok(['waiting', 'connecting'].includes(slow.machine.state))
  const again = new MachineDriver()
  again.connect()
  again.cut('nobody there')
  assert.equal(again.result('connect'), 'connectFailed')
  assert.equal(again.machine.linkState.reason.text, 'nobody there')
  // Who asks for a connection while the client waits has the next attempt at once.
  again.advance(0)
  again.open()
  again.cut('nobody there')
  again.machine.connect(again.watch('second'), again.now)
  again.machine.connect(again.watch('third'), again.now)
  again.open()
  again.logIn()
  assert.deepEqual([again.result('second'), again.result('third')], ['done', 'done'])
  again.machine.connect(again.watch('fourth'), again.now)
  assert.equal(again.result('fourth'), 'done')
})

test('what a link that was given up still says is not heard', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  const old = driver.links.at(-1)
  driver.comeBack()
  driver.events()
  driver.machine.received(encodeFrame(deliver(1, 'late')), old, driver.now)
  driver.machine.linkEnded(old, 'late', driver.now)
  assert.deepEqual(driver.events(), [])
  assert.equal(driver.machine.state, 'live')
})

test('[SE12] close sends what waits, logs out, and ends; at the latest after 2.5 s', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.send('a')
  driver.close()
  assert.deepEqual(driver.sentTypes(), ['publish 1'])
  assert.throws(() => driver.send('b'), {name: 'clientClosed'})
  driver.feed({type: 'accepted', number: 1, offset: 1})
  assert.deepEqual(driver.sentTypes(), ['logout'])
  driver.feed(closing(304))
  assert.equal(driver.result('close'), 'done')
  assert.equal(driver.machine.linkState.reason.kind, 'closedByApp')

  const silent = new MachineDriver()
  silent.logIn()
  silent.send('a')
  silent.close()
  silent.sent()
  silent.advance(2_000)
  assert.deepEqual(silent.sentTypes(), ['logout'])
  silent.advance(500)
  assert.equal(silent.result('close'), 'done')
  assert.deepEqual(silent.state('a')[0], 'outcomeUnknown')
})

test('[SE12] a close gives up the packets that wait after 2 s, without a link at once; tells them, and logs out all the same', () => {
  for (const isLive of [true, false]) {
    const driver = new MachineDriver()
    driver.logIn()
    driver.publishIn()
    for (let number = 0; number < 1_000; number++) driver.machine.sendPacket({payload: 'p', channel: 'lesson', topic: 'points'}, driver.now)
    const sent = driver.sentTypes()
    if (!isLive) driver.cut()
    driver.close()
    for (let pass = 0; isLive && pass < 200; pass++) {
      driver.advance(10)
      sent.push(...driver.sentTypes())
    }
    if (isLive) assert.equal(sent.pop(), 'logout')
    const packets = sent.filter(type => type === 'publishPacket').length
    assert.ok(packets < 1_000)
    assert.deepEqual(driver.events('packetsDropped').map(({reason, dropped}) => [reason, dropped]), [['closed', 1_000 - packets]])
    if (isLive) driver.feed(closing(304))
    assert.equal(driver.result('close'), 'done')
  }
})

test('a client that pauses because too much is unread says so, and comes back where it stood when it is told to', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  driver.feed(bob)
  for (let offset = 1; offset <= 11; offset++) driver.feed(deliver(offset, 'x'))
  driver.machine.pause(10, 11, driver.now)
  assert.deepEqual([driver.machine.state, driver.machine.nextDeadline], ['paused', Infinity])
  driver.machine.goOn(driver.now)
  driver.open()
  const login = driver.logIn({resumed: true})
  assert.deepEqual(plain(login.resume.seen), {lesson: [driver.machine.messages.positions.get('lesson').offset, 1000, 1]})
  const reason = driver.events('link').find(({state}) => state === 'paused').reason
  assert.deepEqual(reason, {kind: 'eventsNotRead', limit: 10, waiting: 11})
})

test('[HB2, HB3] a client whose readers hold the relay back is heard of, and judges nobody, until it reads on', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.pong()
  driver.machine.isHeldBack = true
  for (let round = 0; round < 10; round++) {
    driver.advance(5_000)
    assert.deepEqual(driver.sent().map(({type}) => type), ['ping'])
  }
  assert.equal(driver.machine.state, 'live')
  driver.machine.isHeldBack = false
  driver.advance(10_000)
  assert.ok(driver.events('link').some(({reason}) => reason?.kind === 'relaySilent'))
})

test('a relay that asks and does not read is given up', () => {
  const driver = new MachineDriver()
  driver.logIn()
  const ping = encodeFrame({type: 'ping', payload: new Uint8Array(8)})
  const many = Buffer.concat(Array(100_000).fill(ping))
  driver.feedBytes(many)
  assert.match(driver.machine.linkState.reason.text, /does not read/)
})

for (const [count, isResumed] of [[72, true], [73, false]]) {
  test(`[SE4, SE9] the largest token and places in ${count} channels with the largest names fit into a login: ${isResumed}`, () => {
    const driver = new MachineDriver({credential: {token: 't'.repeat(3_072)}})
    driver.logIn()
    const epoch = {start: 2 ** 32 - 1, incarnation: 2 ** 32 - 1}
    for (let index = 0; index < count; index++) {
      driver.subscribe({channel: `${100 + index}${'"'.repeat(61)}`, handle: index, epoch, head: Number.MAX_SAFE_INTEGER})
    }
    const login = driver.comeBack({resumed: true})
    assert.equal(login.resume && Object.keys(login.resume.seen).length, isResumed ? count : undefined)
    assert.ok(encodeFrame({type: 'login', body: login}).length < 16_390)
  })
}

test('[RT1] of direct messages no more leave than the rate allows, each a second and a bit behind an answer', () => {
  const driver = new MachineDriver()
  driver.logIn({limits: {directMessagesPerSecond: 2}})
  for (const name of ['a', 'b', 'c']) driver.sendDirect(name, {payload: 'x', user: 'bob'})
  const numbers = () => driver.sent().flatMap(({type, number}) => type === 'direct' ? [number] : [])
  assert.deepEqual(numbers(), [1, 2])
  driver.advance(40)
  driver.feed({type: 'confirmed', number: 1}, {type: 'confirmed', number: 2})
  driver.advance(1_004)
  assert.deepEqual(numbers(), [])
  driver.advance(1)
  assert.deepEqual(numbers(), [3])
})
