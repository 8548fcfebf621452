// Pieces of docs/javascript.md by themselves, where it takes more people than the whole page has.
import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {ErrorCode, RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {MemoryStorage} from './support/memory-storage.mjs'
import {onDaemon} from './support/on-daemon.mjs'
import {within} from './support/watcher.mjs'
import {NodeWebSocket} from './support/web-socket.mjs'

const on = onDaemon('guide-parts.test.mjs')
const page = readFileSync(new URL('../../docs/javascript.md', import.meta.url), 'utf8')
/** The first block under a heading, without its imports. */
const block = heading => new RegExp(`## ${heading}\\n.*?\`\`\`js\\n(.*?)\`\`\``, 's').exec(page)[1].replace(/^import .*$/m, '')
const [, each] = /^(const each = .*?^})$/ms.exec(page)

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
  const whoIsHere = async (client, showMembers) => {
    const lesson = client.channel('lesson')
    await run(`${each}\n${block('Who is here')}`, {lesson, showMembers}, 'undefined')
    await lesson.open({parts: ['presence']})
  }
  await whoIsHere(early, first.show)
  const others = []
  for (let at = 0; at < 130; at++) {
    const other = await connect(`user-${String(at).padStart(3, '0')}`, {key: 'join'})
    others.push(other)
    await other.channel('lesson').open({parts: []})
  }
  const elsewhere = await connect('elsewhere', {key: 'join'})
  // The topics of the name have members of their own.
  await elsewhere.channel('lesson').topic('points').follow()
  const late = await connect('last', {key: 'join'})
  const last = shown()
  await whoIsHere(late, last.show)
  await last.until(({size}) => size === 132, 'all for the last')
  await first.until(({size}) => size === 132, 'all for the first')
  assert.ok(!first.members.has('elsewhere') && !last.members.has('elsewhere'))
  await others[0].close()
  await others[1].channel('lesson').presence.set({name: 'Bea'})
  for (const {until} of [first, last]) await until(members => members.size === 131 && members.get('user-001').states.name === 'Bea',
      'a leave and a name')
  assert.ok(!first.members.has('user-000'))
})

on({}, '[AC7, AC10, AC11] topics that a freeze or a role has closed are published in again when that is over', async ({connect}) => {
  const host = await connect('host')
  const anna = await connect('anna', {key: 'join'})
  const lesson = anna.channel('lesson')
  await lesson.open({from: 'now'})
  const pen = await lesson.topic('points').startPublishing()
  const [handlers] = block('Moderate').split('await moderation.freeze')
  const points = await run(`${each}\n${handlers}`, {client: anna, lesson, pen, showFrozen() {}}, '() => points')
  await host.channel('lesson').topic('points').follow()
  const refusals = () => anna.seen.of('refused').length
  const mayPublish = async () => {
    const from = host.seen.events.length
    // Each request of its own lets the page's come to their end.
    while (!points().isOpen) await lesson.presence.users()
    points().send('x')
    await host.seen.until(({type, publisher}) => type === 'packet' && publisher === 'anna', from)
  }
  for (const [close, open, tells] of [
    [() => host.moderation.freeze('lesson'), () => host.moderation.unfreeze('lesson'), ({type, isOn}) => type === 'channelMode' && !isOn],
    [() => host.moderation.setRole('reader', {of: 'anna'}), () => host.moderation.setRole(undefined, {of: 'anna'}),
        ({type, access}) => type === 'accessChanged' && access.role === 'editor'],
  ]) {
    const before = refusals()
    await close()
    await anna.seen.until(() => refusals() > before)
    assert.throws(() => points().send('x'), {name: 'topicNotJoined', code: ErrorCode.topicNotJoined})
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
  const first = new RelayClient(() => { throw new Error('no network') }, 'alice', options)
  const stroke = 'x'.repeat(900_000)
  first.channel('lesson').board.put('s1', stroke)
  // What was not sent stays for the next page.
  await first.close()
  const second = await connect('alice', {...options, key: 'join'})
  const {board} = second.channel('lesson')
  const {value: {records}} = await board.pictures().next()
  assert.deepEqual([records.get('s1').payload.length, records.get('s1').isPending], [stroke.length, true], 'it is shown at once')
  await second.channel('lesson').open()
  await second.restored[0].receipt.stored
  assert.deepEqual([(await board.records()).get('s1').payload === stroke, records.get('s1').isPending], [true, undefined])
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
    const Kept = class extends RelayClient {
      constructor(...all) {
        super(...all)
        clients.push(this)
      }
    }
    const names = {
      RelayClient: Kept, wakeUpWithPage() {}, sessionStorage: new MemoryStorage(), document, innerWidth: 100, innerHeight: 100,
      addEventListener() {},
    }
    // It reads as long as the page is there.
    run(code, names, 'undefined').catch(assert.fail)
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
    await host.channel('lines').board.clear()
  } finally {
    for (const client of clients) await client.close()
  }
})
