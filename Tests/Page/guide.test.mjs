// The code of docs/javascript.md, and the apps of docs/client-interface.md, as they stand there, in programs against the real daemon.
import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {test} from 'node:test'
import {pathToFileURL} from 'node:url'
import {credentialOf, RelayClient, wakeUpWithPage, webSocketTransport} from '../../Sources/RelayPage/relay-client.js'
import {Daemon, skip} from './support/daemon.mjs'
import {exampleSource} from './support/examples.mjs'
import {tcpTransport} from './support/links.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'
import {Watcher} from './support/watcher.mjs'
import {NodeWebSocket} from './support/web-socket.mjs'

const page = readFileSync(new URL('../../docs/javascript.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)

/** The code with its examples replaced by what is there. */
const real = (code, port, key) => code
  .replaceAll("'./relay-client.js'", `'${new URL('../../Sources/RelayPage/relay-client.js', import.meta.url)}'`)
  .replaceAll('http://192.168.1.5:7420/', `http://127.0.0.1:${port}/`)
  .replaceAll("connect(7420, '192.168.1.5')", `connect(${port}, '127.0.0.1')`)
  .replaceAll('c4tnapx5e2qzt6mlw7rbd3kvfy', key)

test('every piece of code in docs/javascript.md runs, and does what the page says', {skip, timeout: 600_000}, async () => {
  assert.ok(blocks.length >= 9)
  const daemon = await Daemon.start()
  const folder = mkdtempSync(join(tmpdir(), 'relay-guide-'))
  const heard = new Map()
  const hear = name => (...values) => heard.set(name, [...heard.get(name) ?? [], values])
  const browser = new EventTarget()
  browser.visibilityState = 'visible'
  Object.assign(globalThis, {WebSocket: NodeWebSocket, localStorage: new MemoryStorage(), document: browser, window: new EventTarget()})
  for (const name of ['showLink', 'drawLive', 'showProgress', 'showMembers', 'showFrozen', 'showBan', 'showConflict', 'showLocked',
      'showError', 'showCode', 'showUser', 'keepInvitation']) globalThis[name] = hear(name)
  globalThis.draw = (records, changed) => heard.set('draw', [...records.keys(), ...changed])
  const witness = new RelayClient(tcpTransport(daemon.port), 'witness', {credential: {key: daemon.keys.join}})
  try {
    const seen = new Watcher(witness)
    const there = witness.channel('lesson')
    await there.open({parts: ['messages', 'presence', 'metadata']})
    await there.topic('points').follow()
    const code = real(blocks.join('\n'), daemon.port, daemon.keys.host)
      + '\nglobalThis.guide = {offset, client, points}\n'
    const file = join(folder, 'guide.mjs')
    writeFileSync(file, code)
    await import(pathToFileURL(file))
    const order = seen.events.filter(({type}) => ['packet', 'message'].includes(type))
        .map(({type, key, isRemoval}) => isRemoval ? `- ${key}` : key ?? type)
    assert.deepEqual(order, ['packet', 's1', '- s1', 's2', 'message'])
    assert.deepEqual(heard.get('draw'), ['s2', 's2'])
    assert.equal(globalThis.guide.offset, 1)
    assert.equal(heard.get('showProgress').at(-1)[0], 1)
    assert.deepEqual([...heard.get('showMembers').at(-1)[0]].map(([user, {states}]) => [user, states.name]),
        [['alice-7f3a', 'Alice'], ['witness', undefined]])
    assert.deepEqual(heard.get('showError') ?? [], [])
    assert.deepEqual(heard.get('showFrozen'), [[false], [true], [false]])
    assert.ok(heard.get('showLocked')[0][0] > 0)
    assert.match(heard.get('showCode')[0][0], /^[0-9A-Z]{10}$/)
    assert.deepEqual(heard.get('showUser'), [['alice-7f3a']])
    assert.match(heard.get('showCode')[1][0], /^[B-Z]{6}$/)
    assert.deepEqual(heard.get('keepInvitation'), [[daemon.keys.join, 'lesson']])
    const [[banned, until]] = heard.get('showBan')
    assert.deepEqual([banned, until > Date.now() + 3_000_000], ['eve-90aa', true])
    assert.deepEqual(seen.of('channelMode').map(({channel, isOn, by}) => `${channel} ${isOn} ${by}`),
      ['lesson true alice-7f3a', 'lesson false alice-7f3a'])
    assert.deepEqual(heard.get('showConflict'), [[1]])
    assert.equal(seen.of('metadata').at(-1).items.get('title').value, 'Autumn')
    const joined = seen.of('presence').find(({kind, member}) => kind === 'joined' && member.user === 'alice-7f3a')
    assert.equal(joined.member.states.name, 'Alice')
    assert.deepEqual(heard.get('showLink').flat().slice(-2), ['connected', 'closed'])
    assert.equal(globalThis.guide.client.link.reason.kind, 'closedByApp')
  } finally {
    await witness.close()
    await daemon.end()
    rmSync(folder, {recursive: true, force: true})
  }
})

test('the four apps of docs/client-interface.md run as they stand there, and do what they are for', {skip, timeout: 600_000}, async () => {
  const text = readFileSync(new URL('../../docs/client-interface.md', import.meta.url), 'utf8')
  const apps = [...text.matchAll(/\]\(examples\/([\w-]+\.js)\)/g)].map(([, name]) => exampleSource(name))
  assert.equal(apps.length, 4)
  for (const code of apps) assert.ok(code.trim().split('\n').length <= 20, 'the first 20 lines')
  const daemon = await Daemon.start()
  const folder = mkdtempSync(join(tmpdir(), 'relay-interface-'))
  const [opened, told, browser] = [[], {}, new EventTarget()]
  const tell = name => (...values) => (told[name] = values)
  Object.assign(globalThis, {WebSocket: NodeWebSocket, localStorage: new MemoryStorage(), document: browser, window: new EventTarget(),
    pad: {}, expectEqual: assert.deepEqual, opened})
  for (const name of ['drawStroke', 'drawLive', 'showError', 'showSent', 'showLink', 'showPeople', 'showTitle', 'showBoard']) {
    globalThis[name] = tell(name)
  }
  try {
    for (const [at, code] of apps.entries()) {
      const end = /^const client = /m.test(code) ? '\nopened.push(client)\n' : ''
      writeFileSync(join(folder, `app-${at}.mjs`), real(code, daemon.port, daemon.keys.host) + end)
      await import(pathToFileURL(join(folder, `app-${at}.mjs`)))
    }
    assert.equal(opened.length, 2)
    const lesson = opened[0].channel('lesson')
    const {pad} = globalThis
    pad.onpoint('1,2')
    await pad.onstroke('s2', '3,4').stored
    await lesson.metadata.set({title: 'Ink'})
    const wall = opened[1].channel('lesson')
    await wall.upToDate()
    await new Promise(setImmediate)
    assert.deepEqual(told.showSent, [1])
    assert.deepEqual(told.drawStroke, ['s2', '3,4'])
    assert.deepEqual([told.showBoard[0], told.showLink, told.showPeople[0]], [2, ['connected'], ['alice-7f3a']])
    assert.deepEqual(await pad.onerase('s2').stored > 0, true)
    assert.equal(told.showError, undefined)
  } finally {
    for (const client of opened) await client.close()
    await daemon.end()
    rmSync(folder, {recursive: true, force: true})
  }
})

test('[AC3] the program for Node runs, and again in another process as the same user; its secret is for nobody else to read',
    {skip, timeout: 600_000}, async () => {
  const code = exampleSource('hello.mjs')
  const daemon = await Daemon.start()
  const folder = mkdtempSync(join(tmpdir(), 'relay-guide-'))
  try {
    writeFileSync(join(folder, 'program.mjs'), real(code, daemon.port, daemon.keys.join))
    for (const time of ['first', 'second']) {
      const program = spawn(process.execPath, ['program.mjs'], {cwd: folder, stdio: ['ignore', 'inherit', 'pipe']})
      let errors = ''
      program.stderr.on('data', text => errors += text)
      const [status] = await once(program, 'close')
      assert.equal(status, 0, `the ${time} time: ${errors}`)
    }
    assert.equal(statSync(join(folder, 'bob.secret')).mode & 0o777, 0o600)
  } finally {
    await daemon.end()
    rmSync(folder, {recursive: true, force: true})
  }
})

test('names that the page uses are the module\'s', async () => {
  const folder = new URL('../../Sources/RelayPage/client/', import.meta.url)
  const source = readdirSync(folder).map(name => readFileSync(new URL(name, folder), 'utf8')).join('\n')
  const text = page.replace(/```.*?```/gs, '')
  for (const [, name] of text.matchAll(/`(?:client|moderation|lesson|board|presence|metadata)\.(\w+)/g)) assert.match(source,
      new RegExp(`^  (?:async |get |static async )?${name}\\b|this\\.${name} =`, "m"), name)
  for (const [, names] of text.split('\n## Errors, and calls that end\n')[1].split('\n## ')[0].matchAll(/^\| ?(`\w+`(?:, `\w+`)*)/gm)) {
    for (const [, name] of names.matchAll(/`(\w+)`/g)) assert.match(source, new RegExp(`\\b${name}: \\d`), name)
  }
})

test('a page that comes to the foreground, back or to a network wakes its client up, until that is ended', () => {
  const [document, window] = [new EventTarget(), new EventTarget()]
  Object.assign(globalThis, {document, window})
  let woken = 0
  const end = wakeUpWithPage({wakeUp: () => woken++})
  const say = (target, type, visibilityState) => {
    document.visibilityState = visibilityState
    target.dispatchEvent(new Event(type))
  }
  say(document, 'visibilitychange', 'hidden')
  assert.equal(woken, 0)
  say(document, 'visibilitychange', 'visible')
  say(window, 'pageshow', 'visible')
  say(window, 'online', 'visible')
  assert.equal(woken, 3)
  end()
  say(window, 'online', 'visible')
  assert.equal(woken, 3)
})

test('[AC1] an address that a relay prints, and a link to a board, has the credential and is the place of its WebSocket', () => {
  assert.deepEqual(credentialOf('http://192.168.1.5:7420/#key=abc'), {key: 'abc'})
  assert.deepEqual(credentialOf('relay.local:7420#token=a.b-c_d&key=x'), {token: 'a.b-c_d'})
  assert.deepEqual(credentialOf('http://192.168.1.5:7420/#/b/brisk-otter-417?k=abc'), {key: 'abc'})
  assert.deepEqual(credentialOf('http://192.168.1.5:7420/#/b/brisk-otter-417?t=a.b-c_d'), {token: 'a.b-c_d'})
  assert.deepEqual(credentialOf('http://192.168.1.5:7420/#key=abc&j=guests'), {key: 'abc'})
  for (const address of ['http://192.168.1.5:7420/', 'http://x/#', 'http://x/#key=', 'http://x/?key=abc', 'http://x/#/b/key',
      'http://x/#/b/lesson?j=abc']) {
    assert.equal(credentialOf(address), undefined, address)
  }
  const opened = []
  globalThis.WebSocket = class {
    bufferedAmount = 7
    constructor(url) {
      opened.push(String(url))
    }
    close() {
      opened.push('closed')
    }
  }
  const told = []
  const handlers = {opened() {}, received: bytes => told.push(...bytes), ended: text => told.push(text)}
  const places = {
    'http://192.168.1.5:7420/#key=abc': 'ws://192.168.1.5:7420/ws',
    'http://192.168.1.5:7420/#/b/brisk-otter-417?k=abc': 'ws://192.168.1.5:7420/ws',
    'http://192.168.1.5:7420/ws': 'ws://192.168.1.5:7420/ws',
    'ws://10.0.0.1:7420': 'ws://10.0.0.1:7420/ws',
    'relay://10.0.0.1:7420': 'ws://10.0.0.1:7420/ws',
    'relay://10.0.0.1:7420/#key=abc': 'ws://10.0.0.1:7420/ws',
    'https://board.school/lesson/#key=abc': 'wss://board.school/lesson/ws',
    'wss://board.school/lesson/socket': 'wss://board.school/lesson/socket',
    'http://192.168.1.5:7420/school-a#key=abc': 'ws://192.168.1.5:7420/ws',
    'https://board.school/relay/school-a': 'wss://board.school/relay/ws',
  }
  for (const [address, place] of Object.entries(places)) {
    const {bufferedBytes} = webSocketTransport(address)(handlers)
    assert.deepEqual([opened.pop(), bufferedBytes], [place, 7], address)
  }
})

test('a WebSocket whose errors end the program when nobody hears them is heard', async () => {
  // As Node's `ws`.
  globalThis.WebSocket = class {
    bufferedAmount = 0
    constructor() {
      setTimeout(() => {
        assert.equal(typeof this.onerror, 'function')
        this.onerror({message: 'connect ECONNREFUSED'})
        this.onclose({code: 1006, reason: ''})
      })
    }
    close() {}
  }
  const client = new RelayClient('http://127.0.0.1:7420/#key=abc', 'alice')
  await assert.rejects(client.connect(), ({name, message}) => name === 'connectFailed' && /1006/.test(message))
  await client.close()
})

test('where there is no WebSocket a client says so', async () => {
  delete globalThis.WebSocket
  for (const address of ['http://127.0.0.1:7420/#key=abc', 'https://board.school/#key=abc']) {
    const client = new RelayClient(address, 'alice')
    await assert.rejects(client.connect(), {
      name: 'connectFailed',
      message: 'there is no WebSocket here, as in Node 20: give the client a transport of your own instead of an address',
    })
    await client.close()
  }
})
