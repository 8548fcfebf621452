// A code for newcomers between two clients at the real daemon. [AC20]
import assert from 'node:assert/strict'
import {onDaemon} from './support/on-daemon.mjs'

const on = onDaemon('join-code.test.mjs')

on({}, '[AC20, AC16] six letters let a newcomer in, who keeps the key; the host ends them, or is told of their end',
    async ({connect, daemon}) => {
  const host = await connect('host')
  const {code, validMs} = await host.moderation.offerJoinCode('lesson')
  assert.match(code, /^[BCDFGHJKMNPQRSTVWXYZ]{6}$/)
  assert.ok(validMs > 0 && validMs <= 1_800_000, `${validMs}`)
  assert.equal((await host.moderation.offerJoinCode('lesson')).code, code)
  const spelled = `${code.slice(0, 3)} ${code.slice(3).toLowerCase()}`
  const guest = await connect('ann', {credential: {joinCode: spelled}})
  assert.deepEqual([guest.invitation.key, guest.invitation.channel, guest.access.role], [daemon.keys.join, 'lesson', 'editor'])
  await guest.channel('lesson').board.put('s', 's').stored
  await assert.rejects(guest.moderation.offerJoinCode('lesson'), {name: 'notPermitted'})
  await host.moderation.withdrawJoinCode()
  await assert.rejects(connect('ben', {credential: {joinCode: code}}), {name: 'codeWrong', limit: 60, actual: 1})
  await host.moderation.offerJoinCode('lesson')
  await host.renew({key: daemon.keys.join})
  const {reason} = await host.seen.until(({type}) => type === 'joinCodeEnded')
  assert.equal(reason, 'notPermitted')
})
