// A thousand things at once, from the page's tools over its own client and the real daemon: what goes over the link, and how others get it.
import assert from 'node:assert/strict'
import {shifted} from '../../Sources/RelayPage/page/kinds/edits.js'
import {Live} from '../../Sources/RelayPage/page/live.js'
import {Session} from '../../Sources/RelayPage/page/session.js'
import {change} from '../../Sources/RelayPage/page/editing.js'
import {FrameReader} from '../../Sources/RelayPage/client/frames.js'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {tcpTransport} from './support/links.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'
import {onDaemon} from './support/on-daemon.mjs'
import {PlayedHand} from './support/played-hand.mjs'
import {within} from './support/watcher.mjs'

const check = onDaemon('bulk.test.mjs')
const stroke = (id, at) => ({customType: 'stroke',
  payload: `{"color":"#000000FF","cols":"xy","id":"${id}","points":[0,${at * 1_000},10000,0],"v":1,"width":300,"z":${at + 1}}`})

/** A page with a hand, on a link whose frames are counted, and a reader of its board. */
async function scene({daemon, connect}, body) {
  const reader = await connect('reader')
  await reader.channel('lesson').open()
  const sent = []
  const counted = parts => {
    const reader = new FrameReader()
    const link = tcpTransport(daemon.port)(parts)
    const send = bytes => {
      reader.push(bytes)
      for (let frame; (frame = reader.next());) sent.push(frame.type)
      return link.send(bytes)
    }
    return {send, get bufferedBytes() { return link.bufferedBytes }, close: link.close}
  }
  const hand = new PlayedHand()
  globalThis.location = {origin: 'http://relay', host: 'relay'}
  const storages = {localStorage: new MemoryStorage(), sessionStorage: new MemoryStorage()}
  globalThis.window = {...storages, addEventListener() {}, removeEventListener() {}}
  const failed = []
  const session = new Session({board: 'lesson', user: 'drawer', name: 'Dora', credential: {key: daemon.keys.join}, records: hand.records,
      live: new Live(() => {}), changed() {}, failed: error => failed.push(error.name),
      // Each scene has a relay of its own, and all of them are one browser.
      Client: class extends RelayClient {
        constructor(address, user, options) { super(counted, user, {...options, acceptsRelay: undefined}) }
      }})
  hand.tools.session = session
  session.connect('drawer')
  /** Until nothing waits; how many frames of which kind have written since. */
  const written = async () => {
    while (hand.records.own.length > 0) await within(new Promise(resolve => { session.changed = resolve }), 'change of what waits')
    assert.deepEqual(failed, [])
    const kinds = sent.splice(0).filter(type => ['publish', 'publishChanges'].includes(type))
    return Object.fromEntries([...new Set(kinds)].map(kind => [kind, kinds.filter(other => other === kind).length]))
  }
  try {
    await body({reader, hand, session, written})
  } finally {
    await session.client.close()
  }
}

check({}, '[BL11] 1,000 things that are moved, erased and brought back are 16 frames each time, and come to others all at once',
    around => scene(around, async ({reader, hand, session, written}) => {
  const {records, tools, undo} = hand
  const turn = writes => session.writeAll(writes)
  const steps = {
    drawn: () => session.writeAll(Array.from({length: 1_000}, (_, at) => ({key: `s${at}`, record: stroke(`s${at}`, at)}))),
    moved() {
      tools.choose(records.ordered)
      change(tools, tools.chosen, record => shifted(record, 700, 0))
    },
    'moved back': () => turn(undo.undo(records)),
    'moved again': () => turn(undo.redo(records)),
    'erased by a sweep'() {
      tools.tool = 'eraser'
      hand.play('0 m1 down 50 -20', '50 m1 move 50 5000', '90 m1 move 50 10010', '99 m1 up 50 10010')
    },
    'brought back': () => turn(undo.undo(records)),
    removed() {
      tools.choose(records.ordered)
      tools.removeChosen()
    },
  }
  for (const [what, act] of Object.entries(steps)) {
    const from = reader.seen.events.length
    act()
    assert.deepEqual(await written(), {publishChanges: 16}, what)
    await within(reader.channel('lesson').upToDate(), 'upToDate')
    await reader.seen.until(({type}) => type === 'board', from)
    const got = reader.seen.events.slice(from).filter(({type}) => type === 'board' || type === 'message')
    assert.deepEqual(got.map(({messages}) => messages?.length), [1_000], what)
  }
  assert.equal(records.elements.size, 0)
}))

check({}, '[BL11] a stroke that is drawn behind thousands of changes does not wait for them', around =>
  scene(around, async ({hand, session, written}) => {
    for (let set = 0; set < 4; set++) {
      session.writeAll(Array.from({length: 4_000}, (_, at) => ({key: `s${set}-${at}`, record: stroke(`s${set}-${at}`, at)})))
    }
    session.write('behind', stroke('behind', 1))
    const {publishChanges} = await written()
    const [behind, last] = ['behind', 's3-3999'].map(key => hand.records.get(key).offset)
    assert.ok(publishChanges >= 252 && behind < last - 4_000, `the stroke is at ${behind}, the last change at ${last}`)
  }))
