// The kinds of records: what is made of one that is there, and one whose module comes late.
import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {test} from 'node:test'
import {copied, recolored, resized, shifted} from '../../Sources/RelayPage/page/kinds/edits.js'
import {isToCome, kindOf, loadKinds, readRecord} from '../../Sources/RelayPage/page/kinds/index.js'
import {Records} from '../../Sources/RelayPage/page/records.js'

const text = {customType: 'text',
  payload: '{"by":{"a":1},"color":"#1B1B1BFF","id":"t","size":2000,"text":"Hi","v":1,"x":1000,"y":500,"z":3}'}
const line = {customType: 'stroke',
  payload: '{"by":{"a":1},"color":"#D92D2059","cols":"xypt","id":"s","points":[100,200,9,0,10,0,-1,4,0,30,2,6],"v":1,"width":300,"z":-4}'}
const says = record => JSON.parse(record.payload)

test('a record whose kind’s module has not come is kept, and drawn when it has; of an unknown type nothing is', async () => {
  assert.ok(isToCome('text') && !kindOf('text') && !isToCome('stroke') && !isToCome('toString') && !kindOf('toString'))
  const told = []
  const records = new Records(({come}) => told.push(come.map(({id}) => id)))
  const receive = (key, {customType, payload}, offset) =>
    records.received({isRetained: true, key, offset, sender: 'bob', customType, payload})
  receive('t', text, 1)
  receive('s', line, 2)
  receive('o', {...text, customType: 'other'}, 3)
  records.flush()
  assert.deepEqual([told, records.get('t').payload, records.get('o').payload], [[['s']], text.payload, text.payload])
  await loadKinds()
  await new Promise(setImmediate)
  assert.deepEqual([told, records.elements.get('t').text, records.get('o').payload], [[['s'], ['t']], 'Hi', text.payload])
  assert.ok(!isToCome('text'))
})

test('a record is moved, and everything else that it says stays', () => {
  assert.deepEqual(says(shifted(text, 5, -500)), {...says(text), x: 1_005, y: 0})
  assert.deepEqual(says(shifted(line, 5, -5)), {...says(line), points: [105, 195, 9, 0, 10, 0, -1, 4, 0, 30, 2, 6]})
  for (const record of [text, line]) assert.equal(shifted(record, 1e9, 0), undefined, 'out of the format’s range')
})

test('a record is resized from box to box: places on each axis, a text’s size by the smaller factor, a line’s width not', () => {
  assert.deepEqual(says(resized(text, [0, 0, 1_000, 1_000], [100, 0, 3_100, 2_000])), {...says(text), x: 3_100, y: 1_000, size: 4_000})
  assert.deepEqual(says(resized(line, [100, 200, 110, 230], [0, 0, 20, 15])),
      {...says(line), points: [0, 0, 9, 0, 20, 0, -1, 4, 0, 15, 2, 6]})
  assert.deepEqual(says(resized(line, [100, 200, 100, 230], [7, 200, 7, 260])),
      {...says(line), points: [7, 200, 9, 0, 10, 0, -1, 4, 0, 60, 2, 6]}, 'what has no width is only moved')
  assert.equal(resized(text, [0, 0, 1_000, 1_000], [0, 0, 10, 10]), undefined, 'a text that small is none')
})

test('places of a long line are each rounded by themselves when it is resized', () => {
  const points = [0, 0, ...Array.from({length: 999}, () => [1, 0]).flat()]
  const long = {customType: 'stroke', payload: JSON.stringify({color: '#000000FF', cols: 'xy', id: 's', points, v: 1, width: 3, z: 1})}
  const {xy} = readRecord('stroke', resized(long, [0, 0, 999, 0], [0, 0, 333, 0]).payload)
  for (let at = 0; at < 1_000; at++) assert.ok(Math.abs(xy[2 * at] - at / 3) <= 0.5, `${at}: ${xy[2 * at]}`)
})

test('a record gets another colour, and shines through as before unless that is said, too', () => {
  assert.equal(says(recolored(line, '#1F66E5')).color, '#1F66E559')
  assert.deepEqual(says(recolored(text, '#1F66E580')), {...says(text), color: '#1F66E580'})
  assert.equal(recolored(text, 'red'), undefined)
})

test('a copy is the same under another id, in another layer', () => {
  for (const record of [text, line]) assert.deepEqual(says(copied(record, 'new', 99)), {...says(record), id: 'new', z: 99})
  assert.equal(copied(text, '', 1), undefined)
})

test('what is drawn, found, kept and exported knows no kind by its name', () => {
  const folder = new URL('../../Sources/RelayPage/page/', import.meta.url)
  for (const name of ['records', 'canvas', 'tiles', 'format', 'svg-document', 'png', 'kinds/edits', 'boxes', 'layers', 'places']) {
    assert.doesNotMatch(readFileSync(new URL(`${name}.js`, folder), 'utf8'), /'(stroke|text)'|kinds\/(stroke|text)/, name)
  }
})
