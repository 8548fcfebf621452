// Pen and highlighter: the line that a hand draws.
import {InkStroke} from '../ink.js'
import {drawElement} from '../kinds/index.js'
import {writeStroke} from '../kinds/stroke.js'

/** A finger's line is shown to others when it has become one: before, it may turn out to be a pinch. */
const fingerHoldPx = 8
/** A pen that is not heard of for so long rests: the line goes to where it is, for others too. */
const restMs = 80

export function begin(event, hands, tool) {
  const {canvas, session, records, undo, strokes} = hands
  const isPen = event.pointerType === 'pen'
  const stroke = new InkStroke({...hands.style(tool), hasPressure: isPen && tool === 'pen', scale: canvas.view.scale})
  const placeOf = ({clientX, clientY, pressure}) => ({...canvas.toBoard({clientX, clientY}), p: isPen ? pressure : 0.5})
  const add = event => {
    const {x, y, p} = placeOf(event)
    stroke.add(x, y, p)
    canvas.refresh()
  }
  let [frame, rest, sent, farthest] = [undefined, undefined, 0, 0]
  add(event)
  strokes.add(stroke)
  hands.overlays.set('pen', context => drawLines(context, hands))
  /** One packet a frame. */
  const show = () => {
    frame = undefined
    if (stroke.xy.length / 2 > sent) sent = session.sendPoints(stroke, sent)
  }
  const showSoon = () => {
    if (event.pointerType !== 'touch' || farthest > fingerHoldPx) frame ??= requestAnimationFrame(show)
  }
  const ended = () => {
    cancelAnimationFrame(frame)
    clearTimeout(rest)
    strokes.delete(stroke)
    canvas.refresh()
  }
  return {
    move: next => {
      // Where they are to be had, all events since the last frame; plain http does not give them.
      for (const each of next.getCoalescedEvents?.().length ? next.getCoalescedEvents() : [next]) add(each)
      farthest = Math.max(farthest, Math.hypot(next.clientX - event.clientX, next.clientY - event.clientY))
      stroke.ahead = next.getPredictedEvents?.().map(placeOf) ?? []
      showSoon()
      clearTimeout(rest)
      rest = setTimeout(() => {
        stroke.arrive()
        showSoon()
      }, restMs)
    },
    end: last => {
      const {x, y} = canvas.toBoard(last)
      // What the browser takes for itself may tell no place. One that is lifted presses no more.
      if (last.type === 'pointerup' && Math.hypot(x - stroke.pen.x, y - stroke.pen.y) > 0) stroke.add(x, y, stroke.pen.p)
      stroke.arrive()
      if (sent > 0) show()
      ended()
      stroke.z = records.nextLayer
      const after = {customType: 'stroke', payload: writeStroke(stroke)}
      session.write(stroke.id, after)
      undo.add([{key: stroke.id, after}])
    },
    cancel: () => {
      ended()
      if (sent > 0) session.takeBack(stroke.id)
    },
  }
}

/** Own lines that are not finished. */
export function drawLines(context, {canvas, strokes}) {
  for (const stroke of strokes) {
    drawElement(context, {type: 'stroke', parts: [stroke.shown()]})
    if (stroke.ahead.length === 0) continue
    // The pen may have stopped: at the next frame the line ends where it is known to be.
    stroke.ahead = []
    canvas.refresh()
  }
}
