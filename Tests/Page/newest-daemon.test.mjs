// Readers of what is newest between two clients at the real daemon.
import assert from 'node:assert/strict'
import {onDaemon} from './support/on-daemon.mjs'

const on = onDaemon('newest-daemon.test.mjs')

/** Until a reader has what is wanted. */
async function until(reader, isMeant) {
  for await (const value of reader) if (isMeant(value)) return value
  return assert.fail('the reader has ended')
}

on({}, '[LK8, ST11, AC11, DM2, AC20] locks, publishers, permissions, direct messages and codes reach their readers', async ({connect}) => {
  const [host, anna] = [await connect('host'), await connect('anna', {key: 'join'})]
  const [here, there] = [host.channel('lesson'), anna.channel('lesson')]
  const parts = ['messages', 'presence', 'locks']
  await there.open({parts})
  await here.open({parts})
  await here.lock('pen').make()
  await here.lock('pen').with(async ({fencing}) => {
    const states = await until(there.lockStates(), locks => locks.get('pen')?.owner === 'host')
    assert.deepEqual([states.size, states.get('pen').fencing, states.get('pen').ownerDevice], [1, fencing, host.device])
  })
  await until(there.lockStates(), locks => locks.has('pen') && locks.get('pen').owner === undefined)

  const pen = await here.topic('points').startPublishing({meta: 'red'})
  await there.topic('points').follow()
  const published = {topic: 'points', user: 'host', device: host.device, meta: 'red'}
  assert.deepEqual(await until(there.publishedTopics(), ({length}) => length > 0), [published])
  assert.deepEqual(await until(here.publishedTopics(), ({length}) => length > 0), [published], 'its own, too')
  await pen.stop()
  await until(there.publishedTopics(), ({length}) => length === 0)

  const permissions = there.permissions()
  assert.ok((await permissions.next()).value.rights.has('publish'))
  await host.moderation.freeze('lesson')
  await until(permissions, ({modes}) => modes.has('frozen'))
  await host.moderation.setRole('reader', {of: 'anna'})
  const {rights, modes} = await until(there.permissions(), ({rights}) => !rights.has('publish'))
  assert.deepEqual([[...rights].sort(), [...modes]], [['presence', 'subscribe'], ['frozen']])

  const direct = anna.directMessages()
  const receipt = host.person('anna').send('psst')
  assert.equal((await direct.next()).value.payload, 'psst')
  assert.equal(await receipt.accepted, undefined, 'what watches the client acknowledges')

  const [codes, problems] = [host.moderation.joinCodes(), host.problems()]
  const {code} = await host.moderation.offerJoinCode('lesson')
  assert.equal((await until(codes, offered => offered !== null)).code, code)
  await host.renew({key: await host.joinKey()})
  await until(host.moderation.joinCodes(), offered => offered === null)
  const {subject, error} = (await problems.next()).value
  assert.deepEqual([subject, error.name], ['joinCode', 'notPermitted'])
})
