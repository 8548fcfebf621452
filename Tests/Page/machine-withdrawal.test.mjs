// Requests that nobody waits for any more, in the machine.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {MachineDriver} from './support/machine-driver.mjs'

test('[SE14] what waits at the relay is withdrawn there, what waits here is not sent; a barrier is asked again, a cancel and what was withdrawn not', () => {
  const driver = new MachineDriver()
  driver.logIn()
  const lock = {kind: 'message', channel: 'lesson', lock: 'pen', waitMs: 1_000}
  driver.request('lock', 'acquireLock', lock)
  driver.request('other', 'barrier', {})
  const asked = driver.sent().find(({type}) => type === 'acquireLock').body
  assert.equal(driver.withdraw('lock'), 'unknown')
  assert.equal(driver.withdraw('lock'), 'unknown')
  const cancel = driver.sent().find(({type}) => type === 'cancel').body
  assert.deepEqual([cancel.request, driver.result('lock')], [asked.id, undefined])
  driver.feed({type: 'error', body: {id: asked.id, code: 141, name: 'cancelled', text: 'withdrawn', retry: 'now'}})
  assert.equal(driver.result('lock'), 'cancelled')
  driver.feed({type: 'error', body: {id: cancel.id, code: 107, name: 'rateLimited', text: 'too many', retry: 'later'}})
  assert.deepEqual(driver.events('refused'), [])
  driver.request('second', 'acquireLock', lock)
  driver.request('barrier', 'barrier', {channel: 'lesson'})
  driver.withdraw('second')
  driver.sent()
  driver.cut()
  assert.equal(driver.result('second'), 'outcomeUnknown')
  driver.request('queued', 'barrier', {channel: 'lesson'})
  assert.deepEqual([driver.withdraw('barrier'), driver.withdraw('queued')], ['unknown', 'nothingHappened'])
  driver.comeBack({resumed: false})
  assert.deepEqual([driver.sentTypes(), driver.result('other')], [['barrier'], undefined])
  driver.withdraw('lock')
  assert.deepEqual(driver.sentTypes(), [])
  // What changes something is not withdrawn at the relay, and a question that nobody waits for is not asked again.
  driver.request('clear', 'clear', {channel: 'lesson'})
  driver.request('who', 'who', {kind: 'message', channel: 'lesson'})
  driver.sent()
  assert.deepEqual([driver.withdraw('clear'), driver.withdraw('who')], ['unknown', 'unknown'])
  assert.deepEqual(driver.sentTypes(), [])
  driver.comeBack({resumed: false})
  assert.deepEqual(driver.sentTypes(), ['barrier'])
})
