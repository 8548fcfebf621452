// Locks of a client: who gives back what, and what is known of them; the relay is played.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {openLesson, PlayedRelay, turn} from './support/played-relay.mjs'

async function start() {
  const relay = await new PlayedRelay().connected()
  return {relay, client: relay.client, lesson: relay.client.channel('lesson')}
}

const types = ({frames}) => frames.map(({type}) => type)

test('a cancelled acquire releases a grant that crosses, unless another call of the client wants the lock or has it', async () => {
  const {relay, client, lesson} = await start()
  const pen = lesson.lock('pen')
  const acquired = () => relay.frames.filter(({type}) => type === 'acquireLock')
  const grant = (at, fencing) => relay.say({type: 'answer', body: {id: acquired()[at].body.id, fencing}})
  const releases = () => types(relay).filter(type => type === 'releaseLock').length
  const cancelled = async () => {
    const abort = new AbortController()
    const waiting = pen.acquire({wait: 5_000, signal: abort.signal})
    await turn()
    abort.abort()
    await assert.rejects(waiting, {name: 'cancelled', outcome: 'unknown'})
  }
  await cancelled()
  grant(0, 1)
  await turn()
  assert.equal(releases(), 1, 'nobody wants it')
  // Somebody waits for it: the lock is this client's, and stays.
  await cancelled()
  const waiting = pen.acquire({wait: 5_000})
  await turn()
  grant(1, 2)
  await turn()
  assert.equal(releases(), 1)
  grant(2, 3)
  const hold = await waiting
  assert.deepEqual([hold.fencing, hold.isHeld], [3, true])
  // Somebody has it.
  await cancelled()
  grant(3, 4)
  await turn()
  assert.deepEqual([releases(), hold.isHeld], [1, true])
  const released = hold.release()
  await turn()
  relay.answer('releaseLock')
  await released
  assert.deepEqual([releases(), hold.isHeld], [2, false])
  // Who waited for it did not get it: then nobody has it.
  await cancelled()
  const refused = pen.acquire()
  await turn()
  grant(4, 5)
  await turn()
  relay.say({type: 'error', body: {id: acquired()[5].body.id, code: 107, name: 'rateLimited', text: 'no', retry: 'later'}})
  await assert.rejects(refused, {name: 'rateLimited'})
  await turn()
  assert.equal(releases(), 3)
  await relay.leave()
})

test('with lets one in at a time, gives the lock back however the body ends, and says when it was lost', async () => {
  const {relay, client, lesson} = await openLesson()
  const pen = lesson.lock('pen')
  const answer = async (type, fields) => {
    await turn()
    relay.answer(type, fields)
    await turn()
  }
  const order = []
  let leave
  const first = pen.with(async ({fencing}) => {
    order.push(`in ${fencing}`)
    await new Promise(resolve => { leave = resolve })
    order.push('out')
    return 'done'
  })
  const abort = new AbortController()
  const impatient = pen.with(() => order.push('never'), {signal: abort.signal})
  await assert.rejects(pen.with(() => order.push('never'), {timeout: 1}), {name: 'timedOut', outcome: 'nothingHappened'})
  const second = assert.rejects(pen.with(() => { throw new Error('of the body') }), {message: 'of the body'})
  await answer('acquireLock', {fencing: 1})
  assert.deepEqual([order, types(relay).filter(type => type === 'acquireLock').length], [['in 1'], 1])
  abort.abort()
  await assert.rejects(impatient, {name: 'cancelled', outcome: 'nothingHappened'})
  leave()
  await answer('releaseLock')
  assert.equal(await first, 'done')
  await answer('acquireLock', {fencing: 2})
  await answer('releaseLock')
  await second
  // Revoked while the body runs: told by an event.
  const third = pen.with(async hold => {
    await answer('who', {total: 0, members: []})
    order.push(hold.isHeld)
  })
  client.channel('lesson').presence.users()
  await answer('acquireLock', {fencing: 3})
  const lock = {lock: 'pen', ttlMs: 1_000}
  relay.say({type: 'locks', body: {channel: 7, event: 'revoked', locks: [lock], user: 'alice', device: client.device}})
  await assert.rejects(third, {name: 'lockLost'})
  assert.deepEqual(order, ['in 1', 'out', false])
  // Or by the relay, when it is given back.
  const fourth = pen.with(() => {})
  await answer('acquireLock', {fencing: 4})
  await turn()
  relay.refuse('releaseLock', 127, 'lockNotHeld')
  await assert.rejects(fourth, {name: 'lockLost'})
  await client.close()
})

test('the lock goes with the last hold of a client: `with` inside an `acquire`, and an `acquire` inside a `with`, leave the other its own',
    async () => {
  const {relay, lesson} = await openLesson()
  const pen = lesson.lock('pen')
  let fencing = 0
  const granted = async waiting => {
    await turn()
    relay.answer('acquireLock', {fencing: ++fencing})
    return waiting
  }
  const releases = () => types(relay).filter(type => type === 'releaseLock').length
  const outer = await granted(pen.acquire())
  await granted(pen.with(({isHeld}) => assert.equal(isHeld, true)))
  assert.deepEqual([releases(), outer.isHeld], [0, true], 'with has given back its own hold alone')
  const inner = await granted(pen.acquire())
  await inner.release()
  await inner.release()
  assert.deepEqual([releases(), inner.isHeld, outer.isHeld], [0, false, true], 'given back twice it is given back once')
  // While another call of the client asks for it, it stays until that has ended.
  const late = pen.acquire()
  await turn()
  await outer.release()
  assert.equal(releases(), 0)
  relay.refuse('acquireLock', 107, 'rateLimited')
  await assert.rejects(late, {name: 'rateLimited'})
  await turn()
  assert.equal(releases(), 1)
  relay.answer('releaseLock')
  // An acquire in a body that gives nothing back keeps the lock; release of the lock itself ends all.
  let kept
  const body = pen.with(async () => { kept = await granted(pen.acquire()) })
  await granted(Promise.resolve())
  await body
  assert.deepEqual([releases(), kept.isHeld], [1, true])
  const released = pen.release()
  await turn()
  relay.answer('releaseLock')
  await released
  assert.deepEqual([releases(), kept.isHeld], [2, false])
  await relay.leave()
})
