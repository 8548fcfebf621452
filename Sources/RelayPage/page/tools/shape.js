// Lines, arrows, rectangles and ellipses: from where the hand is put down to where it is lifted.
import {newID} from '../ink.js'
import {writeStroke} from '../kinds/stroke.js'
import {evened, pointsOf} from '../shapes.js'
import {drawLines} from './pen.js'

/** A hand that goes less far draws nothing. */
const leastPx = 6

export function begin(event, hands, shape) {
  const {canvas, session, records, undo, strokes} = hands
  const {color, width} = hands.style(shape)
  const placeOf = event => Object.values(canvas.toBoard(event)).map(place => place * 100)
  const from = placeOf(event)
  const stroke = {id: newID(), color, width, shape, xy: [], ahead: [], shown: () => ({color, width, xy: stroke.xy})}
  let [frame, isSent] = [undefined, false]
  /** A second finger does what Shift does; beside a pen it is the hand that holds it. */
  const isEven = ({shiftKey}) => shiftKey
    || (event.pointerType === 'touch' && [...hands.pointers.values()].filter(({pointerType}) => pointerType === 'touch').length > 1)
  const show = () => {
    frame = undefined
    isSent = true
    session.sendPoints(stroke, 0)
  }
  const lay = next => {
    const isFar = Math.hypot(next.clientX - event.clientX, next.clientY - event.clientY) >= leastPx
    strokes[isFar ? 'add' : 'delete'](stroke)
    const to = placeOf(next)
    stroke.xy = pointsOf(shape, from, isEven(next) ? evened(shape, from, to) : to, width).flat()
    canvas.refresh()
  }
  const ended = () => {
    cancelAnimationFrame(frame)
    strokes.delete(stroke)
    canvas.refresh()
  }
  const cancel = () => {
    ended()
    if (isSent) session.takeBack(stroke.id)
  }
  hands.overlays.set('pen', context => drawLines(context, hands))
  return {
    move: next => {
      lay(next)
      if (strokes.has(stroke)) frame ??= requestAnimationFrame(show)
    },
    end: last => {
      if (last.type === 'pointerup') lay(last)
      if (!strokes.has(stroke)) return cancel()
      ended()
      const after = {customType: 'stroke', payload: writeStroke({...stroke, z: records.nextLayer})}
      session.write(stroke.id, after)
      undo.add([{key: stroke.id, after}])
    },
    cancel,
  }
}
