// Which hand does what: sequences of pointers with their times, and what is to be done. No browser, no clock.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {Gestures} from '../../Sources/RelayPage/page/gestures.js'
import {PenMode} from '../../Sources/RelayPage/page/pen-mode.js'
import {Dice} from './support/dice.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'

const ids = {pen: 90, mouse: 91}
const idOf = who => ids[who] ?? Number(who.slice(1))
const typeOf = who => who.startsWith('f') ? 'touch' : who === 'mouse' ? 'mouse' : 'pen'

/** Plays `ms who what x [how]`: fingers are `f1`, `f2`, …; what is `down`, `move`, `up`, `lost`, or `wait` for the clock. */
function play(lines, how) {
  const hands = new Gestures()
  const words = []
  for (const line of lines) {
    const [at, who, what, x = 0, button = ''] = line.split(' ')
    const pointer = {pointerId: idOf(who), pointerType: typeOf(who), clientX: Number(x), clientY: 0,
        button: {middle: 1, right: 2}[button] ?? 0, buttons: button === 'eraser' ? 32 : 1}
    const acts = what === 'wait' ? hands.passed(Number(at))
      : what === 'down' ? hands.down(pointer, Number(at), how)
      : what === 'move' ? hands.move(pointer) : hands.up(pointer, Number(at), what === 'lost')
    words.push(...acts.map(({act, gesture, does, ids}) =>
      act === 'begin' ? `${gesture} ${does}${ids.length > 1 ? ` by ${ids.join(' and ')}` : ''}` : `${gesture} ${act}`))
  }
  return words.filter((word, at) => !word.endsWith('move') || word !== words[at - 1]).join(', ')
}

const palms = [
  ['a pen ends what the palm draws, and that goes, however long it has been there',
    ['0 f1 down', '900 f1 move 40', '1000 pen down 200', '1010 pen move 210', '1020 f1 move 41', '1030 pen up', '1500 f1 up'],
    '1 tool, 1 move, 1 cancel, 2 tool, 2 move, 2 end'],
  ['a palm that was lifted before the pen came down has drawn nothing',
    ['0 f1 down', '60 f1 up', '149 pen down', '300 pen up'], '1 tool, 1 cancel, 2 tool, 2 end'],
  ['a palm has many places', ['0 f1 down', '40 f1 up', '50 f2 down', '90 f2 up', '100 f3 down', '140 pen down'],
    '1 tool, 2 tool, 3 tool, 1 cancel, 2 cancel, 3 cancel, 4 tool'],
  ['a finger that came earlier, and has been lifted, has drawn', ['0 f1 down', '60 f1 up', '150 pen down'], '1 tool, 1 end, 2 tool'],
  ['it has drawn without a pen, too: the clock says so', ['0 f1 down', '60 f1 up', '149 f1 wait', '150 f1 wait'], '1 tool, 1 end'],
  ['a long touch has drawn when it is lifted', ['0 f1 down', '150 f1 up'], '1 tool, 1 end'],
  ['the palm beside a pen means nothing, nor when that is lifted',
    ['0 pen down', '10 f1 down', '20 f2 down', '30 f1 move 50', '40 pen move 9', '900 pen up', '950 f1 move 70', '960 f1 up', '2000 f2 up'],
    '1 tool, 1 move, 1 end'],
  ['a touch that comes shortly after a pen was lifted is a palm; beside one that hovers, fingers do what they do',
    ['0 pen down', '100 pen up', '249 f1 down', '300 f1 up', '480 pen move', '500 f2 down', '700 f2 up'], '1 tool, 1 end, 2 tool, 2 end'],
  ['two fingers that pinch end for a pen', ['0 f1 down', '50 f2 down', '900 f1 move 9', '1000 pen down', '1100 f1 up', '1200 f2 up', '1300 pen up'],
    '1 tool, 1 cancel, 2 view by 1 and 2, 2 move, 2 end, 3 tool, 3 end'],
]
test('a pen draws whatever the hand that holds it touches', () => {
  for (const [title, lines, acts] of palms) assert.equal(play(lines), acts, title)
})

const penOnly = [
  ['fingers move the view, and the pen draws', ['0 f1 down', '10 f1 up', '500 pen down', '600 pen up'], '1 view, 1 end, 2 tool, 2 end'],
  ['the view goes back where a palm has moved it', ['0 f1 down', '90 f1 move 8', '100 pen down'], '1 view, 1 move, 1 cancel, 2 tool'],
  ['and stays where a finger has', ['0 f1 down', '90 f1 move 8', '200 pen down'], '1 view, 1 move, 1 end, 2 tool'],
  ['a second finger makes a pinch at any time: nothing is drawn', ['0 f1 down', '900 f1 move 80', '901 f2 down'],
    '1 view, 1 move, 1 end, 2 view by 1 and 2'],
  ['a mouse draws', ['0 mouse down', '10 mouse up'], '1 tool, 1 end'],
]
test('where only the pen draws, fingers move the view', () => {
  for (const [title, lines, acts] of penOnly) assert.equal(play(lines, {penOnly: true}), acts, title)
})

const pinches = [
  ['two fingers at once move and magnify, and what the first has drawn goes',
    ['0 f1 down', '100 f1 move 15', '250 f2 down', '260 f2 move 5', '270 f1 move 9'], '1 tool, 1 move, 1 cancel, 2 view by 1 and 2, 2 move'],
  ['a second finger that comes late takes nothing away',
    ['0 f1 down', '251 f2 down', '260 f2 move 90', '300 f1 move 9', '400 f2 up', '500 f1 up'], '1 tool, 1 move, 1 end'],
  ['nor does one behind a line that has gone far', ['0 f1 down', '50 f1 move 21', '60 f1 move 2', '70 f2 down', '400 f1 up'],
    '1 tool, 1 move, 1 end'],
  ['a third finger changes nothing', ['0 f1 down', '5 f2 down', '9 f3 down', '20 f3 move 5', '30 f3 up'],
    '1 tool, 1 cancel, 2 view by 1 and 2'],
  ['one that stays goes on with the view; another makes a pinch again, and none draws',
    ['0 f1 down', '5 f2 down', '900 f1 up', '910 f2 move 5', '2000 f3 down', '2100 f2 up', '2200 f3 up'],
    '1 tool, 1 cancel, 2 view by 1 and 2, 2 end, 3 view, 3 move, 3 end, 4 view by 2 and 3, 4 end, 5 view, 5 end'],
]
test('a second finger makes a pinch at a touch’s start, and never throws a line away later', () => {
  for (const [title, lines, acts] of pinches) assert.equal(play(lines), acts, title)
})

const others = [
  ['a line of a pen that the browser takes away stays', ['0 pen down', '10 pen lost'], '1 tool, 1 end'],
  ['of a finger it goes', ['0 f1 down', '400 f1 lost'], '1 tool, 1 cancel'],
  ['a view stays where it was moved to', ['0 mouse down 0 middle', '9 mouse lost'], '1 view, 1 end'],
  ['the right button does nothing', ['0 mouse down 0 right', '9 mouse up'], '1 nothing, 1 end'],
  ['the other end of a pen erases', ['0 pen down 0 eraser', '9 pen up'], '1 erase, 1 end'],
  ['one that comes down again was lifted, whether that was told or not', ['0 mouse down', '9 mouse down', '20 mouse up'], '1 tool, 1 end, 2 tool, 2 end'],
  ['a mouse does nothing while a finger draws, nor a pen while a mouse does',
    ['0 f1 down', '9 mouse down', '10 mouse up', '400 f1 up', '500 mouse down', '510 pen down', '520 pen up', '600 mouse up'],
    '1 tool, 1 end, 2 tool, 2 end'],
]
test('mice, buttons, erasers, and what the browser takes', () => {
  for (const [title, lines, acts] of others) assert.equal(play(lines), acts, title)
  assert.equal(play(['0 pen down', '9 pen up'], {isView: true}), '1 view, 1 end')
  assert.equal(play(['0 f1 down', '9 f1 up', '20 pen down'], {isHarmless: true}), '1 tool, 1 end, 2 tool', 'nothing is to be taken back')
})

test('whatever pointers do, each gesture begins once and is over once, and a pen that comes down alone draws', () => {
  const dice = new Dice(1)
  const hands = new Gestures()
  const open = new Set()
  const down = new Set()
  let last = 0
  for (let step = 0, at = 0; step < 20_000; step++) {
    at += dice.below(120)
    const who = ['f1', 'f2', 'f3', 'pen', 'mouse'][dice.below(5)]
    const pointer = {pointerId: idOf(who), pointerType: typeOf(who), clientX: dice.below(60), clientY: 0, button: 0, buttons: 1}
    const isDown = down.has(who)
    const what = isDown ? ['move', 'up', 'lost'][dice.below(3)] : ['move', 'down'][dice.below(2)]
    const mouseHas = down.has('mouse')
    // The clock comes when it is wanted.
    const acts = [...hands.passed(at),
      ...what === 'down' ? hands.down(pointer, at) : what === 'move' ? hands.move(pointer) : hands.up(pointer, at, what === 'lost')]
    if (what === 'down') down.add(who)
    if (what === 'up' || what === 'lost') down.delete(who)
    for (const {act, gesture} of acts) {
      if (act === 'begin') {
        assert.equal(gesture, ++last)
        open.add(gesture)
      } else assert.ok(open.has(gesture), `${act} ${gesture}`)
      if (act === 'end' || act === 'cancel') open.delete(gesture)
    }
    if (who === 'pen' && what === 'down' && !mouseHas) assert.deepEqual([open.size, acts.at(-1).does], [1, 'tool'])
    if (down.size === 0) assert.ok(open.size === 0 || hands.deadline > at, 'what is over is held for a moment at most')
  }
  assert.ok(last > 1_000)
})

test('the first pen in a browser makes fingers move the view, and says so; the choice is kept, and who has no pen is told once', () => {
  const storage = new MemoryStorage()
  const said = []
  const mode = () => new PenMode({storage, changed: () => said.push('changed'), tell: () => said.push('told')})
  const take = () => said.splice(0).join()
  let one = mode()
  one.touched()
  assert.deepEqual([one.isKnown, one.isOn, take()], [false, false, ''])
  one.seen()
  one.seen()
  one.touched()
  assert.deepEqual([one.isKnown, one.isOn, take()], [true, true, 'changed,told'])
  one = mode()
  assert.ok(one.isOn, 'over a reload')
  one.touched()
  one.touched()
  assert.equal(take(), 'told')
  one.choose(false)
  one = mode()
  one.touched()
  one.seen()
  assert.deepEqual([one.isKnown, one.isOn, take()], [true, false, 'changed'], 'a pen does not overrule who has chosen')
})
