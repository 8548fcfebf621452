// The text tool: a press begins a text, or goes on with the one that is there.
import {noGesture} from '../tools.js'
import {Writing} from '../writing.js'

export function begin(event, hands) {
  const {canvas, session, records, undo} = hands
  return {...noGesture, end: last => {
    if (hands.wasWriting || Math.hypot(last.clientX - event.clientX, last.clientY - event.clientY) > 12) return
    const element = hands.at(event, 0).find(({type}) => type === 'text')
    if (element && !session.mayChange(element)) return void hands.refused()
    hands.writing ??= new Writing({canvas, session, records, undo, style: () => hands.style('text')})
    hands.writing.begin(canvas.toBoard(event), element)
  }}
}
