// The board's paper: where it lies on the screen, and on pictures.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {Canvas, paperStep} from '../../Sources/RelayPage/page/canvas.js'
import {paperLines} from '../../Sources/RelayPage/page/paper.js'
import {Session} from '../../Sources/RelayPage/page/session.js'
import {svgDocument} from '../../Sources/RelayPage/page/svg-document.js'
import {joined, readRecord} from '../../Sources/RelayPage/page/kinds/index.js'
import {Dice} from './support/dice.mjs'

/** `--left`, `--top` and `--step` of a canvas that shows a view, in px of the screen. */
function laid({x, y, scale}, ratio) {
  const set = {}
  const zoom = scale * ratio
  const canvas = {ratio, origin: {left: Math.round(x * zoom), top: Math.round(y * zoom), zoom},
    stage: {style: {setProperty: (name, value) => { set[name] = parseFloat(value) }}}}
  Canvas.prototype.layPaper.call(canvas)
  return {canvas, left: set['--left'], top: set['--top'], step: set['--step']}
}

test('however large the board is shown, its paper lies where the drawing lies, and is not too dense', () => {
  const dice = new Dice(5)
  for (let round = 0; round < 500; round++) {
    const scale = 2 ** (dice.below(170) / 10 - 12)
    const view = {x: dice.below(2_000_000) - 1_000_000, y: dice.below(2_000_000) - 1_000_000, scale}
    const {canvas: {ratio, origin}, left, top, step} = laid(view, 1 + dice.below(3) / 2)
    assert.ok(step > 14.39, `${step} px between dots at ${scale}`)
    for (const [from, corner] of [[left, origin.left], [top, origin.top]]) {
      // Of ruled paper each second line is seen: it begins at a multiple of two steps.
      const place = (from * ratio + corner) / origin.zoom / (2 * paperStep(scale))
      assert.ok(Math.abs(place - Math.round(place)) * 2 * step < 0.01, `${place}`)
      assert.ok(Math.abs(from) < 2 * step, 'a number that keeps its precision')
    }
  }
  assert.deepEqual([20, 1, 0.6, 0.59, 0.3, 0.05].map(paperStep), [24, 24, 24, 48, 48, 384])
})

test('pictures have squares and ruled lines where the board has them, and nothing of other paper', () => {
  const box = {x: -1_000, y: 3_000, width: 6_000, height: 5_000}
  assert.deepEqual(paperLines('ruled', box, 1), [[-1_000, 4_800, 5_000, 4_800]])
  assert.deepEqual(paperLines('squared', box, 2), [[-1_000, 4_800, 5_000, 4_800], [-1_000, 7_200, 5_000, 7_200],
    [0, 3_000, 0, 8_000], [2_400, 3_000, 2_400, 8_000], [4_800, 3_000, 4_800, 8_000]])
  for (const paper of ['dotted', 'blank', 'graph', 'constructor', undefined]) assert.deepEqual(paperLines(paper, box, 1), [])
})

test('a print has the paper’s lines under the drawing, and not too many; an export has none', () => {
  const payload = JSON.stringify({color: '#1B1B1BFF', cols: 'xy', id: 's', points: [0, 0, 9_000, 5_000], v: 1, width: 300, z: 1})
  const elements = [joined([readRecord('stroke', payload)])]
  const [plain, print] = [svgDocument(elements, 'Ink'), svgDocument(elements, 'Ink', 'ruled')]
  assert.ok(!plain.includes('#DCDDE2'))
  const line = print.split('\n').find(line => line.includes('#DCDDE2'))
  assert.equal(line, '<path stroke="#DCDDE2" stroke-width="1" d="M-11.5 0L101.5 0M-11.5 48L101.5 48"/>')
  assert.equal(print.replace(line + '\n', ''), plain)
  assert.ok(print.indexOf(line) < print.indexOf('<g '))
  const huge = [{...elements[0], box: [-1e9, -1e9, 1e9, 1e9]}]
  assert.ok(svgDocument(huge, '', 'squared').match(/M/g).length < 200)
})

test('paper and title are set as they were seen last, so that who was slower is refused', async () => {
  const asked = []
  const told = []
  const session = {records: {}, live: {}, changed: what => told.push(what), setItem: Session.prototype.setItem,
    channel: {metadata: {set: async (items, {revisions}) => asked.push([items, revisions])}}}
  Session.prototype.makeTakers.call(session)
  await session.setItem('paper', 'ruled')
  session.takers.metadata({items: new Map([['paper', {value: 'squared', revision: 3}], ['title', {value: 'Ink', revision: 5}]])})
  assert.deepEqual([session.paper.value, session.title.value, told], ['squared', 'Ink', ['metadata']])
  await session.setItem('paper', 'blank')
  await session.setItem('title', 'Pen')
  session.takers.metadata({items: new Map()})
  assert.equal(session.paper, undefined)
  assert.deepEqual(asked, [[{paper: 'ruled'}, {paper: 0}], [{paper: 'blank'}, {paper: 3}], [{title: 'Pen'}, {title: 5}]])
})
