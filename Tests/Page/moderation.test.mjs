// Moderators, those they decide about, and whose records are, with the real daemon.
import assert from 'node:assert/strict'
import {plain} from './support/machine-driver.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'
import {onDaemon} from './support/on-daemon.mjs'

const on = onDaemon('moderation.test.mjs')
const isEnd = ({type, state}) => type === 'link' && state === 'closed'

on({}, '[AC6, AC10] a pupil is made a reader and draws no more, until what its key gives counts again', async ({connect}) => {
  const host = await connect('host')
  const anna = await connect('anna', {key: 'join'})
  await anna.channel('lesson').send('x').accepted
  await host.moderation.setRole('reader', {of: 'anna'})
  const change = await anna.seen.until(({type}) => type === 'accessChanged')
  assert.deepEqual([change.by, change.access.role, anna.access.role], ['host', 'reader', 'reader'])
  await assert.rejects(anna.channel('lesson').send('x').accepted, {name: 'notPermitted'})
  await host.moderation.setRole(undefined, {of: 'anna'})
  await anna.seen.until(({type, access}) => type === 'accessChanged' && access.role === 'editor')
  await anna.channel('lesson').send('x').accepted
  await assert.rejects(host.moderation.setRole('reader', {of: 'host'}), {name: 'notPermitted'})
  await assert.rejects(host.moderation.setRole('moderator', {of: 'anna'}), {name: 'badRequest'})
  for (const ask of [
    ({moderation}) => moderation.setRole('reader', {of: 'host'}), ({moderation}) => moderation.freeze('lesson'),
        ({moderation}) => moderation.unfreeze('lesson'),
    ({moderation}) => moderation.endSession({of: 'host'}), ({moderation}) => moderation.ban('host'),
        ({moderation}) => moderation.unban('host'),
    ({moderation}) => moderation.bans(), ({moderation}) => moderation.forget({user: 'host'}),
  ]) await assert.rejects(ask(anna), {name: 'notPermitted'}, String(ask))
})

on({}, '[AC11, BL10] a board that is open for editing is everybody\'s who may draw, until it is closed', async ({connect}) => {
  const host = await connect('host')
  const anna = await connect('anna', {key: 'join'})
  await host.channel('lesson').board.put('a', 'host').stored
  await anna.channel('lesson').open({from: 'now'})
  await assert.rejects(anna.channel('lesson').board.put('a', 'anna').accepted, {name: 'notPermitted'})
  await host.moderation.openEditing('lesson')
  await anna.seen.until(({type, mode, isOn}) => type === 'channelMode' && mode === 'openEditing' && isOn)
  assert.deepEqual([...anna.channel('lesson').modes], ['openEditing'])
  await anna.channel('lesson').board.put('a', 'anna').stored
  await host.channel('lesson').board.put('a', 'host').stored
  await host.moderation.closeEditing('lesson')
  await anna.seen.until(({type, isOn}) => type === 'channelMode' && !isOn)
  assert.equal(anna.channel('lesson').modes.size, 0)
  await assert.rejects(anna.channel('lesson').board.put('a', 'anna').accepted, {name: 'notPermitted'})
})

on({}, '[AC11, AC7] a frozen lesson is only looked at: topics are left, who comes or comes back is told, and it is over when it is over',
    async ({daemon, connect, proxy, dice}) => {
  const between = await proxy(dice)
  const host = await connect('host')
  const anna = await connect('anna', {key: 'join', port: between.port, random: () => 0})
  await anna.channel('lesson').open({from: 'now'})
  const points = anna.channel('lesson').topic('points')
  const pen = await points.startPublishing()
  await host.moderation.freeze('lesson')
  const refused = await anna.seen.until(({type}) => type === 'refused')
  assert.deepEqual([refused.topic, refused.error.name], ['points', 'notPermitted'])
  assert.deepEqual(anna.seen.of('channelMode').map(({channel, isOn, by}) => [channel, isOn, by]), [['lesson', true, 'host']])
  assert.equal(pen.isOpen, false)
  assert.throws(() => pen.send('x'), {name: 'topicNotJoined'})
  await assert.rejects(anna.channel('lesson').send('x').accepted, {name: 'notPermitted'})
  await host.channel('lesson').send('x').accepted

  const late = await connect('late', {key: 'join'})
  await late.channel('lesson').open({from: 'now'})
  assert.deepEqual(late.seen.of('channelMode').map(({isOn, by}) => [isOn, by]), [[true, undefined]])
  // It ends while she is away.
  between.holds = true
  await host.moderation.unfreeze('lesson')
  await late.seen.until(({type, isOn}) => type === 'channelMode' && !isOn)
  const told = anna.seen.of('channelMode').length
  between.holds = false
  between.cutAll()
  await anna.seen.until(({type, state, resumed}) => type === 'link' && state === 'connected' && resumed)
  await anna.seen.until(({type, isOn}) => type === 'channelMode' && !isOn)
  assert.deepEqual(anna.seen.of('channelMode').slice(told).map(({channel, isOn, by}) => [channel, isOn, by]),
      [['lesson', false, undefined]])
  await points.startPublishing()
  await anna.channel('lesson').send('x').accepted
})

on({isKept: true}, '[AC18] a moderator removes what one user drew on a board: readers see it go, and others\' stays', async ({connect}) => {
  const host = await connect('host')
  const [anna, bob] = [await connect('anna', {key: 'join'}), await connect('bob', {key: 'join'})]
  await anna.channel('lesson').board.put('s1', 'one').stored
  await bob.channel('lesson').board.put('s2', 'two').stored
  await bob.channel('lesson').open({from: 'now'})
  await assert.rejects(anna.moderation.removeRecords({of: 'bob', from: 'lesson'}), {name: 'notPermitted'})
  await assert.rejects(host.moderation.removeRecords({of: 'anna', from: 'nowhere'}), {name: 'boardNotFound'})
  assert.equal(await host.moderation.removeRecords({of: 'anna', from: 'lesson'}), 1)
  await bob.seen.until(({key, payload}) => key === 's1' && payload.length === 0)
  assert.deepEqual((await host.boards()).map(({records}) => records), [1])
})

on({isKept: true}, '[AC19] a moderator ends a channel: everybody is out of both kinds, and what comes then is another one',
    async ({connect}) => {
  const host = await connect('host')
  const anna = await connect('anna', {key: 'join'})
  await anna.channel('lesson').board.put('s1', 'one').stored
  await anna.channel('lesson').open({from: 'now'})
  const [points, readers] = [anna.channel('lesson').topic('points'), []]
  await points.follow()
  for (const reader of [points.packets(), anna.channel('lesson').messages()]) {
    readers.push(assert.rejects(reader.next(), {name: 'channelEnded'}))
  }
  await anna.channel('lesson').metadata.set({title: 'Ink'})
  await assert.rejects(anna.moderation.endChannel('lesson'), {name: 'notPermitted'})
  await host.moderation.endChannel('lesson', {reason: 'the lesson is over'})
  await Promise.all(readers)
  for (const wanted of ['channel', 'topics']) {
    const {error} = await anna.seen.until(({type, subject}) => type === 'refused' && subject === wanted)
    assert.deepEqual([error.name, error.message], ['channelEnded', 'the lesson is over'])
  }
  assert.deepEqual(await host.boards(), [])
  assert.deepEqual([...(await anna.channel('lesson').metadata.get()).items], [])
  await anna.channel('lesson').open()
  assert.equal(await anna.channel('lesson').send('two').accepted, 1)
})

on({}, '[AC16] a moderator sees who is there and what happens; a pupil does not', async ({connect}) => {
  const host = await connect('host')
  const anna = await connect('anna', {key: 'join', description: 'a tablet'})
  await host.channel('lesson').open({from: 'now'})
  const before = await host.moderation.status()
  await anna.channel('lesson').send('x').accepted
  const {users, counters, sessions, uptimeMs} = await host.moderation.status({limit: 1})
  assert.deepEqual(users.map(({user, client, away, peer}) => [user, client, away, /^127\.0\.0\.1:\d+$/.test(peer)]),
      [['anna', 'a tablet', false, true]])
  assert.deepEqual([counters.messagesAccepted - before.counters.messagesAccepted, plain(sessions), uptimeMs >= before.uptimeMs],
      [1, {present: 2, away: 0}, true])
  const second = await host.moderation.status({after: 'anna'})
  assert.deepEqual([second.users.map(({user}) => user), second.next], [['host'], undefined])
  await assert.rejects(anna.moderation.status(), {name: 'notPermitted'})
  await assert.rejects(host.moderation.status({limit: 101}), {name: 'badRequest', limit: 100})
})

on({isKept: true},
  '[AC12, AC13, AC14, AC15] sessions end with a reason, bans hold over a restart until they are taken back, a forgotten user frees the id',
  async ({daemon, connect}) => {
  const hostOptions = {storage: new MemoryStorage(), scope: 'here'}
  const host = await connect('host', hostOptions)
  const storage = new MemoryStorage()
  const pupil = {key: 'join', storage, scope: 'here'}
  const first = await connect('anna', pupil)
  await host.moderation.endSession({of: 'anna', reason: 'the lesson is over'})
  assert.deepEqual((await first.seen.until(isEnd)).reason, {kind: 'relayClosed', code: 309, text: 'the lesson is over'})
  await assert.rejects(host.moderation.endSession({of: 'anna'}), {name: 'userOffline'})

  const second = await connect('anna', pupil)
  await second.person('anna').metadata.set({color: 'red'})
  await host.moderation.ban('anna', {for: 3_600_000})
  assert.deepEqual((await second.seen.until(isEnd)).reason.code, 310)
  await assert.rejects(host.moderation.ban('anna', {for: 999}), {name: 'badRequest', limit: 1_000})
  await assert.rejects(host.moderation.ban('host'), {name: 'notPermitted'})
  await host.moderation.ban('bob')
  await daemon.restart()
  await host.seen.until(() => host.seen.of('link').filter(({state}) => state === 'connected').length === 2)
  const bans = await host.moderation.bans()
  assert.deepEqual(bans.map(({user, by, time, until}) => [user, by, until === undefined ? undefined : until - time]),
      [['anna', 'host', 3_600_000], ['bob', 'host', undefined]])
  await assert.rejects(connect('anna', pupil), {name: 'banned', code: 310})
  await host.moderation.unban('anna')
  await assert.rejects(host.moderation.unban('anna'), {name: 'notBanned', code: 140})
  const third = await connect('anna', pupil)
  await third.close()

  await assert.rejects(connect('anna', {key: 'join'}), {name: 'userIDTaken'})
  await host.moderation.forget({user: 'anna'})
  await connect('anna', {key: 'join'})
  assert.deepEqual(plain((await host.person('anna').metadata.get()).items), [])
})

on({isKept: true}, '[BL10] a record is replaced and removed by who wrote it, and by who may clear; by others not, small or large',
    async ({connect}) => {
  const host = await connect('host')
  const [anna, bob] = [await connect('anna', {key: 'join'}), await connect('bob', {key: 'join'})]
  await host.channel('lesson').open({from: 'now'})
  await anna.channel('lesson').board.put('s1', 'one').stored
  const large = 'x'.repeat(100_000)
  for (const receipt of [
    bob.channel('lesson').board.put('s1', 'two'), bob.channel('lesson').board.remove('s1'),
        bob.channel('lesson').board.put('s1', large),
  ]) {
    await assert.rejects(receipt.accepted, {name: 'notPermitted'})
    await assert.rejects(receipt.stored, {name: 'notPermitted'})
  }
  assert.deepEqual(bob.unsent, {messages: 0, packets: 0, bytes: 0, unstored: 0, unkept: 0})
  await anna.channel('lesson').board.put('s1', 'three').stored
  await host.channel('lesson').board.remove('s1').stored
  await bob.channel('lesson').board.put('s1', large).stored
  await host.seen.until(({key, payload}) => key === 's1' && payload.length === 100_000)
  assert.deepEqual(host.seen.messages.map(({sender, payload}) => [sender, payload.slice(0, 5)]),
      [['anna', 'one'], ['anna', 'three'], ['host', ''], ['bob', 'xxxxx']])
})
