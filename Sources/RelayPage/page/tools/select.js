// Select: what is pressed, or lies within a frame, is chosen; it goes along with the hand, and is resized by its handles. With Shift
// things are added to what is chosen, and taken from it. What is protected is not moved: a press chooses it, so that it can be unlocked.
import {boxAround} from '../boxes.js'
import {change, isShownResized, resizedElements} from '../editing.js'
import {resized, shifted} from '../kinds/edits.js'
import {drawElement, touches} from '../kinds/index.js'
import {handleAt, handlesOf, pulled} from './handles.js'

const slackPx = {mouse: 5, pen: 6, touch: 12}
const handlePx = {mouse: 8, pen: 8, touch: 22}

/** What is lifted from the board: `{shift}`, how far it is from where it lies, in 1/100 px, or `{from, to, elements?}`, its boxes. */
let lifted
/** The frame within which elements are selected. */
let frameBox

export const boxOfChosen = ({chosen}) => boxAround(chosen.map(({box}) => box))
const pixelOf = ({canvas}) => 100 / canvas.view.scale

/** Draws what is chosen, and the frame. */
export const show = hands => hands.overlays.set('select', context => draw(context, hands))

/** Shows what is chosen elsewhere. @param {object|undefined} how `undefined`: where it lies */
export function lift(hands, how) {
  lifted = how
  show(hands)
  hands.conceal('select', how ? hands.selection : [])
}

/** The handle under a pointer, where what is chosen can be resized. */
export function handleUnder(event, hands) {
  const {chosen, canvas} = hands
  if (chosen.length === 0 || !chosen.every(element => hands.mayEdit(element))) return undefined
  const {x, y} = canvas.toBoard(event)
  const pixel = pixelOf(hands)
  return handleAt(boxOfChosen(hands), {x: x * 100, y: y * 100}, (handlePx[event.pointerType] ?? 8) * pixel, pixel)
}

export function begin(event, hands) {
  lift(hands)
  const handle = handleUnder(event, hands)
  return handle ? resize(handle, event, hands) : press(event, hands)
}

function press(event, hands) {
  const before = hands.chosen
  const found = hands.at(event)
  const hit = found.find(element => hands.session.mayChange(element))
  if (hit) return move(event, hit, before, hands)
  if (found.length) hands.refused()
  if (!event.shiftKey) hands.choose([])
  return frame(event, before, hands)
}

function move(event, hit, before, hands) {
  const {canvas} = hands
  const from = canvas.toBoard(event)
  const wasChosen = hands.selection.has(hit.id)
  if (!wasChosen) hands.choose(event.shiftKey ? [...before, hit] : [hit])
  let way = [0, 0]
  return {
    move: next => {
      const {x, y} = canvas.toBoard(next)
      way = [Math.round((x - from.x) * 100), Math.round((y - from.y) * 100)]
      lift(hands, {shift: way})
    },
    end: () => {
      lift(hands)
      if (way[0] || way[1]) change(hands, hands.chosen, record => shifted(record, ...way))
      else if (event.shiftKey && wasChosen) hands.choose(before.filter(element => element !== hit))
    },
    cancel: () => {
      lift(hands)
      hands.choose(before)
    },
  }
}

function resize({sides}, event, hands) {
  const {canvas, chosen} = hands
  const from = canvas.toBoard(event)
  const box = boxOfChosen(hands)
  const isPicture = chosen.some(({type}) => type === 'image')
  const isShown = isShownResized(chosen)
  let to
  return {
    move: next => {
      const {x, y} = canvas.toBoard(next)
      to = pulled(box, sides, [(x - from.x) * 100, (y - from.y) * 100], isPicture ? !next.shiftKey : next.shiftKey)
      lift(hands, {from: box, to, elements: isShown ? resizedElements(hands.chosen, box, to) : undefined})
    },
    end: () => {
      lift(hands)
      if (to) change(hands, hands.chosen, record => resized(record, box, to))
      // Who does not pull has meant what lies there.
      else press(event, hands).end()
    },
    cancel: () => lift(hands),
  }
}

function frame(event, before, hands) {
  const {canvas, records} = hands
  const from = canvas.toBoard(event)
  return {
    move: next => {
      const to = canvas.toBoard(next)
      frameBox = [Math.min(from.x, to.x), Math.min(from.y, to.y), Math.max(from.x, to.x), Math.max(from.y, to.y)].map(place => place * 100)
      canvas.refresh()
    },
    end: () => {
      const [left, top, right, bottom] = frameBox ?? [0, 0, -1, -1]
      const isWithin = element => hands.mayEdit(element)
        && element.box[0] >= left && element.box[1] >= top && element.box[2] <= right && element.box[3] <= bottom
      const found = frameBox ? records.within(frameBox).filter(isWithin) : protectedAt(event, hands)
      frameBox = undefined
      hands.choose([...event.shiftKey ? before : [], ...found])
    },
    cancel: () => {
      frameBox = undefined
      hands.choose(before)
    },
  }
}

/** The uppermost protected element under a press, if one may unlock it. */
function protectedAt(event, hands) {
  const {x, y} = hands.canvas.toBoard(event)
  const [px, py, reach] = [x * 100, y * 100, (slackPx[event.pointerType] ?? 6) * pixelOf(hands)]
  return hands.records.within([px - reach, py - reach, px + reach, py + reach])
      .filter(element => element.isLocked && touches(element, px, py, reach) && hands.session.mayChange(element)).slice(-1)
}

/** The frame, and what is chosen. */
function draw(context, hands) {
  const {canvas, chosen} = hands
  const pixel = 1 / canvas.view.scale
  const outline = ([left, top, right, bottom], margin, dashes = [5, 4]) => {
    context.strokeStyle = '#6b6bdb'
    context.lineWidth = 1.5 * pixel
    context.setLineDash(dashes.map(length => length * pixel))
    context.strokeRect(left / 100 - margin, top / 100 - margin, (right - left) / 100 + 2 * margin, (bottom - top) / 100 + 2 * margin)
    context.setLineDash([])
  }
  if (frameBox) outline(frameBox, 0)
  if (chosen.length === 0) return
  const {shift = [0, 0], from, to, elements = chosen} = lifted ?? {}
  context.save()
  context.translate(shift[0] / 100, shift[1] / 100)
  if (to && elements === chosen) {
    const factors = [0, 1].map(axis => (to[axis + 2] - to[axis]) / (from[axis + 2] - from[axis] || 1))
    context.translate(to[0] / 100, to[1] / 100)
    context.scale(...factors)
    context.translate(-from[0] / 100, -from[1] / 100)
  }
  if (lifted) for (const element of elements) drawElement(context, element)
  context.restore()
  const box = (to ?? boxAround(chosen.map(({box}) => box))).map((place, side) => place + shift[side % 2])
  outline(box, 6 * pixel, chosen.some(({isLocked}) => isLocked) ? [1, 3] : undefined)
  if (lifted || !chosen.every(element => hands.mayEdit(element))) return
  context.fillStyle = '#fff'
  for (const {x, y} of handlesOf(box, 100 * pixel)) {
    context.beginPath()
    context.arc(x / 100, y / 100, 5 * pixel, 0, 7)
    context.fill()
    context.stroke()
  }
}
