// One person with several devices at the real daemon. [SE8, AC17]
import assert from 'node:assert/strict'
import {ErrorCode} from '../../Sources/RelayPage/relay-client.js'
import {MemoryStorage} from './support/memory-storage.mjs'
import {onDaemon} from './support/on-daemon.mjs'

const [first, second] = ['00000000000000aa', '00000000000000bb']
const on = onDaemon('devices.test.mjs')

on({}, '[AC17, SE8] a code makes another device the same person, once, and its secret is kept for the next time', async ({connect}) => {
  const [here, there] = [new MemoryStorage(), new MemoryStorage()]
  const alice = await connect('alice', {storage: here, device: first})
  const bob = await connect('bob', {key: 'join'})
  for (const client of [alice, bob]) await client.subscribe('lesson')
  const offer = await alice.offerDevice()
  assert.match(offer.code, /^[0-9A-HJKMNP-TV-Z]{10}$/)
  assert.ok(offer.validMs > 0 && offer.validMs <= 120_000, `${offer.validMs}`)
  const spelled = `${offer.code.slice(0, 5)}-${offer.code.slice(5)}`.toLowerCase()
  const other = await connect(undefined, {code: spelled, storage: there, scope: 'relay', device: second})
  assert.deepEqual([other.user, other.device], ['alice', second])
  await other.subscribe('lesson')
  await assert.rejects(connect(undefined, {code: offer.code}), {name: 'codeWrong', code: 143, retry: 'never'})
  await other.send('s', {to: 'lesson', retainedAs: 's'}).stored
  const heard = await bob.seen.until(({type}) => type === 'message')
  assert.deepEqual([heard.sender, (await alice.seen.until(({type}) => type === 'message')).sender], ['alice', 'alice'])
  assert.deepEqual([...new Set([...there.items.keys()])], ['boardrelay.secret.relay.alice'], 'what is stored is not kept any more')
  assert.equal(there.getItem('boardrelay.secret.relay.alice'), here.getItem('boardrelay.secret.relay.alice'))
  await other.close()
  await connect('alice', {storage: there, device: second})
  assert.equal(alice.linkState.state, 'connected')
  await connect('alice', {storage: there, device: second, onlyDevice: true})
  const {reason} = await alice.seen.until(({type, state}) => type === 'link' && state === 'closed')
  assert.equal(reason.code, ErrorCode.replaced)
  assert.deepEqual(bob.seen.of('presence').filter(({kind}) => kind === 'left' || kind === 'timedOut'), [])
})

on({}, '[SE8, ST9] two devices of one person publish in one topic, and hear each other; one leaves, and the other goes on',
    async ({connect}) => {
  const storage = new MemoryStorage()
  const devices = [await connect('alice', {storage, device: first}), await connect('alice', {storage, device: second})]
  const bob = await connect('bob', {key: 'join'})
  const streams = []
  for (const client of [bob, ...devices]) {
    const stream = await client.join('lesson')
    await stream.subscribeTopic('points')
    if (client !== bob) streams.push(stream)
  }
  for (const stream of streams) await stream.joinTopic('points')
  streams.forEach((stream, index) => stream.send(`from ${index}`, {topic: 'points'}))
  const from = text => ({type, payload}) => type === 'packet' && payload === text
  assert.equal((await bob.seen.until(from('from 0'))).device, first)
  assert.equal((await bob.seen.until(from('from 1'))).device, second)
  assert.equal((await devices[0].seen.until(from('from 1'))).publisher, 'alice')
  await streams[0].leaveTopic('points')
  const left = await bob.seen.until(({type, kind}) => type === 'topics' && kind === 'left')
  assert.deepEqual(left.publishers, [{topic: 'points', user: 'alice', device: first, meta: ''}])
  streams[1].send('goes on', {topic: 'points'})
  await bob.seen.until(from('goes on'))
  const locks = devices[0].locks({message: 'lesson'})
  await locks.set('pen')
  await locks.acquire('pen')
  assert.equal((await bob.locks({message: 'lesson'}).all())[0].ownerDevice, first)
  await assert.rejects(devices[1].locks({message: 'lesson'}).acquire('pen'), {name: 'lockHeld'})
})
