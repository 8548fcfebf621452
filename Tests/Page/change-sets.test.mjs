// Change sets on their way to the relay, as they come, and over a reload. [BL11]
import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {test} from 'node:test'
import {checkedChanges, encodedChange} from '../../Sources/RelayPage/client/changes.js'
import {bob, MachineDriver, record} from './support/machine-driver.mjs'

const accept = (driver, number, offset) => driver.feed({type: 'accepted', number, offset})
const many = (count, payload = 'x') => Array.from({length: count}, (_, index) => ({key: `k${index}`, payload}))
const sentParts = driver => driver.sent().filter(({type}) => type === 'publishChanges')
    .map(({number, part, parts}) => `${number}:${part}/${parts}`)

function send(driver, name, changes, channel = 'lesson') {
  const [accepted, stored] = [driver.watch(`${name}.accepted`), driver.watch(`${name}.stored`)]
  driver.machine.sendChanges({changes, channel, accepted, stored}, driver.now)
}

function scene(limits) {
  const driver = new MachineDriver()
  driver.logIn(limits && {limits})
  driver.sent()
  return driver
}

test('[BL11] changes are encoded as the vector has them', () => {
  const row = readFileSync(new URL('../../docs/vectors/frames.tsv', import.meta.url), 'utf8').split('\n')
      .find(line => line.startsWith('publishChanges\t'))
  const changes = [{key: 'stroke-1', customType: 'ink', payload: 'hi'}, {key: 'stroke-2', isRemoval: true}]
  const encoded = checkedChanges(changes, () => {}).flatMap(change => [...encodedChange(change).encoded])
  assert.equal(Buffer.from(encoded).toString('hex'), row.split('payload=hex:')[1])
})

test('[BL11] a part has at most 64 changes, and the bytes of one message; the last part settles the receipt', () => {
  const driver = scene()
  send(driver, 'set', many(130))
  assert.deepEqual(sentParts(driver), ['1:1/3', '2:2/3', '3:3/3'])
  accept(driver, 1, 0)
  accept(driver, 2, 0)
  assert.deepEqual(driver.state('set'), [undefined, undefined])
  accept(driver, 3, 130)
  driver.feed({type: 'stored', number: 3, offset: 130})
  assert.deepEqual(driver.state('set'), [130, 130])
  send(driver, 'wide', many(3, 'x'.repeat(20_000)))
  assert.deepEqual(sentParts(driver), ['4:1/3', '5:2/3', '6:3/3'])
})

test('[BL11] what cannot be a change set is refused before anything is sent, with the change that is wrong', () => {
  const driver = scene()
  const cases = [
    [[], 'badRequest', undefined], [many(4_097), 'limitReached', undefined], [[{key: 'a/b', payload: 'x'}], 'badName', 0],
    [[...many(2), {key: 'a', payload: ''}], 'badRequest', 2], [[{key: 'a', payload: 'x'.repeat(32_769)}], 'tooLarge', 0],
    [many(257, 'x'.repeat(32_768)), 'tooLarge', undefined],
  ]
  for (const [changes, name, changeIndex] of cases) assert.throws(() => send(driver, 'no', changes), {name, changeIndex})
  assert.throws(() => send(driver, 'no', [{key: 'a'}]), TypeError)
  assert.deepEqual(sentParts(driver), [])
  send(driver, 'set', many(3))
  driver.feed({type: 'error', body: {number: 1, code: 139, name: 'notPermitted', text: 'no', change: 2}})
  assert.deepEqual(driver.state('set'), ['notPermitted', 'notPermitted'])
})

test('[BL11] messages with one of its keys wait until it is accepted; two change sets leave one behind the other', () => {
  const driver = scene({messagesPerSecond: 4})
  send(driver, 'first', many(200))
  send(driver, 'second', many(1), 'other')
  driver.retain('k7')
  assert.deepEqual(sentParts(driver), ['1:1/4', '2:2/4', '3:3/4'])
  for (const number of [1, 2, 3]) accept(driver, number, 0)
  driver.advance(2_000)
  assert.deepEqual(driver.sentTypes().filter(type => type.startsWith('publish')), ['publishChanges 4', 'publishChanges 5'])
  accept(driver, 4, 200)
  assert.deepEqual(driver.sentTypes(), ['publish 6'])
})

test('[BL11, MS9] after a break the parts are asked again; a relay started anew is asked for the last, and gets all from part 1', () => {
  const driver = scene()
  send(driver, 'set', many(200))
  assert.equal(sentParts(driver).length, 4)
  accept(driver, 1, 0)
  driver.comeBack()
  assert.deepEqual(sentParts(driver), ['2:2/4', '3:3/4', '4:4/4'])
  driver.comeBack({start: 1001})
  assert.deepEqual(sentParts(driver), ['4:4/4'])
  driver.feed({type: 'error', body: {number: 4, code: 133, name: 'partMissing', text: 'no'}})
  assert.deepEqual(sentParts(driver), ['5:1/4', '6:2/4', '7:3/4', '8:4/4'])
})

test('[HI7, BL11] records that a live reader catches up with are told together; what was not told when the link ended comes again', () => {
  const driver = scene()
  driver.subscribe({head: 5})
  driver.feed(bob)
  driver.events()
  driver.feed({type: 'catchingUp', body: {channel: 7, after: 5}}, record(6, 'a', '1'))
  driver.feed(record(7, 'b', '2'))
  assert.deepEqual(driver.events(), [])
  driver.feed({type: 'caughtUp', body: {channel: 7, head: 7}})
  const [event] = driver.events()
  assert.deepEqual([event.type, event.messages.map(({offset}) => offset), event.progress], ['board', [6, 7], 1])
  driver.feed({type: 'catchingUp', body: {channel: 7, after: 7}}, record(9, 'a', '3'), record(10, 'b', '4'))
  driver.cut()
  assert.equal(driver.machine.messages.positions.get('lesson').offset, 8)
})
