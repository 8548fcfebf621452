// Pieces of docs/javascript.md by themselves, where it takes more people than the whole page has.
import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {ErrorCode, RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {example} from './support/examples.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'
import {onDaemon} from './support/on-daemon.mjs'
import {within} from './support/watcher.mjs'
import {NodeWebSocket} from './support/web-socket.mjs'

const on = onDaemon('guide-parts.test.mjs')
const page = readFileSync(new URL('../../docs/javascript.md', import.meta.url), 'utf8')
const {followMembers} = await example('members.js')
/** The first block under a heading, without its imports. */
const block = heading => new RegExp(`## ${heading}\\n.*?\`\`\`js\\n(.*?)\`\`\``, 's').exec(page)[1].replace(/^import .*$/m, '')

/** Runs code of the page with these names, and gives `what` it leaves. */
const run = (code, names, what) => new (async () => {})
    .constructor(...Object.keys(names), `${code}\nreturn ${what}`)(...Object.values(names))

/** A list of members as the page shows it, and waiting for it to be as wanted. */
function shown() {
  const list = {members: new Map(), looks: new Set()}
  list.show = members => {
    list.members = members
    for (const look of list.looks) look()
  }
  list.until = (isWanted, what) => within(new Promise(resolve => {
    const look = () => isWanted(list.members) && resolve()
    list.looks.add(look)
    look()
  }), what)
  return list
}

on({}, '[PR3, PR4, PR5, PR6] who is here is complete with 130 members, for the first and for the last of them, and stays so',
    async ({connect}) => {
  const early = await connect('host')
  const first = shown()
  await run(block('Who is here'), {client: early, followMembers, showMembers: first.show}, 'members')
  // The stream channel of the name has members of its own.
  await early.join('lesson')
  const others = []
  for (let at = 0; at < 130; at++) {
    const other = await connect(`user-${String(at).padStart(3, '0')}`, {key: 'join'})
    others.push(other)
    await other.subscribe('lesson', {features: []})
  }
  const elsewhere = await connect('elsewhere', {key: 'join'})
  await elsewhere.join('lesson')
  const late = await connect('last', {key: 'join'})
  const last = shown()
  await run(block('Who is here'), {client: late, followMembers, showMembers: last.show}, 'members')
  await last.until(({size}) => size === 132, 'all for the last')
  await first.until(({size}) => size === 132, 'all for the first')
  assert.ok(!first.members.has('elsewhere') && !last.members.has('elsewhere'))
  await others[0].close()
  await others[1].presence({message: 'lesson'}).setStates({name: 'Bea'})
  for (const {until} of [first, last]) await until(members => members.size === 131 && members.get('user-001').name === 'Bea',
      'a leave and a name')
  assert.ok(!first.members.has('user-000'))
})

on({}, '[AC7, AC10, AC11] topics that a freeze or a role has closed are joined again when that is over', async ({connect}) => {
  const host = await connect('host')
  const anna = await connect('anna', {key: 'join'})
  await anna.subscribe('lesson')
  const stream = await anna.join('lesson')
  await stream.joinTopic('points')
  const [handlers] = block('Moderate').split('await moderation.freeze')
  await run(handlers, {client: anna, stream, showFrozen() {}}, 'left')
  await (await host.join('lesson')).subscribeTopic('points')
  const refusals = () => anna.seen.of('refused').length
  const mayPublish = async () => {
    const from = host.seen.events.length
    // Its own request stands behind those of the page.
    await anna.presence({message: 'lesson'}).users()
    stream.send('x', {topic: 'points'})
    await host.seen.until(({type, publisher}) => type === 'packet' && publisher === 'anna', from)
  }
  for (const [close, open, tells] of [
    [() => host.moderation.freeze('lesson'), () => host.moderation.unfreeze('lesson'),
        ({type, channel, isOn}) => type === 'channelMode' && channel.kind === 'stream' && !isOn],
    [() => host.moderation.setRole('reader', {of: 'anna'}), () => host.moderation.setRole(undefined, {of: 'anna'}),
        ({type, access}) => type === 'accessChanged' && access.role === 'editor'],
  ]) {
    const before = refusals()
    await close()
    await anna.seen.until(() => refusals() > before)
    assert.throws(() => stream.send('x', {topic: 'points'}), {name: 'topicNotJoined', code: ErrorCode.topicNotJoined})
    const from = anna.seen.events.length
    await open()
    await anna.seen.until(tells, from)
    await mayPublish()
  }
})

on({isKept: true}, '[BL8, MS9] a large record that a page has not sent when it is reloaded is on the board of the next',
    async ({daemon, connect}) => {
  const storage = new MemoryStorage()
  const options = {storage, scope: 'here', credential: {key: daemon.keys.join}}
  const first = new RelayClient(() => { throw new Error('no network') }, 'alice', {...options, retriesFirstConnect: true})
  const stroke = 'x'.repeat(900_000)
  first.sendLarge(stroke, {to: 'lesson', key: 's1', retain: true})
  // What was not sent stays for the next page.
  await first.close()
  const second = await connect('alice', {...options, key: 'join'})
  const {BoardRecords} = await example('board-records.js')
  const board = new BoardRecords(second, 'lesson', () => {}, assert.fail)
  await second.subscribe('lesson', {since: 'beginning'})
  await second.restored[0].receipt.stored
  await second.seen.until(({type}) => type === 'caughtUp')
  assert.equal(board.all.get('s1'), stroke)
})

on({}, 'the whole page draws for two, for one that comes later, and takes away what the relay refuses', async ({daemon, connect}) => {
  const html = readFileSync(new URL('../../docs/examples/lines.html', import.meta.url), 'utf8')
  assert.ok(html.split('\n').length <= 50 + 1, 'at most 50 lines')
  const [, script] = /<script type="module">\n(.*)<\/script>/s.exec(html)
  const code = script.replace(/^import .*$/m, '')
    .replace('192.168.1.5:7420/#key=c4tnapx5e2qzt6mlw7rbd3kvfy', `127.0.0.1:${daemon.port}/#key=${daemon.keys.join}`)
  assert.ok(code !== script && !code.includes('192.168'))
  const clients = []
  const open = async () => {
    const [document, window] = [new EventTarget(), new EventTarget()]
    Object.assign(globalThis, {document, window, WebSocket: NodeWebSocket})
    const shown = {lines: [], looks: new Set()}
    let now
    const pen = {
      beginPath: () => now.push([]), lineTo: (x, y) => now.at(-1).push([x, y]),
      stroke() {
        shown.lines = now
        for (const look of shown.looks) look()
      },
    }
    const canvas = {getContext: () => pen, set width(_) { now = shown.lines = [] }}
    document.querySelector = () => canvas
    const Kept = class extends RelayClient {}
    Kept.connect = async (...all) => {
      clients.push(await RelayClient.connect(...all))
      return clients.at(-1)
    }
    const names = {
      RelayClient: Kept, wakeUpWithPage() {}, sessionStorage: new MemoryStorage(), document, innerWidth: 100, innerHeight: 100,
      addEventListener() {},
    }
    await run(code, names, 'undefined')
    const until = wanted => within(new Promise(resolve => {
      const look = () => JSON.stringify(shown.lines) === JSON.stringify(wanted) && resolve()
      shown.looks.add(look)
      look()
    }), JSON.stringify(wanted))
    const stroke = points => {
      const [first, ...rest] = points.map(([offsetX, offsetY]) => ({offsetX, offsetY}))
      canvas.onpointerdown(first)
      for (const point of rest) canvas.onpointermove(point)
      canvas.onpointerup()
    }
    return {until, stroke, canvas}
  }
  try {
    const anna = await open()
    const ben = await open()
    anna.stroke([[1, 2], [3.4, 4.6]])
    await anna.until([[[1, 2], [3, 5]]])
    await ben.until([[[1, 2], [3, 5]]])
    const late = await open()
    await late.until([[[1, 2], [3, 5]]])
    const host = await connect('host')
    await host.moderation.freeze('lines')
    // Refused: nothing of it stays; and a line of others does, which is drawn again then.
    anna.stroke([[7, 7], [8, 8]])
    await anna.until([[[1, 2], [3, 5]]])
    await host.board('lines').clear()
  } finally {
    for (const client of clients) await client.close()
  }
})
