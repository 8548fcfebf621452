// A code for newcomers, as the machine of a client has it. [AC20]
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {ErrorCode} from '../../Sources/RelayPage/relay-client.js'
import {MachineDriver, plain} from './support/machine-driver.mjs'

const joinCode = 'QPFDKW'
const what = ({user, key, token, code, joinCode}) => plain({user, key, token, code, joinCode})

test('[AC20] who comes with a join code is told key and channel, and comes back with the key', () => {
  const driver = new MachineDriver({credential: {joinCode}})
  driver.connect()
  assert.deepEqual(what(driver.sent().find(({type}) => type === 'login').body), {user: 'alice', joinCode})
  driver.cut()
  driver.advanceTo(driver.machine.nextDeadline)
  driver.open()
  assert.deepEqual(what(driver.logIn({joinKey: 'k', channel: 'lesson'})), {user: 'alice', joinCode}, 'nobody knows whether it was judged')
  assert.deepEqual(plain(driver.machine.invitation), {key: 'k', channel: 'lesson'})
  assert.deepEqual(what(driver.comeBack()), {user: 'alice', key: 'k'})
  assert.deepEqual(plain(driver.machine.invitation), {key: 'k', channel: 'lesson'})
})

test('[AC20] a wrong join code ends the client; one that is not judged now is tried again in its time', () => {
  const refuse = error => {
    const driver = new MachineDriver({credential: {joinCode}})
    driver.connect()
    const {body: {id}} = driver.sent().find(({type}) => type === 'login')
    driver.feed({type: 'error', body: {id, text: 'no', ...error}})
    return driver
  }
  const wrong = refuse({code: ErrorCode.codeWrong, name: 'codeWrong', retry: 'never', limit: 5, actual: 2})
  assert.deepEqual([wrong.machine.state, wrong.result('connect')], ['closed', 'codeWrong'])
  const late = refuse({code: ErrorCode.rateLimited, name: 'rateLimited', retry: 'later', limit: 5, actual: 6, retryAfterMs: 40_000})
  assert.deepEqual([late.machine.state, late.result('connect')], ['waiting', 'rateLimited'])
  assert.ok(late.machine.nextDeadline - late.now >= 40_000)
})

test('[AC20] a join code is no credential of a renewal, and goes with no code of another device', () => {
  const driver = new MachineDriver()
  driver.logIn()
  assert.throws(() => driver.machine.renew({joinCode}, undefined, driver.now), {name: 'badRequest'})
  const device = new MachineDriver({user: undefined, secret: undefined, code: '0000000000', credential: {joinCode}})
  assert.deepEqual(what(device.logIn({secret: '01'.repeat(16)})), {code: '0000000000'})
})

test('[AC20] the end of a code is an event with its reason; what is no end, and no code, ends the link', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.feed({type: 'joinCodeEnded', body: {reason: 'wrongTries'}})
  assert.deepEqual(driver.events('joinCodeEnded').map(({reason}) => reason), ['wrongTries'])
  driver.request('offer', 'offerJoinCode', {channel: 'lesson'})
  driver.answer({code: 7, validMs: 1})
  assert.equal(driver.machine.linkState.reason.kind, 'relayFault')
})
