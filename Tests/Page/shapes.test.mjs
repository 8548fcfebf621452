// Lines, arrows, rectangles and ellipses: as the format has them, under a hand, live, and when they are resized.
import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {test} from 'node:test'
import {resized, restyled} from '../../Sources/RelayPage/page/kinds/edits.js'
import {readRecord} from '../../Sources/RelayPage/page/kinds/index.js'
import {Live} from '../../Sources/RelayPage/page/live.js'
import {writePackets} from '../../Sources/RelayPage/page/points.js'
import {evened, pointsOf} from '../../Sources/RelayPage/page/shapes.js'
import {Dice} from './support/dice.mjs'
import {PlayedHand} from './support/played-hand.mjs'

const vectors = readFileSync(new URL('../../docs/vectors/board.tsv', import.meta.url), 'utf8').split('\n').map(line => line.split('\t'))
const shapes = vectors.filter(([name, kind, reader]) => /^shape-/.test(name) && kind === 'stroke' && reader === 'ok')
    .map(([name, , , payload]) => ({name, customType: 'stroke', payload}))
const drawn = ([{record}]) => readRecord(record.customType, record.payload)
const record = (shape, xy, width = 300) => {
  const points = xy.map((place, at) => at < 2 ? place : place - xy[at - 2])
  return {customType: 'stroke', payload: JSON.stringify({color: '#000000FF', cols: 'xy', id: 'a', points, shape, v: 1, width, z: 1})}
}

test('shapes have the points that docs/vectors/board.tsv gives them', () => {
  for (const {name, payload} of shapes) {
    const {shape, xy, width} = readRecord('stroke', payload)
    const place = at => [...xy.slice(2 * at, 2 * at + 2)]
    const [from, to] = shape === 'ellipse' ? [[place(32)[0], place(48)[1]], [place(0)[0], place(16)[1]]]
      : [place(0), place(shape === 'rectangle' ? 2 : 1)]
    assert.deepEqual(pointsOf(shape, from, to, width).flat(), [...xy], name)
  }
  assert.deepEqual(new Set(shapes.map(({payload}) => JSON.parse(payload).shape)), new Set(['line', 'arrow', 'rectangle', 'ellipse']))
})

test('a shape is drawn from where the hand comes down to where it is lifted, and is one step back', () => {
  for (const shape of ['line', 'arrow', 'rectangle', 'ellipse']) {
    const hand = new PlayedHand()
    hand.tools.tool = shape
    hand.play('0 m1 down 10 20', '20 m1 move 60 30')
    assert.equal(hand.tools.strokes.size, 1, 'it is seen while it is drawn')
    hand.play('40 m1 move 90 50', '60 m1 up 110 90')
    const element = drawn(hand.written[0])
    assert.deepEqual([element.shape, [...element.xy]], [shape, pointsOf(shape, [1_000, 2_000], [11_000, 9_000], 300).flat()])
    assert.deepEqual([hand.tools.strokes.size, hand.undo.done.length, element.color], [0, 1, '#000000FF'])
    hand.play('200 m1 down 10 20', '220 m1 move 60 30 shift', '240 m1 up 60 30 shift')
    const evenly = pointsOf(shape, [1_000, 2_000], evened(shape, [1_000, 2_000], [6_000, 3_000]), 300).flat()
    assert.deepEqual([...drawn(hand.written[1]).xy], evenly)
  }
})

test('Shift, or a second finger, makes squares, circles and lines at a multiple of 45°', () => {
  assert.deepEqual([evened('rectangle', [0, 0], [30, -70]), evened('ellipse', [5, 5], [-95, 5])], [[70, -70], [-95, 105]])
  const onLine = (to, wanted) => evened('arrow', [0, 0], to).forEach((place, axis) => assert.ok(Math.abs(place - wanted[axis]) < 1e-9))
  onLine([100, 30], [100, 0])
  onLine([90, 110], [100, 100])
  onLine([-3, -50], [0, -50])
  const hand = new PlayedHand()
  hand.tools.tool = 'rectangle'
  hand.play('0 f1 down 100 100', '300 f1 move 150 120', '350 f2 down 400 400', '400 f1 move 160 120', '450 f1 up 160 120', '460 f2 up 400 400')
  assert.deepEqual([...drawn(hand.written[0]).xy.slice(4, 6)], [16_000, 16_000])
  hand.play('1000 p1 down 0 0', '1010 f1 down 300 300', '1020 f2 down 340 300', '1100 p1 move 50 20', '1200 p1 up 50 20', '1300 f1 up 300 300')
  assert.deepEqual([...drawn(hand.written[1]).xy.slice(4, 6)], [5_000, 2_000], 'the palm beside a pen is no second finger')
})

test('a tap is no shape, and what a palm began goes for others, too', () => {
  const hand = new PlayedHand()
  hand.tools.tool = 'ellipse'
  hand.play('0 m1 down 10 20', '10 m1 move 14 20', '500 m1 up 14 20')
  assert.deepEqual([hand.written.length, hand.takenBack.length, hand.undo.done.length], [0, 0, 0])
  hand.play('600 m1 down 10 20', '610 m1 move 90 90')
  hand.frame()
  hand.play('620 m1 move 12 20', '630 m1 up 12 20')
  assert.deepEqual([hand.written.length, hand.takenBack.length], [0, 1], 'who comes back to where it began wants none')
  hand.play('1000 f1 down 10 20', '1050 f1 move 80 90')
  hand.frame()
  hand.play('1100 p1 down 300 300')
  assert.deepEqual([hand.written.length, hand.takenBack.length], [0, 2])
})

test('others see a shape in the making change as a whole', () => {
  const live = new Live(() => {})
  const show = stroke => writePackets(stroke, 0).forEach(payload =>
    live.packet({topic: 'points', publisher: 'ada', device: 1, payload}, () => false))
  for (const to of [[500, -300], [900, 100], [90_000_000, 90_000_001]]) for (const shape of ['rectangle', 'ellipse']) {
    const stroke = {id: shape, color: '#1B1B1BFF', width: 300, shape, xy: pointsOf(shape, [0, 0], to, 300).flat()}
    show(stroke)
    const {parts} = live.strokes.get(shape)
    assert.deepEqual([parts.length, parts[0].xy], [1, stroke.xy], `${shape} to ${to}`)
  }
})

test('a shape that is resized is still that shape: a head stays a head, an ellipse lies on its points', () => {
  const dice = new Dice(7)
  for (let round = 0; round < 200; round++) {
    const place = () => [dice.below(90_000) - 45_000, dice.below(90_000) - 45_000]
    const [from, to, one, other] = [place(), place(), place(), place()]
    const box = [...from.map((start, axis) => Math.min(start, to[axis])), ...from.map((start, axis) => Math.max(start, to[axis]))]
    if (box[0] === box[2] || box[1] === box[3]) continue
    const wanted = [...one, one[0] + 1 + dice.below(90_000), other[1] > one[1] ? other[1] : one[1] + 1]
    for (const shape of ['line', 'arrow', 'rectangle', 'ellipse']) {
      const after = readRecord('stroke', resized(record(shape, pointsOf(shape, from, to, 300).flat()), box, wanted).payload)
      const [near, far] = [from, to].map(ends => ends.map((end, axis) =>
        Math.round(wanted[axis] + (end - box[axis]) * (wanted[axis + 2] - wanted[axis]) / (box[axis + 2] - box[axis]))))
      assert.deepEqual([after.shape, [...after.xy]], [shape, pointsOf(shape, near, far, 300).flat()], `${shape} ${from} ${to} ${wanted}`)
    }
  }
  const wider = readRecord('stroke', restyled(record('arrow', pointsOf('arrow', [0, 0], [9_000, 0], 300).flat()), {width: 700}).payload)
  assert.deepEqual([...wider.xy], pointsOf('arrow', [0, 0], [9_000, 0], 700).flat(), 'with its line the head grows')
})
