// A board of 20,000 strokes costs what one looks at, and not what there is. Counted are elements, never times.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {Layers, order} from '../../Sources/RelayPage/page/layers.js'
import {overlap, Places} from '../../Sources/RelayPage/page/places.js'
import {readRecord} from '../../Sources/RelayPage/page/kinds/index.js'
import {readJSON} from '../../Sources/RelayPage/client/json.js'
import {Dice} from './support/dice.mjs'
import {PlayedHand} from './support/played-hand.mjs'

const many = 20_000
/** Strokes of 18 px in 100 columns, one above the other in the order of their numbers. */
const strokeAt = at => ({left: at % 100 * 1_800, top: Math.floor(at / 100) * 1_400})
const payloadOf = (id, {left, top}, z) =>
  `{"color":"#000000FF","cols":"xy","id":"${id}","points":[${left},${top},1700,900],"v":1,"width":300,"z":${z}}`

test('what is found at a place is what a search through everything finds, of any size, as things come, move and go', () => {
  const dice = new Dice(7)
  const places = new Places()
  const all = new Set()
  const boxAnywhere = () => {
    const side = () => dice.below(2 ** dice.below(31))
    const [left, top] = [0, 1].map(() => (dice.below(3) - 1) * side())
    return [left, top, left + side(), top + side()]
  }
  for (let turn = 0; turn < 3_000; turn++) {
    const element = {box: boxAnywhere()}
    places.add(element)
    all.add(element)
    if (dice.below(3) === 0) {
      const [gone] = all
      places.remove(gone)
      all.delete(gone)
    }
    const box = boxAnywhere()
    const found = places.within(box)
    assert.equal(new Set(found).size, found.length, 'each once')
    assert.deepEqual(new Set(found), new Set([...all].filter(element => overlap(element.box, box))), `turn ${turn}`)
    assert.equal(places.hasWithin(box), found.length > 0)
  }
})

test(`of ${many} elements each that comes is compared with as many as it takes to find its place, and the order is that of a sort`, () => {
  let compared = 0
  const elementOf = (id, z) => ({id: String(id), get z() {
    compared++
    return z
  }})
  const dice = new Dice(8)
  const layers = new Layers()
  layers.change([], Array.from({length: many}, (_, at) => elementOf(at, at)))
  compared = 0
  const come = [0, 1, 2].map(number => elementOf(`come-${number}`, dice.below(many)))
  const {list} = layers
  layers.change([], [elementOf('last', many)])
  assert.equal(layers.list, list, 'where nothing goes, nothing is gone through')
  compared = 0
  const gone = [layers.list[5], layers.list[many - 1]]
  layers.change(gone, come)
  assert.ok(compared < 200, `${compared}`)
  for (let turn = 0; turn < 60; turn++) {
    const taken = layers.list.filter(() => dice.below(50) === 0)
    layers.change(taken, Array.from({length: dice.below(300)}, (_, at) => elementOf(`${turn}-${at}`, dice.below(many))))
    const {list} = layers
    assert.deepEqual(list.map(({id}) => id), [...list].sort(order).map(({id}) => id))
    assert.ok(taken.every(element => !list.includes(element)))
  }
})

test(`a sweep of the eraser over ${many} strokes looks at no more than 200 of them a move, and takes what it goes over`, () => {
  const strokes = Object.fromEntries(Array.from({length: many}, (_, at) => [`s${at}`, payloadOf(`s${at}`, strokeAt(at), at)]))
  // One that is long: it goes through all of it.
  strokes.long = `{"color":"#000000FF","cols":"xy","id":"long","points":[0,0,180000,280000],"v":1,"width":300,"z":0}`
  const hand = new PlayedHand({strokes})
  const looked = new Set()
  for (const element of hand.records.elements.values()) {
    const {box} = element
    Object.defineProperty(element, 'box', {get() {
      looked.add(element)
      return box
    }})
  }
  hand.tools.tool = 'eraser'
  hand.play('0 m1 down 5 1402')
  for (let x = 45; x < 1_800; x += 40) {
    looked.clear()
    hand.play(`1 m1 move ${x} 1402`)
    assert.ok(looked.size > 0 && looked.size <= 200, `${looked.size} at ${x}`)
  }
  hand.play('2 m1 up 1765 1402')
  assert.equal(hand.keys[0].length, 99 + 1, 'a row, and the long one')
  assert.ok(hand.keys[0].includes('-long'))
})

test(`in a frame lies what is drawn now: what has moved is found where it is, and not where it was`, () => {
  const hand = new PlayedHand({strokes: {s: payloadOf('s', {left: 0, top: 0}, 1), t: payloadOf('t', {left: 0, top: 5_000}, 2)}})
  const payload = payloadOf('s', {left: 90_000, top: 0}, 1)
  hand.records.received({isRetained: true, key: 's', offset: 9, sender: 'me', customType: 'stroke', payload})
  hand.records.flush()
  const found = box => hand.records.within(box).map(({id}) => id)
  assert.deepEqual([found([-1_000, -1_000, 9_000, 9_000]), found([80_000, -1_000, 99_000, 9_000])], [['t'], ['s']])
  assert.deepEqual(found([-1_000, -1_000, 99_000, 9_000]), ['s', 't'], 'the lowest first')
})

test('a stroke of 2,000 points is read by as many scans as one of two; what is wrong among its numbers is told as ever', context => {
  const scans = context.mock.method(RegExp.prototype, 'exec')
  const scansOf = points => {
    scans.mock.resetCalls()
    assert.ok(readRecord('stroke', payloadOf('s', strokeAt(0), 1).replace(/"points":.*?]/, `"points":[${points}]`)))
    return scans.mock.callCount()
  }
  assert.equal(scansOf(Array(4_000).fill(-3)), scansOf([1, 2, 3, 4]))
  const read = text => readJSON(new TextEncoder().encode(`{"a":${text}}`)).a
  assert.deepEqual(read('[-9007199254740991,0,9007199254740991]'), [-9_007_199_254_740_991, 0, 9_007_199_254_740_991])
  assert.deepEqual([read('[]'), read('[ 1 , 2]'), read('[1,[2]]')], [[], [1, 2], [1, [2]]])
  for (const wrong of ['[1,]', '[,1]', '[01]', '[-]', '[--1]', '[1-2]', '[9007199254740992]', '[-9007199254740992]', '[1.5]', '[1e3]', '[1',
    '[100000000000000000000]']) assert.throws(() => read(wrong), {name: 'badRequest'}, wrong)
  const nested = depth => `${'['.repeat(depth)}1${']'.repeat(depth)}`
  assert.deepEqual(read(nested(7)).flat(9), [1])
  assert.throws(() => read(nested(8)), {name: 'badRequest'})
})
