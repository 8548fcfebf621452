// The picture of a board that a client keeps, and apps that draw on one board over links that are cut.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {BoardPicture} from '../../Sources/RelayPage/client/board-picture.js'
import {Latest, RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {Daemon, skip} from './support/daemon.mjs'
import {Dice} from './support/dice.mjs'
import {CutProxy, tcpTransport} from './support/links.mjs'
import {deliver} from './support/machine-driver.mjs'
import {openLesson, turn} from './support/played-relay.mjs'
import {Watcher, within} from './support/watcher.mjs'

/** A board that a test tells what happens. */
class ToldBoard extends BoardPicture {
  changes = []
  say(type, fields) {
    const changes = this.take({type, ...fields})
    this.changes.push(...changes)
    return changes
  }
  record(key, offset, payload) {
    return this.say('message', {key, offset, payload, isRetained: true, isRemoval: payload === undefined, sender: 'bob'})
  }
  /** An own record that is on its way. */
  send(key, payload = 'own') {
    return this.ownSent([{key, payload}], 'me')
  }
  stored(records, last, isCatchingUp = false) {
    return this.say('ownStored', {records, last, receipt: 1, isCatchingUp})
  }
  /** Sent, accepted and stored at an offset. */
  write(key, offset) {
    const records = this.send(key)
    this.ownAccepted(records, offset)
    return this.stored(records, offset)
  }
  get shown() {
    return Object.fromEntries([...this.records].map(([key, {payload}]) => [key, payload]))
  }
}

/** A board that was read up to offset 9. */
function readBoard(before = () => {}) {
  const board = new ToldBoard()
  board.begin(true)
  before(board)
  board.say('caughtUp', {head: 9})
  return board
}

test("[BL5] an offset at which an own record was accepted and not stored is another's after a restart: what comes behind it counts", () => {
  const board = readBoard()
  // While the client catches up this moves no position: the relay that starts again with 90 durable goes on without a reset.
  const [there, gone] = [board.send('there'), board.send('gone')]
  for (const records of [there, gone]) board.ownAccepted(records, 100)
  board.record('there', 95, 'theirs')
  board.stored(there, 93)
  board.ownEnded(gone)
  assert.deepEqual(board.shown, {there: 'theirs'})
})

test('[BL3] an own record answered behind a reading, or during it, is not shown unless it is above what was read', () => {
  const board = readBoard(board => {
    board.say('board', {messages: [{key: 'read', offset: 4, payload: 'x', isRetained: true}]})
    board.write('removed meanwhile', 5)
  })
  assert.deepEqual(board.shown, {read: 'x'})
  assert.deepEqual(board.write('superseded', 9), [])
  const [{records, isOwn, receipt}] = board.write('new', 10)
  assert.deepEqual([records.map(({key, offset, author}) => [key, offset, author]), isOwn, receipt], [[['new', 10, 'me']], true, 1])
  assert.deepEqual(board.shown, {read: 'x', new: 'own'})
})

test("[MS3] of an own record and another's of the same key the later counts, whichever is heard of first", () => {
  const board = readBoard()
  board.write('mine', 12)
  assert.deepEqual(board.record('mine', 11, 'theirs'), [], 'what is superseded is no change')
  const late = board.send('theirs')
  board.record('theirs', 14, 'theirs')
  board.stored(late, 13)
  const kept = board.write('kept', 16)
  board.record('kept', 15, undefined)
  const gone = board.send('gone')
  board.record('gone', 18, undefined)
  assert.deepEqual([kept.length, board.stored(gone, 17)], [1, []])
  assert.deepEqual(board.shown, {mine: 'own', theirs: 'theirs', kept: 'own'})
  assert.equal(board.told.has('gone'), false, 'what is removed, and waits for nothing, is forgotten')
})

test('[MS3] an own removal that is stored while older messages are still to come stays one, until they have come', () => {
  for (const passes of [board => board.say('caughtUp', {head: 30}), board => board.record('other', 31, 'x')]) {
    const board = readBoard(board => board.record('a', 5, 'theirs'))
    board.stored(board.ownSent([{key: 'a', payload: undefined}], 'me'), 30, true)
    // Of an own record that is refused it is none.
    board.ownEnded(board.send('a'))
    assert.deepEqual([board.record('a', 20, 'older'), board.records.has('a')], [[], false])
    passes(board)
    assert.equal(board.told.has('a'), false, 'what is removed, and removes nothing more, is forgotten')
    board.record('a', 40, 'later')
    assert.equal(board.records.get('a').payload, 'later')
  }
})

test('[BL6, BL4] cleared takes away what is below it, whenever that is heard of; reset everything', () => {
  const board = readBoard()
  board.write('below', 10)
  board.write('above', 13)
  assert.deepEqual(board.say('cleared', {offset: 12, user: 'host', wallMilliseconds: 1}),
      [{type: 'cleared', offset: 12, user: 'host', wallMilliseconds: 1}])
  board.write('late', 11)
  assert.deepEqual(board.shown, {above: 'own'})
  assert.deepEqual(board.say('messagesMissed', {extent: {from: 1, to: 2}}), [{type: 'missed', from: 1, to: 2}])
  assert.deepEqual([board.shown, board.isComplete], [{above: 'own'}, true])
  assert.deepEqual(board.say('messagesMissed', {extent: 'reset'}), [{type: 'reset'}])
  assert.deepEqual([board.shown, board.isComplete], [{}, false])
  board.record('again', 1, 'x')
  board.say('caughtUp', {head: 1})
  assert.deepEqual([board.shown, board.isComplete], [{again: 'x'}, true])
})

test('[BL3, BL4] own records of before a reset are not shown for it: of the old numbering none is, and one behind it is again when it is stored', () => {
  const board = new ToldBoard()
  board.begin(true)
  const [behind, among] = [board.send('behind'), board.send('among')]
  for (const records of [behind, among]) board.ownAccepted(records, 15)
  board.say('messagesMissed', {extent: 'reset'})
  assert.deepEqual(board.shown, {behind: 'own', among: 'own'}, 'what is on its way is shown')
  board.stored(behind, 20)
  board.stored(among, 17)
  assert.deepEqual(board.say('caughtUp', {head: 18}).map(({type, receipt}) => [type, receipt]), [['caughtUp', undefined], ['records', 1]])
  assert.deepEqual(board.shown, {behind: 'own'})
})

test('[BL6, BL4] an own record that is on its way, which cleared hid, is shown again behind a reset: offsets are others', () => {
  const board = readBoard()
  board.ownAccepted(board.send('mine'), 11)
  board.say('cleared', {offset: 12, user: 'host', wallMilliseconds: 1})
  assert.deepEqual(board.shown, {})
  board.say('messagesMissed', {extent: 'reset'})
  assert.deepEqual(board.shown, {mine: 'own'})
})

test('[BL3] an own record that was stored while the board was read is on its way no more when the board is read anew', () => {
  const again = {opened: board => board.begin(true), openedFromNow: board => board.begin(false),
    reset: board => board.say('messagesMissed', {extent: 'reset'})}
  for (const [how, begins] of Object.entries(again)) {
    const board = new ToldBoard()
    board.begin(true)
    board.stored(board.send('a'), 5)
    assert.deepEqual(board.shown, {a: 'own'}, how)
    begins(board)
    assert.deepEqual([board.shown, board.own.size], [{}, 0], how)
    board.record('a', 5, 'own')
    assert.equal(board.records.get('a').isPending, undefined, how)
  }
})

test('[SE9] a board that is opened again as the link breaks begins when the session resumes: what comes before the answer is kept', async () => {
  const {relay, client, lesson} = await openLesson()
  const changes = lesson.board.changes()
  const opening = lesson.open({from: 'board'})
  await turn()
  relay.frames = []
  const {welcome} = relay
  relay.welcome = body => {
    welcome.call(relay, body)
    relay.say({type: 'restored', body: {kind: 'message', channel: 'lesson', handle: 7, features: ['messages', 'presence'], quiet: false,
      epoch: {start: 1000, incarnation: 1}, head: 1, recovered: true, after: 0}},
    {type: 'userNamed', handle: 2, user: 'bob'}, deliver(1, 'x', {key: 'a', retain: true}), {type: 'caughtUp', body: {channel: 7, head: 1}})
  }
  relay.end()
  await relay.asks()
  try {
    assert.equal(relay.asked('subscribe').since, undefined, 'it goes on where it is')
    relay.opened({head: 1})
    await opening
    const {value: change} = await changes.next()
    assert.deepEqual([change.type, change.records[0].key], ['records', 'a'])
    await turn()
    assert.deepEqual([[...lesson.state.board.records.keys()], lesson.state.board.isComplete], [['a'], true])
  } finally {
    await client.close()
  }
})

test('an own record is shown at once, the newest of its key on top, and goes when it is refused', () => {
  const board = readBoard(board => board.record('a', 1, 'theirs'))
  const [first, second] = [board.send('a', '1'), board.send('a', '2')]
  assert.deepEqual([board.shown, board.records.get('a').isPending], [{a: '2'}, true])
  board.ownEnded(second)
  assert.deepEqual(board.shown, {a: '1'})
  board.ownEnded(first)
  assert.deepEqual([board.shown, board.own.size, board.records.get('a').isPending], [{a: 'theirs'}, 0, undefined])
  // A removal is one, too.
  const removal = board.ownSent([{key: 'a'}], 'me')
  assert.deepEqual(board.shown, {})
  board.ownEnded(removal)
  assert.deepEqual(board.shown, {a: 'theirs'})
})

test('a picture of 20,000 records copies none of them, and names the keys that have changed for each reader', async () => {
  const count = 20_000
  const board = new ToldBoard()
  const readers = [{changed: new Set()}, {changed: new Set()}]
  readers.forEach(reader => board.readers.add(reader))
  const [often, seldom] = readers.map(reader => new Latest(board, undefined, () => board.picture(reader)))
  board.begin(true)
  for (let at = 0; at < count; at += 200) {
    board.say('board', {progress: at / count, messages: Array.from({length: 200}, (_, index) => (
      {key: `k${at + index}`, offset: at + index + 1, payload: 'x', sender: 'bob', isRetained: true}))})
  }
  let copies = 0
  const copy = Map.prototype.entries
  Map.prototype.entries = function (...all) {
    copies++
    return copy.apply(this, all)
  }
  try {
    const {value: reading} = await often.next()
    assert.deepEqual([reading.records, reading.changed.size, reading.isComplete], [board.records, count, false])
    assert.equal(reading.progress, (count - 200) / count)
    board.say('caughtUp', {head: count})
    for (let round = 0; round < 100; round++) {
      board.record(`k${round}`, count + 1 + round, 'y')
      const {value: {records, changed, isComplete}} = await often.next()
      assert.deepEqual([records === board.records, [...changed], isComplete], [true, [`k${round}`], true])
    }
    assert.equal((await seldom.next()).value.changed.size, count)
    assert.equal(copies, 0)
  } finally {
    Map.prototype.entries = copy
  }
})

async function apply(changes, drawn) {
  for await (const {type, records, offset} of changes) {
    if (type === 'reset') drawn.clear()
    if (type === 'cleared') for (const [key, record] of drawn) if (record.offset <= offset) drawn.delete(key)
    for (const record of records ?? []) {
      if (record.payload === undefined) drawn.delete(record.key)
      else drawn.set(record.key, record)
    }
  }
}

const seeds = process.env.BOARDRELAY_PAGE_SEED ? [Number(process.env.BOARDRELAY_PAGE_SEED)]
    : Array.from({length: 3}, () => Math.floor(Math.random() * 2 ** 48))

for (const seed of seeds) {
  test('[BL3, BL4, BL6, MS9] apps that draw, erase, clear and undo over links that are cut show the same board', {skip, timeout: 600_000},
      async () => {
    const dice = new Dice(seed)
    const daemon = await Daemon.start({isKept: true, options: ['--message-rate', '500']})
    const proxy = await CutProxy.start(dice, () => daemon.port)
    const clients = []
    const open = async (user, port) => {
      const client = new RelayClient(tcpTransport(port), user,
          {credential: {key: daemon.keys.host}, random: () => dice.fraction() / 100})
      clients.push(client)
      const channel = client.channel('lesson')
      const all = () => channel.state.board.records
      const app = {user, client, channel, board: channel.board, seen: new Watcher(client), all}
      // What somebody draws who applies changes as they come.
      app.drawn = new Map()
      app.reading = apply(channel.board.changes(), app.drawn)
      await channel.open({timeout: Infinity})
      return app
    }
    try {
      const apps = [await open('alice', proxy.port), await open('bob', proxy.port), await open('carol', () => daemon.port)]
      proxy.cut(12)
      const outcomes = []
      const settled = promise => outcomes.push(promise.then(() => 'done', error => error.name))
      for (let step = 0; step < 150; step++) {
        const app = apps[dice.below(3)]
        const key = `s${dice.below(12)}`
        const what = dice.below(100)
        if (what < 70) settled(app.board.put(key, `${app.user} ${step} ${'x'.repeat(dice.below(16) === 0 ? 40_000 : 20)}`).stored)
        else if (what < 92) settled(app.board.remove(key).stored)
        else if (what < 94) settled(app.channel.open({from: 'board', timeout: Infinity}))
        else if (what < 97) settled(app.board.clear({timeout: Infinity}))
        else settled(app.board.undoClear({timeout: Infinity}))
        if (step === 70) apps.push(await open('dave', () => daemon.port))
        if (step === 100 && dice.below(2) === 0) await daemon.restart()
        await new Promise(resolve => setTimeout(resolve, dice.below(12)))
      }
      const found = new Set(await within(Promise.all(outcomes), 'outcomes'))
      // What no receipt waits for is not sent again; a drawing that waits for its key may be told superseded.
      const known = ['done', 'outcomeUnknown', 'nothingToUndo', 'busy', 'boardNotFound', 'notAccepted', 'partMissing', 'limitReached']
      for (const name of found) assert.ok(known.includes(name), name)
      proxy.cutsLeft = 0
      // A last record, behind everything, that everybody gets.
      await apps[2].board.put('the end', 'x').stored
      const late = await open('late', () => daemon.port)
      const hasAll = app => () => app.all().has('the end') && app.client.channel('lesson').state.board.isComplete
      for (const app of [...apps, late]) await app.seen.until(hasAll(app))
      const text = records => [...records].map(([key, {payload}]) => [key, payload.slice(0, 12)]).sort()
      for (const app of apps) assert.deepEqual(text(app.all()), text(late.all()), `${app.user} and who came last`)
      assert.deepEqual(text(await apps[0].board.records()), text(late.all()))
      for (const client of clients) await client.close()
      for (const app of [...apps, late]) {
        await app.reading
        assert.deepEqual(text(app.drawn), text(late.all()), `${app.user}, who applies changes`)
      }
      assert.ok(late.all().size > 1 || found.has('done'))
    } catch (error) {
      error.message = `replay: BOARDRELAY_PAGE_SEED=${seed} node --test Tests/Page/board.test.mjs\n${error.message}`
      throw error
    } finally {
      for (const client of clients) await client.close()
      proxy.end()
      await daemon.end()
    }
  })
}
