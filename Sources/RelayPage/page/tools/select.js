// Select and move: what is pressed, or lies within a frame, is chosen, and goes along with the hand.
import {boxAround} from '../boxes.js'
import {shifted} from '../kinds/edits.js'
import {drawElement} from '../kinds/index.js'

/** How far what is lifted is from where it lies, in 1/100 px; `undefined`: nothing is lifted. */
let shift
/** Within which things are to be chosen. */
let frameBox

/** Draws what is chosen, and the frame. */
export const show = hands => hands.overlays.set('select', context => draw(context, hands))

export function begin(event, hands) {
  const {canvas} = hands
  show(hands)
  const from = canvas.toBoard(event)
  const before = hands.chosen
  const found = hands.at(event)
  const hit = found.find(element => hands.session.mayChange(element))
  if (!hit) {
    if (found.length) hands.refused()
    hands.choose([])
    return frame(from, before, hands)
  }
  if (!hands.selection.has(hit.id)) hands.choose([hit])
  const drop = () => {
    shift = undefined
    hands.conceal('select', [])
  }
  return {
    move: next => {
      const {x, y} = canvas.toBoard(next)
      shift = [Math.round((x - from.x) * 100), Math.round((y - from.y) * 100)]
      hands.conceal('select', hands.selection)
    },
    end: () => {
      const [dx, dy] = shift ?? [0, 0]
      drop()
      if (dx || dy) changeChosen(hands, record => shifted(record, dx, dy))
    },
    cancel: () => {
      drop()
      hands.choose(before)
    },
  }
}

function frame(from, before, hands) {
  const {canvas, session, records} = hands
  return {
    move: next => {
      const to = canvas.toBoard(next)
      frameBox = [Math.min(from.x, to.x), Math.min(from.y, to.y), Math.max(from.x, to.x), Math.max(from.y, to.y)].map(place => place * 100)
      canvas.refresh()
    },
    end: () => {
      const [left, top, right, bottom] = frameBox ?? [0, 0, -1, -1]
      frameBox = undefined
      hands.choose(records.within([left, top, right, bottom]).filter(element => session.mayChange(element)
        && element.box[0] >= left && element.box[1] >= top && element.box[2] <= right && element.box[3] <= bottom))
    },
    cancel: () => {
      frameBox = undefined
      hands.choose(before)
    },
  }
}

/**
 * Changes all that is chosen at once, as one step back.
 *
 * @param {(record: {customType: string, payload: string}) => object|undefined} edit one of kinds/edits.js; `undefined`: it stays as it is
 */
export function changeChosen({chosen, session, undo}, edit) {
  const step = []
  for (const {key, customType, payload} of chosen.flatMap(({records}) => records)) {
    const before = {customType, payload}
    const after = edit(before)
    if (after) step.push({key, before, after})
  }
  session.writeAll(step.map(({key, after}) => ({key, record: after})))
  undo.add(step)
}

/** The frame, and what is chosen. */
function draw(context, {canvas, chosen}) {
  const pixel = 1 / canvas.view.scale
  const outline = ([left, top, right, bottom], margin) => {
    context.strokeStyle = '#6b6bdb'
    context.lineWidth = 1.5 * pixel
    context.setLineDash([5 * pixel, 4 * pixel])
    context.strokeRect(left / 100 - margin, top / 100 - margin, (right - left) / 100 + 2 * margin, (bottom - top) / 100 + 2 * margin)
    context.setLineDash([])
  }
  if (frameBox) outline(frameBox, 0)
  if (chosen.length === 0) return
  context.save()
  if (shift) {
    context.translate(shift[0] / 100, shift[1] / 100)
    for (const element of chosen) drawElement(context, element)
  }
  outline(boxAround(chosen.map(({box}) => box)), 6 * pixel)
  context.restore()
}
