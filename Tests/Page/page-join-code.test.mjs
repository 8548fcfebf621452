// The page's part of join codes: who types one, and the box under Invite that shows one. The relay is played. [AC20]
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {MemoryStorage} from './support/memory-storage.mjs'
import {ErrorCode, RelayError} from '../../Sources/RelayPage/relay-client.js'

Object.assign(globalThis, {window: {localStorage: new MemoryStorage(), sessionStorage: new MemoryStorage()}, BroadcastChannel: undefined})
await import('./support/english.mjs')
const {CodeBox, askBoard, askKey, codeOf, redeem, spelled} = await import('../../Sources/RelayPage/page/join-code.js')
globalThis.location = {host: 'relay', origin: 'http://relay', hash: ''}

const wrong = (limit, actual) => new RelayError(ErrorCode.codeWrong, 'no', {limit, actual})
const turn = () => new Promise(setImmediate)

/** A client whose relay answers what the test says, in order. */
function clients(...answers) {
  const made = []
  class Client {
    constructor(address, user, options) {
      Object.assign(this, {address, user, options, isClosed: false})
      made.push(this)
    }
    async connect() {
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      this.invitation = answer
    }
    async close() { this.isClosed = true }
  }
  return {Client, made}
}

/** Dialogs that get what somebody types; what they said before. */
function dialogs(...typed) {
  const said = []
  const element = tag => ({
    tag, dataset: {}, children: [], addEventListener() {}, remove() {}, append(...parts) { this.children.push(...parts) },
    replaceChildren(...parts) { this.children = parts },
    showModal() {
      const {children: [, text, input]} = this.children[0]
      said.push(text.textContent)
      const next = typed.shift()
      input.value = next ?? ''
      this.returnValue = next === undefined ? '' : this.children[0].children.at(-1).children.at(-1).value
      queueMicrotask(this.onclose)
    },
  })
  globalThis.document = {createElement: element, body: element()}
  return said
}

test('six letters are a code however they are typed; anything else is a key', () => {
  for (const text of ['QPFDKW', ' qpf-dkw ', 'QPF DKW']) assert.equal(codeOf(text), 'QPFDKW')
  for (const text of ['', 'QPFDK', 'QPFDKWB', 'c4tnapx5e2qzt6mlw7rbd3kvfy', '123456', 'QPFDK1']) assert.equal(codeOf(text), undefined, text)
  assert.equal(spelled('QPFDKW'), 'QPF DKW')
})

test('a code is asked about by this browser’s person, unless that is somebody else there; nobody stays behind', async () => {
  const {Client, made} = clients(new RelayError(ErrorCode.userIDTaken, 'no'), {key: 'k', channel: 'lesson'})
  assert.deepEqual(await redeem('QPFDKW', 'me', Client), {key: 'k', channel: 'lesson'})
  assert.deepEqual(made.map(({user, options, isClosed}) => [user === 'me', options.credential.joinCode, isClosed]),
      [[true, 'QPFDKW', true], [false, 'QPFDKW', true]])
  assert.notEqual(made[0].options.device, made[1].options.device)
})

test('who types a wrong code is told how many tries are left, then how long to wait; then a key is taken as it is', async () => {
  const said = dialogs('bbbbbb', 'bbb bbb', 'BBBBBB', 'bbb-bbb', 'BBBBBB', ' key ')
  const late = new RelayError(ErrorCode.rateLimited, 'no', {limit: 5, actual: 6, retryAfterMs: 12_345})
  const {Client} = clients(wrong(5, 3), wrong(5, 4), wrong(5, 5), late, new RelayError(ErrorCode.banned, 'you are banned'))
  assert.deepEqual(await askKey('Type it.', 'me', Client), {key: 'key'})
  assert.deepEqual(said, ['Type it.', 'That is not the code, or it has ended. You have 2 more tries in this minute.',
    'That is not the code, or it has ended. You have one more try in this minute.',
    'That is not the code, or it has ended. Wait a minute, then try again.', 'Too many wrong codes were typed. Try again in 13 seconds.',
    'That did not work: you are banned.'])
})

test('a code gives key and board; who is in already goes to the board alone, or stays', async () => {
  dialogs('QPFDKW')
  assert.deepEqual(await askKey('', 'me', clients({key: 'k', channel: 'lesson'}).Client), {key: 'k', channel: 'lesson'})
  dialogs('QPFDKW')
  assert.equal(await askBoard('me', clients({key: 'k', channel: 'lesson'}).Client), 'lesson')
  dialogs(undefined)
  assert.equal(await askBoard('me', clients().Client), undefined)
})

// MARK: The box

/** A host's session; `offers`: what the relay answers, in order. */
function shown(offers, {mayModerate = true, state = 'connected'} = {}) {
  dialogs()
  const events = []
  let wake = () => {}
  const calls = []
  const moderation = {
    async offerJoinCode(board) {
      calls.push(board)
      const answer = offers.shift()
      if (answer instanceof Error) throw answer
      return {code: answer, validMs: 1_800_000}
    },
    async withdrawJoinCode() { calls.push('withdrawn') },
  }
  const client = {async *events({signal}) {
    signal.addEventListener('abort', () => wake())
    while (!signal.aborted) {
      if (events.length) yield events.shift()
      else await new Promise(resolve => { wake = resolve })
    }
    calls.push('read no more')
  }}
  const box = new CodeBox({board: 'lesson', mayModerate, state, client}, () => moderation)
  const tell = async event => {
    events.push(event)
    wake()
    await turn()
  }
  const text = () => box.element.hidden ? undefined : box.element.children.map(({textContent}) => textContent)
  return {box, calls, tell, text, press: () => box.element.children.at(-1).onclick()}
}

test('a host sees the code with the address to type; closing it withdraws it, and nothing is read any more', async () => {
  const {box, calls, text} = shown(['QPFDKW'])
  await turn()
  assert.deepEqual(text(), ['No camera? Open http://relay and type', 'QPF DKW', 'Good for 30 minutes, or until you close this.'])
  box.close()
  await turn()
  assert.deepEqual(calls, ['lesson', 'withdrawn', 'read no more'])
})

test('a code that ended says why, and a press shows another; a link that came back asks for the one that is there', async () => {
  for (const [reason, words] of Object.entries({expired: /30 minutes are over/, wrongTries: /may be guessing/, keyChanged: /new key/,
      notPermitted: /no host any more/})) {
    const {calls, tell, text, press} = shown(['QPFDKW', 'QPFDKW', 'BCDFGH'])
    await turn()
    await tell({type: 'link', state: 'connected'})
    assert.equal(text()[1], 'QPF DKW')
    await tell({type: 'joinCodeEnded', reason})
    assert.match(text()[0], words)
    assert.equal(text()[1], 'Show a new code')
    // Nobody shows another one unasked.
    await tell({type: 'link', state: 'connected'})
    assert.equal(calls.length, 2)
    press()
    await turn()
    assert.equal(text()[1], 'BCD FGH')
  }
})

test('a guest, and a relay without a join key, show none; one that shows as many as it can says so', async () => {
  for (const [offers, how] of [[[], {mayModerate: false}], [[new RelayError(ErrorCode.notSupported, 'no')]]]) {
    const {text} = shown(offers, how)
    await turn()
    assert.equal(text(), undefined)
  }
  const full = shown([new RelayError(ErrorCode.limitReached, 'no')])
  await turn()
  assert.match(full.text()[0], /as many codes as it can/)
})

test('a code that comes when its box is closed already is withdrawn', async () => {
  const {box, calls} = shown(['QPFDKW'])
  box.close()
  await turn()
  assert.deepEqual(calls.filter(call => call !== 'read no more'), ['lesson', 'withdrawn'])
})
