// Pen and highlighter: the line that a hand draws.
import {InkStroke} from '../ink.js'
import {drawElement} from '../kinds/index.js'
import {writeStroke} from '../kinds/stroke.js'

/** A finger's line is shown to others when it has become one: before, it may turn out to be a pinch. */
const fingerHoldPx = 8
/** A pen that is not heard of for so long rests: the line goes to where it is, for others too. */
const restMs = 80
/** A hand that holds still at the end of a line for so long may mean a shape. */
const holdMs = 600
/** Still is what goes no farther than this; from a shape that is shown a hand must go farther. */
const stillPx = 4
const goOnPx = 10

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
  const hold = holding(stroke, canvas)
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
    hold.ended()
    strokes.delete(stroke)
    canvas.refresh()
  }
  return {
    move: next => {
      // All events since the last frame, if the browser gives them, which it does not over plain http.
      for (const each of next.getCoalescedEvents?.().length ? next.getCoalescedEvents() : [next]) add(each)
      farthest = Math.max(farthest, Math.hypot(next.clientX - event.clientX, next.clientY - event.clientY))
      stroke.ahead = next.getPredictedEvents?.().map(placeOf) ?? []
      showSoon()
      hold.moved(next)
      clearTimeout(rest)
      rest = setTimeout(() => {
        stroke.arrive()
        showSoon()
      }, restMs)
    },
    end: last => {
      hold.moved(last)
      const {x, y} = canvas.toBoard(last)
      // Gestures that the browser takes for itself may tell no place. A lifted pen has no pressure.
      if (last.type === 'pointerup' && Math.hypot(x - stroke.pen.x, y - stroke.pen.y) > 0) stroke.add(x, y, stroke.pen.p)
      stroke.arrive()
      if (sent > 0) show()
      ended()
      stroke.z = records.nextLayer
      // What the browser took for itself was not lifted.
      const {id, meant} = last.type === 'pointerup' ? stroke : {id: stroke.id}
      const ink = {customType: 'stroke', payload: writeStroke(stroke)}
      const after = meant ? {customType: 'stroke', payload: writeStroke({...stroke, ...meant, pressure: undefined})} : ink
      session.write(id, after)
      undo.add([{key: id, after: ink}])
      if (meant) undo.add([{key: id, before: ink, after}])
    },
    cancel: () => {
      ended()
      if (sent > 0) session.takeBack(stroke.id)
    },
  }
}

/** Looks for the shape that a hand means that holds still: the line's `meant`, until it goes on. */
function holding(stroke, canvas) {
  let [at, timer] = [undefined, undefined]
  const look = async () => {
    const held = at
    const {meantBy} = await import('../recognise.js')
    if (held !== at) return
    stroke.meant = meantBy(stroke)
    canvas.refresh()
  }
  return {
    moved: next => {
      if (at && Math.hypot(next.clientX - at.clientX, next.clientY - at.clientY) <= (stroke.meant ? goOnPx : stillPx)) return
      at = next
      stroke.meant = undefined
      clearTimeout(timer)
      // Without the module the line stays as it is.
      timer = setTimeout(() => look().catch(() => {}), holdMs)
    },
    ended: () => {
      clearTimeout(timer)
      at = undefined
    },
  }
}

/** Own lines that are not finished. */
export function drawLines(context, {canvas, strokes}) {
  for (const stroke of strokes) {
    drawElement(context, {type: 'stroke', parts: [stroke.meant ?? stroke.shown()]})
    if (stroke.ahead.length === 0) continue
    // The pen may have stopped: at the next frame the line ends where it is known to be.
    stroke.ahead = []
    canvas.refresh()
  }
}
