// What a page keeps over a reload: the client secret, and retained messages until they are durable.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {Outbox} from '../../Sources/RelayPage/client/outbox.js'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {MachineDriver} from './support/machine-driver.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'

let wall = 1_700_000_000_000
const driverWith = (storage, settings) => new MachineDriver({outbox: new Outbox(storage, 'box', () => wall), ...settings})
const published = driver => driver.sent().filter(({type}) => type === 'publish')
    .map(({number, key, part}) => [number, key, part].filter(value => value !== undefined))
const keys = driver => driver.machine.queue.takenUp.map(({key}) => key)

test('[MS9, BL2] after a reload what was sent is asked for under its numbers, then what was not goes; stored ends it', () => {
  const storage = new MemoryStorage()
  const first = driverWith(storage)
  first.logIn()
  for (const key of ['a', 'b', 'c']) first.retain(key)
  first.send('plain')
  first.feed({type: 'accepted', number: 1, offset: 1}, {type: 'stored', number: 1, offset: 1}, {type: 'accepted', number: 2, offset: 2})
  first.cut()
  first.retain('offline', {payload: Uint8Array.of(0, 255), customType: 'stroke'})
  assert.equal(storage.length, 4, 'three messages and their list')

  wall += 60_000
  const second = driverWith(storage, {instance: '00000000000000bb'})
  second.connect()
  const login = second.logIn()
  assert.equal(login.instance, '00000000000000aa')
  assert.deepEqual(keys(second), ['b', 'c', 'offline'])
  second.retain('new')
  const sent = second.sent().filter(({type}) => type === 'publish')
  assert.deepEqual(sent.slice(0, 2).map(({number, key}) => [number, key]), [[2, 'b'], [3, 'c']])
  assert.deepEqual([sent[2].key, sent[2].customType, [...sent[2].payload], sent[2].text], ['offline', 'stroke', [0, 255], undefined])
  assert.ok(sent[2].number > 2 ** 20 && sent[3].number === sent[2].number + 1, 'numbers that no other copy has used')
  for (const {number} of sent) second.feed({type: 'accepted', number, offset: 1}, {type: 'stored', number, offset: 1})
  assert.deepEqual([storage.length, second.machine.unsent.unstored], [0, 0])
})

test('a reload with nothing sent draws an instance of its own', () => {
  const storage = new MemoryStorage()
  const first = driverWith(storage)
  first.connect()
  first.cut('offline')
  first.retain('a')
  const second = driverWith(storage, {instance: '00000000000000bb'})
  second.connect()
  assert.equal(second.logIn().instance, '00000000000000bb')
  assert.deepEqual(published(second), [[1, 'a']])
})

for (const [name, change] of [['more than 10 minutes later', () => (wall += 600_001)],
    ['when the clock was set back', () => (wall -= 1)]]) {
  test(`[MS9] ${name} what had been sent is told unknown, and not sent again`, async () => {
    const storage = new MemoryStorage()
    const first = driverWith(storage)
    first.logIn()
    first.retain('a')
    first.sent()
    first.cut()
    first.retain('b')
    change()
    const second = driverWith(storage)
    second.connect()
    second.logIn({forgotten: true})
    assert.deepEqual(published(second).map(([, key]) => key), ['b'])
    await assert.rejects(second.machine.queue.takenUp[0].pendings.stored.promise, {name: 'outcomeUnknown'})
    assert.equal(storage.length, 2)
  })
}

test('[BL8] of a large drawing the last part is asked for, if it had been sent; else it begins anew', () => {
  const small = {limits: {messageBytesMax: 32_768}}
  for (const [partsSent, expected] of [[1, [1, 2]], [2, [2]]]) {
    const storage = new MemoryStorage()
    const first = driverWith(storage)
    first.logIn({limits: {...small.limits, unansweredMax: partsSent}})
    first.sendLarge('big', {payload: 'x'.repeat(40_000)})
    assert.equal(first.sent().filter(({part}) => part).length, partsSent)
    const second = driverWith(storage)
    second.connect()
    second.logIn(small)
    assert.deepEqual(second.sent().filter(({part}) => part).map(({part}) => part), expected)
  }
})

/** A client object on a storage that has not reached its relay. */
function offline(storage, settings) {
  const driver = driverWith(storage, settings)
  driver.connect()
  driver.cut('offline')
  return driver
}

test('two client objects on one storage leave each other what they keep: a third finds all of it, in the order of the calls', () => {
  const storage = new MemoryStorage()
  const [first, second] = [offline(storage), offline(storage, {instance: '00000000000000bb'})]
  for (let index = 0; index < 10; index++) second.retain(`b${index}`)
  first.retain('a0')
  second.retain('b10')
  const expected = [...Array.from({length: 10}, (_, index) => `b${index}`), 'a0', 'b10']
  const third = offline(storage)
  assert.deepEqual(keys(third), expected)
  // One of them comes through, with what the third has taken over as well.
  third.advanceTo(third.machine.nextDeadline)
  third.open()
  third.logIn()
  third.sent().filter(({type}) => type === 'publish').forEach(({number}, index) => {
    if (index !== 3) third.feed({type: 'accepted', number, offset: index + 1}, {type: 'stored', number, offset: index + 1})
  })
  first.retain('a1')
  assert.deepEqual(keys(offline(storage)), ['b3', 'a1'])
})

test('what one client object has seen to its end the others do not bring back', () => {
  const storage = new MemoryStorage()
  const [first, second] = [driverWith(storage), offline(storage, {instance: '00000000000000bb'})]
  first.logIn()
  first.retain('a')
  second.retain('b')
  first.sent()
  first.feed({type: 'accepted', number: 1, offset: 1}, {type: 'stored', number: 1, offset: 1})
  second.retain('c')
  assert.deepEqual(keys(offline(storage)), ['b', 'c'])
  assert.equal(storage.length, 3)
})

test('[MS9] sent by two instances: one goes on with its numbers, of the other nobody can say what became of it', async () => {
  const storage = new MemoryStorage()
  const [first, second] = [driverWith(storage), driverWith(storage, {instance: '00000000000000bb'})]
  for (const driver of [first, second]) driver.logIn()
  first.retain('a')
  first.sent()
  second.retain('b')
  second.sent()
  second.machine.limits.unansweredMax = 1
  second.retain('unsent')
  const third = driverWith(storage, {instance: '00000000000000cc'})
  third.connect()
  assert.equal(third.logIn().instance, '00000000000000bb')
  assert.deepEqual(published(third)[0], [1, 'b'])
  const [lost] = third.machine.queue.takenUp.filter(({key}) => key === 'a')
  await assert.rejects(lost.pendings.stored.promise, {name: 'outcomeUnknown'})
  await assert.rejects(lost.pendings.accepted.promise, {name: 'outcomeUnknown'})
  assert.deepEqual(keys(offline(storage)).sort(), ['b', 'unsent'], 'it was told, and is not kept for longer')
})

test('[MS9] a copy whose numbers went further is not overtaken by those that are drawn after it', () => {
  const storage = new MemoryStorage()
  const [first, second] = [driverWith(storage), driverWith(storage)]
  first.logIn()
  first.retain('a')
  first.sent()
  second.connect()
  second.logIn()
  second.retain('b')
  const [, {number}] = second.sent().filter(({type}) => type === 'publish')
  first.retain('c')
  first.sent()
  assert.ok(JSON.parse(storage.getItem('box')).last >= number && number > 2 ** 20)
})

test('a list as the client wrote it before there could be others is read', () => {
  const storage = new MemoryStorage()
  const kept = (key, text) => JSON.stringify({channel: 'lesson', key, echo: false, text, isLarge: false})
  storage.setItem('box', JSON.stringify({instance: '00000000000000dd', last: 4, at: wall,
      ids: [['/00000001', 4], ['/00000002', 0]]}))
  storage.setItem('box/00000001', kept('sent', 'x'))
  storage.setItem('box/00000002', kept('unsent', 'y'))
  const driver = driverWith(storage)
  driver.connect()
  assert.equal(driver.logIn().instance, '00000000000000dd')
  const sent = driver.sent().filter(({type}) => type === 'publish')
  assert.deepEqual(sent.map(({key, payload}) => [key, String.fromCharCode(...payload)]), [['sent', 'x'], ['unsent', 'y']])
  assert.equal(sent[0].number, 4)
})

test('what is refused is not kept; what a closed client had not sent is', () => {
  const storage = new MemoryStorage()
  const driver = driverWith(storage)
  driver.logIn()
  driver.retain('a')
  driver.feed({type: 'error', body: {number: 1, code: 129, name: 'boardFull', text: 'full'}})
  assert.deepEqual([driver.state('a'), storage.length], [['boardFull', 'boardFull'], 0])
  driver.retain('b')
  driver.feed({type: 'closing', body: {code: 302, name: 'replaced', text: 'x'}})
  assert.deepEqual([driver.state('b')[0], storage.length], ['outcomeUnknown', 2])
})

test('a storage that is full, closed or holds something else takes nothing away from the session', () => {
  const full = new MemoryStorage()
  full.setItem = () => { throw new Error('QuotaExceededError') }
  const driver = driverWith(full)
  driver.logIn()
  driver.retain('a')
  assert.deepEqual(published(driver), [[1, 'a']])
  assert.equal(driver.machine.unsent.unkept, 1)
  driver.feed({type: 'accepted', number: 1, offset: 1}, {type: 'stored', number: 1, offset: 1})
  assert.deepEqual(driver.state('a'), [1, 1])
  assert.equal(driver.machine.unsent.unkept, 0)
  for (const text of ['{', '7', '{"ids":7}', '{"ids":[["/x",1],7,null]}', '{"ids":[["/y",1]],"last":"x"}']) {
    const broken = new MemoryStorage()
    broken.setItem('box', text)
    broken.setItem('box/y', '{"channel":"*","text":7}')
    const other = driverWith(broken)
    other.connect()
    other.logIn()
    assert.deepEqual(published(other), [], text)
  }
})

test('[SE2, AC3] the client secret is kept by address and user', async () => {
  const storage = new MemoryStorage()
  const link = () => ({send() {}, close() {}, bufferedBytes: 0})
  const secretOf = (user, scope) => {
    const client = new RelayClient(link, user, {storage, scope})
    assert.equal(client.machine.settings.secret, undefined, 'making a client reads nothing')
    assert.match(client.device, /^[0-9a-f]{16}$/)
    client.close()
    return client.machine.settings.secret
  }
  const secret = secretOf('alice', 'here')
  assert.match(secret, /^[0-9a-f]{32}$/)
  assert.equal(secretOf('alice', 'here'), secret)
  assert.notEqual(secretOf('bob', 'here'), secret)
  assert.notEqual(secretOf('alice', 'there'), secret)
  storage.setItem('boardrelay.secret.here.alice', 'nonsense')
  assert.match(secretOf('alice', 'here'), /^[0-9a-f]{32}$/)
})

test('[BL11, MS9] a change set is kept over a reload: asked for by its last part, and sent whole when the relay has not got it', () => {
  const storage = new MemoryStorage()
  const first = driverWith(storage)
  first.logIn()
  const changes = Array.from({length: 100}, (_, index) => ({key: `k${index}`, payload: Uint8Array.of(index)}))
  changes.push({key: 'gone', isRemoval: true})
  const [accepted, stored] = [first.watch('set.accepted'), first.watch('set.stored')]
  first.machine.sendChanges({changes, channel: 'lesson', accepted, stored}, first.now)
  const parts = driver => driver.sent().filter(({type}) => type === 'publishChanges')
  const before = parts(first)
  assert.deepEqual(before.map(({number, part}) => [number, part]), [[1, 1], [2, 2]])
  const second = driverWith(storage, {instance: '00000000000000bb'})
  second.connect()
  second.logIn({resumed: false, start: 1001})
  const [restored] = second.machine.queue.takenUp
  assert.deepEqual([restored.channel, restored.changes.length, restored.changes[100].key], ['lesson', 101, 'gone'])
  assert.deepEqual(parts(second).map(({number, part}) => [number, part]), [[2, 2]])
  second.feed({type: 'error', body: {number: 2, code: 133, name: 'partMissing', text: 'no'}})
  const again = parts(second)
  assert.deepEqual(again.map(({payload}) => [...payload]), before.map(({payload}) => [...payload]))
  second.feed({type: 'accepted', number: again[1].number, offset: 101}, {type: 'stored', number: again[1].number, offset: 101})
  assert.equal(storage.length, 0)
})
