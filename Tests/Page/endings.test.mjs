// How a page goes on when its link has ended for good, and how it leaves a browser. Dialogs answer what the test says.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {MemoryStorage} from './support/memory-storage.mjs'
import {ErrorCode, RelayError} from '../../Sources/RelayPage/relay-client.js'

const [localStorage, sessionStorage] = [new MemoryStorage(), new MemoryStorage()]
Object.assign(globalThis, {window: {localStorage, sessionStorage}, BroadcastChannel: undefined})
await import('./support/english.mjs')
const {forgetAll, leave, linkEnded} = await import('../../Sources/RelayPage/page/endings.js')
const {Session} = await import('../../Sources/RelayPage/page/session.js')
const {isOwnRelay, ownUser} = await import('../../Sources/RelayPage/page/identity.js')
const relay = 'a'.repeat(32)

/** A page whose browser keeps a key; `answers`: to its dialogs, in order. */
function page({answers = [], credential = {key: 'good'}} = {}) {
  for (const storage of [localStorage, sessionStorage]) storage.items.clear()
  const [asked, done] = [[], []]
  const element = tag => ({
    tag, dataset: {}, addEventListener() {}, remove() {}, append() {}, value: ' typed ',
    showModal() {
      asked.push(this.id)
      this.returnValue = answers.shift() ?? 'yes'
      queueMicrotask(this.onclose)
    },
  })
  globalThis.document = {createElement: element, body: element()}
  globalThis.location = {host: 'relay', hash: '', reload: () => done.push('reloaded')}
  const user = ownUser()
  isOwnRelay(relay, credential)
  const session = {
    user, device: 'd', credential, records: {own: []}, connect: (...who) => done.push(who),
    client: {close: async () => void done.push('closed', localStorage.length > 0)},
  }
  return {session, asked, done, user, end: reason => linkEnded(session, reason)}
}
const closed = code => ({kind: 'relayClosed', code: ErrorCode[code]})
const refused = code => ({kind: 'loginRefused', error: new RelayError(ErrorCode[code], 'no')})

test('[SE8] a tab that was replaced is another device of the same person, with a token as well', async () => {
  for (const credential of [{key: 'good'}, {token: `e30.${btoa('{"sub":"me"}')}.c2ln`}]) {
    const {asked, done, user, end} = page({credential})
    await end(closed('replaced'))
    const [[who, device]] = done
    assert.equal(who, user)
    assert.match(device, /^[0-9a-f]{16}$/)
    assert.deepEqual(asked, [])
  }
})

test('[AC3] an id that is somebody else’s is drawn anew; whose token is for it is told', async () => {
  const {done, user, asked, end} = page()
  await end(refused('userIDTaken'))
  assert.deepEqual([done[0][0] === user, done[0][0] === ownUser(), asked], [false, true, []])
  const token = page({credential: {token: `e30.${btoa('{"sub":"me"}')}.c2ln`}})
  await token.end(refused('userIDTaken'))
  assert.deepEqual([token.asked, token.done[0][0]], [['ended-dialog'], token.user])
})

test('a key that is refused is asked for, and is not kept before a relay has taken it', async () => {
  const {session, asked, done, user, end} = page()
  await end(refused('keyWrong'))
  assert.deepEqual([asked, session.credential, done], [['key-dialog'], {key: 'typed'}, [[user, 'd']]])
  assert.deepEqual(JSON.parse(localStorage.getItem('whiteboard.person')).credential, {key: 'good'})
  assert.equal(sessionStorage.getItem('whiteboard.credential'), '{"key":"typed"}')
})

test('[SE6] another relay is gone on with by who says so, as somebody new; before that nothing is forgotten', async () => {
  let before
  const {asked, done, end} = page()
  sessionStorage.setItem('whiteboard.credential', '{"key":"scanned"}')
  const {showModal, ...rest} = document.createElement()
  document.createElement = tag => ({...rest, tag, showModal() {
    before = localStorage.getItem('whiteboard.person')
    showModal.call(this)
  }})
  await end({kind: 'otherRelay', relay: 'b'.repeat(32)})
  assert.deepEqual([asked, done], [['other-relay'], ['reloaded']])
  assert.match(before, /good/)
  assert.deepEqual([localStorage.length, sessionStorage.getItem('whiteboard.credential')], [0, '{"key":"scanned"}'])
})

test('who leaves is asked, says good-bye to the relay, and leaves nothing', async () => {
  const stays = page({answers: ['leave-no']})
  await leave(stays)
  assert.deepEqual([stays.asked, stays.done, localStorage.length], [['leave-dialog'], [], 1])
  const leaves = page({answers: ['leave-yes']})
  await leave(leaves)
  assert.deepEqual([leaves.done, localStorage.length, sessionStorage.length], [['closed', true, 'reloaded'], 0, 0])
})

test('a tab that hears late that another has left takes nothing from whoever has come since', () => {
  page()
  sessionStorage.setItem('whiteboard.credential', '{"token":"of before"}')
  forgetAll({isOfTab: true})
  assert.deepEqual([localStorage.length, sessionStorage.length], [1, 0])
})

test('[SE6, SE8] a page logs in as its device, and asks at each login whether the relay is the one that its key is for', () => {
  page()
  localStorage.items.clear()
  const logins = []
  class Client {
    constructor(address, user, options) {
      logins.push(options)
      throw new Error('enough')
    }
  }
  Object.assign(globalThis.document, {addEventListener() {}})
  const session = new Session({Client, board: 'lesson', user: 'me', name: 'Me', credential: {key: 'k'}, records: {takeOwn: () => []}})
  assert.throws(() => session.connect('me', 'aa'), /enough/)
  assert.throws(() => session.connect('me'), /enough/)
  assert.deepEqual(logins.map(({device}) => device), ['aa', 'aa'])
  const [here, there] = ['a', 'b'].map(digit => digit.repeat(32))
  assert.deepEqual([here, there, here].map(logins[1].acceptsRelay), [true, false, true])
  assert.deepEqual(JSON.parse(localStorage.getItem('whiteboard.person')), {relay: here, credential: {key: 'k'}})
})
