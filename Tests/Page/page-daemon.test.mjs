// The page's session with the client that it has, at the real daemon: what one page does the other shows.
import assert from 'node:assert/strict'
import {Live} from '../../Sources/RelayPage/page/live.js'
import {Records} from '../../Sources/RelayPage/page/records.js'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {Session} from '../../Sources/RelayPage/page/session.js'
import {tcpTransport} from './support/links.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'
import {onDaemon} from './support/on-daemon.mjs'
import {within} from './support/watcher.mjs'

const on = onDaemon('page-daemon.test.mjs')
const line = (id, x) => ({customType: 'stroke',
  payload: `{"color":"#000000FF","cols":"xy","id":"${id}","points":[${x},0,5,5],"v":1,"width":300,"z":1}`})

/** A page without what is to be seen of it. */
function open(daemon, user, key = 'join') {
  globalThis.location = {origin: 'http://relay', host: 'relay'}
  globalThis.document = {hidden: false, visibilityState: 'visible', addEventListener() {}, removeEventListener() {}}
  const listeners = {addEventListener() {}, removeEventListener() {}}
  globalThis.window = {localStorage: new MemoryStorage(), sessionStorage: new MemoryStorage(), ...listeners}
  const page = {told: []}
  class Client extends RelayClient {
    constructor(_, user, options) {
      super(tcpTransport(() => daemon.port), user, options)
    }
  }
  const records = new Records(() => {})
  const session = page.session = new Session({
    Client, board: 'lesson', user, name: user, credential: {key: daemon.keys[key]}, records, live: new Live(() => {}),
    changed: () => {}, failed: error => page.told.push(error.name),
  })
  session.connect(user)
  page.until = (isWanted, what) => within((async () => {
    while (!isWanted(session, records)) await new Promise(setImmediate)
  })(), what)
  return page
}

on({isKept: true}, 'what one page draws, names and ends, the other shows; a page that connects again goes on', async ({daemon}) => {
  const [host, guest] = [open(daemon, 'host', 'host'), open(daemon, 'guest')]
  try {
    await guest.until(({members, hasTopics, publishers}) => members.size === 2 && hasTopics && publishers.points, 'both are here')
    assert.equal(guest.session.members.get('host').name, 'host')
    guest.session.write('a', line('a', 1))
    guest.session.writeAll([{key: 'b', record: line('b', 2)}, {key: 'c', record: line('c', 3)}, {key: 'a'}])
    await host.until((_, {elements}) => elements.size === 2 && elements.has('b') && elements.has('c'), 'b and c')
    await guest.until((_, {own, elements}) => own.length === 0 && elements.size === 2, 'all is stored')
    guest.session.sendPoints({id: 'live', color: '#000000FF', width: 300, z: 1, xy: [1, 1, 2, 2]}, 0)
    await host.until(({live}) => live.strokes.has('live'), 'a line that is being drawn')
    await host.session.setItem('title', 'Ink')
    await guest.until(({title}) => title?.value === 'Ink', 'the title')
    guest.session.write('b', undefined)
    await host.until((_, {elements}) => elements.size === 1, 'b is gone')
    await host.session.clear()
    await guest.until((_, {elements}) => elements.size === 0, 'a clear')
    await host.session.undoClear()
    await guest.until((_, {elements}) => elements.size === 1, 'what was cleared')
    await host.session.client.moderation.freeze('lesson')
    await guest.until(({isFrozen, hasTopics}) => isFrozen && !hasTopics, 'a freeze')
    await host.session.client.moderation.unfreeze('lesson')
    await guest.until(({isFrozen, hasTopics}) => !isFrozen && hasTopics, 'topics again')
    guest.session.connect('guest-2')
    await guest.until(({members, state}, {isReading, elements}) =>
      state === 'connected' && !isReading && elements.size === 1 && members.has('guest-2'), 'another user')
    let ends = 0
    guest.session.changed = what => void (ends += what === 'ended' ? 1 : 0)
    await host.session.client.moderation.endChannel('lesson')
    await guest.until(() => ends > 0, 'the end')
    assert.deepEqual([host.told, guest.told], [[], []])
  } finally {
    for (const {session} of [host, guest]) await session.client.close()
  }
})
