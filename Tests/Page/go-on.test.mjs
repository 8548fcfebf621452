// What a client does behind a publish that the relay has refused: the order of the calls holds. [MS10]
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {MachineDriver} from './support/machine-driver.mjs'

const names = {106: 'tooLarge', 107: 'rateLimited', 116: 'outcomeUnknown', 128: 'notAccepted', 139: 'notPermitted', 142: 'behindRefused'}
const refuse = (driver, code, ...numbers) =>
  numbers.forEach(number => driver.feed({type: 'error', body: {number, code, name: names[code], text: 'no'}}))
const accept = (driver, ...numbers) => numbers.forEach(number => driver.feed({type: 'accepted', number, offset: number}))

/** What was published and asked, in order. */
const sent = driver => driver.sent().filter(({type}) => type === 'publish' || type === 'goOn').map(frame => frame.type === 'goOn'
  ? `goOn ${frame.body.channel} ${frame.body.number}`
  : `${frame.number}:${Buffer.from(frame.payload)}${frame.part ? ` ${frame.part}/${frame.parts}` : ''}`)

const send = (driver, ...texts) => texts.forEach(text => driver.send(text, {payload: text}))

test('[MS10] what was refused behind a refusal is sent again in its order, under new numbers, and the app hears of the first one alone', () => {
  const driver = new MachineDriver()
  driver.logIn()
  send(driver, '1', '2', '3', '4')
  driver.send('other', {payload: 'other', channel: 'other'})
  sent(driver)
  accept(driver, 1)
  refuse(driver, 106, 2)
  send(driver, 'late')
  refuse(driver, 142, 3)
  assert.deepEqual(sent(driver), [], '4 is not answered yet')
  refuse(driver, 142, 4)
  assert.deepEqual(sent(driver), ['goOn lesson 2', '6:3', '7:4', '8:late'])
  accept(driver, 5, 6, 7, 8)
  assert.deepEqual(['1', '2', '3', '4', 'late'].map(name => driver.state(name)[0]), [1, 'tooLarge', 6, 7, 8])
})

test('[MS10] a refusal with nothing behind it goes on at once; one for its rate, or of a number of before, stops nothing', () => {
  const driver = new MachineDriver()
  driver.logIn()
  send(driver, '1')
  sent(driver)
  refuse(driver, 106, 1)
  assert.deepEqual(sent(driver), ['goOn lesson 1'])
  for (const [index, code] of [107, 128, 116].entries()) {
    send(driver, `x${index}`)
    refuse(driver, code, index + 2)
  }
  assert.deepEqual(sent(driver), ['2:x0', '3:x1', '4:x2'])
})

test('[MS10, SE3] a relay that does not choose it is not asked to go on', () => {
  const driver = new MachineDriver()
  driver.logIn({capabilities: []})
  send(driver, '1')
  refuse(driver, 106, 1)
  send(driver, '2')
  assert.deepEqual(sent(driver), ['1:1', '2:2'])
})

test('[MS10, MS9] when the link breaks meanwhile, what was behind was not accepted: it follows on the next one, behind goOn', () => {
  const driver = new MachineDriver()
  driver.logIn()
  send(driver, '1', '2', '3', '4')
  driver.send('other', {payload: 'other', channel: 'other'})
  sent(driver)
  refuse(driver, 106, 2)
  refuse(driver, 142, 3)
  driver.comeBack()
  assert.deepEqual(sent(driver), ['goOn lesson 2', '1:1', '5:other', '6:3', '7:4'])
})

test('[MS10] a goOn that was not answered is sent again with each login', () => {
  for (const resumed of [true, false]) {
    const driver = new MachineDriver()
    driver.logIn()
    send(driver, '1')
    refuse(driver, 106, 1)
    driver.sent()
    driver.comeBack({resumed})
    const again = driver.sent().find(({type}) => type === 'goOn')
    assert.deepEqual([again.body.channel, again.body.number], ['lesson', 1])
    driver.feed({type: 'answer', body: {id: again.body.id}})
    driver.comeBack({resumed})
    assert.deepEqual(sent(driver), [])
  }
})

test('[MS10, MS9] a refusal that was lost with its link: what is sent again with its number is refused, and follows under a new one', () => {
  const driver = new MachineDriver()
  driver.logIn()
  send(driver, '1', '2', '3')
  driver.send('4', {payload: '4', channel: 'other'})
  sent(driver)
  driver.comeBack()
  assert.deepEqual(sent(driver), ['1:1', '2:2', '3:3', '4:4'])
  refuse(driver, 106, 1)
  refuse(driver, 142, 2, 3)
  accept(driver, 4)
  assert.deepEqual(sent(driver), ['goOn lesson 1', '5:2', '6:3'])
})

test('[MS10, BL2, BL8] of a drawing the parts that were refused leave again; a record stays before a drawing of its key', () => {
  const driver = new MachineDriver()
  driver.logIn({limits: {messageBytesMax: 4}})
  send(driver, 'no')
  driver.retain('old', {key: 'k', payload: 'old'})
  driver.sendLarge('k', {key: 'k', payload: '123456'})
  assert.deepEqual(sent(driver), ['1:no', '2:old', '3:1234 1/2', '4:56 2/2'])
  refuse(driver, 139, 1)
  refuse(driver, 142, 2, 3, 4)
  assert.deepEqual(sent(driver), ['goOn lesson 1', '5:old', '6:1234 1/2', '7:56 2/2'])
  accept(driver, 5, 6, 7)
  assert.deepEqual(driver.state('k')[0], 7)
})

test('[MS10] at the end what was sent behind a refusal is known not to have been accepted', () => {
  const driver = new MachineDriver()
  driver.logIn()
  send(driver, '1', '2')
  refuse(driver, 106, 1)
  driver.machine.finish({kind: 'closedByApp'})
  assert.deepEqual(['1', '2'].map(name => driver.state(name)[0]), ['tooLarge', 'clientClosed'])
})
