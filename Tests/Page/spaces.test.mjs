// Spaces: the path of an address names one, the login says it, and what a browser keeps of one is not another's. [SE16]
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {spaceOf} from '../../Sources/RelayPage/client/links.js'
import {forgetAll} from '../../Sources/RelayPage/page/endings.js'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'

/** As browsers have it: what is kept are its own properties. */
class BrowserStorage {
  get length() { return Object.keys(this).length }
  key(at) { return Object.keys(this)[at] ?? null }
  getItem(key) { return Object.hasOwn(this, key) ? this[key] : null }
  setItem(key, value) { this[key] = String(value) }
  removeItem(key) { delete this[key] }
}

test('[SE16] the last word of a path is the space, but for those that the relay has itself; a WebSocket’s path is its own', () => {
  const spaces = {
    'http://192.168.1.5:7420/school-a': 'school-a', 'relay://x/b2#key=abc': 'b2', 'https://board.school/relay/c?x=1': 'c',
    'http://x/': undefined, 'http://x': undefined, 'http://x/status#key=a': undefined, 'http://x/ws': undefined,
    'wss://x/school-a': undefined,
  }
  for (const [address, space] of Object.entries(spaces)) assert.equal(spaceOf(address), space, address)
})

/** The first frame that a client sends, as JSON. */
async function login(address, options) {
  let sent
  globalThis.WebSocket = class {
    bufferedAmount = 0
    constructor(url) {
      this.url = String(url)
      queueMicrotask(() => this.onopen())
    }
    send(bytes) { sent ??= {url: this.url, ...JSON.parse(new TextDecoder().decode(bytes.subarray(6)))} }
    close() {}
  }
  const client = new RelayClient(address, 'ann', options)
  client.connect().catch(() => {})
  await new Promise(resolve => setImmediate(resolve))
  client.close().catch(() => {})
  return sent
}

test('[SE16] a login names the space of its address, or of the option', async () => {
  const named = await login('http://192.168.1.5:7420/school-a#key=abc')
  assert.deepEqual([named.space, named.url, named.key], ['school-a', 'ws://192.168.1.5:7420/ws', 'abc'])
  assert.equal((await login('http://192.168.1.5:7420/school-a', {space: 'b'})).space, 'b')
  assert.ok(!('space' in await login('http://192.168.1.5:7420/')))
})

test('[SE16] records that wait to be stored are kept by space', async () => {
  const storage = new BrowserStorage()
  for (const address of ['http://x/a', 'http://x/b', 'http://x/']) {
    const client = new RelayClient(address, 'ann', {storage, device: '0'.repeat(16)})
    client.channel('lesson').board.put('s1', 'x')
    await new Promise(resolve => setImmediate(resolve))
    client.close().catch(() => {})
  }
  for (const place of ['x/a', 'x/b', 'x']) {
    assert.ok(Object.keys(storage).some(key => key.startsWith(`boardrelay.outbox.${place}.ann`)), `${place}: ${Object.keys(storage)}`)
  }
})

let count = 0
async function page(path, storages) {
  globalThis.location = {host: 'x', origin: 'http://x', pathname: path, href: `http://x${path}`, hash: ''}
  globalThis.history = {replaceState(_, __, address) { globalThis.location.hash = address }}
  globalThis.window = storages
  return import(`../../Sources/RelayPage/page/identity.js?space=${++count}`)
}

test('[SE16] a browser is another person in each space, with another key, and forgets one without the others', async () => {
  const storages = {localStorage: new BrowserStorage(), sessionStorage: new BrowserStorage()}
  const users = {}
  for (const path of ['/a', '/b', '/']) {
    const here = await page(path, storages)
    globalThis.location.hash = `#key=of${path.slice(1)}`
    assert.equal(here.arrive().credential.key, `of${path.slice(1)}`)
    assert.ok(here.isOwnRelay(`relay of ${path}`, {key: `of${path.slice(1)}`}))
    users[path] = here.ownUser()
    assert.equal(globalThis.location.hash, '#/b/board')
    assert.equal(here.linkTo(here.home(), 'lesson'), `http://x${path}#/b/lesson`)
  }
  assert.equal(new Set(Object.values(users)).size, 3)
  await page('/a', storages)
  forgetAll()
  assert.notEqual((await page('/a', storages)).ownUser(), users['/a'])
  for (const path of ['/b', '/']) {
    const here = await page(path, storages)
    assert.equal(here.ownUser(), users[path])
    assert.ok(!here.isOwnRelay('another relay', {key: 'x'}), 'the relay that is known stays known')
  }
})
