// Messages that are sent: numbers, pacing, what is sent again and what is not.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {decodeFrame, encodeFrame, Limits} from '../../Sources/RelayPage/relay-client.js'
import {MachineDriver, plain} from './support/machine-driver.mjs'
import {Dice} from './support/dice.mjs'

const accept = (driver, ...numbers) => numbers.forEach(number => driver.feed({type: 'accepted', number, offset: number + 100}))
const refuse = (driver, number, code, name) => driver.feed({type: 'error', body: {number, code, name, text: 'no'}})

test('[MS9] what was not answered is sent again, in the same order and with the same numbers, before what is new', () => {
  const driver = new MachineDriver()
  driver.logIn()
  for (const name of ['a', 'b', 'c', 'd']) driver.send(name)
  assert.deepEqual(driver.sentTypes(), ['publish 1', 'publish 2', 'publish 3', 'publish 4'])
  accept(driver, 1, 2)
  driver.cut()
  driver.send('e')
  driver.advance(0)
  driver.open()
  driver.logIn({resumed: true})
  assert.deepEqual(driver.sentTypes(), ['publish 3', 'publish 4', 'publish 5'])
  // A second break before the answers: the same again.
  driver.comeBack()
  assert.deepEqual(driver.sentTypes(), ['publish 3', 'publish 4', 'publish 5'])
  accept(driver, 3)
  refuse(driver, 4, 128, 'notAccepted')
  accept(driver, 5)
  assert.deepEqual(['a', 'b', 'c', 'd', 'e'].map(name => driver.state(name)[0]), [101, 102, 103, 'notAccepted', 105])
})

test('[MS9, BL2] a relay that was started anew is asked only for what is retained; of the rest the outcome is unknown', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.send('plain')
  driver.retain('kept')
  driver.retain('stored')
  accept(driver, 2, 3)
  driver.feed({type: 'stored', number: 3, offset: 103})
  driver.comeBack({start: 1001})
  assert.deepEqual(driver.state('plain'), ['outcomeUnknown', undefined])
  assert.deepEqual(driver.state('stored'), [103, 103])
  assert.deepEqual(driver.sentTypes(), ['publish 2'])
  refuse(driver, 2, 128, 'notAccepted')
  assert.deepEqual(driver.state('kept'), [102, 'notAccepted'])
})

for (const isForgotten of [true, false]) {
  test(`[MS9] more than 10 minutes after the break a relay that has forgotten is asked nothing, another all (${isForgotten})`, () => {
    const driver = new MachineDriver()
    assert.equal(driver.logIn().lastNumber, undefined, 'nothing was sent')
    driver.send('plain')
    driver.retain('kept')
    driver.cut()
    driver.now += Limits.publishMemoryMs + 1
    driver.advance(0)
    driver.open()
    assert.equal(driver.logIn(isForgotten ? {forgotten: true} : {}).lastNumber, 2)
    const outcome = isForgotten ? 'outcomeUnknown' : undefined
    assert.deepEqual([driver.state('plain'), driver.state('kept')], [[outcome, undefined], [outcome, outcome]])
    assert.deepEqual(driver.sentTypes(), isForgotten ? [] : ['publish 1', 'publish 2'])
  })
}

test('[ER5] an error says whether asking again may help; a word that this client does not know promises nothing', () => {
  for (const [retry, wanted] of [['now', 'now'], ['later', 'later'], ['soon', 'never'], [undefined, 'never']]) {
    const driver = new MachineDriver()
    driver.logIn()
    let stored
    const watch = {settle: result => (stored = result)}
    driver.machine.queue.send({payload: 'x', channel: 'lesson', key: 'a', isRetained: true, stored: watch}, 0)
    driver.sent()
    driver.feed({type: 'error', body: {number: 1, code: 299, name: 'new', text: 'no', retry}})
    assert.deepEqual([stored.error.code, stored.error.retry], [299, wanted])
  }
})

test('[BL2] stored and notStored settle a record, in whatever order they come with accepted', () => {
  const driver = new MachineDriver()
  driver.logIn()
  for (const name of ['a', 'b', 'c', 'd']) driver.retain(name)
  accept(driver, 1)
  assert.deepEqual(driver.state('a'), [101, undefined])
  assert.equal(driver.machine.unsent.unstored, 1)
  driver.feed({type: 'stored', number: 1, offset: 101}, {type: 'stored', number: 1, offset: 101})
  driver.feed({type: 'stored', number: 2, offset: 102})
  accept(driver, 2, 3)
  driver.feed({type: 'notStored', body: {number: 3, code: 123, name: 'storageFailed', text: 'full', retry: 'later'}})
  driver.comeBack()
  // Told on the new link before the number was sent again: it waits there for the rate.
  assert.deepEqual(driver.state('b'), [102, 102])
  assert.deepEqual(driver.state('c'), [103, 'storageFailed'])
  assert.deepEqual(driver.sentTypes(), ['publish 4'])
  driver.feed({type: 'stored', number: 4, offset: 104})
  assert.deepEqual(driver.state('d'), [104, 104])
  assert.deepEqual(driver.machine.unsent, {messages: 0, packets: 0, bytes: 0, unstored: 0, unkept: 0})
})

test('[RT8] of 200 messages 60 leave at once, and then as many as the credit says', () => {
  const driver = new MachineDriver({})
  driver.logIn({limits: {unansweredMax: 200}})
  for (let index = 0; index < 200; index++) driver.send(`m${index}`)
  const sent = () => driver.sent().filter(({type}) => type === 'publish').length
  assert.equal(sent(), 60)
  driver.feed({type: 'accepted', number: 1, offset: 1, credit: 59}, {type: 'accepted', number: 2, offset: 2, credit: 60})
  assert.equal(sent(), 2)
  for (let number = 3; number <= 62; number++) driver.feed({type: 'accepted', number, offset: number, credit: 62 - number})
  driver.advance(5_000)
  assert.equal(sent(), 0)
  driver.feed({type: 'credit', body: {channel: 'other', credit: 60}})
  assert.equal(sent(), 0)
  driver.feed({type: 'credit', body: {channel: 'lesson', credit: 7}})
  assert.equal(sent(), 7)
})

test('[RT8] a login that says when publishes may follow is heeded', () => {
  const driver = new MachineDriver()
  driver.logIn({publishAfterMs: 700})
  driver.send('a')
  driver.advance(707)
  assert.deepEqual(driver.sentTypes(), [])
  driver.advance(1)
  assert.deepEqual(driver.sentTypes(), ['publish 1'])
})

test('[MS3] no more are unanswered than the relay allows, over all channels and direct messages', () => {
  const driver = new MachineDriver()
  driver.logIn({limits: {unansweredMax: 5}})
  for (let index = 0; index < 4; index++) driver.send(`m${index}`, {channel: `c${index}`})
  driver.sendDirect('direct', {payload: 'x', user: 'bob'})
  driver.send('more')
  assert.equal(driver.sent().filter(({number}) => number).length, 5)
  driver.feed({type: 'confirmed', number: 5})
  assert.deepEqual(driver.result('direct'), {offset: 0})
  assert.deepEqual(driver.sentTypes(), ['publish 6'])
})

test('[DM3, SE11] a direct message is not sent again: its outcome is unknown', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.sendDirect('a', {payload: 'x', user: 'bob'})
  driver.sendDirect('b', {payload: 'x', user: 'bob'})
  driver.feed({type: 'error', body: {number: 1, code: 114, name: 'userOffline', text: 'away'}})
  driver.comeBack()
  assert.deepEqual([driver.result('a'), driver.result('b')], ['userOffline', 'outcomeUnknown'])
  assert.deepEqual(driver.sentTypes(), [])
})

test('[MS9, BL2] numbers go at most 255 ahead of a record that is not told durable', () => {
  const driver = new MachineDriver()
  driver.logIn({limits: {messagesPerSecond: 1_000}})
  driver.retain('kept')
  accept(driver, 1)
  let last = 1
  for (let index = 0; index < 300; index++) driver.send(`m${index}`)
  for (let sent; (sent = driver.sent().filter(({number}) => number)).length > 0;) {
    for (const {number} of sent) accept(driver, last = number)
  }
  assert.equal(last, 256)
  driver.feed({type: 'stored', number: 1, offset: 101})
  assert.ok(driver.sent().some(({number}) => number === 257))
})

test('[MS2, NM1, JS1] what cannot be sent is refused at once, and nothing is queued', () => {
  const driver = new MachineDriver()
  driver.logIn()
  const wrong = [
    [{channel: '_x'}, 'badName'], [{channel: ''}, 'badName'], [{channel: 'a/b'}, 'badName'], [{channel: 'x'.repeat(65)}, 'badName'],
        [{channel: 'é'}, 'badName'],
    [{payload: 'x'.repeat(32_769)}, 'tooLarge'], [{payload: 'é'.repeat(16_385)}, 'tooLarge'],
        [{payload: 'x'.repeat(32_768), customType: 't'}, 'tooLarge'],
    [{customType: ''}, 'tooLarge'], [{customType: 'x'.repeat(33)}, 'tooLarge'], [{payload: '\ud800'}, 'badText'],
        [{isRetained: true, key: 'a*'}, 'badName'],
  ]
  for (const [fields, name] of wrong) assert.throws(() => driver.send('wrong', fields), {name}, JSON.stringify(fields))
  assert.throws(() => driver.request('r', 'setStates', {kind: 'message', channel: 'lesson', states: {a: 'x'.repeat(20_000)}}),
      {name: 'tooLarge'})
  assert.deepEqual(driver.sentTypes(), [])
  driver.send('right', {payload: 'x'.repeat(32_767), customType: 't', channel: 'x'.repeat(64)})
  assert.equal(driver.sent().filter(({type}) => type === 'publish').length, 1)
})

test('what waits to be sent has a bound; a packet that is too old after a break is dropped and counted', () => {
  const driver = new MachineDriver({unsentCountMax: 3})
  driver.logIn()
  driver.hear()
  driver.request('joinTopic', 'joinTopic', {channel: 'lesson', topic: 'points'})
  driver.answer({flow: 5, next: 1})
  driver.cut()
  const point = () => driver.machine.sendPacket({payload: 'p', channel: 'lesson', topic: 'points'}, driver.now)
  point()
  point()
  driver.send('m')
  assert.throws(point, {name: 'unsentFull'})
  driver.now += 1_001
  driver.advance(0)
  driver.open()
  driver.logIn({resumed: true})
  assert.deepEqual(driver.events('packetsDropped').map(({reason, dropped}) => [reason, dropped]), [['linkDown', 2]])
  driver.machine.settings.unsentBytesMax = 10
  assert.throws(() => driver.send('large', {payload: 'x'.repeat(11)}), {name: 'unsentFull'})
  assert.deepEqual(driver.sentTypes(), ['publish 1'])
})

test('[DL1, RT8] a packet never overtakes a message that waits for credit', () => {
  const driver = new MachineDriver()
  driver.logIn({limits: {messagesPerSecond: 1}})
  driver.hear()
  driver.request('joinTopic', 'joinTopic', {channel: 'lesson', topic: 'points'})
  driver.answer({flow: 5, next: 1})
  driver.send('a')
  driver.send('b')
  driver.machine.sendPacket({payload: 'p', channel: 'lesson', topic: 'points', slot: 3, senderTime: 9}, driver.now)
  assert.deepEqual(driver.sentTypes(), ['publish 1'])
  driver.feed({type: 'accepted', number: 1, offset: 1, credit: 0})
  driver.advance(1_010)
  assert.ok(!driver.sentTypes().some(type => type !== 'ping'))
  driver.feed({type: 'credit', body: {channel: 'lesson', credit: 1}})
  const [b, point] = driver.sent().filter(({type}) => type !== 'ping')
  assert.equal(b.number, 2)
  assert.deepEqual([point.flow, point.slot, point.senderTime, point.text], [5, 3, 9, true])
})

test('[RT1] packets are paced at the rate, with half of the bucket at once', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.hear()
  driver.request('joinTopic', 'joinTopic', {channel: 'lesson', topic: 'points'})
  driver.answer({flow: 5, next: 1})
  for (let index = 0; index < 400; index++) driver.machine.sendPacket({payload: 'p', channel: 'lesson', topic: 'points'}, driver.now)
  let count = driver.sentTypes().length
  assert.equal(count, 100)
  for (let second = 1; second <= 2; second++) {
    for (let step = 0; step < 10; step++) {
      driver.advance(100)
      driver.pong()
      driver.feed({type: 'pong', payload: Uint8Array.of(1)})
    }
    count = 400 - driver.machine.unsent.packets
    assert.ok(Math.abs(count - (100 + 200 * second)) <= 1 || count === 400, `${count} after ${second} s`)
  }
})

// A relay with no more than MS9, MS10 and BL2: numbers it remembers, in the order in which they came. Some it refuses.
class NumberedRelay {
  accepted = new Map()
  log = []
  last = 0
  refused = 0

  accept(number) {
    return [{type: 'accepted', number, offset: this.accepted.get(number), credit: 500}]
  }

  publish(frame) {
    const {number} = frame
    if (this.accepted.has(number)) return this.accept(number)
    if (this.refused > 0 && number > this.refused) return [{type: 'error', body: {number, code: 142, name: 'behindRefused', text: 'no'}}]
    if (Buffer.from(frame.payload).toString().startsWith('no')) {
      this.refused ||= number
      return [{type: 'error', body: {number, code: 106, name: 'tooLarge', text: 'no'}}]
    }
    if (frame.number <= this.last) return [{type: 'error',
        body: {number: frame.number, code: 128, name: 'notAccepted', text: 'passed over'}}]
    this.last = frame.number
    this.log.push(Buffer.from(frame.payload).toString())
    this.accepted.set(number, this.log.length)
    return this.accept(number)
  }

  goOn({number}) {
    if (number >= this.refused) this.refused = 0
    return []
  }
}

const seeds = process.env.BOARDRELAY_PAGE_SEED ? [Number(process.env.BOARDRELAY_PAGE_SEED)]
    : Array.from({length: 150}, () => Math.floor(Math.random() * 2 ** 48))

test('[MS9, MS10, SE11] over links that are cut at any byte each message is accepted once and in order, whatever is refused', () => {
  for (const seed of seeds) {
    try {
      cutLinks(seed)
    } catch (error) {
      error.message = `replay: BOARDRELAY_PAGE_SEED=${seed} node --test Tests/Page/machine-messages.test.mjs\n${error.message}`
      throw error
    }
  }
})

function cutLinks(seed) {
  const dice = new Dice(seed)
  const driver = new MachineDriver({random: () => dice.fraction()})
  const relay = new NumberedRelay()
  driver.logIn({limits: {messagesPerSecond: 500, unansweredMax: 8 + dice.below(100)}})
  const names = []
  // Bytes under way, either way, until the link is cut.
  let up = []
  let down = []
  let cuts = 0
  const total = 60 + dice.below(100)
  for (let step = 0; driver.machine.unsent.messages + driver.machine.sent.publishes.size > 0 || names.length < total; step++) {
    assert.ok(step < 20_000, 'it does not come to an end')
    for (let count = dice.below(4); count > 0 && names.length < total; count--) {
      const name = `${dice.below(15) === 0 ? 'no' : 'm'}${names.length}`
      names.push(name)
      driver.send(name, {payload: name + 'x'.repeat(dice.below(40))})
    }
    for (let bytes; (bytes = driver.machine.gather(driver.now));) up.push(...bytes)
    if (dice.below(12) === 0 && cuts < 20) {
      // What the relay had read it answers, and some of that was still read here.
      cuts++
      up = serve(relay, up.slice(0, dice.below(up.length + 1)), down) && []
      driver.feedBytes(Uint8Array.from(down.slice(0, dice.below(down.length + 1))))
      down = []
      if (driver.machine.state === 'live') driver.cut()
      driver.advanceTo(driver.machine.nextDeadline)
      driver.open()
      driver.logIn({resumed: dice.below(2) === 0})
      continue
    }
    up = serve(relay, up, down)
    const count = dice.below(down.length + 1)
    driver.feedBytes(Uint8Array.from(down.splice(0, count)))
    driver.advance(dice.below(20))
  }
  const accepted = names.filter(name => name.startsWith('m'))
  assert.deepEqual(relay.log.map(text => text.replace(/x*$/, '')), accepted)
  accepted.forEach((name, index) => assert.deepEqual(driver.state(name)[0], index + 1, name))
  for (const name of names) if (name.startsWith('no')) assert.equal(driver.state(name)[0], 'tooLarge', name)
}

/** Has the relay read whole frames of `up`; what is left of it. */
function serve(relay, up, down) {
  let at = 0
  while (up.length - at >= 4) {
    const length = 4 + (((up[at] * 256 + up[at + 1]) * 256 + up[at + 2]) * 256 + up[at + 3])
    if (up.length - at < length) break
    const frame = decodeFrame(Uint8Array.from(up.slice(at, at + length)))
    at += length
    const answers = frame.type === 'publish' ? relay.publish(frame) : frame.type === 'goOn' ? relay.goOn(frame.body)
      : frame.type === 'ping' ? [{type: 'pong', payload: frame.payload}] : []
    for (const answer of answers) down.push(...encodeFrame(answer))
  }
  return up.slice(at)
}

test('[BL8] a drawing above one message leaves in parts, with three quarters of the credit, and others go before it', () => {
  const driver = new MachineDriver()
  driver.logIn({limits: {messageBytesMax: 100, messagesPerSecond: 20}})
  driver.sendLarge('big', {payload: 'x'.repeat(1_990), customType: 'stroke'})
  const first = driver.sent().filter(({type}) => type === 'publish')
  assert.deepEqual(first.map(({part, parts}) => [part, parts]), Array.from({length: 15}, (_, index) => [index + 1, 22]))
  assert.ok(first.every(({key, retain, customType, text, payload}) => key === 'big' && retain && customType === 'stroke' && text
      && payload.length === 94))
  driver.retain('big again', {key: 'big'})
  driver.sendLarge('big too', {key: 'big', payload: 'y'.repeat(200)})
  driver.send('small')
  assert.deepEqual(driver.sentTypes(), [], 'what has its key waits for it, and what is behind that')
  for (let number = 1; number <= 15; number++) driver.feed({type: 'accepted', number, offset: 0})
  driver.advance(1_005)
  const rest = driver.sent().filter(({type}) => type === 'publish')
  assert.equal(rest.length, 7)
  assert.equal(first.concat(rest).map(({payload}) => Buffer.from(payload).toString()).join(''), 'x'.repeat(1_990))
  for (const {number} of rest) driver.feed({type: 'accepted', number, offset: number === 22 ? 9 : 0})
  assert.deepEqual(driver.state('big'), [9, undefined])
  driver.advance(1_100)
  assert.deepEqual(driver.sent().filter(({type}) => type === 'publish').map(({key, part}) => [key, part]),
      [['big', undefined], [undefined, undefined], ['big', 1], ['big', 2]])
  driver.feed({type: 'stored', number: 22, offset: 9})
  assert.deepEqual(driver.state('big'), [9, 9])
})

test('[BL8] without a link more large drawings wait than a relay takes at once, as many as there is room for, and leave in their order', () => {
  const driver = new MachineDriver({unsentBytesMax: 1_000})
  driver.connect()
  driver.machine.limits = {...driver.machine.limits, messageBytesMax: 100}
  driver.cut('offline')
  const names = ['first', 'second', 'third', 'fourth', 'fifth']
  for (const name of names) driver.sendLarge(name, {payload: name.padEnd(199)})
  assert.deepEqual([driver.machine.unsent.messages, driver.machine.unsent.bytes], [5, 995])
  assert.throws(() => driver.sendLarge('sixth', {payload: 'x'.repeat(199)}), {name: 'unsentFull', limit: 1_000, actual: 1_194})
  driver.sendLarge('small', {payload: 'x'})
  driver.advanceTo(driver.machine.nextDeadline)
  driver.open()
  driver.logIn({limits: {messageBytesMax: 100, messagesPerSecond: 1_000}})
  const sent = driver.sent().filter(({part}) => part)
  assert.deepEqual(sent.map(({key, part}) => `${key} ${part}`), names.flatMap(name => [`${name} 1`, `${name} 2`]).slice(0, sent.length))
  const answer = ({number, part}) => driver.feed({type: 'accepted', number, offset: part === 2 ? number : 0, credit: 1_000})
  for (const frame of sent) answer(frame)
  for (const frame of driver.sent().filter(({part}) => part)) answer(frame)
  assert.deepEqual(names.map(name => driver.state(name)[0]), [3, 5, 7, 9, 11], 'what is small has gone before them')
})

test('[BL8] no more drawings than a relay stages have parts under way', () => {
  const driver = new MachineDriver()
  driver.logIn({limits: {messageBytesMax: 100, messagesPerSecond: 4}})
  const channels = ['a', 'b', 'c', 'd', 'e']
  // Three parts a second in each channel: none of them comes to its end.
  for (const channel of channels) driver.sendLarge(channel, {channel, payload: 'x'.repeat(1_000)})
  const sent = driver.sent().filter(({part}) => part)
  assert.deepEqual([...new Set(sent.map(({channel}) => channel))], channels.slice(0, 4))
  for (let round = 0; round < 4; round++) {
    for (const {number, part, parts, channel} of round === 0 ? sent : driver.sent()
        .filter(({part}) => part)) driver.feed({type: 'accepted', number, offset: part === parts ? number : 0, channel, credit: 4})
  }
  assert.ok(driver.sent().some(({channel}) => channel === 'e'), 'the fifth goes when one of them is whole')
})

test('[BL8] a drawing whose parts the relay does not have begins anew, five times at most', () => {
  const driver = new MachineDriver()
  driver.logIn({limits: {messageBytesMax: 10, messagesPerSecond: 1_000}})
  driver.sendLarge('big', {payload: 'x'.repeat(25)})
  for (let round = 1; round <= 5; round++) {
    assert.deepEqual(driver.state('big'), [undefined, undefined])
    const parts = driver.sent().filter(({type}) => type === 'publish')
    assert.deepEqual(parts.map(({part}) => part), [1, 2, 3], `round ${round}`)
    driver.feed({type: 'accepted', number: parts[0].number, offset: 0, credit: 1_000})
    refuse(driver, parts[1].number, 133, 'partMissing')
    refuse(driver, parts[2].number, 142, 'behindRefused')
  }
  assert.deepEqual(driver.state('big'), ['partMissing', 'partMissing'])
  assert.equal(driver.machine.unsent.bytes, 0)
})

test('[BL8, MS9] after a break a drawing goes on; at a relay that was started anew it begins anew, or only its last part is asked for', () => {
  const goesOn = new MachineDriver()
  goesOn.logIn({limits: {messageBytesMax: 10, messagesPerSecond: 4}})
  goesOn.sendLarge('big', {payload: 'x'.repeat(50)})
  assert.deepEqual(goesOn.sent().filter(({part}) => part).map(({part, number}) => [part, number]), [[1, 1], [2, 2], [3, 3]])
  goesOn.feed({type: 'accepted', number: 1, offset: 0})
  goesOn.comeBack({resumed: true, limits: {messageBytesMax: 10, messagesPerSecond: 100}})
  goesOn.advance(1_010)
  assert.deepEqual(goesOn.sent().filter(({part}) => part).map(({part, number}) => [part, number]), [[2, 2], [3, 3], [4, 4], [5, 5]])
  goesOn.comeBack({start: 1001, limits: {messageBytesMax: 10, messagesPerSecond: 100}})
  goesOn.advance(1_010)
  assert.deepEqual(goesOn.sent().filter(({part}) => part).map(({part, number}) => [part, number]), [[5, 5]])
  refuse(goesOn, 5, 128, 'notAccepted')
  assert.deepEqual(goesOn.sent().filter(({part}) => part).map(({part, number}) => [part, number]),
      [[1, 6], [2, 7], [3, 8], [4, 9], [5, 10]])
  for (let number = 6; number <= 10; number++) goesOn.feed({type: 'accepted', number, offset: number === 10 ? 3 : 0})
  goesOn.feed({type: 'stored', number: 10, offset: 3})
  assert.deepEqual(goesOn.state('big'), [3, 3])
  assert.deepEqual(plain(goesOn.machine.unsent), {messages: 0, packets: 0, bytes: 0, unstored: 0, unkept: 0})
})
