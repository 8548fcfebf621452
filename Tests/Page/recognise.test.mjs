// Shapes that a hand has drawn: what is recognised, and what stays ink. And a pen that is held still.
import assert from 'node:assert/strict'
import {mock, test} from 'node:test'
import {readRecord} from '../../Sources/RelayPage/page/kinds/index.js'
import {recognise} from '../../Sources/RelayPage/page/recognise.js'
import {pointsOf} from '../../Sources/RelayPage/page/shapes.js'
import {Dice} from './support/dice.mjs'
import {PlayedHand} from './support/played-hand.mjs'

const {cos, sin, PI} = Math
/** A way through corners as a hand goes it: many points, each a little off, and slow waves. */
function byHand(corners, dice, tremble) {
  const wave = dice.below(600) / 100
  return corners.slice(1).flatMap(([x, y], at) => Array.from({length: 30}, (_, step) => {
    const [fromX, fromY] = corners[at]
    const t = (step + 1) / 30
    const off = () => (dice.below(2_001) / 1_000 - 1) * tremble
    const [offX, offY] = [off() + sin(wave + at + t * 3) * tremble, off() + cos(wave - at - t * 3) * tremble]
    return [fromX + (x - fromX) * t + offX, fromY + (y - fromY) * t + offY]
  })).flat()
}
const around = (width, height, begin = 0, turns = 1) =>
  Array.from({length: 33}, (_, k) => [width * cos(begin + turns * 2 * PI * k / 32), height * sin(begin + turns * 2 * PI * k / 32)])

const meant = {
  line: [[[0, 0], [20_000, 3_000]], [[0, 0], [-9_000, -14_000]], [[5_000, 0], [5_000, 11_000]]],
  arrow: [[[0, 0], [20_000, 2_000], [17_000, -500], [20_000, 2_000], [17_000, 4_000]],
    [[0, 0], [-9_000, -12_000], [-9_000, -9_000], [-9_000, -12_000], [-6_000, -11_500]]],
  rectangle: [[[0, 0], [20_000, 0], [20_000, 12_000], [0, 12_000], [0, 0]],
    [[0, 0], [0, -6_000], [18_000, -6_000], [18_000, 0], [500, 200]],
    [[9_000, 0], [20_000, 0], [20_000, 12_000], [0, 12_000], [0, 0], [10_000, 0]]],
  ellipse: [around(10_000, 10_000), around(14_000, 7_000, 1), around(6_000, 13_000, -2, -1), around(10_000, 9_000, 2, 1.06),
    around(10_000, 9_000, 2, 0.95)],
}
const ink = {
  triangle: [[0, 0], [10_000, 0], [5_000, 9_000], [0, 0]], diamond: [[0, 0], [9_000, 9_000], [18_000, 0], [9_000, -9_000], [0, 0]],
  zigzag: [[0, 0], [4_000, 9_000], [8_000, 0], [12_000, 9_000], [16_000, 0]], 'there and back': [[0, 0], [15_000, 0], [500, 300]],
  hook: [[0, 0], [15_000, 0], [15_000, 9_000]], U: around(8_000, 9_000, 0, 0.5), C: around(8_000, 9_000, 0.8, 0.75),
  spiral: Array.from({length: 65}, (_, k) => [k * 150 * cos(k / 5), k * 150 * sin(k / 5)]), circles: around(9_000, 9_000, 0, 3),
  8: Array.from({length: 33}, (_, k) => [9_000 * sin(4 * PI * k / 32), 14_000 * cos(2 * PI * k / 32)]),
  heart: [[0, 0], [-6_000, -7_000], [-3_000, -10_000], [0, -7_000], [3_000, -10_000], [6_000, -7_000], [0, 0]],
  'a turned square': [[0, 0], [9_000, 4_000], [5_000, 13_000], [-4_000, 9_000], [0, 0]], L: [[0, 0], [0, 9_000], [5_000, 9_000]],
  'half an arrow': [[0, 0], [20_000, 0], [17_000, -3_000]],
  house: [[0, 0], [0, 9_000], [9_000, 9_000], [9_000, 0], [4_500, -6_000], [0, 0]],
  a: [...around(5_000, 5_000), [5_000, -5_000], [5_000, 6_000]],
  star: Array.from({length: 6}, (_, k) => [9_000 * cos(k * 0.8 * PI), 9_000 * sin(k * 0.8 * PI)]),
  'three squares': Array.from({length: 13}, (_, k) => [[0, 0], [9_000, 0], [9_000, 9_000], [0, 9_000]][k % 4]),
}

test('lines, arrows, rectangles and ellipses are recognised as a trembling hand draws them, and lie where it drew', () => {
  const dice = new Dice(3)
  for (let round = 0; round < 50; round++) for (const [shape, all] of Object.entries(meant)) for (const corners of all) {
    const xy = byHand(corners, dice, round * 2.5)
    const found = recognise(xy, 2_400)
    assert.equal(found?.shape, shape, `${shape} ${corners}, round ${round}`)
    const drawn = pointsOf(shape, found.from, found.to, 300)
    const size = Math.max(...corners.flat().map(Math.abs))
    for (let at = 0; at < xy.length; at += 2) if (shape !== 'arrow') {
      const off = Math.min(...drawn.slice(1).map(([x, y], side) => {
        const [dx, dy] = [x - drawn[side][0], y - drawn[side][1]]
        const t = Math.max(0, Math.min(1, ((xy[at] - drawn[side][0]) * dx + (xy[at + 1] - drawn[side][1]) * dy) / (dx * dx + dy * dy)))
        return Math.hypot(xy[at] - drawn[side][0] - t * dx, xy[at + 1] - drawn[side][1] - t * dy)
      }))
      assert.ok(off < size * 0.2, `${shape}: ${off} of ${size} away`)
    }
  }
})

test('what is none of them stays as it is drawn', () => {
  const dice = new Dice(4)
  for (let round = 0; round < 50; round++) for (const [name, corners] of Object.entries(ink)) {
    const found = recognise(byHand(corners, dice, round * 4), 2_400)
    assert.equal(found, undefined, `${name} in round ${round} is taken for ${JSON.stringify(found)}`)
  }
  assert.equal(recognise([0, 0], 2_400), undefined)
  assert.equal(recognise([5, 5, 5, 5], 0), undefined)
  assert.equal(recognise([0, 0, 2_000, 0], 2_400), undefined, 'too small to be meant')
})

/** Plays with the time of timers in the hands of the test. */
async function withTimers(use) {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    await use(async ms => {
      mock.timers.tick(ms)
      // The module comes, if only from where it is kept.
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    })
  } finally {
    mock.timers.reset()
  }
}
const line = ['0 p1 down 10 10', '10 p1 move 60 12', '20 p1 move 110 9', '30 p1 move 210 10']
const last = hand => readRecord('stroke', hand.written.at(-1)[0].record.payload)

test('a line that is held still for 600 ms is shown as the shape that is meant; lifting takes it, one step back gives the ink back', () =>
  withTimers(async passes => {
    const hand = new PlayedHand()
    hand.play(...line)
    const [stroke] = hand.tools.strokes
    await passes(590)
    hand.play('620 p1 move 212 11')
    assert.equal(stroke.meant, undefined, 'too early')
    await passes(10)
    assert.equal(stroke.meant.shape, 'line', 'a hand that trembles holds still')
    hand.play('700 p1 move 205 14', '720 p1 up 206 14')
    const {shape, xy, id} = last(hand)
    assert.deepEqual([shape, xy.length, hand.written.length, hand.undo.done.length], ['line', 4, 1, 2])
    const board = new Map([[id, hand.written[0][0].record]])
    const records = {isReading: false, get: key => board.get(key)}
    const [back] = hand.undo.undo(records)
    const ink = readRecord('stroke', back.record.payload)
    assert.ok(ink.shape === undefined && ink.pressure && ink.xy.length > 8 && ink.z === last(hand).z)
    board.set(id, back.record)
    assert.equal(hand.undo.undo(records)[0].record, undefined, 'a second step takes the ink away')
  }))

test('a line that goes on after it was held is ink again, and may be held again; what is no shape stays ink', () =>
  withTimers(async passes => {
    const hand = new PlayedHand()
    hand.play(...line)
    await passes(600)
    hand.play('700 p1 move 215 40')
    const [stroke] = hand.tools.strokes
    assert.equal(stroke.meant, undefined)
    hand.play('720 p1 move 215 120', '740 p1 up 215 120')
    assert.deepEqual([last(hand).shape, hand.undo.done.length], [undefined, 1])
    hand.play('1000 m1 down 10 10', '1010 m1 move 200 10', '1020 m1 move 200 100')
    await passes(700)
    hand.play('1800 m1 up 200 100')
    assert.equal(last(hand).shape, undefined, 'a corner is no line')
  }))

test('a line that was lifted, or that the browser took, becomes no shape', () =>
  withTimers(async passes => {
    const hand = new PlayedHand()
    hand.play(...line, '100 p1 up 210 10')
    await passes(1_000)
    assert.deepEqual([hand.written.length, last(hand).shape], [1, undefined])
    hand.play(...line.map(step => step.replace(/^/, '5')))
    await passes(600)
    hand.play('60000 p1 cancel 210 10')
    assert.deepEqual([hand.written.length, last(hand).shape], [2, undefined])
  }))
