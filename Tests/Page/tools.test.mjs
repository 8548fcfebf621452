// What the tools do under a hand: which lines stay, what an eraser takes, what a palm leaves behind.
import assert from 'node:assert/strict'
import {mock, test} from 'node:test'
import {PlayedHand} from './support/played-hand.mjs'

const lineAt = (id, y, z = 1) => `{"color":"#000000FF","cols":"xy","id":"${id}","points":[0,${y * 100},10000,0],"v":1,"width":300,"z":${z}}`
const rows = (count, y = 10) => Object.fromEntries(Array.from({length: count}, (_, at) => [`s${at}`, lineAt(`s${at}`, y * at, at)]))

test('a palm before the pen: the pen draws, what the palm drew goes, here and for others, and is nothing to undo', () => {
  const hand = new PlayedHand()
  hand.play('0 f1 down 400 400', '20 f1 move 420 410')
  hand.frame()
  assert.ok(hand.shownUpTo > 0, 'others have seen it')
  hand.play('100 p1 down 100 100', '110 p1 move 150 120', '120 f1 move 430 410', '130 p1 up 150 120', '900 f1 up 430 410')
  hand.rest()
  assert.equal(hand.written.length, 1)
  const [[{record}]] = hand.written
  assert.deepEqual(JSON.parse(record.payload).points.slice(0, 2), [10_000, 10_000])
  assert.deepEqual([hand.takenBack.length, hand.undo.done.length, hand.tools.strokes.size], [1, 1, 0])
})

test('a palm’s tap before the pen leaves nothing; without a pen it is a dot, a moment later', () => {
  const hand = new PlayedHand()
  hand.play('0 f1 down 400 400', '50 f1 up 400 400')
  assert.deepEqual([hand.written.length, hand.tools.strokes.size], [0, 1], 'it is seen, and not yet written')
  hand.play('100 p1 down 100 100', '300 p1 up 150 100')
  hand.rest()
  assert.equal(hand.written.length, 1)
  const other = new PlayedHand()
  other.play('0 f1 down 400 400', '50 f1 up 400 400')
  other.rest()
  assert.deepEqual([other.written.length, other.tools.strokes.size], [1, 0])
})

test('what a palm would have erased or moved stays, and what was chosen before it is chosen', () => {
  const hand = new PlayedHand({strokes: rows(3)})
  hand.tools.tool = 'eraser'
  hand.play('0 f1 down 50 0', '30 f1 move 50 20')
  assert.equal(hand.canvas.hidden.size, 3)
  hand.play('60 p1 down 500 500', '90 p1 up 500 500', '95 f1 up 50 20')
  assert.deepEqual([hand.keys, hand.canvas.hidden.size, hand.undo.done.length], [[], 0, 0])
  for (const [x, y] of [[50, 100], [500, 500]]) {
    const other = new PlayedHand({strokes: rows(3, 50)})
    other.tools.tool = 'select'
    other.play('0 m1 down -9 -9', '10 m1 move 110 60', '20 m1 up 110 60')
    assert.deepEqual([...other.tools.selection], ['s0', 's1'])
    other.play(`500 f1 down ${x} ${y}`, `520 f1 move ${x + 30} ${y}`)
    assert.ok(!other.tools.selection.has('s0'), 'the palm has chosen')
    other.play('600 p1 down 50 0', '620 p1 move 60 0', '640 p1 up 60 0')
    assert.deepEqual(other.keys, [['s0', 's1']], 'the pen moves what was chosen before')
  }
})

test('a second finger that comes late leaves the line of the first; with a pen, fingers move the view', () => {
  const hand = new PlayedHand()
  hand.play('0 f1 down 100 100', '300 f1 move 150 100', '400 f2 down 300 300', '410 f2 move 350 300', '500 f1 up 200 100', '600 f2 up 350 300')
  assert.deepEqual([hand.written.length, hand.canvas.view.x], [1, 0])
  hand.play('1000 p1 down 10 10', '1300 p1 up 10 10', '2000 f1 down 100 100', '2100 f1 move 130 100', '2200 f1 up 130 100')
  hand.rest()
  assert.deepEqual([hand.written.length, hand.canvas.view.x, hand.penMode.isOn, hand.toasts], [2, -30, true, 1])
  hand.penMode.choose(false)
  hand.play('3000 f1 down 100 100', '3300 f1 up 100 100')
  assert.equal(hand.written.length, 3, 'who has chosen that fingers draw draws with them')
})

test('[BL11] what an eraser has gone over is not shown, and goes as one change when it is lifted; others’ stays', () => {
  const hand = new PlayedHand({strokes: rows(300), mine: id => id !== 's7'})
  hand.tools.tool = 'eraser'
  hand.play('0 m1 down 50 0', '50 m1 move 50 1500')
  assert.deepEqual([hand.written.length, hand.canvas.hidden.size], [0, 150])
  hand.records.received({isRetained: true, isRemoval: true, key: 's3', offset: 400, sender: 'bob', payload: ''})
  hand.records.flush()
  hand.play('100 m1 move 50 2990', '110 m1 up 50 2990')
  assert.deepEqual([hand.written.length, hand.keys[0].length, hand.undo.done.length, hand.undo.done[0].length], [1, 298, 1, 298])
  assert.ok(!hand.keys[0].includes('-s7') && !hand.keys[0].includes('-s3'))
  assert.equal(hand.canvas.hidden.size, 0)
})

test('a line is seen up to where the browser expects the pen, for one frame; neither others nor the board get that', () => {
  const hand = new PlayedHand()
  const drawn = []
  globalThis.Path2D = class {
    moveTo() {}
    lineTo(...place) { this.last = place }
  }
  const paint = () => {
    hand.tools.drawLive({stroke: ({last}) => drawn.push(last)})
    return drawn.at(-1)
  }
  hand.play('0 m1 down 10 10', '10 m1 move 60 10')
  assert.deepEqual(paint(), [60, 10])
  hand.predicted.push({clientX: 130, clientY: 12, pressure: 0.5})
  hand.play('20 m1 move 110 10')
  assert.deepEqual([paint(), paint()], [[130, 12], [110, 10]], 'the pen may have stopped')
  hand.predicted.push({clientX: 200, clientY: 12, pressure: 0.5})
  hand.play('30 m1 move 160 10', '40 m1 up 170 10')
  const {points} = JSON.parse(hand.written[0][0].record.payload)
  const ends = [0, 1].map(column => points.filter((_, at) => at % 2 === column).reduce((sum, step) => sum + step, 0))
  assert.deepEqual(ends, [17_000, 1_000], 'it ends where it was lifted')
})

test('a pen that rests brings the line to where it is, for others too', () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const hand = new PlayedHand()
    hand.play('0 p1 down 10 10', '10 p1 move 60 10', '20 p1 move 110 10')
    hand.frame()
    const [stroke] = hand.tools.strokes
    assert.ok(stroke.xy.at(-2) < 10_000 && hand.shownUpTo === stroke.xy.length / 2)
    mock.timers.tick(80)
    hand.frame()
    assert.deepEqual([stroke.xy.at(-2), hand.shownUpTo], [11_000, stroke.xy.length / 2])
  } finally {
    mock.timers.reset()
  }
})
