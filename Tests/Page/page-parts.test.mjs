// What of the page is pure: records, undo, ink, live points, names, addresses, QR codes. A browser is needed for none of it.
import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, posix} from 'node:path'
import {test} from 'node:test'
import {deviceLink, spelled} from '../../Sources/RelayPage/page/devices.js'
import {explain, explainEnd} from '../../Sources/RelayPage/page/explain.js'
import {candidates, linkTo, readAddress} from '../../Sources/RelayPage/page/identity.js'
import {InkStroke} from '../../Sources/RelayPage/page/ink.js'
import {touches} from '../../Sources/RelayPage/page/kinds/index.js'
import {Live} from '../../Sources/RelayPage/page/live.js'
import {tint, titleOf} from '../../Sources/RelayPage/page/names.js'
import {qrCode} from '../../Sources/RelayPage/page/qr.js'
import {Records} from '../../Sources/RelayPage/page/records.js'
import {Undo} from '../../Sources/RelayPage/page/undo.js'
import {checkedName, ErrorCode, RelayError} from '../../Sources/RelayPage/relay-client.js'
import './support/english.mjs'

// MARK: Records

const payloadOf = (id, z = 1, x = 0) => `{"color":"#000000FF","cols":"xy","id":"${id}","points":[${x},0,5,5],"v":1,"width":300,"z":${z}}`
const record = (key, offset, payload = payloadOf(key)) =>
    ({isRetained: true, isRemoval: payload === '', key, offset, sender: 'bob', customType: 'stroke', payload})

/** A board, read up to offset 9, with the ids that went and came. */
function board() {
  const drawn = []
  const records = new Records(({gone, come}) => drawn.push([gone, come].map(list => list.map(({id}) => id))))
  const told = (...list) => {
    list.forEach(each => records.received(each))
    records.flush()
  }
  const own = (key, ...payload) => {
    const change = {key, customType: 'stroke', payload: payload.length ? payload[0] : payloadOf(key), author: 'me'}
    records.begin(change)
    records.flush()
    return change
  }
  const shown = () => records.ordered.map(({id}) => id)
  return {records, told, own, shown, drawn}
}

test('[BL3] an own stroke is shown at once; stored behind a reading and not above its head it is what was read', () => {
  const {records, own, shown} = board()
  const [gone, kept] = [own('gone'), own('kept')]
  assert.deepEqual(shown(), ['gone', 'kept'])
  records.caughtUp(9)
  records.ended(gone, 5)
  records.ended(kept, 10)
  records.flush()
  assert.deepEqual([shown(), records.offset, records.own.length], [['kept'], 10, 0])
})

test('[BL3] an own stroke that was removed before the reading came to its end is not shown from then on, whatever tells where it was', () => {
  const {records, own, shown} = board()
  const [before, behind, kept] = ['before', 'behind', 'kept'].map(key => own(key))
  records.accepted(before, 5)
  records.caughtUp(9)
  records.flush()
  assert.deepEqual(shown(), ['behind', 'kept'])
  records.accepted(behind, 6)
  records.accepted(kept, 10)
  records.flush()
  assert.deepEqual(shown(), ['kept'], 'not even until it is told stored')
  ;[[before, 5], [behind, 6], [kept, 10]].forEach(each => records.ended(...each))
  records.flush()
  assert.deepEqual([shown(), records.own.length], [['kept'], 0])
})

test('[BL5] an offset at which an own stroke was accepted and not stored is another’s after a restart: what comes behind it counts', () => {
  const {records, told, own} = board()
  records.caughtUp(50)
  const mine = own('s', payloadOf('s', 1, 7))
  // While the page catches up this moves no position: the relay that starts again with 90 durable goes on without a reset.
  records.accepted(mine, 100)
  told(record('s', 95, payloadOf('s', 1, 8)))
  records.ended(mine, 93)
  records.flush()
  assert.equal(records.get('s').payload, payloadOf('s', 1, 8))
  records.accepted(own('lost'), 101)
  records.ended(records.own[0])
  records.flush()
  assert.equal(records.get('lost'), undefined, 'nobody knows whether it is stored')
})

test('[MS3] of two records of one key the later counts, also under an own change that is not stored yet', () => {
  const {records, told, own} = board()
  records.caughtUp(0)
  const mine = own('s', payloadOf('s', 1, 7))
  records.accepted(mine, 3)
  assert.equal(records.get('s').payload, payloadOf('s', 1, 7))
  told(record('s', 4, payloadOf('s', 1, 8)), record('s', 2, payloadOf('s', 1, 9)))
  assert.equal(records.get('s').payload, payloadOf('s', 1, 8))
})

test('[BL4, BL6] a clear takes what is below it; a reset all that was told, and not what is still to be sent', () => {
  const {records, told, own, shown} = board()
  told(record('a', 1), record('a2', 2), record('a3', 2), record('b', 3))
  records.cleared(2)
  records.flush()
  assert.deepEqual(shown(), ['b'])
  records.accepted(own('mine'), 4)
  records.reset()
  records.flush()
  assert.deepEqual([shown(), records.offset, records.isReading], [['mine'], 0, true])
  told(record('mine', 7, payloadOf('mine', 1, 9)))
  assert.equal(records.get('mine').payload, payloadOf('mine'), 'its old offset says nothing in the new numbering')
})

test('[BL4] what was stored while a board was read is void with a reset', () => {
  const {records, own, shown} = board()
  records.ended(own('mine'), 5)
  records.flush()
  records.reset()
  records.caughtUp(2)
  records.flush()
  assert.deepEqual(shown(), [])
})

test('a refused stroke goes; a refused removal brings back what it took', () => {
  const {records, told, own, shown} = board()
  told(record('a', 1))
  const [removal, stroke] = [own('a', undefined), own('c')]
  assert.deepEqual(shown(), ['c'])
  records.ended(removal)
  records.ended(stroke)
  records.flush()
  assert.deepEqual(shown(), ['a'])
})

test('told is what went and what came, and no more; layers go by z, then id', () => {
  const {records, told, own, shown, drawn} = board()
  records.caughtUp(0)
  const [gone, come] = [(...ids) => [ids, []], (...ids) => [[], ids]]
  told(record('b', 1, payloadOf('b', 5)))
  told(record('c', 2, payloadOf('c', 5)), record('a', 3, payloadOf('a', 6)))
  told(record('d', 4, payloadOf('d', 2)))
  assert.deepEqual(shown(), ['d', 'b', 'c', 'a'])
  told(record('c', 5, payloadOf('c', 9)))
  told(record('b', 6, ''))
  const mine = own('e', payloadOf('e', 1))
  assert.deepEqual(shown(), ['e', 'd', 'a', 'c'])
  records.accepted(mine, 7)
  records.ended(mine, 7)
  records.flush()
  assert.deepEqual(drawn, [come('b'), come('c', 'a'), come('d'), [['c'], ['c']], gone('b'), come('e')], 'what is stored looks as it did')
  assert.equal(records.elements.get('e').records[0].offset, 7)
})

// MARK: Undo

test('undo and redo write what was before and after; a step that others have overtaken is passed over', () => {
  const now = new Map()
  const undo = new Undo()
  const write = list => list.forEach(({key, record}) => record ? now.set(key, record) : now.delete(key))
  const draw = (key, text) => {
    const after = {customType: 'stroke', payload: text}
    undo.add([{key, before: now.get(key), after}])
    now.set(key, after)
  }
  const records = {isReading: false, get: key => now.get(key)}
  draw('a', '1')
  draw('b', '1')
  draw('a', '2')
  write(undo.undo(records))
  assert.equal(now.get('a').payload, '1')
  write(undo.redo(records))
  assert.equal(now.get('a').payload, '2')
  now.delete('b')
  write(undo.undo(records))
  assert.deepEqual(undo.undo(records).map(({key, record}) => [key, record]), [['a', undefined]],
      'b was erased by somebody: nothing of it to undo')
  draw('c', '1')
  assert.deepEqual(undo.redo(records), [], 'what was drawn since ends the way back')
})

test('a step that finds nothing as it left it stays for later; of a board that is being read nothing is taken back', () => {
  const undo = new Undo()
  const after = {customType: 'stroke', payload: '1'}
  const keys = writes => writes.map(({key}) => key)
  const records = {isReading: false, get: key => records.board?.[key]}
  for (const key of ['a', 'b']) undo.add([{key, after}])
  assert.deepEqual(undo.undo(records), [], 'somebody has cleared the board')
  records.board = {a: after}
  assert.deepEqual(keys(undo.undo(records)), ['a'], 'b is not there')
  records.board = {b: after}
  records.isReading = true
  assert.deepEqual(undo.undo(records), [])
  records.isReading = false
  assert.deepEqual(keys(undo.undo(records)), ['b'])
  assert.deepEqual(undo.undo(records), [])
})

test('one’s own clear is a step back, once, and none forward', () => {
  const undo = new Undo()
  const after = {customType: 'stroke', payload: '1'}
  const records = {isReading: false, get: () => after}
  undo.add([{key: 'a', after}])
  const step = [{isClear: true}]
  undo.add(step)
  assert.deepEqual(undo.undo(records).map(({isClear}) => isClear), [true])
  assert.deepEqual(undo.redo(records), [])
  assert.ok(!undo.take(step), 'it has been taken back')
  undo.add(step)
  assert.ok(undo.take(step))
  assert.deepEqual(undo.undo(records).map(({key}) => key), ['a'])
})

// MARK: Ink

test('ink goes through the pen’s first and last place, bends without corners, and is the same live and kept', () => {
  const stroke = new InkStroke({color: '#000000FF', width: 300, hasPressure: true, scale: 1})
  const live = []
  for (let step = 0; step <= 12; step++) {
    const angle = step / 12 * Math.PI
    stroke.add(200 - 100 * Math.cos(angle), 100 * Math.sin(angle), 0.5)
    live.push(...stroke.xy.slice(live.length))
  }
  stroke.arrive()
  assert.deepEqual(stroke.xy.slice(0, live.length), live, 'what was shown is not changed')
  assert.deepEqual([stroke.xy.slice(0, 2), stroke.xy.slice(-2)], [[10_000, 0], [30_000, 0]])
  assert.equal(stroke.pressure.length, stroke.xy.length / 2)
  const turns = []
  for (let at = 4; at < stroke.xy.length - 8; at += 2) {
    const [ax, ay, bx, by] = [stroke.xy[at] - stroke.xy[at - 2], stroke.xy[at + 1] - stroke.xy[at - 1], stroke.xy[at + 2] - stroke.xy[at],
        stroke.xy[at + 3] - stroke.xy[at + 1]]
    turns.push(Math.abs(Math.atan2(ax * by - ay * bx, ax * bx + ay * by)))
  }
  // Straight lines between 13 events on a half circle turn by 0.26 each; the last one, to the pen, may.
  assert.ok(Math.max(...turns.slice(0, -3)) < 0.15, `${Math.max(...turns)}`)
})

test('a tap is one point; a pen that rests makes no points', () => {
  const stroke = new InkStroke({color: '#000000FF', width: 300, scale: 1})
  for (let count = 0; count < 50; count++) stroke.add(5 + count % 2 / 10, 5, 0.5)
  stroke.arrive()
  assert.ok(stroke.xy.length <= 4, `${stroke.xy}`)
})

test('what is seen of a line ends where the pen is, however fast that is; what others get trails, and is not changed by it', () => {
  for (const hasPressure of [false, true]) {
    const stroke = new InkStroke({color: '#000000FF', width: 300, hasPressure, scale: 1})
    const away = ({xy}, x) => Math.hypot(xy.at(-2) / 100 - x, xy.at(-1) / 100 - 10)
    for (let event = 0; event < 30; event++) {
      const x = event * 2_000 / 60
      stroke.add(x, 10, event / 30)
      const {xy, pressure} = stroke.shown()
      assert.ok(away({xy}, x) < 0.01, `${away({xy}, x)} px at ${x}`)
      assert.deepEqual(xy.slice(0, stroke.xy.length), stroke.xy)
      assert.equal(pressure?.length, hasPressure ? xy.length / 2 : undefined)
      if (event > 5) assert.ok(away(stroke, x) > 30, 'the points of the record trail')
    }
    const last = 29 * 2_000 / 60
    stroke.ahead = [{x: last + 9, y: 12, p: 1}, {x: last + 20, y: 10, p: 1}]
    assert.ok(away(stroke.shown(), last + 20) < 0.01, 'where the browser expects the pen')
    stroke.arrive()
    assert.ok(away(stroke, last) < 0.01, 'the record ends where the pen is')
  }
})

test('a line arrives at a pen that rests, and goes on from there', () => {
  const stroke = new InkStroke({color: '#000000FF', width: 300, scale: 1})
  for (const x of [0, 30, 60]) stroke.add(x, 0, 0.5)
  stroke.arrive()
  const {length} = stroke.xy
  assert.deepEqual(stroke.xy.slice(-2), [6_000, 0])
  stroke.arrive()
  assert.equal(stroke.xy.length, length, 'resting on makes no points')
  for (const y of [30, 60]) stroke.add(60, y, 0.5)
  stroke.arrive()
  assert.deepEqual(stroke.xy.slice(-2), [6_000, 6_000])
  const steps = Array.from({length: stroke.xy.length / 2 - 1}, (_, at) =>
    Math.hypot(stroke.xy[2 * at + 2] - stroke.xy[2 * at], stroke.xy[2 * at + 3] - stroke.xy[2 * at + 1]))
  assert.ok(Math.max(...steps) < 3_000, 'without a gap')
})

test('an eraser touches a line between its points, as wide as it is, and nothing beside it', () => {
  const line = {type: 'stroke', box: [0, -100, 10_000, 100], parts: [{width: 200, xy: [0, 0, 10_000, 0]}]}
  assert.deepEqual([[5_000, 90], [5_000, 240], [5_000, 260], [10_300, 0]].map(([x, y]) => touches(line, x, y, 150)),
      [true, true, false, false])
})

// MARK: Live points

test('live points join where none is missing, leave a gap where one is, and go with their author', () => {
  const live = new Live(() => {})
  const points = (first, ...list) => live.packet({topic: 'points', publisher: 'bob',
      payload: JSON.stringify({color: '#000000FF', cols: 'xy', first, id: 's', points: list, v: 1, width: 3})}, id => id === 'done', 0)
  points(0, 1, 1, 1, 1)
  points(2, 3, 3)
  points(5, 9, 9)
  assert.deepEqual(live.strokes.get('s').parts.map(({xy}) => xy), [[1, 1, 2, 2, 3, 3], [9, 9]])
  assert.deepEqual([...live.cursors.values()], [{user: 'bob', x: 9, y: 9, at: 0}])
  live.packet({topic: 'points', publisher: 'bob',
      payload: '{"color":"#000000FF","cols":"xy","first":0,"id":"done","points":[1,1],"v":1,"width":3}'}, id => id === 'done', 0)
  assert.equal(live.strokes.size, 1, 'what is finished is not shown again')
  live.left('carol')
  assert.equal(live.strokes.size, 1)
  live.left('bob')
  assert.deepEqual([live.strokes.size, live.cursors.size], [0, 0])
})

test('of a person with two devices each has a line and a cursor; one goes, and the other stays', () => {
  const live = new Live(() => {})
  const packet = (topic, device, body) =>
      live.packet({topic, publisher: 'bob', device, payload: JSON.stringify({...body, v: 1})}, () => false, 0)
  const draw = (device, x) =>
      packet('points', device, {color: '#000000FF', cols: 'xy', first: 0, id: `by-${device}`, points: [x, x], width: 3})
  const shown = () => [[...live.strokes.keys()], [...live.cursors.values()].map(({user, x}) => [user, x])]
  draw('aa', 1)
  draw('bb', 2)
  assert.deepEqual(shown(), [['by-aa', 'by-bb'], [['bob', 1], ['bob', 2]]])
  packet('cursors', 'bb', {})
  assert.deepEqual(shown()[1], [['bob', 1]], 'a pen that is lifted is that of its device')
  draw('bb', 2)
  live.left('bob', 'aa')
  assert.deepEqual(shown(), [['by-bb'], [['bob', 2]]])
  live.left('bob')
  assert.deepEqual(shown(), [[], []], 'who has gone has gone with all devices')
})

test('what one publisher can have a page keep is bounded: the oldest goes, and nothing of others', () => {
  const live = new Live(() => {})
  const publish = (publisher, id, first, count) => live.packet({topic: 'points', publisher, payload: JSON.stringify({
    color: '#000000FF', cols: 'xyp', first, id, points: Array.from({length: count}, (_, at) => at ? [1, 1, 0] : [first, first, 9]).flat(),
    v: 1, width: 3})}, () => false, 0)
  const pointsOf = publisher => [...live.strokes.values()].filter(stroke => stroke.publisher === publisher).flatMap(({parts}) => parts)
      .reduce((sum, {xy}) => sum + xy.length / 2, 0)
  publish('bob', 'his', 0, 2)
  for (let first = 0; first < 200_000; first += 200) publish('eve', 'long', first, 200)
  assert.ok(pointsOf('eve') < 80_000, `${pointsOf('eve')}`)
  const {parts} = live.strokes.get('long')
  assert.deepEqual(parts.at(-1).xy.slice(-2), [199_999, 199_999], 'the newest is kept')
  parts.forEach(({xy, pressure, first}, at) => {
    assert.deepEqual([xy[0], pressure.length], [first, xy.length / 2])
    if (at > 0) assert.deepEqual(xy.slice(0, 2), parts[at - 1].xy.slice(-2), 'no gap where none is missing')
  })
  for (let count = 0; count < 600; count++) publish('eve', `s${count}`, 0, 100)
  assert.ok([...live.strokes.keys()].length <= 101 && pointsOf('eve') <= 80_000, `${live.strokes.size}`)
  assert.ok(live.strokes.has('s599') && !live.strokes.has('long'))
  for (let first = 0; first < 100_000; first += 2) publish('eve', 'gaps', first, 1)
  assert.ok(live.strokes.get('gaps').parts.length <= 100)
  assert.deepEqual([pointsOf('bob'), pointsOf('eve') <= 80_000], [2, true])
})

// MARK: Addresses, names, words

test('a link leads to its board and key, and the key of a host stays with the host', () => {
  for (const credential of [undefined, {key: 'a&b=c#d'}]) {
    const {hash} = new URL(linkTo('http://192.168.1.5:7420/', 'our board?', credential))
    const read = readAddress(hash)
    assert.deepEqual([read.board, read.credential?.key], ['our board?', credential?.key])
  }
  assert.deepEqual(readAddress('#key=host&j=guest').credential, {key: 'host', guestKey: 'guest'})
  assert.match(linkTo('http://x/', 'b', {key: 'host', guestKey: 'guest'}), /\?k=guest$/)
  assert.equal(linkTo('http://x/', 'b', {token: 'a.b.c'}), 'http://x/#/b/b', 'a token is for one person')
  const own = deviceLink('http://x/', 'our board?', {key: 'ho/st', guestKey: 'guest'}, '3J7XQ0M9TZ')
  assert.deepEqual(readAddress(new URL(own).hash),
      {board: 'our board?', credential: {key: 'ho/st', guestKey: 'guest'}, code: '3J7XQ-0M9TZ'}, 'the rights go with the person')
  assert.equal(deviceLink('http://x/', 'b', undefined, '3J7XQ0M9TZ'), 'http://x/#/b/b?code=3J7XQ-0M9TZ')
  const keys = {key: 'k'.repeat(26), guestKey: 'k'.repeat(26)}
  assert.ok(qrCode(deviceLink('http://192.168.100.100:7420/', 'brisk-otter-417', keys, '3J7XQ0M9TZ')), 'there is room for it')
  assert.equal(spelled('3J7XQ0M9TZ'), '3J7XQ-0M9TZ')
  assert.deepEqual(['#/b/_x', '#/b/%E0', '#/b/', ''].map(hash => readAddress(hash).board), [undefined, undefined, undefined, undefined])
})

test('a tab takes its own id again, then one with strokes that are not sent', () => {
  assert.deepEqual(candidates(['a', 'b', 'c'], 'c', id => id === 'b'), ['c', 'b', 'a'])
  assert.deepEqual(candidates(['a'], null, () => false), ['a'])
})

test('a board without a title is called after its name; a person has a colour', () => {
  assert.equal(titleOf('quiet-otter-417'), 'Quiet Otter 417')
  assert.match(tint('x'), /^#[0-9A-F]{6}$/)
})

test('words: errors with what to do, and which end wants what', () => {
  assert.match(explain(new RelayError(ErrorCode.boardFull, 'x')), /full/)
  assert.match(explain(new Error('odd')), /odd/)
  const end = code => Object.keys(explainEnd({kind: 'loginRefused', error: new RelayError(code, 'x')}))
      .filter(key => explainEnd({kind: 'loginRefused', error: new RelayError(code, 'x')})[key])
  assert.deepEqual([end(ErrorCode.keyWrong)[0], end(ErrorCode.userIDTaken)[0]], ['key', 'isUserTaken'])
  assert.ok(explainEnd({kind: 'relayClosed', code: ErrorCode.replaced}).isReplaced)
  assert.match(explainEnd({kind: 'loginRefused', error: new RelayError(ErrorCode.limitReached, 'x')}).text, /eight devices/)
  assert.equal(explainEnd({kind: 'relayClosed', code: ErrorCode.endedByModerator, text: 'Be kind, Dora.'}).text,
    'The host has ended your visit: Be kind, Dora.')
})

// MARK: As it is served

const folder = new URL('../../Sources/RelayPage/page/', import.meta.url)
const files = readdirSync(folder, {recursive: true}).filter(name => name.includes('.'))
    .map(name => ({name, text: readFileSync(new URL(name, folder), 'utf8')}))

test('every file of the page asks nobody else, and needs no secure context', () => {
  assert.ok(files.length > 15)
  for (const {name, text} of files.filter(({name}) => name.endsWith('.js'))) {
    assert.doesNotMatch(text, /crypto\.subtle|randomUUID|serviceWorker|navigator\.(?!languages)|innerHTML|\beval\b/, name)
    // What is wanted later comes later, from the same relay; words.test.mjs counts the files of languages.
    const isThere = from => from === './${part}${name}.js' || files.some(file => file.name === posix.join(posix.dirname(name), from))
    for (const [, from] of text.matchAll(/\bimport\(([^)]*)/g)) {
      assert.ok(/^['`]\./.test(from) && isThere(from.slice(1, -1)), `${name}: ${from}`)
    }
    for (const [, from] of text.matchAll(/^import .* from '(.*)'$/gm)) {
      const ofClient = from.match(/^(?:\.\.\/)+((?:client\/[\w-]+|relay-client)\.js)$/)?.[1]
      assert.ok(ofClient ? existsSync(new URL(`../${ofClient}`, folder)) : isThere(from), `${name}: ${from}`)
    }
  }
  const {text} = files.find(({name}) => name === 'index.html')
  assert.doesNotMatch(text, /<script(?! type="module" src="\/page\/)|<style|\sstyle=|\son\w+=/, 'the content policy forbids it')
  const ids = [...text.matchAll(/\sid="([\w-]+)"/g)].map(([, id]) => id)
  assert.equal(new Set(ids).size, ids.length)
  const code = files.map(({text}) => text).join('\n')
  for (const [, id] of code.matchAll(/\$\('([\w-]+)'\)/g)) {
    const made = new RegExp(`\\bid[=:] ?["']${id}["']|'?${id}'?: 'menu\\.`)
    assert.ok(ids.includes(id) || made.test(code), `there is no #${id}`)
  }
})

// MARK: QR codes

const hasZbar = spawnSync('zbarimg', ['--version']).status === 0

test('a reader of QR codes reads each length’s code', {skip: hasZbar || process.env.CI ? false : 'there is no zbarimg (Debian: zbar-tools)'}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-qr-'))
  try {
    for (const length of [1, 14, 15, 26, 42, 62, 84, 106, 122, 152, 180, 213]) {
      const text = 'http://192.168.1.5:7420/#/b/quiet-otter-417?k=c4tnapx5e2qzt6mlw7rbd3kvfy'.repeat(3).slice(0, length)
      const rows = qrCode(text)
      const side = (rows.length + 8) * 4
      const pixels = Buffer.alloc(side * side, 255)
      rows.forEach((row, y) => row.forEach((isDark, x) => {
        for (let dot = 0; isDark && dot < 16; dot++) pixels[((y + 4) * 4 + (dot >> 2)) * side + (x + 4) * 4 + dot % 4] = 0
      }))
      const file = join(folder, `${length}.pgm`)
      writeFileSync(file, Buffer.concat([Buffer.from(`P5 ${side} ${side} 255\n`), pixels]))
      assert.equal(spawnSync('zbarimg', ['-q', '--raw', file], {encoding: 'utf8'}).stdout.trim(), text)
    }
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
  assert.equal(qrCode('x'.repeat(214)), undefined)
})
