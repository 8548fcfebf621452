// The area eraser: of the lines that it goes over is left what it does not touch. Texts and pictures stay.
import {boxAround} from '../boxes.js'
import {cut, lineOf, recordsOf} from '../cuts.js'
import {drawElement} from '../kinds/index.js'

const reachPx = {touch: 16}
/** Gestures that are not over: `{cuts, place, reach}`; `cuts` has `{element, object, pieces}` by the element's id. */
const gestures = new Set()

export function begin(event, hands) {
  const {canvas, records, session, undo} = hands
  const reach = (reachPx[event.pointerType] ?? 10) * 100 / canvas.view.scale
  const placeOf = event => Object.values(canvas.toBoard(event)).map(place => place * 100)
  const gesture = {cuts: new Map(), place: placeOf(event), reach}
  const {cuts} = gesture
  const way = []
  let isRefused = false
  /** What is left of an element; `undefined` if that is all of it. A wide line is touched farther from its middle. */
  const left = (element, stretches, before = lineOf(element)) => {
    const {object, points, pieces: whole = [points]} = before
    const reached = reach + object.width / 2
    const pieces = stretches.reduce((pieces, stretch) => pieces.flatMap(piece => cut(piece, stretch, reached)), whole)
    return pieces.length === whole.length && pieces.every((piece, at) => piece === whole[at]) ? undefined : {element, object, pieces}
  }
  const go = next => {
    const to = placeOf(next)
    const stretch = [gesture.place, to]
    way.push(stretch)
    gesture.place = to
    for (const element of records.within(boxAround(stretch.map(([x, y]) => [x - reach, y - reach, x + reach, y + reach])))) {
      if (element.type !== 'stroke' || element.isLocked) continue
      const known = cuts.get(element.id)
      // Somebody may have changed it meanwhile.
      const after = known && known.element !== element ? left(element, way) : left(element, [stretch], known)
      if (after && session.mayChange(element)) cuts.set(element.id, after)
      else isRefused ||= Boolean(after)
    }
    show(hands)
  }
  const ended = () => {
    gestures.delete(gesture)
    show(hands)
  }
  gestures.add(gesture)
  hands.overlays.set('area-eraser', context => draw(context, hands))
  go(event)
  return {
    move: go,
    end: () => {
      const step = []
      for (const [id, known] of cuts) {
        const element = records.elements.get(id)
        if (!element || !hands.mayEdit(element)) continue
        const now = element === known.element ? known : left(element, way)
        if (!now) continue
        step.push(...element.records.map(({key, customType, payload}) => ({key, before: {customType, payload}})))
        for (const piece of now.pieces) step.push(...recordsOf(now.object, piece))
      }
      session.writeAll(step.map(({key, after}) => ({key, record: after})))
      undo.add(step)
      ended()
      if (isRefused && step.length === 0) hands.refused()
    },
    cancel: ended,
  }
}

/** What is cut is shown in pieces, above the board, until all of it is written. */
function show(hands) {
  hands.conceal('area-eraser', [...gestures].flatMap(({cuts}) => [...cuts.keys()]))
  hands.canvas.refresh()
}

const parts = new WeakMap()
/** A piece as a part of a stroke; once. */
function partOf({color, width, cols}, piece) {
  const column = cols.indexOf('p')
  const part = parts.get(piece)
    ?? {color, width, xy: piece.flatMap(([x, y]) => [x, y]), pressure: column > 0 ? piece.map(point => point[column]) : undefined}
  parts.set(piece, part)
  return part
}

function draw(context, {canvas}) {
  for (const {cuts, place, reach} of gestures) {
    for (const {object, pieces} of cuts.values()) {
      if (pieces.length) drawElement(context, {type: 'stroke', parts: pieces.map(piece => partOf(object, piece))})
    }
    context.strokeStyle = '#76767f'
    context.lineWidth = 1.5 / canvas.view.scale
    context.beginPath()
    context.arc(place[0] / 100, place[1] / 100, reach / 100, 0, 7)
    context.stroke()
  }
}
