// What a page finds again when it is loaded anew: tool and colour, where one looked, and one's own steps back that still fit the board.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {MemoryStorage} from './support/memory-storage.mjs'

globalThis.window = {localStorage: new MemoryStorage(), sessionStorage: new MemoryStorage()}
const {isSwitchedOff, keepHand, keepSingleKeys, keepView, keptHand, keptView} = await import('../../Sources/RelayPage/page/remembered.js')
const {fitting, keepUndo, restoreUndo} = await import('../../Sources/RelayPage/page/kept-undo.js')
const {colorsMax, keepColor, keptColors} = await import('../../Sources/RelayPage/page/own-colors.js')
const {Undo} = await import('../../Sources/RelayPage/page/undo.js')

const as = payload => payload && {customType: 'stroke', payload}
const step = (key, before, after) => [{key, before: as(before), after: as(after)}]
const boardOf = records => ({isReading: false, get: key => as(records[key])})
const keys = steps => steps.map(([{key, after}]) => `${key}${after?.payload ?? ''}`)

test('tool and colour are of the browser, the view is of each of the last 50 boards; what else stands there is nothing', () => {
  assert.deepEqual([keptHand(), keptView('a')], [{}, undefined])
  keepHand({tool: 'marker', color: 'D92D20', width: 700})
  assert.equal(keptHand().tool, 'marker')
  for (let at = 0; at < 60; at++) keepView(`b${at}`, {x: at, y: -at, scale: 2})
  assert.deepEqual([keptView('b59'), keptView('b10').x, keptView('b9')], [{x: 59, y: -59, scale: 2}, 10, undefined])
  assert.equal(keptView('toString'), undefined)
  keepView('bad', {x: NaN, y: 0, scale: 1})
  assert.equal(keptView('bad'), undefined)
  window.localStorage.setItem('whiteboard.views', '[')
  assert.equal(keptView('b59'), undefined)
})

test('keys that write something are shortcuts until they are switched off; others always, and any with Ctrl, Cmd or Alt', () => {
  const pressed = ['p', 'P', '.', '1', '[', 'ж', '😀', ' ', 'Enter', 'Delete', 'ArrowUp', 'PageDown']
  const off = () => pressed.filter(key => isSwitchedOff({key})).join('')
  assert.equal(off(), '')
  keepSingleKeys(false)
  assert.equal(off(), 'pP.1[ж😀')
  for (const held of ['ctrlKey', 'metaKey', 'altKey']) assert.equal(isSwitchedOff({key: 'p', [held]: true}), false, held)
  assert.equal(isSwitchedOff({key: 'P', shiftKey: true}), true)
  keepSingleKeys(true)
  assert.equal(off(), '')
})

test('the last three colours of one’s own are kept, each once; what is no colour is none', () => {
  for (const color of ['FFFFFF', 'FFF3A3', '000001', '1B1B1B', '12AB9F', '000001']) keepColor(color, ['1B1B1B'])
  assert.deepEqual([keptColors(), colorsMax], [['000001', '12AB9F', 'FFF3A3'], 3])
  for (const kept of ['["red","FFFFFF",7,"#12AB9"]', '{"0":"FFFFFF"}', '[']) {
    window.localStorage.setItem('whiteboard.colors', kept)
    assert.deepEqual(keptColors(), kept.startsWith('["red') ? ['FFFFFF'] : [])
  }
})

test('steps back are kept as far as each finds the board as it left it, when those behind it are taken back', () => {
  const steps = [step('a', undefined, '1'), step('b', undefined, '1'), step('a', '1', '2'), step('c', '1', undefined), step('d', '1', '2')]
  const now = boardOf({a: '2', b: 'other', d: 'other'})
  assert.deepEqual(keys(fitting(steps, now, 'after', 'before')), ['a1', 'a2', 'c'])
})

test('after a reload undo goes on where it was, for the same person on the same board; what was done meanwhile is newer', () => {
  const undo = new Undo()
  for (const one of [step('a', undefined, '1'), [{isClear: true}], step('a', '1', '2'), step('a', '2', '3')]) undo.add(one)
  undo.undo(boardOf({a: '3'}))
  keepUndo('board', 'me', undo)
  const board = boardOf({a: '2'})
  const restored = (name, user, meanwhile = []) => {
    const other = new Undo()
    for (const one of meanwhile) other.add(one)
    restoreUndo(name, user, other, board)
    return [keys(other.done), keys(other.undone)]
  }
  assert.deepEqual(restored('board', 'me'), [['a1', 'a2'], ['a3']])
  assert.deepEqual(restored('board', 'me', [step('z', undefined, '1')]), [['a1', 'a2', 'z1'], []])
  assert.deepEqual([restored('board', 'you'), restored('other', 'me')], [[[], []], [[], []]])
  window.sessionStorage.setItem('whiteboard.undo', '{"board":{"user":"me","done":[7]}}')
  assert.deepEqual(restored('board', 'me'), [[], []])
})

test('of steps back the newest are kept, up to a bound of letters and of boards', () => {
  const undo = new Undo()
  for (let at = 0; at < 10; at++) undo.add(step(`s${at}`, undefined, 'x'.repeat(90_000)))
  for (const name of ['one', 'two', 'three', 'four', 'five']) keepUndo(name, 'me', undo)
  const kept = JSON.parse(window.sessionStorage.getItem('whiteboard.undo'))
  assert.deepEqual(Object.keys(kept), ['two', 'three', 'four', 'five'])
  assert.deepEqual(kept.five.done.map(([{key}]) => key), ['s6', 's7', 's8', 's9'])
})
