// What the page writes, and what becomes of it when the relay refuses, forgets, or is away for long. The client is played.
import assert from 'node:assert/strict'
import {mock, test} from 'node:test'
import {Live} from '../../Sources/RelayPage/page/live.js'
import {Records} from '../../Sources/RelayPage/page/records.js'
import {ErrorCode, RelayError} from '../../Sources/RelayPage/relay-client.js'
import {Session} from '../../Sources/RelayPage/page/session.js'
import {MemoryStorage} from './support/memory-storage.mjs'

globalThis.location = {origin: 'http://relay', host: 'relay'}
globalThis.document = {hidden: false, addEventListener() {}, removeEventListener() {}}
const storages = {localStorage: new MemoryStorage(), sessionStorage: new MemoryStorage()}
globalThis.window = {...storages, addEventListener() {}, removeEventListener() {}}

const deferred = () => {
  const one = {}
  one.promise = new Promise((resolve, reject) => Object.assign(one, {resolve, reject}))
  one.promise.catch(() => {})
  return one
}

/** As a client is to the page: what was sent, with how it ends in the test's hands. */
class PlayedClient {
  static last
  restored = []
  sent = []
  asked = []
  link = {state: 'connected'}
  access = {rights: () => new Set(['publish'])}

  constructor(address, user, options) {
    Object.assign(this, {user, options})
    PlayedClient.last = this
    this.restored = PlayedClient.kept ?? []
  }
  async* events() {}
  channel() { return this }
  board = this
  get presence() {
    return {set: async states => void this.states.push(states), async* members() {}}
  }
  hand(what) {
    const [accepted, stored] = [deferred(), deferred()]
    this.sent.push({...what, accepted, stored})
    return {accepted: accepted.promise, stored: stored.promise}
  }
  put(key, payload) {
    return this.hand({key, payload})
  }
  remove(key) {
    return this.hand({key})
  }
  batch(make) {
    const changes = []
    make({put: (key, payload) => changes.push({key, payload}), remove: key => changes.push({key, isRemoval: true})})
    return this.hand({changes})
  }
  answer(type) {
    const answer = deferred()
    this.asked.push({type, ...answer})
    return answer.promise
  }
  device = 'aa'
  states = []
  upToDate() {
    return this.answer('upToDate')
  }
  open() {
    return this.answer('open')
  }
  topic(name) {
    return {follow: () => this.answer(`follow ${name}`), startPublishing: () => this.answer(`publish ${name}`)}
  }
  async close() {
    this.link = {state: 'closed'}
  }
  wakeUp() {}
  get keys() {
    return this.sent.map(({key, payload}) => payload === undefined ? `-${key}` : key)
  }
}

const payloadOf = (id, x = 0) => `{"color":"#000000FF","cols":"xy","id":"${id}","points":[${x},0,5,5],"v":1,"width":300,"z":1}`
const stroke = (id, x) => ({customType: 'stroke', payload: payloadOf(id, x)})
const unknown = new RelayError(ErrorCode.outcomeUnknown, 'unknown')

/** A page whose board was read, with its client and what it told in words. */
function page({kept, isReading = false} = {}) {
  PlayedClient.kept = kept
  const told = []
  const records = new Records(() => {})
  const session = new Session({Client: PlayedClient, board: 'lesson', user: 'me', name: 'Me', records, live: new Live(() => {}),
      changed: () => {}, failed: error => told.push(error.name)})
  session.connect('me')
  const client = PlayedClient.last
  client.say = (type, event) => client === session.client && session.take({type, ...event})
  const heard = (key, offset, payload, sender = 'bob') =>
    client.say('message', {channel: 'lesson', isRetained: true, isRemoval: payload === undefined, key, offset, sender, customType: 'stroke', payload: payload ?? ''})
  const caughtUp = (head = 0) => client.say('caughtUp', {channel: 'lesson', head})
  if (!isReading) caughtUp()
  return {session, client, records, told, heard, caughtUp, shown: () => records.ordered.map(({id}) => id)}
}

async function turn() {
  for (let count = 0; count < 20; count++) await Promise.resolve()
}
async function after(ms) {
  mock.timers.tick(ms)
  await turn()
}
function withTimers(run) {
  return async () => {
    mock.timers.enable({apis: ['setTimeout']})
    try {
      await run()
    } finally {
      mock.timers.reset()
    }
  }
}

test('[MS9] a stroke of which nobody knows whether it arrived stays shown, and is written again where the board has none',
    withTimers(async () => {
  const {session, client, heard, caughtUp, shown, told} = page()
  for (const key of ['a', 'b', 'c']) session.write(key, stroke(key))
  session.write('c', undefined)
  for (const {stored} of client.sent) stored.reject(unknown)
  await turn()
  assert.deepEqual(shown(), ['a', 'b'])
  heard('b', 7, payloadOf('b'), 'me')
  caughtUp(7)
  assert.deepEqual(client.keys.slice(4), ['a'], 'b had arrived, and c is not there any more')
  assert.deepEqual(shown(), ['a', 'b'])
  client.sent[4].stored.resolve(8)
  await after(60_000)
  assert.deepEqual([shown(), session.records.own.length, client.sent.length, told], [['a', 'b'], 0, 5, []])
}))

test('[MS9] where nothing was missed it is written again a little later; what others have changed since is left, and told',
    withTimers(async () => {
  const {session, client, heard, records, told} = page()
  for (const key of ['moved', 'lost']) heard(key, key === 'moved' ? 1 : 2, payloadOf(key), 'me')
  session.write('moved', stroke('moved', 50))
  session.write('lost', stroke('lost', 50))
  for (const {stored} of client.sent) stored.reject(unknown)
  await turn()
  heard('lost', 9, payloadOf('lost', 99))
  await after(5_000)
  assert.deepEqual(client.keys.slice(2), ['moved'])
  assert.equal(client.sent[2].payload, payloadOf('moved', 50))
  assert.deepEqual([records.get('lost').payload, told], [payloadOf('lost', 99), ['outcomeUnknown']])
}))

test('strokes that an earlier page left, and of which nobody knows, are written again once the board is read', withTimers(async () => {
  const receipts = [1, 2, 3].map(() => ({accepted: deferred(), stored: deferred()}))
  const kept = ['gone', 'there', 'removal'].map((key, at) => ({
    channel: 'lesson', key, customType: at < 2 ? 'stroke' : undefined, payload: at < 2 ? payloadOf(key) : '',
    receipt: {accepted: receipts[at].accepted.promise, stored: receipts[at].stored.promise},
  }))
  const {client, heard, caughtUp, shown, told} = page({kept, isReading: true})
  receipts.forEach(({stored}) => stored.reject(unknown))
  await turn()
  await after(60_000)
  assert.deepEqual(client.sent, [], 'before the board is read nothing is known')
  heard('there', 1, payloadOf('there'), 'me')
  heard('removal', 2, payloadOf('removal'), 'me')
  caughtUp(2)
  assert.deepEqual([client.keys, shown(), told], [['gone', '-removal'], ['gone', 'there'], []])
}))

test('what is refused for a moment stays shown, and is written after that moment; what was drawn over it meanwhile is not',
    withTimers(async () => {
  const {session, client, shown, told} = page()
  session.write('a', stroke('a'))
  session.write('b', stroke('b'))
  for (const {stored} of client.sent) stored.reject(new RelayError(ErrorCode.busy, 'busy', {retryAfterMs: 700}))
  await turn()
  session.write('b', undefined)
  await after(699)
  assert.deepEqual([client.keys, shown()], [['a', 'b', '-b'], ['a']])
  client.sent[2].stored.resolve(5)
  await turn()
  await after(1)
  assert.deepEqual([client.keys, shown(), told], [['a', 'b', '-b', 'a'], ['a'], []])
  client.sent[3].stored.reject(new RelayError(ErrorCode.boardFull, 'full'))
  await turn()
  assert.deepEqual([shown(), told], [[], ['boardFull']])
}))

test('[BL11] what changes together is sent as one, at offsets one behind the other; what is too large goes by itself', async () => {
  const {session, client, records, told, shown} = page()
  const large = {customType: 'stroke', payload: payloadOf('large') + ' '.repeat(40_000)}
  session.writeAll([{key: 'a', record: stroke('a')}, {key: 'large', record: large}, {key: 'b', record: stroke('b')}, {key: 'c'}])
  const word = ({key, isRemoval}) => isRemoval ? `-${key}` : key
  assert.deepEqual(client.sent.map(({key, changes}) => key ?? changes.map(word)), ['large', ['a', 'b', '-c']])
  assert.deepEqual(shown().toSorted(), ['a', 'b', 'large'])
  const [, set] = client.sent
  set.accepted.resolve(12)
  set.stored.resolve(12)
  await turn()
  assert.deepEqual(['a', 'b', 'c'].map(key => records.told.get(key).offset), [10, 11, 12])
  session.writeAll([{key: 'a', record: stroke('a', 9)}, {key: 'b', record: stroke('b', 9)}])
  client.sent.at(-1).stored.reject(new RelayError(ErrorCode.notPermitted, 'no', {change: 2}))
  await turn()
  assert.deepEqual([...new Set(told)], ['notPermitted'])
  assert.equal(records.get('a').payload, payloadOf('a'), 'all of it is taken back')
  session.writeAll([{key: 'a', record: stroke('a', 7)}])
  assert.equal(client.sent.at(-1).key, 'a', 'one alone is a message like any other')
  session.writeAll(Array.from({length: 5_000}, (_, index) => ({key: `k${index}`})))
  assert.deepEqual(client.sent.slice(-2).map(({changes}) => changes.length), [4_096, 904])
})

test('[BL11, MS9] a change set that an earlier page left is shown and followed', async () => {
  const [accepted, stored] = [deferred(), deferred()]
  const changes = [{key: 'a', ...stroke('a')}, {key: 'b', customType: 'stroke', payload: ''}]
  const kept = [{channel: 'lesson', changes, receipt: {accepted: accepted.promise, stored: stored.promise}}]
  const {records, shown} = page({kept})
  assert.deepEqual([shown(), records.own.length], [['a'], 2])
  stored.resolve(5)
  await turn()
  assert.deepEqual([records.own.length, records.told.get('a').offset, records.told.get('b').offset], [0, 4, 5])
})

test('[SE8] as another user the page goes on: what was not sent is sent, what was read is read anew, the old client is not heard', async () => {
  const {session, client, shown, heard, told} = page()
  heard('old', 1, payloadOf('old'))
  session.write('mine', stroke('mine'))
  client.link = {state: 'closed'}
  client.sent[0].stored.reject(unknown)
  await turn()
  PlayedClient.kept = []
  session.connect('other')
  const next = PlayedClient.last
  next.say = (type, event) => session.take({type, ...event})
  assert.deepEqual([next.user, next.keys, shown()], ['other', ['mine'], ['mine']])
  heard('late', 2, payloadOf('late'))
  assert.deepEqual(shown(), ['mine'])
  next.say('board', {channel: 'lesson', messages: [{isRetained: true, key: 'old', offset: 1, sender: 'bob', customType: 'stroke', payload: payloadOf('old')}]})
  next.say('caughtUp', {channel: 'lesson', head: 1})
  assert.deepEqual([shown(), told], [['mine', 'old'], []])
})

test('the board is asked for until there is an answer, however often the link ends meanwhile', async () => {
  const {client, told} = page({isReading: true})
  client.asked[0].reject(unknown)
  await turn()
  client.asked[1].reject(unknown)
  await turn()
  const both = ['follow points', 'follow cursors']
  assert.deepEqual([client.asked.map(({type}) => type), told], [['open', ...both, 'open', ...both], []])
  client.asked[3].reject(new RelayError(ErrorCode.notPermitted, 'no'))
  await turn()
  assert.deepEqual([client.asked.length, told], [6, ['notPermitted']])
})

test('[AC11] nobody is told of live points that a freeze refuses; of the rest everybody is', () => {
  const {client, told} = page()
  const error = new RelayError(ErrorCode.notPermitted, 'no')
  client.say('refused', {subject: 'packet', channel: 'lesson', topic: 'points', error})
  client.say('refused', {subject: 'packet', error})
  client.say('refused', {subject: 'publishedTopic', channel: 'lesson', topic: 'cursors', error})
  assert.deepEqual(told, [])
  client.say('refused', {subject: 'channel', channel: 'lesson', error})
  assert.deepEqual(told, ['notPermitted'])
})

test('[AC11] while drawing is paused the page says so, to a guest who only looks on and to a host who still draws', () => {
  const {session, client} = page()
  assert.equal(session.standing, undefined)
  client.say('channelMode', {channel: 'lesson', mode: 'frozen', isOn: true, by: 'host'})
  assert.equal(session.standing, 'standing.paused')
  client.access = {rights: () => new Set(['publish', 'clear'])}
  assert.deepEqual([session.mayDraw, session.standing], [true, 'standing.pausedForGuests'])
  client.say('channelMode', {channel: 'lesson', mode: 'frozen', isOn: false, by: 'host'})
  assert.equal(session.standing, undefined)
  client.access = {rights: () => new Set(['subscribe'])}
  assert.equal(session.standing, 'standing.viewOnly')
})

test('[AC19] a board that has ended is told once, also to a page that was away; no other refusal is taken for that', async () => {
  const {session, client, told} = page()
  let ends = 0
  session.changed = what => void (ends += what === 'ended' ? 1 : 0)
  const refuse = (subject, code) => client.say('refused', {subject, channel: 'lesson', error: new RelayError(code, 'why')})
  refuse('topics', ErrorCode.channelEnded)
  refuse('channel', ErrorCode.channelEnded)
  assert.deepEqual([ends, told], [1, []])
  refuse('channel', ErrorCode.notPermitted)
  assert.deepEqual([ends, told], [1, ['notPermitted']])
  client.asked[0].resolve()
  await turn()
  for (const [rights, code, count] of [
    ['subscribe', ErrorCode.outcomeUnknown, 1], ['subscribe', ErrorCode.notSubscribed, 2], ['publish', ErrorCode.notSubscribed, 2],
  ]) {
    client.access = {rights: () => new Set([rights])}
    client.say('link', {state: 'connected', resumed: true})
    client.asked.findLast(({type}) => type === 'upToDate').reject(new RelayError(code, 'why'))
    await new Promise(setImmediate)
    assert.equal(ends, count, `${rights} ${code}`)
  }
})

test('[AC19] topics that the page asks for while its board ends are refused without a word: the end is told by itself', async () => {
  for (const isAt of ['follow points', 'publish points']) {
    for (const code of [ErrorCode.notJoined, ErrorCode.channelEnded]) {
      const {client, told} = page()
      const refuse = async (what, code) => {
        client.asked.findLast(({type}) => type === what).reject(new RelayError(code, 'why'))
        await turn()
      }
      if (isAt === 'publish points') {
        client.asked.filter(({type}) => type.startsWith('follow')).forEach(({resolve}) => resolve())
        await turn()
      }
      await refuse(isAt, code)
      assert.deepEqual(told, [], `${isAt} ${code}`)
      client.say('channelMode', {channel: 'lesson', mode: 'frozen', isOn: false, by: 'host'})
      if (isAt === 'publish points') {
        await refuse(isAt, ErrorCode.notPermitted)
        assert.deepEqual(told, ['notPermitted'], 'what is refused otherwise is told')
      }
    }
  }
})

test('[AC16] the key with which a host invites is the one that the relay has now; a guest asks for none', async () => {
  const {session, client} = page()
  client.joinKey = () => client.answer('joinKey')
  session.credential = {key: 'own', guestKey: 'old'}
  await session.renewGuestKey()
  assert.deepEqual([client.asked.filter(({type}) => type === 'joinKey'), session.credential], [[], {key: 'own', guestKey: 'old'}])
  client.access = {rights: () => new Set(['publish', 'clear'])}
  const ends = async use => {
    const renewed = session.renewGuestKey()
    use(client.asked.at(-1))
    return await renewed
  }
  assert.equal(await ends(({resolve}) => resolve('new')), true)
  assert.deepEqual(session.credential, {key: 'own', guestKey: 'new'})
  assert.equal(await ends(({resolve}) => resolve('new')), false, 'nothing is new')
  assert.equal(await ends(({reject}) => reject(unknown)), false)
  assert.deepEqual(session.credential, {key: 'own', guestKey: 'new'})
  client.link = {state: 'waiting'}
  assert.equal(await session.renewGuestKey(), false, 'without a link nobody waits for an answer')
})

test('[PR8] a person’s other device gives both a new name, and does not make one that is looked at go away', () => {
  const {session, client} = page()
  const told = set => session.present(new Map([['me', {user: 'me', states: {...session.members.get('me'), ...set}}]]))
  told({name: 'Me'})
  const said = () => client.states.splice(0)
  said()
  told({name: 'Another'})
  assert.equal(session.name, 'Another')
  assert.deepEqual(said(), [])
  told({away: '1'})
  assert.deepEqual(said(), [{away: ''}])
  told({away: ''})
  assert.deepEqual(said(), [], 'it is said, and once')
  try {
    document.hidden = true
    session.tellAway()
    told({away: '1'})
    assert.deepEqual(said(), [{away: '1'}], 'nobody looks at this one either')
  } finally {
    document.hidden = false
  }
  session.tellAway()
  assert.deepEqual(said(), [{away: ''}])
  session.rename('Third')
  assert.deepEqual(said(), [{name: 'Third'}])
})

test('[ST12] when one of two devices of a person leaves the points, what the other draws stays', () => {
  const {session, client} = page()
  const draw = device => client.say('packet', {channel: 'lesson', topic: 'points', publisher: 'bob', device,
      payload: `{"color":"#000000FF","cols":"xy","first":0,"id":"by-${device}","points":[1,1],"v":1,"width":3}`})
  draw('bb')
  draw('cc')
  client.say('topics', {channel: 'lesson', kind: 'left', publishers: [{topic: 'points', user: 'bob', device: 'bb', meta: ''}]})
  assert.deepEqual([...session.live.strokes.keys()], ['by-cc'])
  session.present(new Map([['bob', {user: 'bob', states: {}}]]))
  assert.equal(session.live.strokes.size, 1)
  session.present(new Map())
  assert.equal(session.live.strokes.size, 0)
})

test('500 changes of one thing while the relay is away remember each state once, and any of them is known again', withTimers(async () => {
  const {session, client, records, heard, caughtUp, told} = page()
  for (let edit = 0; edit < 500; edit++) {
    session.write('a', stroke('a', edit))
    // Twice as many for each: 28 edits of one record took 39 s and 2.7 GB once.
    const remembered = [...new Set(records.own.map(({befores}) => befores))].reduce((sum, {size, length}) => sum + (size ?? length), 0)
    assert.ok(remembered <= edit + 1, `${remembered} states at edit ${edit}`)
  }
  for (const {stored} of client.sent) stored.reject(unknown)
  await turn()
  assert.equal(records.get('a').payload, payloadOf('a', 499))
  heard('a', 9, payloadOf('a', 250), 'me')
  caughtUp(9)
  assert.deepEqual([client.sent.length, client.sent.at(-1).payload, told], [501, payloadOf('a', 499), []])
  assert.equal(records.own.length, 1)
}))

test('[BL11] what changed together is refused, waits and is written again together', withTimers(async () => {
  const {session, client, told, heard, caughtUp, records} = page()
  const many = count => Array.from({length: count}, (_, at) => ({key: `s${at}`, record: stroke(`s${at}`)}))
  session.writeAll(many(1_000))
  client.sent[0].stored.reject(new RelayError(ErrorCode.busy, 'busy', {retryAfterMs: 700}))
  await turn()
  session.write('s3', undefined)
  await after(700)
  assert.deepEqual([client.sent.length, client.sent[2].changes.length], [3, 999])
  client.sent[2].stored.reject(unknown)
  await turn()
  heard('s5', 7, payloadOf('s5'), 'me')
  heard('s6', 8, payloadOf('s6', 77))
  caughtUp(9)
  assert.deepEqual([client.sent.length, client.sent[3].changes.length, told], [4, 997, ['outcomeUnknown']])
  client.sent[3].stored.reject(new RelayError(ErrorCode.boardFull, 'full'))
  await turn()
  assert.deepEqual([told, records.own.map(({key}) => key)], [['outcomeUnknown', 'boardFull'], ['s3']], 'and told once')
}))

test('[BL11] a bound of a change set counts bytes: long strokes go with the others', () => {
  const {session, client} = page()
  const long = letter => ({customType: 'stroke', payload: payloadOf('a') + letter.repeat(20_000)})
  session.writeAll([{key: 'a', record: long(' ')}, {key: 'b', record: long('é')}, {key: 'c', record: long(' ')}])
  assert.deepEqual(client.sent.map(({key, changes}) => key ?? changes.map(({key}) => key)), ['b', ['a', 'c']])
})

test('[BL11, SE8] as another user the page sends together what was changed together, and of each thing the last', async () => {
  const {session, client, records} = page()
  session.write('a', stroke('a', 1))
  session.writeAll(['a', 'b', 'c'].map(key => ({key, record: stroke(key, 2)})))
  session.write('c', undefined)
  client.linkState = {state: 'closed'}
  session.connect('other')
  const next = PlayedClient.last
  assert.deepEqual(next.sent.map(({key, changes}) => key ?? changes.map(({key}) => key)), [['a', 'b'], 'c'])
  client.sent[0].stored.resolve(5)
  await turn()
  assert.equal(records.own.length, 3, 'what the old client tells is over')
})
