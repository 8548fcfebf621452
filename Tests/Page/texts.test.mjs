// Texts: their lines, what they cover, and that none is cut.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {loadKinds, readRecord} from '../../Sources/RelayPage/page/kinds/index.js'
import {linesOf} from '../../Sources/RelayPage/page/kinds/lines.js'
import {measureOn, text as kind} from '../../Sources/RelayPage/page/kinds/text.js'
import {svgDocument} from '../../Sources/RelayPage/page/svg-document.js'
import {speak, restOfWords} from '../../Sources/RelayPage/page/words/index.js'
import {Writing} from '../../Sources/RelayPage/page/writing.js'

await loadKinds()
await speak('en')
await restOfWords()

/** Each letter is 10 wide. */
const wrapped = (text, width) => linesOf({text, width}, part => 10 * [...part].length)

test('a line is broken between words, its spaces stay between them, and those at a break go', () => {
  assert.deepEqual(wrapped('Ask Ada about ink', 100), ['Ask Ada', 'about ink'])
  assert.deepEqual(wrapped('Ask  Ada   about', 80), ['Ask  Ada', 'about'])
  assert.deepEqual(wrapped('a\n\n b c', 20), ['a', '', ' b', 'c'])
  assert.deepEqual(wrapped('   abc', 30), ['', 'abc'])
  assert.deepEqual(wrapped('   ', 10), ['   '])
  assert.deepEqual(wrapped('a b\nc', undefined), ['a b', 'c'])
})

test('a word that is wider than a line is broken between letters, never within one; what follows stands behind its end', () => {
  assert.deepEqual(wrapped('an abcdefgh i', 30), ['an', 'abc', 'def', 'gh', 'i'])
  assert.deepEqual(wrapped('abcd e', 30), ['abc', 'd e'])
  assert.deepEqual(wrapped('abc', 1), ['a', 'b', 'c'])
  assert.deepEqual(wrapped('xe\u0301x', 10), ['x', 'e\u0301', 'x'])
  assert.deepEqual(wrapped('👩\u200d👩\u200d\u200d👧👋🏽', 10), ['👩\u200d👩\u200d\u200d👧', '👋🏽'])
})

test('what is measured for a line grows with the line, not with the text', () => {
  for (const text of ['x'.repeat(16_384), 'x '.repeat(8_192)]) {
    let letters = 0
    linesOf({text, width: 100}, part => {
      letters += part.length
      return 10 * part.length
    })
    assert.ok(letters < 20 * text.length, `${letters} letters are measured for ${text.length}`)
  }
})

const record = more => JSON.stringify({color: '#000000FF', id: 't', size: 2_000, text: 'Ink weighs', v: 1, x: 0, y: 0, z: 1, ...more})

test('on a screen a text is as wide as its letters, and wraps by them; in a document it is as wide as everywhere', () => {
  const element = more => {
    const found = readRecord('text', record(more))
    return {...found, box: kind.boxOf(found)}
  }
  const guessed = element().box
  measureOn({measureText: part => ({width: 25 * part.length})})
  try {
    assert.deepEqual([guessed, element().box], [[0, 0, 10_329, 2_000], [0, 0, 25_000, 2_000]])
    assert.deepEqual(element({width: 16_000}).box, [0, 0, 15_000, 4_000])
    assert.deepEqual(element({width: 16_000, paper: '#FFE680FF'}).box, [-1_000, -1_000, 17_000, 9_000])
    assert.match(svgDocument([element()]), /viewBox="-10 -10 123.29 40"/)
  } finally {
    measureOn(undefined)
  }
})

/** A text in the middle of being written. */
function writing(value, element, {now = element.id && element, isReading = false} = {}) {
  const told = []
  const written = []
  const one = Object.assign(Object.create(Writing.prototype), {
    area: {value, remove() {}}, place: {...element, element: element.id && element}, canvas: {}, tell: text => told.push(text),
    session: {write: (key, record) => written.push([key, record && JSON.parse(record.payload)])}, undo: {add() {}},
    records: {isReading, nextLayer: 9, elements: new Map(now ? [[now.id, now]] : [])},
  })
  one.finish()
  return {one, told, written}
}

test('a text of 16,384 bytes is written; a longer one stays to be shortened, and the page says the limit and its size', () => {
  const style = {color: '#000000FF', size: 2_000, x: 0, y: 0}
  const longest = writing('é'.repeat(8_192), style)
  assert.equal(longest.written[0][1].text, 'é'.repeat(8_192))
  const {one, told, written} = writing('é'.repeat(8_192) + '!', style)
  assert.deepEqual([written, one.area.value.length], [[], 8_193])
  assert.match(told[0], /16,385 bytes.*16,384/)
  one.area.value = 'short'
  one.finish()
  assert.equal(written[0][1].text, 'short')
})

test('a note that loses its words stays; a new one without words goes', () => {
  const payload = record({paper: '#FFE680FF', width: 9_000, by: 'ada'})
  const note = {...readRecord('text', payload), records: [{key: 't', customType: 'text', payload}]}
  assert.deepEqual(writing('', note).written, [['t', {...JSON.parse(payload), text: ' '}]])
  assert.deepEqual(writing('', {...note, id: undefined}).written, [])
})

/** What is written of a text that is there; `now`: what others have made of it meanwhile. */
function rewriting(value, {now, isReading}) {
  const whole = more => {
    const payload = record({text: 'old', x: 1, y: 2, z: 3, by: 'ada', ...more})
    return {...readRecord('text', payload), records: [{key: 't', customType: 'text', payload}]}
  }
  return writing(value, whole(), {now: now ? whole(now) : null, isReading}).written
}

test('a text that others moved while it was written stays where they put it; one that they erased is a new one', () => {
  const [[key, moved]] = rewriting('new', {now: {x: 70, y: 80, z: 5}})
  assert.deepEqual([key, moved.text, moved.x, moved.y, moved.z, moved.by], ['t', 'new', 70, 80, 5, 'ada'])
  const [[other, again]] = rewriting('new', {})
  assert.ok(other !== 't' && again.id === other, other)
  assert.deepEqual([again.text, again.x, again.y, again.z], ['new', 1, 2, 9])
  assert.deepEqual([rewriting('old', {}), rewriting(' ', {})], [[], []], 'nothing was written: it stays erased')
  assert.equal(rewriting('new', {isReading: true})[0][0], 't', 'a board that is being read anew has not lost it')
  assert.deepEqual(rewriting('', {now: {}}), [['t', undefined]])
})
