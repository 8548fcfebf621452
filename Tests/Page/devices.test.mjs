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
  for (const client of [alice, bob]) await client.channel('lesson').open({from: 'now'})
  const offer = await alice.handOver()
  assert.match(offer.code, /^[0-9A-HJKMNP-TV-Z]{10}$/)
  assert.ok(offer.validMs > 0 && offer.validMs <= 120_000, `${offer.validMs}`)
  const spelled = `${offer.code.slice(0, 5)}-${offer.code.slice(5)}`.toLowerCase()
  const other = await connect(undefined, {code: spelled, storage: there, scope: 'relay', device: second})
  assert.deepEqual([other.user, other.device], ['alice', second])
  await other.channel('lesson').open({from: 'now'})
  await assert.rejects(connect(undefined, {code: offer.code}), {name: 'codeWrong', code: 143, retry: 'never'})
  await other.channel('lesson').board.put('s', 's').stored
  const heard = await bob.seen.until(({type}) => type === 'message')
  assert.deepEqual([heard.sender, (await alice.seen.until(({type}) => type === 'message')).sender], ['alice', 'alice'])
  assert.deepEqual([...new Set([...there.items.keys()])], ['boardrelay.secret.relay.alice'], 'what is stored is not kept any more')
  assert.equal(there.getItem('boardrelay.secret.relay.alice'), here.getItem('boardrelay.secret.relay.alice'))
  await other.close()
  await connect('alice', {storage: there, device: second})
  assert.equal(alice.link.state, 'connected')
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
  const points = client => client.channel('lesson').topic('points')
  for (const client of [bob, ...devices]) await points(client).follow()
  const pens = []
  for (const client of devices) pens.push(await points(client).startPublishing())
  pens.forEach((pen, index) => pen.send(`from ${index}`))
  const from = text => ({type, payload}) => type === 'packet' && payload === text
  assert.equal((await bob.seen.until(from('from 0'))).device, first)
  assert.equal((await bob.seen.until(from('from 1'))).device, second)
  assert.equal((await devices[0].seen.until(from('from 1'))).publisher, 'alice')
  await pens[0].stop()
  const left = await bob.seen.until(({type, kind}) => type === 'topics' && kind === 'left')
  assert.deepEqual(left.publishers, [{topic: 'points', user: 'alice', device: first, meta: ''}])
  pens[1].send('goes on')
  await bob.seen.until(from('goes on'))
  const lock = client => client.channel('lesson').lock('pen')
  await lock(devices[0]).make()
  await lock(devices[0]).acquire()
  assert.equal((await bob.channel('lesson').locks())[0].ownerDevice, first)
  await assert.rejects(lock(devices[1]).acquire(), {name: 'lockHeld'})
})
