// A relay that says anything: it ends the link with a reason, or means nothing; the client goes on.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {decodeFrame, encodeFrame} from '../../Sources/RelayPage/client/frames.js'
import {bob, deliver, flowOpened, MachineDriver, record} from './support/machine-driver.mjs'
import {Dice} from './support/dice.mjs'
import {fromHex, rows} from './support/vectors.mjs'

const vectors = rows('frames.tsv').map(([name, digits]) => ({name, bytes: fromHex(digits)}))

/** Those that a relay sends: one that only clients send ends the link at once, and shows no more. */
const fromRelay = vectors.filter(({bytes}) => bytes[4] >= 0x80)

/** Logged in, subscribed, joined, with something of everything under way. */
function busy() {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({handle: 2, channel: 'lesson', features: ['locks', 'messages', 'metadata', 'presence'], since: {beginning: true},
      after: 0, head: 50})
  driver.hear({handle: 3})
  driver.request('t', 'joinTopic', {channel: 'lesson', topic: 'points'})
  driver.answer({flow: 5, next: 1})
  driver.feed(bob, {type: 'userNamed', handle: 1, user: 'anna'}, flowOpened(7, 1, {channel: 3}))
  for (const name of ['m1', 'm2', 'm3']) driver.send(name)
  for (const name of ['r1', 'r2', 'r3']) driver.retain(name)
  driver.sendLarge('big', {payload: 'x'.repeat(100_000)})
  driver.sendDirect('d', {payload: 'x', user: 'bob'})
  driver.request('h', 'history', {channel: 'lesson'})
  driver.request('g', 'getMetadata', {user: 'bob'})
  driver.request('w', 'who', {kind: 'message', channel: 'lesson'})
  driver.feed(record(1, 'big', 'x', {channel: 2, part: 1, parts: 3}))
  driver.sent()
  return driver
}

/** What must hold whatever came. */
function check(driver) {
  const {machine} = driver
  assert.ok(['live', 'waiting', 'closed', 'connecting'].includes(machine.state))
  assert.ok(machine.queue.bytes >= 0 && machine.queue.messages >= 0 && machine.queue.packets >= 0 && machine.sent.unstoredBytes >= 0)
  assert.ok(machine.nextDeadline >= machine.now || !Number.isNaN(machine.nextDeadline))
  driver.events()
  if (machine.state !== 'waiting') return
  driver.advanceTo(machine.nextDeadline)
  driver.open()
  driver.logIn({resumed: true})
  driver.pong()
  assert.equal(machine.state, 'live')
}

const base = process.env.BOARDRELAY_PAGE_SEED ? Number(process.env.BOARDRELAY_PAGE_SEED) : Math.floor(Math.random() * 2 ** 48)
const rounds = process.env.BOARDRELAY_PAGE_SEED ? 1 : 400

test('[FR4, FR6, FR7] frames of the vectors with bytes changed, cut, doubled and shuffled never throw and never wedge the client', () => {
  let faults = 0
  for (let round = 0; round < rounds; round++) {
    const seed = base + round
    const dice = new Dice(seed)
    try {
      const driver = busy()
      for (let count = 1 + dice.below(12); count > 0 && driver.machine.state === 'live'; count--) {
        const frames = dice.below(50) === 0 ? vectors : fromRelay
        const {bytes} = frames[dice.below(frames.length)]
        const mutant = bytes.slice()
        for (let change = dice.below(3); change > 0; change--) {
          const at = dice.below(mutant.length)
          // Lengths are tried below: here what stands in frames.
          if (at > 3) mutant[at] = dice.below(3) === 0 ? dice.below(256) : mutant[at] ^ (1 << dice.below(8))
        }
        if (mutant[4] !== 0x83) driver.feedBytes(mutant)
        if (dice.below(4) === 0) driver.readEvents()
      }
      if (driver.machine.state === 'waiting') faults++
      check(driver)
    } catch (error) {
      error.message = `replay: BOARDRELAY_PAGE_SEED=${seed} node --test Tests/Page/hostile.test.mjs\n${error.message}`
      throw error
    }
  }
  if (rounds > 1) assert.ok(faults > rounds / 2 && faults < rounds * 0.97, `${faults} of ${rounds} ended the link`)
})

test('[FR7, JS5] a body without one of its fields, or with another kind of value in it, is a fault or means nothing', () => {
  let faults = 0
  const bodies = vectors.map(({bytes}) => decodeFrame(bytes)).filter(({code, body}) => code >= 0x80 && body)
  assert.ok(bodies.length > 50)
  for (const frame of bodies) {
    for (const field of Object.keys(frame.body)) {
      for (const value of [undefined, {}, [], 'x', true, -1, 2 ** 53 - 1, [{}], ['_']]) {
        const driver = busy()
        const id = [...driver.machine.requests.byID.keys()][0]
        const body = {...frame.body, ...'id' in frame.body && {id}, [field]: value}
        driver.feed({...frame, body})
        if (driver.machine.state !== 'live') faults++
      }
    }
  }
  assert.ok(faults > 500, `${faults} faults`)
})

test('[FR3] random bytes end the link', () => {
  for (let round = 0; round < 200; round++) {
    const dice = new Dice(base + round)
    const driver = busy()
    driver.feedBytes(Uint8Array.from({length: 4 + dice.below(300)}, (_, index) => index < 4 ? 1 + dice.below(255) : dice.below(256)))
    assert.equal(driver.events('link').at(-1).reason?.kind, 'relayFault', `seed ${base + round}`)
  }
})

test('[FR4, MS5, DL6, SE9] what breaks a rule is a fault of the relay, named in words', () => {
  const faults = [
    [{type: 'login', body: {}}, /only clients send/],
    [{type: 'deliver', channel: 2, publisher: 99, offset: 1, time: 1, payload: Buffer.from('x')}, /not named/],
    [{...deliver(1, 'x', {channel: 2}), retain: true}, /without a key/],
    [{...deliver(1, '', {channel: 2, text: true}), payload: Uint8Array.of(0xff)}, /UTF-8/],
    [record(60, 'k', 'x', {channel: 2, part: 0, parts: 3}), /part 0 of 3/],
    [record(60, 'k', '', {channel: 2, part: 0, parts: 3}), /part 0 of 3/],
    [record(60, 'k', 'x', {channel: 2, part: 0, parts: 3, retain: false}), /part 0 of 3/],
    [record(60, 'k', 'x', {channel: 2, part: 2, parts: 1}), /part 2 of 1/],
    [{type: 'lost', reason: 1, ranges: [{flow: 7, first: 3, last: 2}]}, /lost range/],
    [{type: 'restored', body: {kind: 'message', channel: 'x', handle: 4, features: [], quiet: false}}, /restores what was not there/],
    [{type: 'accessChanged', body: {role: 'reader', by: '_'}}, /accessChanged.by/],
    [{type: 'modeChanged', body: {channel: 2, mode: 'frozen', on: 1, by: 'host'}}, /modeChanged.on/],
    [{type: 'caughtUp', body: {channel: -1, head: 1}}, /caughtUp.channel/],
    [{type: 'presence', body: {channel: 2, event: 'join', user: 'a*', states: {}}}, /presence.user/],
    [{type: 'presence', body: {channel: 2, event: 'snapshot', members: [{user: 'a', states: {x: 1}}]}}, /presence.members\[0\].states.x/],
    [{type: 'notStored', body: {number: 'x', code: 1, text: ''}}, /notStored.number/],
  ]
  for (const [frame, pattern] of faults) {
    const driver = busy()
    driver.events()
    driver.feed(frame)
    assert.match(driver.events('link').at(-1)?.reason.text ?? 'no fault', pattern)
  }
  const fraction = busy()
  fraction.feedBytes(fromHex(`0000000c8100${Buffer.from('{"id":0.5}').toString('hex')}`))
  assert.match(fraction.events('link').at(-1).reason.text, /integers/)
  const again = busy()
  again.feed({type: 'packet', flow: 7, sequence: 1, payload: Buffer.from('x')})
  again.feed({type: 'packet', flow: 7, sequence: 1, payload: Buffer.from('x')})
  assert.match(again.events('link').at(-1).reason.text, /after 1/)
})

test('[FR6] frames, events and fields that this client does not know mean nothing', () => {
  const driver = busy()
  driver.events()
  const unknown = encodeFrame({type: 'accessExpiring', body: {inMs: 1}})
  unknown[4] = 0xee
  unknown[5] = 0xff
  driver.feedBytes(unknown)
  driver.feed({type: 'locks', body: {channel: 2, event: 'melted', locks: 'x'}}, {type: 'topics', body: {channel: 3, event: 'x'}})
  assert.deepEqual(driver.events(), [])
  driver.feed({type: 'gap', body: {channel: 2, from: 1, to: 2, more: {a: 1}}},
      {type: 'error', body: {code: 999, name: 'new', text: 'x', id: 77_777}})
  assert.deepEqual(driver.events().map(({type, error}) => [type, error?.name]), [['messagesMissed', undefined], ['refused', 'code 999']])
})
