// The JavaScript of docs/moving-from-twilio.md, as it stands in docs/examples, against the real daemon.
import assert from 'node:assert/strict'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {test} from 'node:test'
import {pathToFileURL} from 'node:url'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {Daemon, skip} from './support/daemon.mjs'
import {exampleSource} from './support/examples.mjs'
import {tcpTransport} from './support/links.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'
import {Watcher} from './support/watcher.mjs'
import {NodeWebSocket} from './support/web-socket.mjs'

test('docs/examples/drawing-room.js runs: the pen is seen, the stroke is kept and comes to who is late, another one\'s cannot be erased',
    {skip, timeout: 600_000}, async () => {
  const daemon = await Daemon.start()
  const folder = mkdtempSync(join(tmpdir(), 'relay-moving-'))
  const strokes = [], pens = [], people = [], problems = []
  Object.assign(globalThis, {
    WebSocket: NodeWebSocket, localStorage: new MemoryStorage(),
    showStroke: (...values) => strokes.push(values), showPeople: names => people.push(names),
    showProblem: ({name}) => problems.push(name),
  })
  const witness = new RelayClient(tcpTransport(daemon.port), 'witness', {credential: {key: daemon.keys.join}})
  try {
    const seen = new Watcher(witness)
    const there = witness.channel('lesson')
    await there.topic('pen').follow()
    const stream = await there.topic('pen').startPublishing()
    await there.board.put('s0', '1,1').stored
    await there.open({from: 'now'})
    const code = exampleSource('drawing-room.js')
      .replaceAll('http://192.168.1.5:7420/', `http://127.0.0.1:${daemon.port}/`)
      .replaceAll('c4tnapx5e2qzt6mlw7rbd3kvfy', daemon.keys.join)
      + '\nstream.send("2,2")\nawait done\nawait client.close()\n'
    const file = join(folder, 'moving.mjs')
    let arrived
    const done = new Promise(resolve => { arrived = resolve })
    const showPen = (...values) => {
      pens.push(values)
      arrived()
    }
    Object.assign(globalThis, {stream, done, showPen})
    writeFileSync(file, code)
    await import(pathToFileURL(file))
    await seen.until(({type}) => type === 'message')
    assert.deepEqual(seen.events.filter(({type}) => ['packet', 'message'].includes(type))
        .map(({type, key, payload}) => [type, key, payload]),
      [['packet', undefined, '10,20'], ['message', 's1', '0,0 10,20']])
    assert.deepEqual(seen.events.find(({type}) => type === 'packet').slot, 1)
    // One's own is there at once; what is refused comes back.
    const last = new Map(strokes)
    assert.deepEqual([...last].sort(), [['s0', '1,1'], ['s1', '0,0 10,20']])
    assert.ok(strokes.some(([key, stroke]) => key === 's0' && stroke === undefined))
    assert.deepEqual(people.at(-1), ['Alice', 'witness'])
    assert.deepEqual(problems, ['notPermitted'])
    assert.deepEqual(pens, [['witness', '2,2']])
  } finally {
    await witness.close()
    await daemon.end()
    rmSync(folder, {recursive: true, force: true})
  }
})
