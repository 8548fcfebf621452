// Lasers: what is sent of them, what is shown and for how long, and that nothing of them is kept.
import assert from 'node:assert/strict'
import {mock, test} from 'node:test'
import {Lasers, trailMs} from '../../Sources/RelayPage/page/lasers.js'
import {Live} from '../../Sources/RelayPage/page/live.js'
import {tint} from '../../Sources/RelayPage/page/names.js'
import {PlayedHand} from './support/played-hand.mjs'

/** A context that notes what is drawn. */
function paper() {
  const lines = []
  let places
  const to = (x, y) => places.push([x, y])
  return {lines, beginPath: () => { places = [] }, moveTo: to, lineTo: to,
    stroke() { lines.push({color: this.strokeStyle, width: this.lineWidth, places}) }}
}
const packets = hand => hand.packets.map(payload => JSON.parse(payload))

test('others get what was pointed at in packets that go on where the one before has ended; nothing is written', () => {
  mock.timers.enable({apis: ['setTimeout']})
  try {
    const hand = new PlayedHand()
    hand.tools.tool = 'laser'
    hand.play('0 m1 down 10 20', '10 m1 move 60 30', '20 m1 move 110 30')
    mock.timers.tick(40)
    hand.play('60 m1 move 110 90', '70 m1 up 110 90')
    assert.deepEqual(packets(hand), [{laser: [1_000, 2_000, 5_000, 1_000, 5_000, 0], v: 1, x: 11_000, y: 3_000},
      {laser: [11_000, 3_000, 0, 6_000], v: 1, x: 11_000, y: 9_000}])
    assert.deepEqual([hand.written.length, hand.undo.done.length, hand.tools.strokes.size], [0, 0, 0])
    for (let at = 0; at < 400; at++) hand.play(`${100 + at} m1 ${at ? 'move' : 'down'} ${at % 2 ? -9_000_000 : 9_000_000} ${at}`)
    for (let at = 0; at < 30; at++) mock.timers.tick(40)
    assert.ok(hand.packets.every(payload => payload.length <= 1_024))
    const all = packets(hand).slice(2)
    all.slice(1).forEach(({laser}, at) => assert.deepEqual(laser.slice(0, 2), [all[at].x, all[at].y]))
    assert.equal(all.at(-1).y, 39_900)
  } finally {
    mock.timers.reset()
  }
})

test('a trail gets thinner, is gone on every screen within 1.5 s, and asks for no frame any more', () => {
  let frames = 0
  const lasers = new Lasers(() => frames++)
  const widthAt = now => {
    const context = paper()
    frames = 0
    lasers.draw(context, 2, now)
    return context.lines.map(({width}) => width)
  }
  lasers.shine('ada', [100, 200, 300, 0], 1_000)
  const [first, later] = [widthAt(1_000)[0], widthAt(1_600)[0]]
  assert.ok(first === 3.5 && later < first && frames === 1)
  assert.deepEqual([widthAt(1_000 + trailMs), frames, trailMs <= 1_300], [[], 0, true])
})

test('a laser has its author’s colour, and no packet that is none is drawn', () => {
  const lasers = new Lasers()
  for (const points of [[1], [], [1, 2, 3], ['1', 2], [1e9, 0, 1, 0], {0: 1, length: 2}, [1.5, 2]]) lasers.shine('eve', points, 0)
  lasers.shine('ada', [100, 200, 300, 0], 0)
  const context = paper()
  lasers.draw(context, 1, 1)
  assert.deepEqual(context.lines.map(({color, places}) => [color, places.slice(-2)]), [[tint('ada'), [[1, 2], [4, 2]]]])
  for (let at = 0; at < 5_000; at++) lasers.shine('eve', [at, at], 0)
  assert.ok(lasers.trails.length <= 1_000)
})

test('who does not know lasers shows the cursor', () => {
  const live = new Live(() => {})
  const shown = []
  const packet = said =>
    live.packet({topic: 'cursors', publisher: 'ada', device: 1, payload: JSON.stringify(said)}, () => false, 7)
  packet({laser: [0, 0, 5, 5], v: 1, x: 5, y: 5})
  live.shone = (...said) => shown.push(said)
  packet({laser: [5, 5, 1, 1], v: 1, x: 6, y: 6})
  const cursors = [...live.cursors.values()].map(({x, y}) => [x, y])
  assert.deepEqual([cursors, shown, live.strokes.size], [[[6, 6]], [['ada', [5, 5, 1, 1], 7]], 0])
})
