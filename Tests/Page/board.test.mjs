// The class of docs/examples that holds a board, as it stands there, in apps that draw on one board over links that are cut.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {ErrorCode, RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {Daemon, skip} from './support/daemon.mjs'
import {Dice} from './support/dice.mjs'
import {example} from './support/examples.mjs'
import {CutProxy, tcpTransport} from './support/links.mjs'
import {Watcher, within} from './support/watcher.mjs'

const {BoardRecords} = await example('board-records.js')

/** A client that says what a test has it say. */
class ScriptedClient {
  handlers = new Map()
  restored = []
  sent = []
  on(type, handler) {
    this.handlers.set(type, handler)
  }
  say(type, fields) {
    this.handlers.get(type)({type, channel: 'lesson', ...fields})
  }
  record(key, offset, payload) {
    this.say('message', {key, offset, payload, isRetained: true, isRemoval: payload === undefined})
  }
  send({removing}) {
    return this.sendLarge(undefined, {key: removing})
  }
  sendLarge(payload, {key}) {
    this.sent.push([key, payload])
    return {accepted: this.accepted, stored: this.stored ?? this.accepted}
  }
}

/** A board that was read up to offset 9, and `own(key, offset)`, which has an own record accepted there. */
async function readBoard(before = async () => {}) {
  const client = new ScriptedClient()
  const board = client.board = new BoardRecords(client, 'lesson', () => {})
  const own = async (key, offset) => {
    client.accepted = Promise.resolve(offset)
    await board.write(key, 'own')
  }
  await before(client, own)
  client.say('caughtUp', {head: 9})
  return {client, own, shown: () => Object.fromEntries(board.all)}
}

test("[BL5] an offset at which an own record was accepted and not stored is another's after a restart: what comes behind it counts", async () => {
  const {client, shown} = await readBoard()
  // While the client catches up this moves no position: the relay that starts again with 90 durable goes on without a reset.
  const settled = ['there', 'gone'].map(key => {
    client.accepted = Promise.resolve(100)
    client.stored = new Promise((resolve, reject) => Object.assign(client, {tell: {...client.tell, [key]: {resolve, reject}}}))
    return client.board.write(key, 'own')
  })
  await turn()
  client.record('there', 95, 'theirs')
  client.tell.there.resolve(93)
  client.tell.gone.reject(Object.assign(new Error('gone'), {code: ErrorCode.storageFailed}))
  await Promise.allSettled(settled)
  assert.deepEqual(shown(), {there: 'theirs'})
})

test('[BL3] an own record answered behind a reading, or during it, is not shown unless it is above what was read', async () => {
  const {own, shown} = await readBoard(async (client, own) => {
    client.say('board', {messages: [{key: 'read', offset: 4, payload: 'x', isRetained: true}]})
    await own('removed meanwhile', 5)
  })
  assert.deepEqual(shown(), {read: 'x'})
  await own('superseded', 9)
  await own('new', 10)
  assert.deepEqual(shown(), {read: 'x', new: 'own'})
})

test("[MS3] of an own record and another's of the same key the later counts, whichever is heard of first", async () => {
  const {client, own, shown} = await readBoard()
  await own('mine', 12)
  client.record('mine', 11, 'theirs')
  client.record('theirs', 14, 'theirs')
  await own('theirs', 13)
  await own('kept', 16)
  client.record('kept', 15, undefined)
  client.record('gone', 18, undefined)
  await own('gone', 17)
  assert.deepEqual(shown(), {mine: 'own', theirs: 'theirs', kept: 'own'})
})

test('[BL6, BL4] cleared takes away what is below it, whenever that is heard of; reset everything', async () => {
  const {client, own, shown} = await readBoard()
  await own('below', 10)
  await own('above', 13)
  client.say('cleared', {offset: 12})
  await own('late', 11)
  assert.deepEqual(shown(), {above: 'own'})
  client.say('messagesMissed', {extent: {from: 1, to: 2}})
  assert.deepEqual(shown(), {above: 'own'})
  client.say('messagesMissed', {extent: 'reset'})
  client.record('again', 1, 'x')
  client.say('caughtUp', {head: 1})
  assert.deepEqual(shown(), {again: 'x'})
})

test('[BL3, BL4] an own record told behind the reading that followed a reset is not shown unless it is above what was read', async () => {
  const {client, own, shown} = await readBoard()
  await own('held', 12)
  client.say('messagesMissed', {extent: 'reset'})
  client.say('board', {messages: [{key: 'read', offset: 4, payload: 'x', isRetained: true}]})
  await own('cleared meanwhile', 5)
  client.say('caughtUp', {head: 6})
  assert.deepEqual(shown(), {read: 'x'}, 'what was held before is void')
  await own('late', 6)
  await own('new', 7)
  assert.deepEqual(shown(), {read: 'x', new: 'own'})
})

test('[BL3, BL4] own records of before a reset are not shown for it: of the old numbering none is, and one behind it is again when it is stored', async () => {
  const {client, shown} = await readBoard(async (client, own) => {
    // Accepted while the board is read, never durable, in a numbering that goes with it.
    await own('void', 15)
    client.say('messagesMissed', {extent: 'reset'})
  })
  assert.deepEqual(shown(), {})
  // Answers are heard at once, events a moment later: the reset stands before these answers, and is read behind them.
  const stored = []
  const write = (key, offset) => {
    client.accepted = Promise.resolve(offset)
    client.stored = new Promise(resolve => stored.push(() => resolve(offset)))
    return client.board.write(key, 'own')
  }
  const written = [write('behind', 20), write('among', 17)]
  await turn()
  assert.deepEqual(shown(), {})
  client.say('messagesMissed', {extent: 'reset'})
  client.say('caughtUp', {head: 18})
  assert.deepEqual(shown(), {})
  stored.forEach(tell => tell())
  await Promise.all(written)
  assert.deepEqual(shown(), {behind: 'own'})
})

const held = (key, payload, outcome) => ({channel: 'lesson', key, payload, receipt: {accepted: outcome, stored: outcome}})
const unknown = () => Promise.reject(Object.assign(new Error('unknown'), {code: ErrorCode.outcomeUnknown}))
const turn = () => new Promise(resolve => setImmediate(resolve))

test('[BL3] records that an earlier page had not sent are shown when they are stored, whether the board was read by then or not', async () => {
  const client = new ScriptedClient()
  let accept
  const late = new Promise(resolve => {
    accept = resolve
  })
  client.restored = [held('early', 'x', Promise.resolve(4)), held('late', 'y', late), held('old', '', Promise.resolve(11)),
      {...held('elsewhere', 'z', Promise.resolve(12)), channel: 'other'}]
  const board = new BoardRecords(client, 'lesson', () => {})
  await turn()
  client.say('board', {messages: [{key: 'early', offset: 4, payload: 'x', isRetained: true},
      {key: 'old', offset: 2, payload: 'o', isRetained: true}]})
  client.say('caughtUp', {head: 9})
  assert.deepEqual(Object.fromEntries(board.all), {early: 'x'}, 'the removal is above what was read')
  accept(10)
  await turn()
  assert.deepEqual(Object.fromEntries(board.all), {early: 'x', late: 'y'})
})

test('[MS9] a record of which nobody knows whether it came is written anew where the board, once it was read, lacks it', async () => {
  const client = new ScriptedClient()
  client.restored = [held('came', 'x', unknown()), held('lost', 'y', unknown()), held('erased', '', unknown()),
      held('to erase', '', unknown())]
  client.accepted = Promise.resolve(20)
  const board = new BoardRecords(client, 'lesson', () => {})
  client.say('board', {messages: [{key: 'came', offset: 4, payload: 'x', isRetained: true},
      {key: 'to erase', offset: 5, payload: 'o', isRetained: true}]})
  await turn()
  assert.deepEqual(client.sent, [], 'the board is not read yet')
  client.say('caughtUp', {head: 9})
  await turn()
  assert.deepEqual(client.sent, [['lost', 'y'], ['to erase', undefined]])
  assert.deepEqual(Object.fromEntries(board.all), {came: 'x', lost: 'y'})
})

test('what a relay has refused is told, of an earlier page as well, and not written anew', async () => {
  const client = new ScriptedClient()
  client.restored = [held('full', 'x', Promise.reject(Object.assign(new Error('full'), {code: ErrorCode.boardFull})))]
  const failed = []
  new BoardRecords(client, 'lesson', () => {}, error => failed.push(error.code))
  client.say('caughtUp', {head: 9})
  await turn()
  assert.deepEqual([failed, client.sent], [[ErrorCode.boardFull], []])
})

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
      const client = await RelayClient.connect(tcpTransport(port), user,
          {credential: {key: daemon.keys.host}, random: () => dice.fraction() / 100})
      clients.push(client)
      const app = {user, client, seen: new Watcher(client), board: new BoardRecords(client, 'lesson', () => {})}
      await client.subscribe('lesson', {since: 'beginning'})
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
        if (what < 70) settled(app.board.write(key, `${app.user} ${step} ${'x'.repeat(dice.below(16) === 0 ? 40_000 : 20)}`))
        else if (what < 92) settled(app.board.write(key, undefined))
        else if (what < 96) settled(app.client.board('lesson').clear())
        else settled(app.client.board('lesson').undoClear())
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
      await apps[2].board.write('the end', 'x')
      const late = await open('late', () => daemon.port)
      for (const app of [...apps, late]) await app.seen.until(() => app.board.all.has('the end') && !app.board.isReading)
      const all = app => [...app.board.all].map(([key, payload]) => [key, payload.slice(0, 12)]).sort()
      for (const app of apps) assert.deepEqual(all(app), all(late), `${app.user} and who came last`)
      assert.ok(late.board.all.size > 1 || found.has('done'))
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
