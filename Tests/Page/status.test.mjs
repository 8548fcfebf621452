// The status page: what it makes of the relay's answers, and what it weighs. How it looks is for eyes.
import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {test} from 'node:test'
import {drawn, path, roundUp} from '../../Sources/RelayPage/page/status-hour.js'
import {bytesText, countText, holdsMuch, inOrder, load, rateText, ratesBetween, readStatus,
    spanText} from '../../Sources/RelayPage/page/status-numbers.js'
import {languages, speak} from '../../Sources/RelayPage/page/words/index.js'

const source = name => readFileSync(new URL(`../../Sources/RelayPage/page/${name}`, import.meta.url), 'utf8')
const files = ['status.html', 'status.css', 'status-numbers.js', 'status.js', 'status-hour.js']

/** Its own files with the words of one language; the client and what it shares with the whiteboard come on top. */
const servedBytesMax = 27 * 1024

const zero = Object.fromEntries([
  'messagesAccepted', 'messagesDelivered', 'messagesRecovered', 'packetsAccepted', 'packetsQueued', 'packetsShedSlow',
  'packetsShedExpired', 'packetsShedReader', 'packetsShedCatchingUp', 'packetsDiscarded',
  'packetsDroppedRate', 'directAccepted', 'refusals', 'credentialsWrong',
].map(name => [name, 0]))

test('[AC16] rates are what two answers differ by, over the relay\'s own time; none at first, and none over a restart', () => {
  const before = {uptimeMs: 10_000, counters: {...zero, messagesAccepted: 5, packetsQueued: 100}}
  const now = {uptimeMs: 12_000, counters: {...zero, messagesAccepted: 9, messagesDelivered: 6, packetsQueued: 400, packetsShedSlow: 2,
      packetsShedExpired: 3, packetsShedReader: 1, packetsShedCatchingUp: 6, packetsDiscarded: 8}}
  assert.deepEqual(ratesBetween(before, now), {'messages-in': 2, 'messages-out': 3, 'packets-in': 0, 'packets-out': 150, 'packets-lost': 10,
      refusals: 0})
  assert.deepEqual([ratesBetween(undefined, now), ratesBetween(now, before), ratesBetween(now, now)], [{}, {}, {}])
})

test('[AC16] who lags stands first, then who holds much, who is away last; a queue that is just being written is none that lags', () => {
  const user = (user, backlogMs, away = false, memoryBytes = 5_000) => ({user, backlogMs, away, memoryBytes})
  const users = [user('a', 0, true), user('b', 249), user('c', 250), user('d', 9_000), user('e', 0), user('f', 250)]
  assert.deepEqual(inOrder(users).map(({user}) => user), ['d', 'c', 'f', 'b', 'e', 'a'])
  assert.equal(users[0].user, 'a', 'the answer is as it was')
  const held = [user('g', 0, false, 6_000), user('h', 0, false, 9_000), user('i', 0, true, 999_999), user('j', 0, false, 1_000_000)]
  assert.deepEqual(inOrder([...users, ...held]).map(({user}) => user), ['d', 'c', 'f', 'j', 'i', 'h', 'b', 'e', 'g', 'a'])
  assert.deepEqual(held.map(holdsMuch), [false, false, false, true])
})

test('[AC16] all pages make one answer, with the first one\'s totals; beyond a thousand users it ends and says so', async () => {
  const page = (from, count, next) => ({uptimeMs: from, users: Array.from({length: count}, (_, at) => ({user: `${from + at}`})), next})
  const asked = []
  const moderation = pages => ({status: async ({after} = {}) => (asked.push(after), pages[after ?? ''])})
  const {uptimeMs, users, isCut} = await readStatus(moderation({'': page(0, 2, '1'), 1: page(2, 1, '2'), 2: page(3, 1)}))
  assert.deepEqual([uptimeMs, users.map(({user}) => user), isCut, asked], [0, ['0', '1', '2', '3'], false, [undefined, '1', '2']])
  const many = {status: async ({after = 0} = {}) => page(Number(after), 100, String(Number(after) + 100))}
  const cut = await readStatus(many)
  assert.deepEqual([cut.users.length, cut.isCut], [1_000, true])
})

const sample = (change = {}) => ({sessions: 0, lagging: 0, messagesIn: 0, messagesOut: 0, packetsIn: 0, packetsOut: 0, packetsLost: 0,
  bytesIn: 0, bytesOut: 0, memoryBytes: 0, ...change})

test('[AC16] of the last hour each thing is a chart with a round top, what happened in a minute per second', async () => {
  await speak('en', 'status/')
  const samples = [sample({sessions: 3, messagesOut: 600}), sample({sessions: 12, messagesIn: 120, memoryBytes: 31e6, bytesOut: 6e6})]
  const told = drawn(samples).map(({text, top, lines}) => [lines.map(({word}) => word).join(), text(top), lines.map(({values}) => values)])
  assert.deepEqual(told.slice(0, 3), [['sessions', '20', [[3, 12]]], ['lagging', '1', [[0, 0]]],
    ['messages.in,messages.out', '10 /s', [[0, 2], [10, 0]]]])
  assert.deepEqual(told.slice(3).map(([words, top]) => [words, top]),
      [['packets.in,packets.out,packets.lost', '1.0 /s'], ['bytes.in,bytes.out', '100.0 kB /s'], ['memory', '50.0 MB']])
  assert.equal(drawn(samples.map(one => ({...one, diskBytes: 7}))).at(-1).lines[0].word, 'disk', 'a relay in memory has none')
  assert.deepEqual([1, 1.1, 3, 6, 10, 0.3, 1_000, 1_001].map(roundUp), [1, 2, 5, 10, 10, 0.5, 1_000, 2_000])
})

test('[AC16] its lines end now, at the right edge, and begin at the left one when it is whole; one minute is a point', () => {
  assert.deepEqual([path([], 1), path([5], 10)], ['', 'M240.0 30.0h0'])
  assert.equal(path([0, 10], 10), 'M235.9 60.0L240.0 0.0')
  const whole = path(Array.from({length: 60}, () => 1), 1)
  assert.ok(whole.startsWith('M0.0 0.0L') && whole.endsWith('L240.0 0.0') && whole.split('L').length === 60)
})

test('numbers are written as the reader does', async () => {
  const spaced = texts => texts.map(text => text.replace(/\s/g, ' '))
  await speak('en', 'status/')
  assert.deepEqual([0, 999, 1_000, 1_500_000, 8_388_608, 5e12].map(bytesText),
      ['0 kB', '1.0 kB', '1.0 kB', '1.5 MB', '8.4 MB', '5,000.0 GB'])
  assert.deepEqual([0, 0.04, 3, 9.96, 12.4, 12_345.6].map(rateText), ['0', '0.0', '3.0', '10.0', '12', '12,346'])
  assert.deepEqual([250, 2_400, 32_000, 61_000, 7_325_000, 200_000_000].map(spanText),
      ['250 ms', '2.4 sec', '32 sec', '1 min 1 sec', '2 hr 2 min', '2 days 7 hr'])
  assert.deepEqual([countText(1), countText(1_234)], ['1', '1,234'])
  await speak('fr', 'status/')
  assert.deepEqual(spaced([bytesText(1_500_000), rateText(12_345.6), spanText(2_400), spanText(200_000_000)]),
      ['1,5 Mo', '12 346', '2,4 s', '2 j 7 h'])
  assert.deepEqual([load(0), load(8 * 1024 * 1024) > 0.99, load(1e12)], [0, true, 1])
})

test(`it weighs at most ${servedBytesMax} bytes, has nothing inline, and every part it speaks of is there`, context => {
  const texts = files.map(source)
  const sizes = Object.keys(languages).map(name => Buffer.byteLength(source(`words/status/${name}.js`)))
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), Math.max(...sizes))
  context.diagnostic(`${bytes} bytes`)
  assert.ok(bytes <= servedBytesMax, `${bytes} bytes`)
  const [html, , , script] = texts
  assert.doesNotMatch(html, /<style|style=|\bon[a-z]+=|<script(?![^>]*src=)/)
  const ids = new Set([...html.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id))
  const [block] = /const texts = {.*?\n {2}}\n/s.exec(script)
  const keys = [...block.matchAll(/(?<=[{,]\s+)'?([a-z-]+)'?: /g)].map(([, key]) => key)
  const named = [...keys, ...[...script.matchAll(/(?:\$|put)\('([^']+)'/g)].map(([, id]) => id)]
  assert.ok(named.length >= 10)
  assert.deepEqual(named.filter(id => !ids.has(id)), [])
  assert.deepEqual(Object.keys(ratesBetween({uptimeMs: 0, counters: zero}, {uptimeMs: 1, counters: zero})).filter(id => !ids.has(id)), [])
})
