// What a client was told to leave, and the link broke before the answer: it is left all the same.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {MachineDriver} from './support/machine-driver.mjs'
import {openLesson, turn} from './support/played-relay.mjs'

const notSubscribed = {code: 108, name: 'notSubscribed', text: 'not subscribed', retry: 'never'}
const restored = {type: 'restored', body: {kind: 'message', channel: 'lesson', handle: 7, features: ['messages'], quiet: false,
  epoch: {start: 1000, incarnation: 1}, head: 3, recovered: true, after: 0}}

function driven() {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  return driver
}
const wanted = ({machine: {session}}) => [...session.wanted.channels.keys()]
const requests = driver => driver.sent().filter(({type}) => type !== 'ping')

for (const wasHeard of [true, false]) {
  test(`[SE11] leaving is asked again when the session goes on; heard: ${wasHeard}`, () => {
    const driver = driven()
    driver.request('leaving', 'unsubscribe', {channel: 'lesson'})
    driver.comeBack({resumed: true})
    if (!wasHeard) driver.feed(restored)
    driver.pong()
    const again = driver.sent().find(({type}) => type === 'unsubscribe').body
    if (wasHeard) driver.feed({type: 'error', body: {id: again.id, ...notSubscribed}})
    else driver.feed({type: 'answer', body: {id: again.id}})
    assert.deepEqual([driver.result('leaving'), wanted(driver)], ['done', []])
    driver.comeBack({resumed: false})
    assert.deepEqual(driver.sentTypes(), [])
  })
}

test('[SE11] what was left is not entered in a new session: nobody sees the client come', () => {
  const driver = driven()
  driver.request('states', 'setStates', {kind: 'message', channel: 'lesson', states: {name: 'A'}})
  driver.answer()
  driver.request('publishing', 'joinTopic', {channel: 'other', topic: 'points', priority: 'normal', meta: ''})
  driver.answer({flow: 5, next: 1})
  driver.request('selection', 'subscribeTopic', {channel: 'other', topic: 'points'})
  driver.answer({all: true, succeeded: [], failed: []})
  driver.request('user', 'subscribeUserMetadata', {user: 'bob'})
  driver.answer()
  const place = {channel: 'other', topic: 'points'}
  const endings = [['unsubscribe', {channel: 'lesson'}], ['leaveTopic', place], ['unsubscribeTopic', place],
    ['unsubscribeUserMetadata', {user: 'bob'}]]
  for (const [type, body] of endings) driver.request(type, type, body)
  driver.comeBack({resumed: false})
  const asked = requests(driver)
  assert.deepEqual(asked.map(({type}) => type), endings.map(([type]) => type))
  for (const {body} of asked) driver.feed({type: 'error', body: {id: body.id, ...notSubscribed}})
  for (const [type] of endings) assert.notEqual(driver.result(type), undefined)
  assert.deepEqual(endings.map(([type]) => driver.watched.get(type).result.error), endings.map(() => undefined))
  assert.deepEqual(driver.events('refused'), [])
})

for (const resumed of [true, false]) {
  test(`[SE11] who left and came in again is in it again, from where it said; resumed: ${resumed}`, () => {
    const driver = driven()
    driver.request('leaving', 'unsubscribe', {channel: 'lesson'})
    driver.request('entering', 'subscribe', {channel: 'lesson', features: ['messages'], quiet: false, since: {beginning: true}})
    driver.comeBack({resumed})
    if (resumed) driver.feed(restored)
    if (resumed) driver.pong()
    const [left, entered] = requests(driver)
    assert.deepEqual([left.type, entered.type, entered.body.since?.beginning], ['unsubscribe', 'subscribe', true])
    driver.feed(resumed ? {type: 'answer', body: {id: left.body.id}} : {type: 'error', body: {id: left.body.id, ...notSubscribed}},
        {type: 'answer', body: {...restored.body, id: entered.body.id}})
    assert.deepEqual([driver.result('leaving'), driver.result('entering'), wanted(driver)], ['done', 'done', ['lesson\nmessage']])
  })
}

test('leave: over a break it is carried out', async () => {
  const {relay, client, lesson} = await openLesson()
  const leaving = lesson.leave()
  await turn()
  relay.frames = []
  relay.end()
  await relay.asks()
  relay.answer('unsubscribe')
  await leaving
  assert.deepEqual(client.openChannels, [])
  await relay.leave()
})

test('leave: a refused one can be called again, one that is done asks nothing', async () => {
  const {relay, client, lesson} = await openLesson()
  const refused = lesson.leave()
  await turn()
  relay.refuse('unsubscribe', 107, 'rateLimited')
  await assert.rejects(refused, {name: 'rateLimited'})
  relay.frames = []
  const again = lesson.leave()
  await turn()
  relay.answer('unsubscribe')
  await again
  assert.deepEqual(client.openChannels, [])
  relay.frames = []
  await lesson.leave()
  assert.deepEqual(relay.frames, [])
  await relay.leave()
})
