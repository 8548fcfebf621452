// Going from board to board: what is kept of each, what waits of one that the page has left, the list, and copies. The client is played.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {MemoryStorage} from './support/memory-storage.mjs'
import './support/english.mjs'

globalThis.location = {origin: 'http://relay', host: 'relay', hash: ''}
globalThis.document = {hidden: false, addEventListener() {}, removeEventListener() {}, getElementById: () => null}
const storages = {localStorage: new MemoryStorage(), sessionStorage: new MemoryStorage()}
globalThis.window = {...storages, addEventListener() {}, removeEventListener() {}}
const {goTo, mayLeave} = await import('../../Sources/RelayPage/page/board-change.js')
const {copyBoard, copyOf, readBoard, steps} = await import('../../Sources/RelayPage/page/board-copy.js')
const kept = await import('../../Sources/RelayPage/page/kept-boards.js')
const {nameFor, nameOf} = await import('../../Sources/RelayPage/page/new-names.js')
const {loadKinds} = await import('../../Sources/RelayPage/page/kinds/index.js')
const {Live} = await import('../../Sources/RelayPage/page/live.js')
const {Records} = await import('../../Sources/RelayPage/page/records.js')
const {Session} = await import('../../Sources/RelayPage/page/session.js')
const {ErrorCode, RelayError} = await import('../../Sources/RelayPage/relay-client.js')
await loadKinds()

const deferred = () => {
  const one = {}
  one.promise = new Promise((resolve, reject) => Object.assign(one, {resolve, reject}))
  one.promise.catch(() => {})
  return one
}
const turn = () => new Promise(resolve => setTimeout(resolve))
const payloadOf = id => `{"color":"#000000FF","cols":"xy","id":"${id}","points":[0,0,5,5],"v":1,"width":300,"z":1}`
const stroke = id => ({customType: 'stroke', payload: payloadOf(id)})

/** A channel of a played relay: what was asked and sent, and how it ends, is in the test's hands; `standing`: what is read there. */
class PlayedChannel {
  asked = []
  sent = []
  standing = []
  metadata = {get: async () => ({items: []}), set: async () => 1}
  presence = {set: async () => {}, async* members() {}}
  constructor(client, name) {
    Object.assign(this, {client, name})
  }
  ask(type) {
    const answer = deferred()
    this.asked.push({type, ...answer})
    return answer.promise
  }
  open({quiet}) { return quiet ? Promise.resolve() : this.ask('open') }
  leave() { return this.ask('leave') }
  topic(name) { return {follow: () => this.ask(`follow ${name}`), startPublishing: () => this.ask(`publish ${name}`)} }
  async* events() {
    yield {type: 'board', messages: this.standing}
    yield {type: 'caughtUp', head: 9}
  }
  get board() {
    const hand = changes => {
      const [accepted, stored] = [deferred(), deferred()]
      this.sent.push({changes, accepted, stored})
      if (this.storesAll) stored.resolve(this.sent.length)
      return {accepted: accepted.promise, stored: stored.promise}
    }
    return {
      put: (key, payload, {customType} = {}) => hand([{key, payload, customType}]), remove: key => hand([{key}]),
      batch: make => {
        const changes = []
        make({put: (key, payload, {customType}) => changes.push({key, payload, customType}), remove: key => changes.push({key})})
        return hand(changes)
      },
    }
  }
}
class PlayedClient {
  static last
  channels = new Map()
  restored = PlayedClient.kept ?? []
  link = {state: 'connected'}
  access = {rights: () => new Set(['publish'])}
  constructor() { PlayedClient.last = this }
  async* events() {}
  channel(name) {
    if (!this.channels.has(name)) this.channels.set(name, new PlayedChannel(this, name))
    return this.channels.get(name)
  }
  async close() {}
  wakeUp() {}
}

function page(restored) {
  PlayedClient.kept = restored
  const told = []
  const records = new Records(() => {})
  const session = new Session({Client: PlayedClient, board: 'one', user: 'me', name: 'Me', records, live: new Live(() => {}),
    changed: () => {}, failed: error => told.push(error.name)})
  session.connect('me')
  const client = PlayedClient.last
  const say = (channel, type, event) => session.take({type, channel, ...event})
  const heard = (channel, key, offset, {customType, payload} = stroke(key)) =>
    say(channel, 'message', {isRetained: true, isRemoval: false, key, offset, sender: 'bob', customType, payload})
  say('one', 'caughtUp', {head: 0})
  const shown = () => records.ordered.map(({id}) => id).toSorted()
  return {session, client, records, told, say, heard, shown, of: name => client.channel(name)}
}

test('another board has its own records, title, modes and people; what comes of the board before is not its own', async () => {
  const {session, say, heard, shown, of} = page()
  heard('one', 'a', 1)
  say('one', 'metadata', {items: new Map([['title', {value: 'First'}]])})
  say('one', 'channelMode', {mode: 'frozen', isOn: true})
  session.present(new Map([['me', {states: {}}], ['bob', {states: {name: 'Bob'}}]]))
  say('one', 'packet', {topic: 'points', publisher: 'bob', device: 'bb',
    payload: '{"color":"#000000FF","cols":"xy","first":0,"id":"l","points":[1,1],"v":1,"width":3}'})
  assert.deepEqual([shown(), session.live.strokes.size], [['a'], 1])
  await goTo(session, 'two')
  assert.deepEqual([shown(), session.live.strokes.size, session.members.size, session.title, session.isFrozen, session.records.isReading],
    [[], 0, 0, undefined, false, true])
  assert.deepEqual([of('one').asked.at(-1).type, of('two').asked[0].type], ['leave', 'open'])
  heard('one', 'late', 2)
  say('one', 'caughtUp', {head: 2})
  heard('two', 'b', 1)
  assert.deepEqual([shown(), session.records.isReading], [['b'], true])
  say('two', 'caughtUp', {head: 1})
  assert.equal(session.records.isReading, false)
})

test('what a board asked for is not asked again when the page has left it', async () => {
  const {session, of, told} = page()
  await goTo(session, 'two')
  const before = of('one').asked.length
  for (const {reject} of of('one').asked) reject(new RelayError(ErrorCode.outcomeUnknown, 'why'))
  await turn()
  assert.deepEqual([of('one').asked.length, told], [before, []])
})

test('a change that is not stored when the page leaves counts as unsent, and is shown to who comes back before it is', async () => {
  const {session, heard, say, shown, of, records} = page()
  session.write('mine', stroke('mine'))
  await goTo(session, 'two')
  assert.deepEqual([shown(), session.unsent], [[], 1])
  of('one').asked.at(-1).resolve()
  await turn()
  await goTo(session, 'one')
  assert.deepEqual([shown(), session.unsent], [['mine'], 1])
  heard('one', 'other', 1)
  say('one', 'caughtUp', {head: 1})
  of('one').sent[0].accepted.resolve(2)
  of('one').sent[0].stored.resolve(2)
  await turn()
  assert.deepEqual([shown(), session.unsent, records.told.get('mine').offset], [['mine', 'other'], 0, 2])
})

test('one that is stored while the page is elsewhere is over, and does not touch the board where the page is', async () => {
  const {session, of, records} = page()
  session.write('mine', stroke('mine'))
  await goTo(session, 'two')
  of('one').sent[0].accepted.resolve(700)
  of('one').sent[0].stored.resolve(700)
  await turn()
  assert.deepEqual([session.unsent, session.left.size, records.offset], [0, 0, 0])
})

test('[MS9] one of which nobody knows is written again on its own board, as that is now; a refusal is told', async context => {
  const {session, of, told} = page()
  for (const key of ['lost', 'there', 'full']) session.write(key, stroke(key))
  await goTo(session, 'two')
  of('one').asked.at(-1).resolve()
  of('one').standing = [{type: 'message', isRetained: true, key: 'there', offset: 1, sender: 'me', ...stroke('there')}]
  const unknown = new RelayError(ErrorCode.outcomeUnknown, 'unknown')
  context.mock.timers.enable({apis: ['setTimeout']})
  const [lost, there, full] = of('one').sent
  lost.stored.reject(unknown)
  there.stored.reject(unknown)
  full.stored.reject(new RelayError(ErrorCode.boardFull, 'full'))
  for (let count = 0; count < 20; count++) await Promise.resolve()
  context.mock.timers.tick(5_000)
  context.mock.timers.reset()
  for (let count = 0; count < 20; count++) {
    await turn()
    of('one').asked.filter(({type}) => type === 'leave').forEach(({resolve}) => resolve())
  }
  assert.deepEqual(of('one').sent.slice(3).map(({changes}) => changes[0].key), ['lost'])
  assert.deepEqual([of('two').sent, told, session.unsent], [[], ['boardFull'], 1])
  of('one').sent[3].stored.resolve(2)
  await turn()
  assert.equal(session.unsent, 0)
})

test('what an earlier page left of another board is followed, too', async () => {
  const [accepted, stored] = [deferred(), deferred()]
  const receipt = {accepted: accepted.promise, stored: stored.promise}
  const {session, shown} = page([{channel: 'other', key: 'a', ...stroke('a'), receipt}])
  assert.deepEqual([shown(), session.unsent], [[], 1])
  stored.resolve(3)
  await turn()
  assert.equal(session.unsent, 0)
})

test('who is back before a board is left is on it when it is: what came before is not taken', async () => {
  const {session, say, of, records} = page()
  await goTo(session, 'two')
  const back = goTo(session, 'one')
  const opened = () => of('one').asked.filter(({type}) => type === 'open').length
  say('one', 'caughtUp', {head: 5})
  assert.deepEqual([records.isReading, opened()], [true, 1])
  of('one').asked.find(({type}) => type === 'leave').resolve()
  await back
  assert.equal(opened(), 2)
  say('one', 'caughtUp', {head: 5})
  assert.equal(records.isReading, false)
})

test('what hands do ends on its board; while this browser could not keep something, or a text is too long, the page stays', context => {
  context.mock.timers.enable({apis: ['setTimeout']})
  const said = []
  const element = () => ({children: [], dataset: {}, append() {}, remove() {}})
  document.getElementById = () => ({...element(), append: notice => said.push(notice)})
  document.createElement = element
  const done = []
  const note = what => () => void done.push(what)
  const pointer = {pointerId: 1}
  const tools = {pointers: new Map([[1, pointer]]), up: event => done.push(event), finish: note('held'), choose: note('choice'),
    writing: {area: {}, finish() {}}}
  const parts = {session: {client: {unsent: {unkept: 1}}}, tools, editing: {settle: note('nudge')}, together: {stop: note('following')}}
  assert.deepEqual([mayLeave(parts), said.length, done], [false, 1, []])
  parts.session.client.unsent.unkept = 0
  assert.deepEqual([mayLeave(parts), done], [false, []], 'a text that is too long stays to be shortened')
  tools.writing.finish = () => { tools.writing.area = undefined }
  assert.deepEqual([mayLeave(parts), done], [true, [pointer, 'held', 'nudge', 'choice', 'following']])
  document.getElementById = () => null
})

// MARK: The list

const board = (name, at, picture) => ({name, title: name, at, ...picture && {picture}})
const picture = length => 'data:image/png;base64,'.padEnd(length, 'A')

test('boards are pages in the order in which a browser came to them; a copy is behind its source; another relay has none of them', () => {
  for (const [at, name] of ['a', 'b', 'c'].entries()) kept.keepBoard('relay', board(name, at))
  kept.keepBoard('relay', board('copy', 9), 'a')
  kept.keepBoard('relay', {...board('a', 10), title: 'A'})
  const list = kept.keptBoards('relay')
  assert.deepEqual(list.map(({name}) => name), ['a', 'copy', 'b', 'c'])
  assert.equal(list[0].title, 'A')
  assert.deepEqual([kept.beside(list, 'a', 1), kept.beside(list, 'a', -1), kept.beside(list, 'c', 1), kept.beside(list, 'x', 1)],
    ['copy', undefined, undefined, undefined])
  assert.deepEqual(kept.keptBoards('another'), [])
  for (const wrong of ['[', '{"relay":"relay","list":7}', '{"relay":"relay","list":[{"name":"/","title":"","at":1},{"name":"a"}]}',
    '{"relay":"relay","list":[{"name":"a","title":"","at":1,"picture":"https://elsewhere/"}]}']) {
    window.localStorage.setItem('whiteboard.boards', wrong)
    assert.deepEqual(kept.keptBoards('relay'), [])
  }
})

test('of more boards than the list holds the one left longest ago goes; of more letters its picture', () => {
  const many = Array.from({length: 60}, (_, at) => board(`b${at}`, at === 0 ? 1_000 : at, picture(10_000)))
  const found = kept.bounded(many)
  assert.deepEqual([found.length, found[0].name, found[1].name], [kept.boardsMax, 'b0', 'b11'])
  assert.equal(found.filter(one => one.picture).length, 30)
  assert.deepEqual([found[0].picture, found[1].picture, found.at(-1).picture].map(Boolean), [true, false, true])
})

test('a name is made of a title, and the next title is one that nobody has', () => {
  const titles = ['Page two', ' Größe 3! ', 'Wesoły Hızlı İyi', 'Урок 3', '3', 'a'.repeat(80)]
  assert.deepEqual(titles.map(nameFor), ['page-two', 'grosse-3', 'wesoly-hizli-iyi', '', '3', 'a'.repeat(64)])
  assert.match(nameOf('Урок 3'), /^[a-z]+-[a-z]+-\d{3}$/, 'its number alone is the name of no other lesson')
  const next = (title, ...list) => kept.nextTitle(title, list)
  assert.deepEqual([next('Lesson'), next('Lesson 2', {name: 'lesson-3', title: 'Another'}), next('7')], ['Lesson 2', 'Lesson 4', '7 2'])
  assert.equal(next('Урок', {name: 'quiet-otter-417', title: 'Урок 2'}), 'Урок 3')
})

// MARK: Copies

const message = (key, offset, record = stroke(key)) => ({type: 'message', isRetained: true, key, offset, sender: 'bob', ...record})

test('a board is read as it is, and left; a copy is the same records, and none where something is', async () => {
  const {session, of} = page()
  const answer = name => of(name).leave = async () => {}
  ;['from', 'to', 'full'].forEach(answer)
  of('from').standing = [message('b', 2), message('a', 1), message('t', 3, {customType: 'title', payload: '{"text":"T","v":1}'}),
    message('x', 4, {customType: 'other', payload: 'anything'})]
  of('from').metadata.get = async () => ({items: [{key: 'paper', value: 'ruled'}, {key: 'title', value: 'T'}]})
  const set = []
  of('to').metadata.set = async values => void set.push(values)
  of('to').storesAll = true
  of('full').standing = [message('z', 1)]
  assert.deepEqual([...(await readBoard(session, 'from')).keys()], ['b', 'a', 't', 'x'])
  const how = {session, from: 'from', progress() {}, signal: {aborted: false}}
  await copyBoard({...how, to: 'to'})
  const written = of('to').sent.flatMap(({changes}) => changes)
  assert.deepEqual(written.map(({key}) => key), ['a', 'b', 't', 'x'])
  assert.deepEqual(written[0], {key: 'a', ...stroke('a')})
  assert.deepEqual([set, session.unsent], [[{paper: 'ruled'}], 0])
  await assert.rejects(copyBoard({...how, to: 'full'}), {word: 'boards.notEmpty'})
  assert.deepEqual(of('full').sent, [])
  await assert.rejects(copyBoard({...how, to: 'to', signal: {aborted: true}}), {word: 'boards.stopped'})
})

test('a template is protected, but for what cannot be; steps are bounded by records and letters', () => {
  const all = [['a', stroke('a')], ['t', {customType: 'title', payload: '{"text":"T","v":1}'}], ['x', {customType: 'other', payload: '{}'}]]
  const made = copyOf(all.map(([key, record]) => ({key, ...record})), true)
  assert.deepEqual(made.map(({record}) => record.payload.includes('"locked":true')), [true, false, false])
  const changes = (count, letters) => Array.from({length: count}, (_, at) => ({key: `${at}`, record: {payload: 'x'.repeat(letters)}}))
  assert.deepEqual(steps(changes(1_100, 1)).map(({length}) => length), [512, 512, 76])
  assert.deepEqual(steps(changes(5, 900_000)).map(({length}) => length), [2, 2, 1])
  assert.deepEqual(steps([]), [])
})
