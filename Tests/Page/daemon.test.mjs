// Clients and the real daemon, over TCP.
import assert from 'node:assert/strict'
import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {test} from 'node:test'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {run} from './support/daemon.mjs'
import {onDaemon} from './support/on-daemon.mjs'
import {Dice} from './support/dice.mjs'
import {CutProxy, tcpTransport} from './support/links.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'
import {plain} from './support/machine-driver.mjs'
import {Watcher} from './support/watcher.mjs'

const on = onDaemon('daemon.test.mjs')

on({}, '[MS3, MS4, MS6, ST6, DL1] two clients exchange messages and packets, in one order', async ({connect}) => {
  const alice = await connect('alice')
  const bob = await connect('bob', {key: 'join'})
  const [here, there] = [alice.channel('lesson'), bob.channel('lesson')]
  await here.open({from: 'now'})
  await there.open({from: 'now'})
  await there.topic('points').follow()
  const pen = await here.topic('points').startPublishing({meta: 'pen'})
  const receipts = []
  for (let index = 0; index < 20; index++) {
    receipts.push(here.send(`m${index}`, {customType: 'stroke', echo: index === 3}))
    pen.send(Uint8Array.of(index), {slot: 1, senderTime: index})
  }
  const offsets = await Promise.all(receipts.map(({accepted}) => accepted))
  assert.deepEqual(offsets, offsets.map((_, index) => index + 1))
  await bob.seen.until(({type, sequence}) => type === 'packet' && sequence === 20)
  const order = bob.seen.events.filter(({type}) => type === 'message' || type === 'packet')
      .map(({payload}) => typeof payload === 'string' ? payload : `p${payload[0]}`)
  assert.deepEqual(order, Array.from({length: 20}, (_, index) => [`m${index}`, `p${index}`]).flat())
  assert.deepEqual(alice.seen.messages.map(({payload, offset, sender}) => [payload, offset, sender]), [['m3', 4, 'alice']])
  assert.deepEqual(bob.seen.of('topics').at(-1).publishers.map(({topic, user, meta}) => [topic, user, meta]), [['points', 'alice', 'pen']])
  assert.deepEqual(await there.topic('points').followed(), {all: true, users: ['alice'], failed: []})

  const {messages, head, floor} = await there.history({backwards: true, limit: 2})
  assert.deepEqual(messages.map(({payload, channel}) => [payload, channel]), [['m19', 'lesson'], ['m18', 'lesson']])
  assert.deepEqual([head, floor], [20, 0])
  const late = await connect('late')
  await late.channel('lesson').open()
  await late.seen.until(({type}) => type === 'caughtUp')
  assert.equal(late.seen.messages.length, 20)
})

on({}, '[DM2, PR3, PR8, LK3, MD5, AC6] direct messages, presence, locks, metadata and rights', async ({connect}) => {
  const alice = await connect('alice')
  const bob = await connect('bob', {key: 'join'})
  const [here, there] = [alice.channel('lesson'), bob.channel('lesson')]
  await here.open({parts: ['messages', 'presence', 'metadata', 'locks']})
  const {presence} = there
  await presence.set({name: 'Bob', constructor: 'é'})
  await there.open({from: 'now'})
  const {member} = await alice.seen.until(({type, kind}) => type === 'presence' && kind === 'joined')
  assert.deepEqual(plain(member), {user: 'bob', states: {name: 'Bob', constructor: 'é'}})
  await presence.remove(['constructor'])
  assert.deepEqual((await presence.users()).members.map(member => plain(member)),
      [{user: 'alice', states: {}}, {user: 'bob', states: {name: 'Bob'}}])
  assert.deepEqual(plain(await here.presence.states('bob')), {name: 'Bob'})
  assert.deepEqual(await alice.person('bob').channels(), ['lesson'])

  assert.equal(await alice.person('bob').send('psst', {customType: 'wink'}).accepted, undefined)
  assert.deepEqual(bob.seen.of('direct').map(({payload, sender, customType}) => [payload, sender, customType]), [['psst', 'alice', 'wink']])
  await assert.rejects(alice.person('nobody').send('x').accepted, {name: 'userOffline', code: 114})

  const set = there.metadata
  const first = await set.set({title: 'Herbst'}, {revisions: {title: 0}, recordsUser: true, recordsTime: true})
  await assert.rejects(set.set({title: 'x'}, {revisions: {title: 0}}), {name: 'revisionMismatch', limit: 0, actual: first})
  assert.equal(await set.update({title: 'Winter'}, {majorRevision: first}), first + 1)
  await assert.rejects(set.update({other: 'x'}), {name: 'itemNotFound'})
  const {items} = await set.get()
  assert.deepEqual(items.map(({key, value, revision}) => [key, value, revision]), [['title', 'Winter', first + 1]])
  await alice.seen.until(({type, items}) => type === 'metadata' && items.get('title')?.value === 'Winter')
  await set.remove(['title'])
  await alice.person('bob').metadata.follow()
  await bob.person('bob').metadata.set({color: 'red'})
  const change = await alice.seen.until(({type, user, written}) => type === 'metadata' && user === 'bob' && written.length > 0)
  assert.equal(change.items.get('color').value, 'red')

  const [pen, other] = [here.lock('pen'), there.lock('pen')]
  await pen.make({ttl: 1_000})
  const hold = await pen.acquire()
  await assert.rejects(other.acquire(), {name: 'lockHeld'})
  const left = new AbortController()
  const leaving = other.acquire({wait: 20_000, signal: left.signal})
  left.abort()
  await assert.rejects(leaving, {name: 'cancelled', code: 141})
  await assert.rejects(other.acquire({wait: 20_000, signal: left.signal}), {name: 'cancelled', outcome: 'nothingHappened'})
  const waiting = other.acquire({wait: 20_000})
  await hold.release()
  assert.ok((await waiting).fencing > hold.fencing)
  assert.deepEqual((await here.locks()).map(({lock, owner}) => [lock, owner]), [['pen', 'bob']])
  await alice.seen.until(({type, kind, locks}) => type === 'locks' && kind === 'acquired' && locks[0].owner === 'bob')

  assert.deepEqual([bob.access.role, bob.access.rights('lesson').has('clear'), alice.access.rights('lesson').has('clear')],
      ['editor', false, true])
  await assert.rejects(there.board.clear(), {name: 'notPermitted'})
  await assert.rejects(connect('eve', {credential: {key: 'no key of this relay'}}), {name: 'keyWrong'})
  await assert.rejects(connect('bob', {secret: '00'.repeat(16)}), {name: 'userIDTaken'})
})

on({isKept: true}, '[BL1, BL6, BL8, BL9] records, removals, clear and undo, large drawings', async ({connect}) => {
  const alice = await connect('alice')
  const bob = await connect('bob')
  const [here, there] = [alice.channel('lesson'), bob.channel('lesson')]
  await there.open({from: 'now'})
  const stored = here.board.put('s1', 'one', {customType: 'stroke'})
  assert.equal(await stored.accepted, await stored.stored)
  await here.board.remove('s1').stored
  const removal = await bob.seen.until(({isRemoval}) => isRemoval)
  assert.deepEqual([removal.key, removal.payload.length], ['s1', 0])
  const letters = 'abcdefgh€'.repeat(30_000)
  const large = here.board.put('big', letters, {customType: 'stroke'})
  const bytes = new Uint8Array(70_000).map((_, index) => index % 251)
  const unkept = here.send(bytes)
  await Promise.all([large.stored, unkept.accepted])
  const whole = await bob.seen.until(({key}) => key === 'big')
  assert.equal(whole.payload, letters)
  const other = await bob.seen.until(({type, payload}) => type === 'message' && payload.length === 70_000)
  assert.deepEqual(Buffer.from(other.payload), Buffer.from(bytes))
  const late = await connect('late')
  await late.channel('lesson').open()
  await late.channel('lesson').upToDate()
  await late.seen.until(({type}) => type === 'caughtUp')
  await assert.rejects(late.channel('elsewhere').upToDate(), {name: 'notSubscribed'})
  const sizes = late.seen.messages.map(({key, payload}) => [key, payload.length])
  assert.deepEqual(sizes.sort(([, left], [, right]) => left - right), [[undefined, 70_000], ['big', letters.length]])
  assert.deepEqual((await alice.boards()).map(({channel, records}) => [channel, records]), [['lesson', 1]])
  assert.equal((await here.board.clear()).records, 1)
  await late.seen.until(({type}) => type === 'cleared')
  await here.board.undoClear()
  const from = late.seen.events.length
  await late.seen.until(({key}) => key === 'big', from - 1)
  await here.board.delete()
  await late.seen.until(({type, extent}) => type === 'messagesMissed' && extent === 'reset')
  assert.deepEqual(await alice.boards(), [])
})

on({options: ['--message-rate', '400']},
  '[MS9, SE9, DL7] over links cut at any byte each message comes once and in order, each packet once or told',
  async ({connect, proxy, dice}) => {
  const between = await proxy(dice)
  const users = ['alice', 'bob']
  const clients = []
  for (const user of users) clients.push(await connect(user, {port: between.port, random: () => dice.fraction() / 2_000}))
  const pens = []
  for (const client of clients) {
    await client.channel('lesson').open({from: 'now'})
    pens.push(await client.channel('lesson').topic('points').startPublishing())
    await client.channel('lesson').topic('points').follow({from: users.filter(user => user !== client.user)})
  }
  const witness = await connect('witness')
  await witness.channel('lesson').open({from: 'now'})
  await Promise.all(clients.map(client => client.seen.until(({type, kind, member}) => type === 'presence' && kind === 'joined'
      && member.user === 'witness')))
  between.cut(25)
  const receipts = clients.map(() => [])
  for (let index = 0; index < 200; index++) {
    clients.forEach((client, side) => {
      receipts[side].push(client.channel('lesson').send(`${side} ${index} ${'x'.repeat(dice.below(60))}`).accepted)
      if (client.link.state === 'connected') pens[side].send(Uint8Array.of(index))
    })
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  await Promise.all(receipts.flat())
  between.cutsLeft = 0
  for (const [side, client] of clients.entries()) {
    client.channel('lesson').send('the end')
    await witness.seen.until(({type, sender, payload}) => type === 'message' && sender === users[side] && payload === 'the end')
    await clients[1 - side].seen.until(({type, sender, payload}) => type === 'message' && sender === users[side] && payload === 'the end')
  }
  assert.ok(between.cuts >= 15, `${between.cuts} cuts`)
  for (const client of [...clients, witness]) {
    for (const [side, user] of users.entries()) {
      if (client.user === user) continue
      const numbers = client.seen.messages.filter(({sender}) => sender === user)
          .map(({payload}) => payload === 'the end' ? 200 : Number(payload.split(' ')[1]))
      assert.deepEqual(numbers, Array.from({length: 201}, (_, index) => index), `${client.user} of ${user}, ${side}`)
    }
    assert.deepEqual(client.seen.of('messagesMissed'), [])
  }
  assert.deepEqual(witness.seen.of('presence').filter(({kind}) => kind !== 'snapshot'), [], 'nobody is seen to come or go')
  for (const client of clients) {
    // By flow: what came or was told, and from where on an unknown number went with a session that could not be resumed: its
    // `welcome`, with the token to resume with, had been cut off. [SE9]
    const flows = new Map()
    for (const event of client.seen.events) {
      const told = event.type === 'packet' ? [{...event, first: event.sequence, last: event.sequence}] : event.type === 'packetsLost'
          ? event.entries : []
      for (const {flow, first, last} of told) {
        const {seen, tails} = flows.get(flow) ?? flows.set(flow, {seen: new Set(), tails: new Set()}).get(flow)
        if (last === undefined) tails.add(first)
        for (let sequence = first; sequence <= (last ?? 0); sequence++) {
          assert.ok(!seen.has(sequence), `${sequence} of flow ${flow} came twice`)
          seen.add(sequence)
        }
      }
    }
    const total = [...flows.values()].reduce((sum, {seen}) => sum + seen.size, 0)
    assert.ok(total > 50, `${total} packets`)
    for (const [flow, {seen, tails}] of flows) {
      const sequences = [...seen].sort((left, right) => left - right)
      for (let index = 1; index < sequences.length; index++) {
        const next = sequences[index - 1] + 1
        assert.ok(sequences[index] === next || tails.has(next), `${next}…${sequences[index] - 1} of flow ${flow} is neither here nor told`)
      }
    }
    const resumed = client.seen.of('link').filter(({resumed}) => resumed).length
    assert.ok(resumed >= 3, `resumed ${resumed} times`)
  }
})

on({isKept: true, options: ['--message-rate', '200']},
    '[BL2, BL5, MS9] kill -9 in the middle of 200 records: every one is there once, all boards are equal',
    async ({daemon, connect, proxy, dice}) => {
  const between = await proxy(dice)
  const clients = []
  for (const user of ['alice', 'bob']) {
    const client = await connect(user, {port: between.port, storage: new MemoryStorage(), random: () => dice.fraction() / 20})
    await client.channel('lesson').open()
    clients.push(client)
  }
  between.cut(10)
  const expected = new Map()
  const receipts = []
  const killAt = 40 + dice.below(40)
  const restarts = []
  for (let index = 0; index < 100; index++) {
    for (const [side, client] of clients.entries()) {
      const key = `${side}-${index}`
      const text = `${key} ${'x'.repeat(dice.below(300))}`
      expected.set(key, text)
      receipts.push(client.channel('lesson').board.put(key, text, {customType: 'stroke'}))
    }
    if (index === killAt || index === killAt + 15) {
      // Somewhere among what is under way, accepted and stored.
      await receipts[2 * (index - 20)].accepted
      restarts.push(await daemon.restart())
    }
    await new Promise(resolve => setTimeout(resolve, 4))
  }
  assert.equal(restarts.length, 2)
  const offsets = await Promise.all(receipts.map(({stored}) => stored))
  assert.equal(offsets.length, 200)
  const late = await connect('late')
  await late.channel('lesson').open()
  await late.seen.until(({type}) => type === 'caughtUp')
  assert.deepEqual(late.seen.messages.map(({key}) => key).sort(), [...expected.keys()].sort(), 'each once')
  for (const {key, payload} of late.seen.messages) assert.equal(payload, expected.get(key))
  for (const [side, client] of clients.entries()) {
    assert.equal(client.machine.outbox.storage.length, 1, 'only the secret is kept')
    // What the app draws: its own, and what came since it was last told that all is void.
    await client.seen.until(({type, messages, key}) => key === `${1 - side}-99`
        || (type === 'board' && messages.some(({key}) => key === `${1 - side}-99`)))
    const reset = client.seen.events.findLastIndex(({type, extent}) => type === 'messagesMissed' && extent === 'reset')
    const since = client.seen.events.slice(reset + 1)
        .flatMap(event => event.type === 'board' ? event.messages : event.type === 'message' ? [event] : [])
    const others = since.filter(({sender}) => sender !== client.user).map(({key}) => key)
    assert.deepEqual(others.sort(), [...expected.keys()].filter(key => key.startsWith(`${1 - side}-`)).sort(),
        `${side} has each of the other's once`)
    const own = since.filter(({sender}) => sender === client.user).map(({key}) => key)
    assert.equal(new Set(own).size, own.length, `${side} got none of its own twice`)
  }
})

on({isKept: true}, '[MS9, BL2] a page that is reloaded with records under way loses none, and doubles none',
    async ({daemon, connect, proxy, dice}) => {
  const between = await proxy(dice)
  const storage = new MemoryStorage()
  const options = {port: between.port, storage, scope: 'here'}
  const first = await connect('alice', options)
  for (let index = 0; index < 10; index++) first.channel('lesson').board.put(`s${index}`, `s${index}`)
  // The page goes: nothing of it is heard any more, and what the relay answers is lost.
  between.holds = true
  const bob = await connect('bob')
  await bob.channel('lesson').open()
  await bob.seen.until(({key, messages}) => key === 's9' || messages?.some(({key}) => key === 's9'))
  await bob.channel('lesson').board.remove('s3').stored
  first.machine.outbox = undefined
  first.transport = () => ({send() {}, close() {}, bufferedBytes: 0})
  between.holds = false
  between.cutAll()
  await daemon.restart()
  const second = await connect('alice', options)
  assert.deepEqual(second.restored.map(({key}) => key).sort(), Array.from({length: 10}, (_, index) => `s${index}`))
  await Promise.all(second.restored.map(({receipt}) => receipt.stored))
  const late = await connect('late')
  await late.channel('lesson').open()
  await late.seen.until(({type}) => type === 'caughtUp')
  assert.deepEqual(late.seen.messages.map(({key}) => key).sort(), ['s0', 's1', 's2', 's4', 's5', 's6', 's7', 's8', 's9'],
      's3 was removed since')
  assert.equal(storage.length, 1)
  await first.close()
})

on({}, '[AC8] a token lets in, is told before its end, and renewed without a break', async ({daemon}) => {
  const secretFile = join(daemon.folder, 'secret')
  writeFileSync(secretFile, '0123456789abcdef'.repeat(4))
  daemon.words.splice(3, 0, '--token-secret-file', secretFile)
  await daemon.restart()
  const token = (...words) => run('token', 'create', '--secret-file', secretFile, '--user', 'alice', ...words)
  const client = new RelayClient(tcpTransport(daemon.port), 'alice',
      {credential: {token: await token('--role', 'reader', '--expires-in', '31s')}})
  const seen = new Watcher(client)
  await client.connect()
  assert.equal(client.access.role, 'reader')
  assert.ok(client.access.untilMs > 30_000 && client.access.untilMs <= 36_000, `${client.access.untilMs}`)
  await assert.rejects(client.channel('lesson').send('x').accepted, {name: 'notPermitted'})
  const {inMs} = await seen.until(({type}) => type === 'accessExpiring')
  assert.ok(inMs <= 30_000)
  await client.renew({token: await token('--grant', 'lesson-*=publish,subscribe', '--role', 'reader')})
  assert.deepEqual([...client.access.rights('lesson-7')].sort(), ['presence', 'publish', 'subscribe'])
  await client.channel('lesson-7').send('x').accepted
  await assert.rejects(client.renew({token: 'no token'}), {name: 'tokenInvalid'})
  assert.deepEqual(seen.of('link').filter(({state}) => state === 'waiting'), [])
  await client.close()
  assert.deepEqual(seen.of('link').at(-1).reason, {kind: 'closedByApp'})

  // An app that gives tokens itself is asked at each login, and before one ends; one that has none to give is told of it.
  const tokens = [await token('--role', 'editor', '--expires-in', '31s'), await token('--role', 'reader')]
  const asking = new RelayClient(tcpTransport(daemon.port), 'alice', {token: async () => tokens.shift() ?? assert.fail('no more')})
  const told = new Watcher(asking)
  await asking.connect()
  assert.equal(asking.access.role, 'editor')
  await told.until(({type}) => type === 'accessExpiring')
  while (asking.access.role !== 'reader') await new Promise(setImmediate)
  asking.wire.close()
  await told.until(({type, reason}) => type === 'link' && reason?.text === 'no token: no more')
  assert.notEqual(asking.link.state, 'closed')
  await asking.close()
})

on({}, '[SE8] a newer login of the same device ends the older, which does not come back', async ({connect}) => {
  const options = {storage: new MemoryStorage(), device: '00000000000000aa'}
  const older = await connect('alice', options)
  await connect('alice', options)
  const {reason} = await older.seen.until(({type, state}) => type === 'link' && state === 'closed')
  assert.deepEqual([reason.kind, reason.code], ['relayClosed', 302])
})

test('where nobody listens a first connection fails, with the code of that, and the client goes on trying', async () => {
  const nobody = await CutProxy.start(new Dice(1), () => 0)
  nobody.end()
  const client = new RelayClient(tcpTransport(nobody.port), 'alice')
  await assert.rejects(client.connect(), {name: 'connectFailed', code: 900})
  assert.notEqual(client.link.state, 'closed')
  await client.close()
})

on({}, '[HI6, BL8] a large message comes without the key of its parts; in a page of the history each part says which it is',
    async ({connect}) => {
  const [anna, ben] = [await connect('anna'), await connect('ben')]
  await ben.channel('lesson').open({from: 'now'})
  const text = `a${'é'.repeat(20_000)}`
  await anna.channel('lesson').send(text).accepted
  await ben.seen.until(({type}) => type === 'message')
  const [message] = ben.seen.of('message')
  assert.deepEqual([message.payload, message.key], [text, undefined])
  const {messages} = await ben.channel('lesson').history()
  assert.deepEqual(messages.map(({part}) => part), [{number: 1, of: 2, isText: true}, {number: 2, of: 2, isText: true}])
  assert.equal(Buffer.concat(messages.map(({payload}) => payload)).toString(), text)
})
