// Who a tab is: ids that tabs of one browser share, tokens, and browsers that keep nothing.
import assert from 'node:assert/strict'
import {mock, test} from 'node:test'
import {comeWith} from '../../Sources/RelayPage/page/devices.js'
import {explain} from '../../Sources/RelayPage/page/words.js'
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
/** The module as a tab of its own loads it. */
const tab = () => import(`../../Sources/RelayPage/page/identity.js?tab=${++count}`)
globalThis.location = {host: 'relay', hash: ''}

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

/** A browser with a pool of ids, and what a tab of it kept. */
function browser(ids) {
  const storage = new MemoryStorage()
  storage.setItem('whiteboard.ids', JSON.stringify(ids))
  globalThis.BroadcastChannel = new Tabs().Channel
  const session = user => {
    const kept = new MemoryStorage()
    if (user) kept.setItem('whiteboard.user', user)
    return kept
  }
  return {storage, session}
}

test('tabs that open at one moment get ids of their own, also when they remember the same one', async () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    for (const [remembered, pool] of [['a', ['a', 'b']], [undefined, ['a', 'b']], ['a', ['a']]]) {
      const {storage, session} = browser(pool)
      const tabs = await Promise.all([tab(), tab(), tab()])
      const users = await settled(...tabs.map(({claimUser}) => claimUser(storage, session(remembered))))
      assert.equal(new Set(users).size, 3, `${users}`)
      assert.ok(pool.every(id => users.includes(id)), `what is free is used: ${users}`)
      const late = await tab()
      const [fourth] = await settled(late.claimUser(storage, session('a')))
      assert.ok(!users.includes(fourth), 'one that comes later is told, too')
    }
  } finally {
    mock.timers.reset()
  }
})

test('a tab that comes back has its own id; one whose id another has taken draws a new one', async () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const {storage, session} = browser(['a', 'b', 'c'])
    const one = await tab()
    const own = session('b')
    assert.deepEqual(await settled(one.claimUser(storage, own)), ['b'])
    const [other] = await settled(one.claimUser(storage, own, 'b'))
    assert.ok(!['a', 'b', 'c'].includes(other), other)
    assert.equal(own.getItem('whiteboard.user'), other)
    const [next] = await settled((await tab()).claimUser(storage, session('b')))
    assert.equal(next, 'b', 'it is free, as far as this tab knows')
  } finally {
    mock.timers.reset()
  }
})

test('a full storage, none at all, and no channel between tabs: there is an id, and the key outlives the dialog', async () => {
  const full = Object.assign(new MemoryStorage(), {setItem: () => { throw new Error('QuotaExceededError') }})
  browser([])
  assert.match(await (await tab()).claimUser(full, full), /^[0-9a-f]{20}$/)
  globalThis.BroadcastChannel = class { constructor() { throw new Error('SecurityError') } }
  const {storage, session} = {storage: new MemoryStorage(), session: new MemoryStorage()}
  storage.setItem('whiteboard.ids', '["a","b"]')
  session.setItem('whiteboard.user', 'b')
  assert.equal(await (await tab()).claimUser(storage, session), 'b')
  globalThis.window = {get localStorage() { throw new Error('denied') }, get sessionStorage() { throw new Error('denied') }}
  globalThis.history = {replaceState(_, __, address) { globalThis.location.hash = address.slice(1) }}
  const {arrive, keepCredential, open} = await tab()
  globalThis.location.hash = '#/b/lesson?k=secret'
  assert.deepEqual(arrive(), {board: 'lesson', credential: {key: 'secret'}})
  assert.equal(globalThis.location.hash, '#/b/lesson', 'the key does not stay in the address, the board does')
  keepCredential({key: 'typed'})
  assert.deepEqual(arrive(), {board: 'lesson', credential: {key: 'typed'}})
  globalThis.location.hash = '#key=printed'
  assert.deepEqual(arrive(), {board: 'board', credential: {key: 'printed'}}, 'the address as it was printed leads everybody to one board')
  open('localStorage').setItem('x', 'y')
  assert.deepEqual([open('localStorage').getItem('x'), open('sessionStorage').getItem('x')], ['y', null])
})

test('[SE8] a device is kept with its id; one that comes with a code keeps the id, and another of the same browser stays as it is', async () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const {storage, session} = browser([])
    const [one, own] = [await tab(), session()]
    const [user] = await settled(one.claimUser(storage, own))
    const device = one.deviceOf(user, storage, own)
    assert.match(device, /^[0-9a-f]{16}$/)
    assert.equal(one.deviceOf(user, storage, session()), device, 'whoever takes the id up goes on with its device')
    assert.notEqual(one.deviceOf('other', storage, own), device)

    const [second, its] = [await tab(), session()]
    second.adoptUser({user, device: 'bb'}, storage, its)
    assert.equal(second.deviceOf(user, storage, its), 'bb', 'in the same browser it is of the tab')
    assert.equal(one.deviceOf(user, storage, own), device)

    const elsewhere = browser(['x'])
    const [phone, tabs] = [await tab(), elsewhere.session('x')]
    phone.adoptUser({user, device: 'cc'}, elsewhere.storage, tabs)
    assert.deepEqual(JSON.parse(elsewhere.storage.getItem('whiteboard.ids')), ['x', user])
    assert.deepEqual(await settled((await tab()).claimUser(elsewhere.storage, elsewhere.session(user))).then(([id]) => id !== user), true,
        'the others of that browser know that it is taken')
    elsewhere.storage.setItem('whiteboard.ids', JSON.stringify(['x', user]))
    globalThis.BroadcastChannel = new Tabs().Channel
    const [again] = await settled((await tab()).claimUser(elsewhere.storage, tabs))
    assert.deepEqual([again, phone.deviceOf(again, elsewhere.storage, tabs)], [user, 'cc'], 'after a reload it is the same')
    phone.forgetUser(user, elsewhere.storage, tabs)
    assert.notEqual(phone.deviceOf(user, elsewhere.storage, tabs), 'cc')
  } finally {
    mock.timers.reset()
  }
})

test('[AC17] a code does not stay in the address; what it is good for is kept, and a wrong one says so', async () => {
  globalThis.window = {localStorage: new MemoryStorage(), sessionStorage: new MemoryStorage()}
  globalThis.history = {replaceState(_, __, address) { globalThis.location.hash = address.slice(1) }}
  globalThis.location.hash = '#/b/lesson?k=secret&code=3J7XQ-0M9TZ'
  const {arrive} = await tab()
  const {code, board, credential} = arrive()
  assert.deepEqual([code, board, credential], ['3J7XQ-0M9TZ', 'lesson', {key: 'secret'}])
  assert.equal(globalThis.location.hash, '#/b/lesson')
  assert.equal(arrive().code, undefined)

  const asked = []
  class Client {
    constructor(_, user, options) {
      this.user = user ?? 'anna'
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
  assert.deepEqual(person, {user: 'anna', name: 'Called anna'})
  assert.match(device, /^[0-9a-f]{16}$/)
  assert.deepEqual(asked, [undefined, {code, credential, storage: window.localStorage, scope: 'relay', device}, 'closed'])
  Client.answer = Promise.reject(new RelayError(ErrorCode.codeWrong, 'it was used'))
  const error = await comeWith(code, {board, credential, Client}).catch(error => error)
  assert.match(explain(error), /code was used, or is older than two minutes/)
  assert.equal(asked.at(-1), 'closed')
})

test('[AC1] who has a token is the user that it is for', async () => {
  const {subjectOf} = await tab()
  const token = payload => `e30.${Buffer.from(payload).toString('base64url')}.c2ln`
  assert.equal(subjectOf({token: token('{"sub":"anna","name":"Änna ??>>"}')}), 'anna')
  for (const wrong of [undefined, {}, {key: 'k'}, {token: ''}, {token: 'a.b'}, {token: token('{')}, {token: token('{"sub":"a*"}')},
      {token: token('{"sub":5}')}]) assert.equal(subjectOf(wrong), undefined)
})
