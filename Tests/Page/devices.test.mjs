// One person with several devices: what the client says of its own, and how one brings another. [SE8, AC17]
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {ErrorCode, RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {MachineDriver, flowOpened, packet, plain} from './support/machine-driver.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'
import {onDaemon} from './support/on-daemon.mjs'

const code = '3J7XQ0M9TZ'
const secret = '000102030405060708090a0b0c0d0e0f'
const [first, second] = ['00000000000000aa', '00000000000000bb']
/** A machine that has nothing but a code, and perhaps a credential. */
const comingWith = settings => new MachineDriver({user: undefined, secret: undefined, code, device: second, ...settings})
const who = ({user, secret, code, key, token, device, onlyDevice}) => plain({user, secret, code, key, token, device, onlyDevice})

test('[SE8] a login says which device it is, and that it is to be the only one', () => {
  const driver = new MachineDriver({device: 'ABCDEF0123456789', onlyDevice: true})
  assert.deepEqual(who(driver.logIn()), {user: 'alice', secret: '01'.repeat(16), device: 'ABCDEF0123456789', onlyDevice: true})
  assert.equal(driver.machine.device, 'abcdef0123456789', 'as the relay names it')
  assert.deepEqual(who(new MachineDriver({onlyDevice: false}).logIn()), {user: 'alice', secret: '01'.repeat(16)})
  assert.equal(new MachineDriver().machine.device, '0'.repeat(16))
})

test('[AC17] a code stands in place of user, secret and token; the welcome tells them, and the next login has them', () => {
  for (const [credential, key, later] of [[{key: 'k'}, {key: 'k'}, {key: 'k'}], [undefined, {}, {}], [{token: 't'}, {}, {token: 't'}]]) {
    const driver = comingWith({credential})
    assert.deepEqual(who(driver.logIn({secret})), {code, device: second, ...key})
    assert.equal(driver.result('connect'), 'done')
    assert.equal(driver.machine.settings.user, 'alice')
    assert.deepEqual(who(driver.comeBack()), {user: 'alice', secret, device: second, ...later})
  }
  const open = comingWith()
  open.logIn()
  assert.deepEqual(who(open.comeBack()), {user: 'alice', device: second}, 'where the other device has no secret there is none')
})

test('[AC17] of a user who came by name a welcome changes neither user nor secret', () => {
  const driver = new MachineDriver()
  driver.logIn({secret})
  assert.equal(driver.comeBack().secret, '01'.repeat(16))
})

test('[AC17] a code that is wrong ends the client, also one that tries a first connection again', () => {
  for (const retriesFirstConnect of [false, true]) {
    const driver = comingWith({retriesFirstConnect})
    driver.connect()
    const {body: {id}} = driver.sent().find(({type}) => type === 'login')
    driver.feed({type: 'error', body: {id, code: ErrorCode.codeWrong, name: 'codeWrong', retry: 'never', text: 'it was used'}})
    assert.equal(driver.result('connect'), 'codeWrong')
    assert.equal(driver.watched.get('connect').result.error.retry, 'never')
    assert.deepEqual([driver.machine.state, driver.machine.nextDeadline], ['closed', Infinity])
  }
})

test('[AC17] a code that is lost with its link before the welcome is sent again', () => {
  const driver = comingWith({retriesFirstConnect: true})
  driver.connect()
  driver.sent()
  driver.cut()
  driver.advanceTo(driver.machine.nextDeadline)
  driver.open()
  assert.equal(driver.logIn({secret}).code, code)
})

test('[AC17, JS5] the answer to an offer is a code and how long it is good; one of another form ends the link', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.request('offer', 'offerDevice', {secret})
  const asked = driver.answer({code, validMs: 120_000})
  assert.deepEqual([asked.type, asked.body.secret], ['offerDevice', secret])
  assert.deepEqual(driver.result('offer'), {id: asked.body.id, code, validMs: 120_000})
  for (const wrong of [{}, {code: 7, validMs: 1}, {code, validMs: '1'}, {code, validMs: -1}]) {
    const other = new MachineDriver()
    other.logIn()
    other.request('offer', 'offerDevice', {})
    other.answer(wrong)
    assert.equal(other.machine.linkState.reason.kind, 'relayFault', JSON.stringify(wrong))
  }
})

test('[ST13] packets of the other device of the same user are heard, and lost with a link; those of the own are not', () => {
  const driver = new MachineDriver({device: first})
  driver.logIn()
  driver.hear()
  driver.feed(flowOpened(21, 1, {user: 'alice', device: first}), flowOpened(22, 1, {user: 'alice', device: second}), packet(22, 1))
  assert.deepEqual(driver.events('packet').map(({publisher, device, flow}) => [publisher, device, flow]), [['alice', second, 22]])
  driver.comeBack({resumed: false, start: 1001})
  assert.deepEqual(driver.events('packetsLost').map(({entries}) => entries.map(({flow, device}) => [flow, device])), [[[22, second]]])
})

test('[SE8] of two devices that publish in one topic the flow of one closes, and the other goes on', () => {
  const driver = new MachineDriver({device: first})
  driver.logIn()
  driver.hear()
  const publishers = device => [{topic: 'points', user: 'bob', device, meta: ''}]
  driver.feed(flowOpened(21, 1, {device: first}), flowOpened(22, 1, {device: second}),
      {type: 'flowClosed', body: {flow: 21, last: 0}},
      {type: 'topics', body: {channel: 9, event: 'publisherLeft', publishers: publishers(first)}}, packet(22, 1))
  const told = driver.events()
  const topics = told.filter(({type}) => type === 'topics')
  assert.deepEqual(topics.map(({kind, publishers}) => [kind, plain(publishers)]), [['left', publishers(first)]])
  assert.deepEqual(told.filter(({type}) => type === 'packet').map(({device}) => device), [second])
})

test('[LK1] whose a lock is, and was, is a user and a device', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  const lock = {lock: 'pen', ttlMs: 1000}
  driver.feed({type: 'locks', body: {channel: 7, event: 'acquired', locks: [{...lock, owner: 'bob', ownerDevice: second, fencing: 1}]}},
      {type: 'locks', body: {channel: 7, event: 'released', locks: [lock], user: 'bob', device: second}})
  const [acquired, released] = driver.events('locks')
  assert.deepEqual([acquired.locks[0].ownerDevice, released.formerOwner, released.formerOwnerDevice], [second, 'bob', second])
})

// MARK: Client objects

const dead = () => ({send() {}, close() {}, bufferedBytes: 0})
const deviceOf = options => {
  const client = new RelayClient(dead, 'alice', options)
  client.close()
  return client.device
}

test('[SE8] a tab is one device over reloads; without tabs each client object is one; an app may say which', () => {
  assert.notEqual(deviceOf(), deviceOf())
  globalThis.window = {sessionStorage: new MemoryStorage()}
  try {
    const tab = deviceOf({scope: 'here'})
    assert.match(tab, /^[0-9a-f]{16}$/)
    assert.equal(deviceOf({scope: 'here'}), tab)
    assert.notEqual(deviceOf({scope: 'there'}), tab)
    assert.equal(deviceOf({scope: 'here', device: first}), first)
    globalThis.window = {get sessionStorage() { throw new Error('denied') }}
    assert.notEqual(deviceOf({scope: 'here'}), tab)
  } finally {
    delete globalThis.window
  }
})

// MARK: With the real daemon

const on = onDaemon('devices.test.mjs')

on({}, '[AC17, SE8] a code makes another device the same person, once, and its secret is kept for the next time', async ({connect}) => {
  const [here, there] = [new MemoryStorage(), new MemoryStorage()]
  const alice = await connect('alice', {storage: here, device: first})
  const bob = await connect('bob', {key: 'join'})
  for (const client of [alice, bob]) await client.subscribe('lesson')
  const offer = await alice.offerDevice()
  assert.match(offer.code, /^[0-9A-HJKMNP-TV-Z]{10}$/)
  assert.ok(offer.validMs > 0 && offer.validMs <= 120_000, `${offer.validMs}`)
  const spelled = `${offer.code.slice(0, 5)}-${offer.code.slice(5)}`.toLowerCase()
  const other = await connect(undefined, {code: spelled, storage: there, scope: 'relay', device: second})
  assert.deepEqual([other.user, other.device], ['alice', second])
  await other.subscribe('lesson')
  await assert.rejects(connect(undefined, {code: offer.code}), {name: 'codeWrong', code: 143, retry: 'never'})
  await other.send('s', {to: 'lesson', retainedAs: 's'}).stored
  const heard = await bob.seen.until(({type}) => type === 'message')
  assert.deepEqual([heard.sender, (await alice.seen.until(({type}) => type === 'message')).sender], ['alice', 'alice'])
  assert.deepEqual([...new Set([...there.items.keys()])], ['boardrelay.secret.relay.alice'], 'what is stored is not kept any more')
  assert.equal(there.getItem('boardrelay.secret.relay.alice'), here.getItem('boardrelay.secret.relay.alice'))
  await other.close()
  await connect('alice', {storage: there, device: second})
  assert.equal(alice.linkState.state, 'connected')
  await connect('alice', {storage: there, device: second, onlyDevice: true})
  const {reason} = await alice.seen.until(({type, state}) => type === 'link' && state === 'closed')
  assert.equal(reason.code, ErrorCode.replaced)
  assert.deepEqual(bob.seen.of('presence').filter(({kind}) => kind === 'left' || kind === 'timedOut'), [])
})

on({}, '[SE8, ST9] two devices of one person publish in one topic, and hear each other; one leaves, and the other goes on',
    async ({connect}) => {
  const storage = new MemoryStorage()
  const devices = [await connect('alice', {storage, device: first}), await connect('alice', {storage, device: second})]
  const bob = await connect('bob', {key: 'join'})
  const streams = []
  for (const client of [bob, ...devices]) {
    const stream = await client.join('lesson')
    await stream.subscribeTopic('points')
    if (client !== bob) streams.push(stream)
  }
  for (const stream of streams) await stream.joinTopic('points')
  streams.forEach((stream, index) => stream.send(`from ${index}`, {topic: 'points'}))
  const from = text => ({type, payload}) => type === 'packet' && payload === text
  assert.equal((await bob.seen.until(from('from 0'))).device, first)
  assert.equal((await bob.seen.until(from('from 1'))).device, second)
  assert.equal((await devices[0].seen.until(from('from 1'))).publisher, 'alice')
  await streams[0].leaveTopic('points')
  const left = await bob.seen.until(({type, kind}) => type === 'topics' && kind === 'left')
  assert.deepEqual(left.publishers, [{topic: 'points', user: 'alice', device: first, meta: ''}])
  streams[1].send('goes on', {topic: 'points'})
  await bob.seen.until(from('goes on'))
  const locks = devices[0].locks({message: 'lesson'})
  await locks.set('pen')
  await locks.acquire('pen')
  assert.equal((await bob.locks({message: 'lesson'}).all())[0].ownerDevice, first)
  await assert.rejects(devices[1].locks({message: 'lesson'}).acquire('pen'), {name: 'lockHeld'})
})
