// A client with the addresses of two real relays, of which one is killed.
import assert from 'node:assert/strict'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {test} from 'node:test'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {Daemon, run, skip} from './support/daemon.mjs'
import {Watcher} from './support/watcher.mjs'
import {NodeWebSocket} from './support/web-socket.mjs'

test('[SE17] when the relay is killed the client is at the next one, with its channel and what was not sent; a newcomer finds it, too',
    {skip, timeout: 600_000}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-places-'))
  const secretFile = join(folder, 'secret')
  writeFileSync(secretFile, '0123456789abcdef'.repeat(4))
  const options = ['--token-secret-file', secretFile]
  const [first, second] = [await Daemon.start({options}), await Daemon.start({options})]
  Object.assign(globalThis, {WebSocket: NodeWebSocket})
  const clients = []
  const client = async user => {
    const token = await run('token', 'create', '--secret-file', secretFile, '--user', user, '--role', 'editor')
    const made = new RelayClient(`http://127.0.0.1:${first.port}/#token=${token}&also=127.0.0.1:${second.port}`, user)
    clients.push(made)
    return made
  }
  try {
    const alice = await client('alice')
    const seen = new Watcher(alice)
    const lesson = alice.channel('lesson')
    await lesson.open()
    await lesson.board.put('s1', 'x').stored
    const {relayID} = alice
    await first.kill()
    await seen.until(({type, state}) => type === 'link' && state === 'waiting')
    await lesson.board.put('s2', 'x').stored
    assert.notEqual(alice.relayID, relayID)
    assert.deepEqual(alice.openChannels, [lesson])
    const states = seen.of('link').map(({state, afterMs}) => afterMs === undefined ? state : `${state} ${afterMs}`)
    assert.deepEqual(states, ['connecting', 'connected', 'waiting 0', 'connecting', 'waiting 0', 'connecting', 'connected'])

    const bob = await client('bob')
    await bob.connect()
    assert.equal(bob.relayID, alice.relayID)
    assert.deepEqual([...(await bob.channel('lesson').board.records()).keys()], ['s2'])
  } finally {
    for (const made of clients) await made.close()
    for (const daemon of [first, second]) await daemon.end()
    rmSync(folder, {recursive: true, force: true})
  }
})
