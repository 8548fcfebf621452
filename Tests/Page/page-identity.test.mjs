// Who a page is: the key and the person that tabs of one browser share, the device that each is, tokens, and browsers that keep nothing.
import assert from 'node:assert/strict'
import {mock, test} from 'node:test'
import {comeWith} from '../../Sources/RelayPage/page/devices.js'
import {forgetAll} from '../../Sources/RelayPage/page/endings.js'
import {explain} from '../../Sources/RelayPage/page/explain.js'
import './support/english.mjs'
import {ErrorCode, RelayError} from '../../Sources/RelayPage/relay-client.js'
import {MemoryStorage} from './support/memory-storage.mjs'

/** The channel between tabs; what is posted is heard a little later, by all others. */
class Tabs {
  open = new Set()
  Channel = (tabs => class {
    constructor() {
      tabs.open.add(this)
    }
    postMessage(data) {
      const text = JSON.stringify(data)
      for (const other of tabs.open) if (other !== this) queueMicrotask(() => tabs.open.has(other)
          && other.onmessage?.({data: JSON.parse(text)}))
    }
  })(this)
}

let count = 0
globalThis.location = {host: 'relay', hash: ''}
globalThis.history = {replaceState(_, __, address) { globalThis.location.hash = address }}

/** The module as a tab of its own loads it, with the storage that all tabs have and one that is the tab's. */
function tab(localStorage, sessionStorage = new MemoryStorage()) {
  globalThis.window = {localStorage, sessionStorage}
  return import(`../../Sources/RelayPage/page/identity.js?tab=${++count}`)
}

/** A page that opens at an address. */
async function arrived(localStorage, hash, sessionStorage) {
  const page = await tab(localStorage, sessionStorage)
  globalThis.location.hash = hash
  return {...page, ...page.arrive()}
}

/** Lets all that is under way come to its end, with the time that it waits for. */
async function settled(...claims) {
  let isOver = false
  const all = Promise.all(claims).finally(() => isOver = true)
  while (!isOver) {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    mock.timers.tick(20)
  }
  return all
}

/** A browser with a pool of devices, and what a tab of it kept. */
function browser(devices) {
  const storage = new MemoryStorage()
  storage.setItem('whiteboard.devices', JSON.stringify(devices))
  const tabs = new Tabs()
  globalThis.BroadcastChannel = tabs.Channel
  const session = device => {
    const kept = new MemoryStorage()
    if (device) kept.setItem('whiteboard.device', device)
    return kept
  }
  return {storage, session, tabs}
}

const [here, there] = ['a'.repeat(32), 'b'.repeat(32)]

test('[SE8] tabs that open at one moment are devices of their own, also when they remember the same one', async () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    for (const [remembered, pool] of [['a', ['a', 'b']], [undefined, ['a', 'b']], ['a', ['a']]]) {
      const {storage, session} = browser(pool)
      const tabs = []
      for (let count = 0; count < 3; count++) tabs.push(await tab(storage, session(remembered)))
      const devices = await settled(...tabs.map(({claimDevice}) => claimDevice('me')))
      assert.equal(new Set(devices).size, 3, `${devices}`)
      assert.ok(pool.every(id => devices.includes(id)), `what is free is used: ${devices}`)
      const [fourth] = await settled((await tab(storage, session('a'))).claimDevice('me'))
      assert.ok(!devices.includes(fourth), 'one that comes later is told, too')
    }
  } finally {
    mock.timers.reset()
  }
})

test('[SE8] a tab that comes back is its own device; one whose device another has taken draws a new one', async () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const {storage, session} = browser(['a', 'b', 'c'])
    const own = session('b')
    const one = await tab(storage, own)
    assert.deepEqual(await settled(one.claimDevice('me')), ['b'])
    const [other] = await settled(one.claimDevice('me', 'b'))
    assert.match(other, /^[0-9a-f]{16}$/)
    assert.equal(own.getItem('whiteboard.device'), other)
    const [next] = await settled((await tab(storage, session('b'))).claimDevice('me'))
    assert.equal(next, 'b', 'it is free, as far as this tab knows')
    storage.setItem('boardrelay.outbox.relay.me.c', '{}')
    const [sender] = await settled((await tab(storage, session())).claimDevice('me'))
    assert.equal(sender, 'c', 'what a tab has not sent the next one sends')
  } finally {
    mock.timers.reset()
  }
})

test('[SE8] a tab that is loaded again is its device without asking, unless another tab became it meanwhile', async () => {
  const {storage, session, tabs} = browser(['a', 'b'])
  const own = session('a')
  /** A tab that wants a device: which, and how to end the tab. */
  const opened = async session => {
    const page = await tab(storage, session)
    const device = page.claimDevice('me')
    const channel = [...tabs.open].at(-1)
    return {device, end: () => (page.leaveDevice(), tabs.open.delete(channel))}
  }
  /** What comes without a turn of the clock. */
  const atOnce = promise => Promise.race([promise, new Promise(resolve => setImmediate(resolve, 'it waits'))])
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const first = await opened(own)
    await settled(first.device)
    first.end()
    const asking = await opened(session())
    const again = await opened(own)
    assert.equal(await atOnce(again.device), 'a')
    assert.deepEqual(await settled(asking.device), ['b'], 'one that asks for it at that moment is told')
    const copy = await opened(session('a'))
    assert.equal(await atOnce(copy.device), 'it waits', 'a copy of a tab asks')
    assert.notEqual((await settled(copy.device))[0], 'a')
    again.end()
    const other = await opened(session())
    assert.deepEqual(await settled(other.device), ['a'])
    const late = await opened(own)
    assert.equal(await atOnce(late.device), 'it waits', 'its device is another tab by now')
    assert.notEqual((await settled(late.device))[0], 'a')
  } finally {
    mock.timers.reset()
  }
})

test('a full storage, none at all, and no channel between tabs: there are a person and a device, and the key outlives the dialog', async () => {
  const full = Object.assign(new MemoryStorage(), {setItem: () => { throw new Error('QuotaExceededError') }})
  browser([])
  const page = await tab(full, full)
  assert.match(page.ownUser(), /^[0-9a-f]{20}$/)
  assert.match(await page.claimDevice('me'), /^[0-9a-f]{16}$/)
  assert.ok(page.isOwnRelay(here, {key: 'k'}))
  globalThis.BroadcastChannel = class { constructor() { throw new Error('SecurityError') } }
  const {storage, session} = browser(['a', 'b'])
  globalThis.BroadcastChannel = class { constructor() { throw new Error('SecurityError') } }
  assert.equal(await (await tab(storage, session('b'))).claimDevice('me'), 'b')
  globalThis.window = {get localStorage() { throw new Error('denied') }, get sessionStorage() { throw new Error('denied') }}
  const {arrive, keepGiven, isOwnRelay, open} = await import(`../../Sources/RelayPage/page/identity.js?tab=${++count}`)
  globalThis.location.hash = '#/b/lesson?k=secret'
  assert.deepEqual(arrive(), {board: 'lesson', credential: {key: 'secret'}})
  assert.equal(globalThis.location.hash, '#/b/lesson', 'the key does not stay in the address, the board does')
  keepGiven({key: 'typed'})
  assert.deepEqual(arrive(), {board: 'lesson', credential: {key: 'typed'}})
  assert.ok(isOwnRelay(here, {key: 'typed'}))
  assert.deepEqual(arrive(), {board: 'lesson', credential: {key: 'typed'}})
  globalThis.location.hash = '#key=printed'
  const {board, credential} = arrive()
  assert.deepEqual([board, credential.key], ['board', 'printed'], 'the address as it was printed leads everybody to one board')
  open('localStorage').setItem('x', 'y')
  assert.deepEqual([open('localStorage').getItem('x'), open('sessionStorage').getItem('x')], ['y', null])
})

test('a key that a relay has taken is kept for all tabs, with the relay; until then it is of the tab', async () => {
  const storage = new MemoryStorage()
  const own = new MemoryStorage()
  const first = await arrived(storage, '#/b/lesson?k=good', own)
  assert.equal((await arrived(storage, '#/b/lesson')).credential, undefined, 'nobody knows yet whether it is right')
  assert.equal((await arrived(storage, '#/b/lesson', own)).credential.key, 'good', 'after a reload it is tried again')
  assert.ok(first.isOwnRelay(here, {key: 'good'}))
  assert.deepEqual(own.items.size, 0, 'it is kept once')
  const second = await arrived(storage, '#/b/other')
  assert.deepEqual([second.board, second.credential], ['other', {key: 'good'}], 'a bookmark, a second tab, an address from a chat')
  assert.equal(second.ownUser(), first.ownUser(), 'all tabs are one person')

  const wrong = await arrived(storage, '#/b/lesson?k=wrong')
  assert.equal(wrong.credential.key, 'wrong', 'what is given counts before what is kept')
  wrong.dropGiven()
  assert.equal((await arrived(storage, '#/b/lesson')).credential.key, 'good', 'a wrong link costs nothing')
})

test('another relay at the same address takes nothing over: neither a key that it was shown nor a person', async () => {
  const storage = new MemoryStorage()
  const page = await arrived(storage, '#/b/lesson?k=good')
  const user = page.ownUser()
  assert.ok(page.isOwnRelay(here, {key: 'good'}))
  const before = storage.getItem('whiteboard.person')
  assert.equal(page.isOwnRelay(there, {key: 'good'}), false)
  const own = new MemoryStorage()
  const scanned = await arrived(storage, '#/b/lesson?k=there', own)
  assert.equal(scanned.isOwnRelay(there, {key: 'there'}), false, 'its own key shows who is meant, and the person is of the other one')
  assert.equal(storage.getItem('whiteboard.person'), before)
  assert.ok(page.isOwnRelay(here, {key: 'good'}), 'the relay of before is still known')

  storage.setItem(`boardrelay.secret.relay.${user}`, 's')
  globalThis.window = {localStorage: storage, sessionStorage: own}
  forgetAll({keepsGiven: true})
  const fresh = await arrived(storage, '#/b/lesson', own)
  assert.equal(fresh.credential.key, 'there', 'whoever has scanned its code need not scan it again')
  assert.notEqual(fresh.ownUser(), user)
  assert.equal(storage.getItem(`boardrelay.secret.relay.${user}`), null)
  assert.ok(fresh.isOwnRelay(there, fresh.credential))
})

test('a host who opens the link of guests stays a host; who brings another key, or a token, comes with that', async () => {
  const storage = new MemoryStorage()
  assert.ok((await arrived(storage, '#key=host&j=join')).isOwnRelay(here, {key: 'host', guestKey: 'join'}))
  assert.deepEqual((await arrived(storage, '#/b/lesson?k=join')).credential, {key: 'host', guestKey: 'join'})
  assert.equal((await arrived(storage, '#/b/lesson?k=else')).credential.key, 'else')
  const own = new MemoryStorage()
  const page = await arrived(storage, '#token=t', own)
  assert.deepEqual(page.credential, {token: 't'})
  assert.ok(page.isOwnRelay(here, page.credential))
  assert.deepEqual((await arrived(storage, '#/b/lesson', own)).credential, {token: 't'}, 'a token stays with its tab')
  assert.equal((await arrived(storage, '#/b/lesson')).credential.key, 'host')
})

test('who leaves a device leaves no key, secret, name, device or unsent stroke; how fingers draw there stays', async () => {
  const {storage, session} = browser([])
  const own = session()
  const page = await arrived(storage, '#/b/lesson?k=good', own)
  const user = page.ownUser()
  page.isOwnRelay(here, {key: 'good'})
  const names = [...['secret', 'outbox'].map(what => `boardrelay.${what}.relay.${user}`), `boardrelay.outbox.relay.${user}.d/1`,
    'whiteboard.name', 'whiteboard.devices', 'whiteboard.fingers', 'elsewhere']
  for (const name of names) storage.setItem(name, '"x"')
  for (const name of ['whiteboard.device', 'whiteboard.credential', 'status.credential']) own.setItem(name, '"x"')
  assert.equal(page.isOutdated(user), false)
  const other = await tab(storage)
  globalThis.window = {localStorage: storage, sessionStorage: own}
  forgetAll()
  page.leaveDevice()
  assert.deepEqual([[...storage.items.keys()].sort(), own.items.size], [['elsewhere', 'whiteboard.fingers'], 0])
  assert.ok(other.isOutdated(user), 'other tabs are told')
  assert.notEqual(other.ownUser(), user)
})

test('[AC3] an id that is somebody else’s on this relay is not tried again, by any tab', async () => {
  const storage = new MemoryStorage()
  const [one, other] = [await tab(storage), await tab(storage)]
  const user = one.ownUser()
  assert.equal(other.ownUser(), user)
  const next = one.ownUser(user)
  assert.notEqual(next, user)
  assert.equal(other.ownUser(user), next, 'of two tabs that are refused one draws')
})

test('[AC17] with a code all tabs are another person, of whichever relay, and the secret of the one before goes', async () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const {storage, session} = browser([])
    const before = await tab(storage, session())
    const user = before.ownUser()
    before.isOwnRelay(there, {key: 'old'})
    for (const name of [user, 'anna']) storage.setItem(`boardrelay.secret.relay.${name}`, 's')
    const own = session()
    const phone = await tab(storage, own)
    phone.adoptPerson({user: 'anna', device: 'cc', relay: here}, {key: 'k'})
    assert.deepEqual([before.ownUser(), before.isOutdated(user)], ['anna', true])
    assert.deepEqual([user, 'anna'].map(name => storage.getItem(`boardrelay.secret.relay.${name}`)), [null, 's'])
    assert.ok(phone.isOwnRelay(here, {key: 'k'}))
    const [late] = await settled((await tab(storage, session('cc'))).claimDevice('anna'))
    assert.notEqual(late, 'cc', 'the others of that browser know that it is taken')
    globalThis.BroadcastChannel = new Tabs().Channel
    const [again] = await settled((await tab(storage, own)).claimDevice('anna'))
    assert.equal(again, 'cc', 'after a reload it is the same')
  } finally {
    mock.timers.reset()
  }
})

test('[AC17] a code does not stay in the address; what it is good for is kept, and a wrong one says so', async () => {
  globalThis.location.hash = '#/b/lesson?k=secret&code=3J7XQ-0M9TZ'
  const {arrive} = await tab(new MemoryStorage())
  const {code, board, credential} = arrive()
  assert.deepEqual([code, board, credential], ['3J7XQ-0M9TZ', 'lesson', {key: 'secret'}])
  assert.equal(globalThis.location.hash, '#/b/lesson')
  assert.equal(arrive().code, undefined)

  const asked = []
  class Client {
    constructor(_, user, options) {
      this.user = user ?? 'anna'
      this.relayID = here
      asked.push(user, options)
    }
    async connect() {
      await Client.answer
    }
    channel() {
      return {presence: {states: async user => ({name: `Called ${user}`})}}
    }
    async close() {
      asked.push('closed')
    }
  }
  Client.answer = Promise.resolve()
  const {device, ...person} = await comeWith(code, {board, credential, storage: window.localStorage, Client})
  assert.deepEqual(person, {user: 'anna', relay: here, name: 'Called anna'})
  assert.match(device, /^[0-9a-f]{16}$/)
  assert.deepEqual(asked, [undefined, {code, credential, storage: window.localStorage, scope: 'relay', device}, 'closed'])
  Client.answer = Promise.reject(new RelayError(ErrorCode.codeWrong, 'it was used'))
  const error = await comeWith(code, {board, credential, Client}).catch(error => error)
  assert.match(explain(error), /code was used, or is older than two minutes/)
  assert.equal(asked.at(-1), 'closed')
})

test('[AC1] who has a token is the user that it is for', async () => {
  const {subjectOf} = await tab(new MemoryStorage())
  const token = payload => `e30.${Buffer.from(payload).toString('base64url')}.c2ln`
  assert.equal(subjectOf({token: token('{"sub":"anna","name":"Änna ??>>"}')}), 'anna')
  for (const wrong of [undefined, {}, {key: 'k'}, {token: ''}, {token: 'a.b'}, {token: token('{')}, {token: token('{"sub":"a*"}')},
      {token: token('{"sub":5}')}]) assert.equal(subjectOf(wrong), undefined)
})

test('the key for guests, which a page keeps, is no part of what it logs in with', async () => {
  const {loginWith} = await import('../../Sources/RelayPage/page/identity.js')
  assert.deepEqual([loginWith({key: 'host', guestKey: 'join'}), loginWith({token: 't'}), loginWith(undefined)],
    [{key: 'host'}, {token: 't'}, undefined])
})
