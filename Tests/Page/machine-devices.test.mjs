// One person with several devices: what the client says of its own, and how one brings another. [SE8, AC17]
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {ErrorCode, RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {MachineDriver, flowOpened, packet, plain} from './support/machine-driver.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'

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

test('[AC17] a code that is wrong ends the client', () => {
  const driver = comingWith()
  driver.connect()
  const {body: {id}} = driver.sent().find(({type}) => type === 'login')
  driver.feed({type: 'error', body: {id, code: ErrorCode.codeWrong, name: 'codeWrong', retry: 'never', text: 'it was used'}})
  assert.equal(driver.result('connect'), 'codeWrong')
  assert.equal(driver.watched.get('connect').result.error.retry, 'never')
  assert.deepEqual([driver.machine.state, driver.machine.nextDeadline], ['closed', Infinity])
})

test('[AC17] a code that is lost with its link before the welcome is sent again', () => {
  const driver = comingWith()
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

test('[SE6] another relay than the app accepts gets nothing but the login, also in the middle of a session', () => {
  const known = '0'.repeat(32)
  for (const isFirst of [true, false]) {
    const asked = []
    const driver = new MachineDriver({acceptsRelay: relay => asked.push(relay) && relay === known})
    driver.connect()
    if (!isFirst) {
      driver.logIn()
      driver.subscribe()
      driver.cut()
      driver.machine.wakeUp(driver.now)
      driver.open()
    }
    driver.retain('a')
    driver.logIn({relay: 'e'.repeat(32), start: 1001})
    assert.deepEqual(driver.sent(), [])
    assert.deepEqual(asked, isFirst ? ['e'.repeat(32)] : [known, 'e'.repeat(32)])
    assert.deepEqual(plain(driver.machine.linkState), {state: 'closed', reason: {kind: 'otherRelay', relay: 'e'.repeat(32)}})
    assert.equal(driver.machine.state, 'closed')
    assert.deepEqual(driver.closed.at(-1), driver.links.at(-1))
    if (isFirst) assert.equal(driver.watched.get('connect').result.error.name, 'otherRelay')
  }
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

test('[SE8] devices that an app names send what they have written themselves; without names there is one outbox', () => {
  const storage = new MemoryStorage()
  const write = (device, key) => {
    const client = new RelayClient(dead, 'alice', {storage, device})
    client.channel('lesson').board.put(key, key).stored.catch(() => {})
    return client
  }
  const left = device => {
    const client = new RelayClient(dead, 'alice', {storage, device})
    return client.restored.map(({key}) => key)
  }
  const clients = [write(first, 'a'), write(second, 'b'), write(undefined, 'c')]
  assert.deepEqual([left(first), left(second), left()], [['a'], ['b'], ['c']])
  for (const client of clients) client.close()
})
