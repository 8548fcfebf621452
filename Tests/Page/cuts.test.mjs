// The area eraser: what is left of a line, whose lines are left alone, and one step back.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {cut, lineOf, recordsOf} from '../../Sources/RelayPage/page/cuts.js'
import {loadKinds, readRecord} from '../../Sources/RelayPage/page/kinds/index.js'
import {Dice} from './support/dice.mjs'
import {pointsOf} from '../../Sources/RelayPage/page/shapes.js'
import {writeStroke} from '../../Sources/RelayPage/page/kinds/stroke.js'
import {PlayedHand} from './support/played-hand.mjs'

const plain = {by: {a: 1}, color: '#D92D2059', cols: 'xy', points: [0, 0, 10_000, 0], v: 1, width: 400, z: 3}
const line = (id, more = {}) => JSON.stringify({...plain, id, ...more})
const says = ({record}) => JSON.parse(record.payload)
const distance = ([x, y], [[ax, ay], [bx, by]]) => {
  const [dx, dy] = [bx - ax, by - ay]
  const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy) || 0))
  return Math.hypot(x - ax - t * dx, y - ay - t * dy)
}
/** Places all along a line. */
const along = line => line.length === 1 ? line : line.slice(1).flatMap((to, at) =>
  Array.from({length: 41}, (_, step) => line[at].map((value, axis) => value + (to[axis] - value) * step / 40)))
const on = (lines, place) => lines.some(line => line.length === 1 ? distance(place, [line[0], line[0]]) < 1.5
  : line.slice(1).some((to, at) => distance(place, [line[at], to]) < 1.5))

test('a line is cut where the eraser touches it, and only there, however it goes', () => {
  const dice = new Dice(11)
  const place = () => [dice.below(4_000), dice.below(4_000)]
  let pieceCount = 0
  for (let round = 0; round < 400; round++) {
    const points = Array.from({length: 1 + dice.below(12)}, place)
    const stretch = dice.below(4) ? [place(), place()] : Array(2).fill(place())
    const reach = 50 + dice.below(900)
    const pieces = cut(points, stretch, reach)
    pieceCount += pieces.length
    for (const place of pieces.flatMap(along)) {
      assert.ok(distance(place, stretch) > reach - 2, `${place} is under the eraser`)
      assert.ok(on([points], place), `${place} was not on the line`)
    }
    for (const place of along(points)) {
      if (distance(place, stretch) > reach + 3) assert.ok(on(pieces, place), `${place} is gone`)
    }
    if (along(points).every(place => distance(place, stretch) > reach + 3)) assert.equal(pieces[0], points, 'it is the line itself')
  }
  assert.ok(pieceCount > 400)
})

test('of a line that is closed no piece begins where the line does', () => {
  const square = [[0, 0], [1_000, 0], [1_000, 1_000], [0, 1_000], [0, 0]]
  assert.deepEqual(cut(square, [[500, 0], [500, 0]], 100), [[[600, 0], [1_000, 0], [1_000, 1_000], [0, 1_000], [0, 0], [400, 0]]])
  assert.deepEqual(cut(square, [[0, 0], [0, 0]], 100), [[[100, 0], [1_000, 0], [1_000, 1_000], [0, 1_000], [0, 100]]])
  assert.equal(cut(square, [[500, -500], [500, 1_500]], 100).length, 2)
})

test('pieces have pressure and times of where they are cut, and times count from their first point', () => {
  const points = [[0, 0, 100, 0], [1_000, 0, 200, 1_000]]
  const pieces = cut(points, [[500, 0], [500, 0]], 100)
  assert.deepEqual(pieces, [[[0, 0, 100, 0], [400, 0, 140, 400]], [[600, 0, 160, 600], [1_000, 0, 200, 1_000]]])
  const [{key, after}] = recordsOf({color: '#000000FF', cols: 'xypt', id: 'old', v: 1, width: 9, z: -1, by: 'x'}, pieces[1])
  assert.deepEqual(JSON.parse(after.payload),
      {by: 'x', color: '#000000FF', cols: 'xypt', id: key, points: [600, 0, 160, 0, 400, 0, 40, 400], v: 1, width: 9, z: -1})
  assert.ok(key !== 'old' && readRecord('stroke', after.payload))
})

test('a stroke in parts is one line; a piece above 32,768 bytes is cut once more, at a point', () => {
  const part = (part, points) => ({payload: line('p', {points, part, parts: 2, shape: undefined})})
  const {object, points} = lineOf({records: [part(2, [30, 0, 10, 5]), part(1, [0, 0, 30, 0])]})
  assert.deepEqual([points, object.part, object.parts], [[[0, 0], [30, 0], [40, 5]], undefined, undefined])
  const long = Array.from({length: 9_000}, (_, at) => [at * 500, at % 2 * 700])
  const made = recordsOf(object, long)
  assert.ok(made.length > 1 && made.every(({after}) => Buffer.byteLength(after.payload) + 6 <= 32_768))
  const lines = made.map(({after}) => lineOf({records: [after]}).points)
  assert.deepEqual(lines.flatMap((piece, at) => at ? piece.slice(1) : piece), long)
  assert.ok(lines.every((piece, at) => at === 0 || String(piece[0]) === String(lines[at - 1].at(-1))))
})

test('[BL11] what is cut goes, and its pieces come, as one change and one step back; shapes become plain lines', () => {
  const shape = line('a', {points: [0, 500, 10_000, 0], shape: 'line'})
  const strokes = {s: line('s'), far: line('far', {points: [0, 9_000, 10_000, 0]}), a: shape}
  const hand = new PlayedHand({strokes})
  hand.tools.tool = 'area-eraser'
  hand.play('0 m1 down 50 -40', '50 m1 move 50 60')
  assert.deepEqual([[...hand.canvas.hidden].sort(), hand.written.length], [['a', 's'], 0])
  hand.play('100 m1 up 50 60')
  assert.deepEqual([hand.written.length, hand.canvas.hidden.size, hand.undo.done.length], [1, 0, 1])
  const [changes] = hand.written
  assert.deepEqual(changes.filter(({record}) => !record).map(({key}) => key).sort(), ['a', 's'])
  const pieces = changes.filter(({record}) => record)
  assert.equal(pieces.length, 4)
  for (const piece of pieces) {
    const {id, points, ...rest} = says(piece)
    assert.deepEqual(rest, {by: {a: 1}, color: '#D92D2059', cols: 'xy', v: 1, width: 400, z: 3})
    assert.ok(id === piece.key && points.length === 4)
  }
  // Half of the line's width farther than the eraser: the gap that is seen is as wide as the eraser.
  assert.deepEqual(pieces.map(piece => says(piece).points).filter(([x, y]) => x === 0 && y === 0), [[0, 0, 3_800, 0]])
  const back = hand.undo.undo({isReading: false, get: key => changes.find(change => change.key === key)?.record})
  assert.equal(back.find(({key}) => key === 's').record.payload, strokes.s)
  assert.ok(pieces.every(({key}) => back.some(write => write.key === key && !write.record)))
})

for (const shape of ['line', 'arrow', 'rectangle', 'ellipse']) {
  test(`what is left of ${shape === 'line' || shape === 'rectangle' ? 'a' : 'an'} ${shape} lies where it lay, undo brings the shape back, and a protected one stays`, () => {
    const outline = pointsOf(shape, [10_000, 10_000], [40_000, 30_000], 400)
    const stroke = (id, more) => writeStroke({id, z: 1, color: '#D92D20FF', width: 400, shape, xy: outline.flat(), ...more})
    const strokes = {open: stroke('open'), kept: stroke('kept', {isLocked: true})}
    // Across the middle of each side, over a corner, and along the head of the arrow.
    const ways = [['250 80', '250 320'], ['80 200', '420 200'], ['95 95', '105 105'], ['380 290', '410 310']]
    for (const [from, to] of ways) {
      const hand = new PlayedHand({strokes})
      hand.tools.tool = 'area-eraser'
      hand.play(`0 m1 down ${from}`, `50 m1 move ${to}`, `60 m1 up ${to}`)
      const stretch = [from, to].map(place => place.split(' ').map(px => px * 100))
      const isTouched = along(outline).some(place => distance(place, stretch) < 1_190)
      assert.equal(hand.written.length, isTouched ? 1 : 0, `${from} to ${to}`)
      if (!isTouched) continue
      const [changes] = hand.written
      assert.deepEqual(changes.filter(({record}) => !record).map(({key}) => key), ['open'])
      const pieces = changes.filter(({record}) => record)
      assert.ok(pieces.every(({record}) => readRecord('stroke', record.payload)?.shape === undefined))
      const lines = pieces.map(({record}) => lineOf({records: [record]}).points)
      for (const place of lines.flatMap(along)) assert.ok(on([outline], place), `${place} was not on the outline`)
      for (const place of along(outline)) {
        // As far as the eraser and half of the line's width reach, 12 px.
        if (distance(place, stretch) > 1_203) assert.ok(on(lines, place), `${place} is gone`)
      }
      const get = key => changes.find(change => change.key === key)?.record
      const back = hand.undo.undo({isReading: false, get})
      assert.deepEqual(back.find(({key}) => key === 'open').record, {customType: 'stroke', payload: strokes.open})
      const again = hand.undo.redo({isReading: false, get: key => back.find(change => change.key === key)?.record})
      const said = writes => writes.map(({key, record}) => [key, record?.payload]).sort()
      assert.deepEqual(said(again), said(changes))
    }
  })
}

test('others’ strokes, protected ones, texts, and what a palm goes over are not cut; what is covered goes', async () => {
  const strokes = {mine: line('mine', {points: [0, 0, 10, 0]}), theirs: line('theirs'), kept: line('kept', {locked: true})}
  const hand = new PlayedHand({strokes, mine: id => id !== 'theirs'})
  globalThis.document.createElement = () => ({getContext() {}})
  await loadKinds()
  hand.records.received({isRetained: true, key: 't', offset: 9, sender: 'me', customType: 'text',
    payload: '{"color":"#000000FF","id":"t","size":2000,"text":"Hi","v":1,"x":0,"y":0,"z":9}'})
  hand.records.flush()
  assert.equal(hand.records.elements.size, 4)
  hand.tools.tool = 'area-eraser'
  hand.play('0 f1 down 0 0', '50 f1 move 3 0', '100 p1 down 400 400', '150 p1 up 400 400')
  assert.deepEqual([hand.written.length, hand.canvas.hidden.size], [0, 0])
  hand.play('1000 m1 down 0 0', '1100 m1 up 0 0')
  assert.deepEqual([hand.keys, hand.toasts], [[['-mine']], 1])
  hand.play('2000 m1 down 90 0', '2100 m1 up 90 0')
  assert.deepEqual([hand.written.length, hand.toasts], [1, 2], 'who cuts nothing is told that it is another’s')
})

test('a stroke that somebody has moved meanwhile is cut where it is now; one that has gone stays away', () => {
  const hand = new PlayedHand({strokes: {s: line('s'), gone: line('gone')}})
  hand.tools.tool = 'area-eraser'
  hand.play('0 m1 down 50 0')
  const moved = line('s', {points: [2_000, 0, 10_000, 0]})
  hand.records.received({isRetained: true, key: 's', offset: 9, sender: 'me', customType: 'stroke', payload: moved})
  hand.records.received({isRetained: true, isRemoval: true, key: 'gone', offset: 10, sender: 'me', payload: ''})
  hand.records.flush()
  hand.play('50 m1 move 51 0', '100 m1 up 51 0')
  const pieces = hand.written[0].filter(({record}) => record).map(says)
  assert.deepEqual(hand.written[0].filter(({record}) => !record).map(({key}) => key), ['s'])
  assert.deepEqual(pieces.map(({points}) => points[0]), [2_000, 6_300])
})
