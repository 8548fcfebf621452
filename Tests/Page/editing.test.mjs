// What is done with what is chosen: chosen by hand, moved by keys, resized by handles, copied, protected: one change, and one step back.
import assert from 'node:assert/strict'
import {mock, test} from 'node:test'
import {copies, read, written} from '../../Sources/RelayPage/page/clipboard.js'
import {Editing} from '../../Sources/RelayPage/page/editing.js'
import {grown, handleAt, handlesOf, pulled} from '../../Sources/RelayPage/page/tools/handles.js'
import {lift} from '../../Sources/RelayPage/page/tools/select.js'
import {MemoryStorage} from './support/memory-storage.mjs'
import {PlayedHand} from './support/played-hand.mjs'

const lineAt = (id, y, z, more = {}) =>
  JSON.stringify({color: '#000000FF', cols: 'xy', id, points: [0, y * 100, 10_000, 0], v: 1, width: 300, z, ...more})

/** A board whose changes stand at once; a toast is an element of `toasts`. */
function board(strokes = {a: lineAt('a', 0, 1), b: lineAt('b', 100, 2), c: lineAt('c', 200, 3)}, {mine} = {}) {
  const hand = new PlayedHand({strokes, mine})
  const {tools, records, session, undo} = hand
  let offset = 100
  const apply = changes => {
    if (changes.length === 0) return
    hand.written.push(changes)
    for (const {key, record} of changes) {
      records.received({isRetained: true, key, offset: ++offset, sender: 'me', customType: record?.customType, payload: record?.payload,
        isRemoval: !record})
    }
    records.flush()
  }
  Object.assign(session, {writeAll: apply, write: (key, record) => apply([{key, record}])})
  Object.assign(hand.canvas, {window: [-50_000, -50_000, 50_000, 50_000]})
  tools.tool = 'select'
  const toasts = []
  globalThis.document.createElement = () => ({append() {}, remove() {}, getContext() {}, children: [],
    set textContent(text) { toasts.push(text) }})
  const box = {children: [], append() {}}
  globalThis.document.getElementById = () => box
  const styles = {
    pen: {color: '#D92D20FF', width: 700}, marker: {color: '#D92D2059', width: 2_800}, text: {color: '#1B1B1BFF', size: 2_600},
  }
  const editing = new Editing({
    hands: tools, storage: new MemoryStorage(), choose: tool => { tools.tool = tool }, style: tool => styles[tool], lift, undo() {},
  })
  const say = id => JSON.parse(records.elements.get(id).sources[0])
  const turn = writes => session.writeAll(writes)
  return {hand, tools, records, undo, editing, toasts, say, turn, choose: (...ids) => tools.choose(ids.map(id => ({id})))}
}
const chosen = ({tools}) => [...tools.selection].sort().join('')
/** A press with the mouse, held keys given. */
function press({hand}, x, y, keys = {}, ...more) {
  const at = ([clientX, clientY], type) => hand.handlers.get(`pointer${type}`)({
    pointerId: 1, pointerType: 'mouse', clientX, clientY, button: 0, buttons: 1, pressure: 0.5,
    timeStamp: performance.now(), preventDefault() {}, type: `pointer${type}`, ...keys,
  })
  const places = [[x, y], ...more]
  at(places[0], 'down')
  for (const place of places.slice(1)) at(place, 'move')
  at(places.at(-1), 'up')
}

test('with Shift a press adds to what is chosen and takes from it, and a frame adds', () => {
  const one = board()
  press(one, 50, 0)
  press(one, 50, 100, {shiftKey: true})
  assert.equal(chosen(one), 'ab')
  press(one, 50, 0, {shiftKey: true})
  assert.equal(chosen(one), 'b')
  press(one, -20, 180, {shiftKey: true}, [130, 220])
  assert.equal(chosen(one), 'bc')
  press(one, 400, 400, {shiftKey: true})
  assert.equal(chosen(one), 'bc', 'a press beside all of it is no mistake that costs what was chosen')
  press(one, 400, 400)
  assert.equal(chosen(one), '')
  one.editing.selectAll()
  assert.equal(chosen(one), 'abc')
})

test('what is protected is not chosen with others, moved, erased or removed; a press chooses it alone, to be unlocked', () => {
  const strokes = {a: lineAt('a', 0, 1, {locked: true}), b: lineAt('b', 100, 2), x: lineAt('x', 300, 4, {locked: true})}
  const one = board(strokes, {mine: id => id !== 'x'})
  one.editing.selectAll()
  assert.equal(chosen(one), 'b')
  press(one, 50, 0, {}, [50, 40])
  assert.deepEqual([one.hand.written.length, chosen(one)], [0, ''], 'a hand that drags from it draws a frame')
  press(one, 50, 0)
  assert.equal(chosen(one), 'a')
  one.tools.removeChosen()
  assert.equal(one.records.elements.size, 3)
  one.tools.tool = 'eraser'
  press(one, 50, -20, {}, [50, 20])
  assert.equal(one.records.elements.size, 3)
  one.tools.tool = 'select'
  press(one, 50, 300)
  assert.equal(chosen(one), '', 'another’s cannot be unlocked')
  press(one, 50, 0)
  one.editing.protect()
  assert.deepEqual([one.say('a').locked, chosen(one), one.undo.done.length], [undefined, 'a', 1])
  one.editing.protect()
  assert.deepEqual([one.say('a').locked, chosen(one)], [true, ''])
  one.editing.protect()
  assert.equal(chosen(one), 'a', 'with nothing chosen all that may be unlocked is')
})

test('an element in parts is protected if one of its records is; what is no truth value is no record', () => {
  const part = (number, more) => lineAt('p', 0, 1, {part: number, parts: 2, ...more})
  const {records: {elements}} = board({
    p: part(1, {}), 'p.2': part(2, {locked: true}), n: lineAt('n', 50, 2, {locked: 1}), f: lineAt('f', 90, 3, {locked: null}),
  })
  assert.deepEqual([elements.get('p').isLocked, elements.has('n'), elements.get('f').isLocked], [true, false, false])
})

test('arrow keys move by 1 and 10 px: shown at once, few changes, one step back; another selection is another step', () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const one = board()
    one.choose('a', 'b')
    for (let at = 0; at < 1_200; at += 40) {
      one.editing.nudge(at ? 1 : 10, 0, at)
      mock.timers.tick(40)
    }
    one.editing.settle()
    assert.deepEqual([one.say('a').points[0], one.say('b').points[0], one.say('c').points[0]], [3_900, 3_900, 0])
    assert.ok(one.hand.written.length >= 4 && one.hand.written.length <= 6, `${one.hand.written.length} change sets`)
    assert.equal(one.undo.done.length, 1)
    one.choose('b')
    one.editing.nudge(0, -1, 1_240)
    mock.timers.tick(300)
    assert.deepEqual([one.undo.done.length, one.say('b').points[1]], [2, 9_900])
    one.turn(one.undo.undo(one.records))
    one.turn(one.undo.undo(one.records))
    assert.deepEqual([one.say('a').points.slice(0, 2), one.say('b').points.slice(0, 2)], [[0, 0], [0, 10_000]])
    one.choose('c')
    one.editing.nudge(1, 0, 2_000)
    one.records.received({isRetained: true, isRemoval: true, key: 'c', offset: 900, sender: 'bob', payload: ''})
    one.records.flush()
    mock.timers.tick(300)
    assert.ok(!one.records.elements.has('c'), 'what somebody has removed meanwhile does not come back')
  } finally {
    mock.timers.reset()
  }
})

const square = (id, more = {}) => lineAt(id, 0, 1, {points: [0, 0, 10_000, 10_000], width: 100, ...more})
/** Presses of keys, 40 ms apart. */
function resized(one, at, ...steps) {
  for (const [dx, dy] of steps) {
    one.editing.resize(dx, dy, at += 40)
    mock.timers.tick(40)
  }
}

test('keys make things larger and smaller: shown at once, few changes, one step back for a run, and nothing is lost by going back and forth', () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const one = board({a: square('a', {points: [0, 0, 3_333, 1_111, 6_667, 8_889]}), b: square('b')})
    const before = one.say('a')
    const told = []
    one.editing.sized = elements => told.push(elements.map(({id}) => id).join())
    one.choose('a')
    resized(one, 0, ...Array(9).fill([-10, 0]), ...Array(9).fill([0, 10]), ...Array(9).fill([10, 0]), ...Array(8).fill([0, -10]))
    assert.equal(one.undo.done.length, 1)
    mock.timers.tick(300)
    assert.deepEqual(one.say('a').points, [0, 5, 3_333, 1_221, 6_667, 9_769], 'only the last press of the way down is left: 10 px')
    assert.ok(one.hand.written.length >= 4 && one.hand.written.length <= 7, `${one.hand.written.length} change sets`)
    assert.deepEqual([one.undo.done.length, new Set(told)], [1, new Set(['a'])])
    one.turn(one.undo.undo(one.records))
    assert.deepEqual(one.say('a'), before)
    resized(one, 2_000, [10, 0])
    mock.timers.tick(300)
    one.editing.nudge(1, 0, 2_400)
    one.editing.resize(10, 0, 2_440)
    mock.timers.tick(300)
    assert.equal(one.undo.done.length, 3, 'keys of another kind begin another step')
    one.choose('b')
    resized(one, 3_000, [1, 0])
    one.records.received({isRetained: true, key: 'b', offset: 900, sender: 'bob', customType: 'stroke', payload: square('b', {z: 7})})
    one.records.flush()
    mock.timers.tick(300)
    const {z, points} = JSON.parse(one.hand.written.at(-1)[0].record.payload)
    assert.deepEqual([z, points[2]], [7, 10_100], 'what somebody has changed meanwhile stays changed')
  } finally {
    mock.timers.reset()
  }
})

test('keys make nothing smaller than a handle can, and resize nothing that is protected or another’s', () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const one = board({a: square('a'), l: square('l', {locked: true}), x: square('x')}, {mine: id => id !== 'x'})
    one.choose('l', 'x')
    resized(one, 0, [10, 0])
    mock.timers.tick(300)
    assert.equal(one.hand.written.length, 0)
    one.choose('a')
    resized(one, 1_000, ...Array(30).fill([-10, 0]), [10, 0])
    mock.timers.tick(300)
    const [{box: [left, , right]}] = one.tools.chosen
    assert.ok(right - left > 1_000 && right - left < 1_200, `${right - left}: a press back counts at once`)
  } finally {
    mock.timers.reset()
  }
})

test('the front and the back keep the order of what is brought there', () => {
  const one = board()
  one.choose('b', 'a')
  one.editing.toFront()
  assert.deepEqual(one.records.ordered.map(({id}) => id), ['c', 'a', 'b'])
  one.choose('c', 'b')
  one.editing.toBack()
  assert.deepEqual(one.records.ordered.map(({id}) => id), ['c', 'b', 'a'])
  assert.deepEqual([one.hand.written.length, one.undo.done.length], [2, 2])
})

test('what is chosen gets another colour or width and keeps how much shines through; what is alike is not written', () => {
  const one = board({a: lineAt('a', 0, 1), m: lineAt('m', 100, 2, {color: '#00000059'})})
  assert.equal(one.editing.restyle({color: 'D92D20'}), false)
  one.choose('a', 'm')
  one.editing.restyle({color: 'D92D20'})
  one.editing.restyle({width: 700})
  assert.deepEqual(['a', 'm'].map(id => [one.say(id).color, one.say(id).width]), [['#D92D20FF', 700], ['#D92D2059', 2_800]])
  assert.equal(one.editing.restyle({width: 700}), true)
  assert.deepEqual([one.hand.written.length, one.undo.done.length], [2, 2])
})

test('a copy is text of an exported board; it is pasted with other ids, above all, beside what is there or in the middle of the window', async () => {
  const one = board()
  assert.equal(one.editing.copy(), undefined)
  one.choose('c', 'a')
  const text = one.editing.copy()
  assert.deepEqual(text.split('\n').length, 5)
  assert.deepEqual(JSON.parse(text).records.map(({key, customType}) => [key, customType]), [['a', 'stroke'], ['c', 'stroke']])
  await one.editing.paste(text)
  await one.editing.paste(text)
  const ordered = one.records.ordered
  assert.deepEqual([ordered.length, new Set(ordered.map(({id}) => id)).size, one.undo.done.length], [7, 7, 2])
  const places = ordered.slice(3).map(({parts: [{xy}]}) => [xy[0], xy[1]])
  assert.deepEqual(places, [[1_600, 1_600], [1_600, 21_600], [3_200, 3_200], [3_200, 23_200]])
  assert.deepEqual(ordered.map(({z}) => z), [1, 2, 3, 4, 5, 6, 7])
  assert.deepEqual([...one.tools.selection], ordered.slice(5).map(({id}) => id))
  const other = board({})
  other.hand.canvas.window = [1e6, 1e6, 1_100_000, 1_100_000]
  await other.editing.paste(text)
  const middle = other.records.ordered.map(({parts: [{xy}]}) => [(xy[0] + xy[2]) / 2, xy[1]])
  assert.deepEqual(middle, [[1_050_000, 1_040_000], [1_050_000, 1_060_000]])
})

test('what is pasted may be from anywhere: other records are left out, no ids are believed, nothing leaves the range', async () => {
  const one = board({})
  const record = (customType, payload) => ({customType, key: 'k', text: payload})
  const paste = records => one.editing.paste(JSON.stringify({format: 'board', version: 1, records}))
  const stroke = (...line) => record('stroke', lineAt(...line))
  await paste([null, 7, record('title', '{"text":"x","v":1}'), record('toString', '{}'), record('stroke', '{'), stroke('_', 0, 0),
    {customType: 'stroke', base64: 'AQID'}])
  assert.deepEqual([one.records.elements.size, one.hand.written.length], [0, 0])
  await paste([stroke('_no', 0, 0), stroke('far', 0, 0, {points: [1e9, 0]}), stroke('a', 0, 0, {locked: true})])
  const [element, ...rest] = one.records.ordered
  assert.ok(element.id !== 'a' && !element.isLocked && rest.length <= 1)
  const far = {key: 'a', customType: 'stroke', payload: lineAt('a', 0, 0, {points: [1e9, 0]})}
  assert.deepEqual(copies(read(written([{records: [far]}])), [1, 0], 1, () => 'n'), [])
  const before = one.records.elements.size
  await paste(Array.from({length: 4_097}, (_, at) => record('stroke', lineAt(`s${at}`, 0, 0))))
  assert.equal(one.records.elements.size, before)
})

test('words are pasted as a text in the middle of the window; too many are not cut', async () => {
  const one = board({})
  await one.editing.paste('Ink\r\nis {not} JSON\n')
  const [{text, size, color}] = one.records.ordered
  assert.deepEqual([text, size, color], ['Ink\nis {not} JSON', 2_600, '#1B1B1BFF'])
  await one.editing.paste('x'.repeat(100_000))
  await one.editing.paste('   ')
  assert.equal(one.records.elements.size, 1)
  one.hand.session.mayDraw = false
  await one.editing.paste('Ink')
  assert.equal(one.records.elements.size, 1)
})

test('a duplicate lies beside, above and is chosen; strokes in parts stay one', () => {
  const part = number => lineAt('p', 0, 1, {part: number, parts: 2})
  const one = board({p: part(1), 'p.2': part(2)})
  one.choose('p')
  one.editing.duplicate()
  const [, copy] = one.records.ordered
  assert.deepEqual([one.records.elements.size, copy.parts.length, copy.z, chosen(one)], [2, 2, 2, copy.id])
})

test('a handle takes its sides along; corners keep proportions where they are told to, and nothing turns over', () => {
  const box = [0, 0, 10_000, 5_000]
  assert.equal(handlesOf([0, 0, 10_000, 4_000], 100).length, 6, 'a side that is short has no handle of its own')
  assert.equal(handlesOf([0, 0, 10_000, 10_000], 100).length, 8)
  assert.deepEqual(handleAt(box, {x: 10_600, y: 5_500}, 800, 100).sides, [1, 1])
  assert.equal(handleAt([0, 0, 1_000, 1_000], {x: 500, y: 500}, 2_200, 100), undefined, 'small things can be moved')
  assert.equal(handleAt(box, {x: 5_000, y: 100}, 800, 100), undefined, 'a mouse within the box moves it')
  assert.deepEqual(pulled(box, [1, 1], [10_000, 0], false), [0, 0, 20_000, 5_000])
  assert.deepEqual(pulled(box, [-1, -1], [-10_000, -5_000], true), [-10_000, -5_000, 10_000, 5_000])
  assert.deepEqual(pulled(box, [1, 0], [-90_000, 700], true), [0, 0, 100, 5_000])
  assert.deepEqual(pulled(box, [0, -1], [400, 2_500], false), [0, 2_500, 10_000, 5_000])
  assert.deepEqual(grown(box, box, [100, 0], false), [0, 0, 10_100, 5_000])
  assert.deepEqual([[100, 0], [0, 50]].map(way => grown(box, box, way, true)), Array(2).fill([0, 0, 10_100, 5_050]))
  assert.deepEqual(grown(box, [0, 0, 20_000, 10_001], [0, -100], true), [0, 0, 19_800, 9_900], 'proportions are those of the beginning')
})

test('what is chosen is resized by a handle, as one change and one step back; Escape’s like leaves it', () => {
  const one = board({a: lineAt('a', 0, 1, {points: [0, 0, 10_000, 10_000]})})
  one.choose('a')
  // The box reaches half a line's width beyond the points, and the handle is 6 px from it.
  press(one, 107, 107, {}, [150, 130], [207.5, 107])
  assert.deepEqual([one.hand.written.length, one.undo.done.length], [1, 1])
  const {points, width} = one.say('a')
  assert.deepEqual([points.map(place => Math.round(place / 100)), width], [[1, 0, 198, 100], 300])
  one.turn(one.undo.undo(one.records))
  assert.deepEqual(one.say('a').points, [0, 0, 10_000, 10_000])
})
