// The text tool: a press begins a text, or goes on with the one that is there; a drag begins one that wraps where the drag ends. The note
// tool puts a sticky note where one presses. With the select tool, a second press on a text goes on with it.
import {hundredths, parse, written} from '../format.js'
import {toast} from '../ui.js'
import {cornerAt, Writing} from '../writing.js'

const dragPx = 12
/** A second press comes within so much. */
const [secondMs, secondPx] = [450, 12]
/** Of a line's height: how wide the words of a new note may be. */
const noteLines = 7

export function begin(event, hands, tool) {
  const {canvas} = hands
  let box
  const distance = next => Math.hypot(next.clientX - event.clientX, next.clientY - event.clientY)
  const drop = () => {
    box = undefined
    hands.overlays.delete('text')
    canvas.refresh()
  }
  return {
    move: next => {
      const [from, to] = [canvas.toBoard(event), canvas.toBoard(next)]
      box = tool === 'text' && distance(next) > dragPx && [Math.min(from.x, to.x), from.y, Math.abs(to.x - from.x)]
      hands.overlays.set('text', context => box && drawBox(context, box, hands))
      canvas.refresh()
    },
    end: last => {
      const drawn = box
      drop()
      if (hands.wasWriting) return
      if (drawn) return write(hands, {...styleOf(hands, tool), ...cornerAt({x: drawn[0], y: drawn[1]}, hands.style(tool).size)}, drawn[2])
      if (distance(last) > dragPx) return
      const element = textAt(event, hands)
      if (element && !hands.session.mayChange(element)) return void hands.refused()
      if (element) return write(hands, element)
      putAt(hands, tool, canvas.toBoard(event))
    },
    cancel: drop,
  }
}

const textAt = (event, hands) => hands.at(event, 0).find(({type}) => type === 'text')

function styleOf(hands, tool) {
  const {color, size} = hands.style(tool)
  return {color, size}
}

/** Its middle is where one pressed. */
function noteAt({x, y}, style, paper) {
  const {size} = style
  const width = noteLines * size
  return {...style, width, paper, x: hundredths(x) - width / 2, y: hundredths(y) - 2 * size}
}

/** A new text, or note. @param {(key: string|undefined) => void} [ended] by a key, with the key of its record */
export function putAt(hands, tool, place, ended) {
  const {size, paper} = hands.style(tool)
  const style = styleOf(hands, tool)
  write(hands, tool === 'note' ? noteAt(place, style, paper) : {...style, ...cornerAt(place, size)}, undefined, ended)
}

/** One that is there. */
export const goOn = (hands, element, ended) => write(hands, element, undefined, ended)

/** @param {number} [width] in px, of a new text that wraps */
function write(hands, element, width, ended) {
  const {canvas, session, records, undo} = hands
  hands.writing ??= new Writing({canvas, session, records, undo, tell: toast})
  hands.writing.begin(width ? {...element, width: Math.max(2 * element.size, hundredths(width))} : element, ended)
}

/** Where the lines of a text to be will end. */
function drawBox(context, [x, y, width], {canvas, style}) {
  const pixel = 1 / canvas.view.scale
  const height = style('text').size / 100
  context.strokeStyle = '#6b6bdb'
  context.lineWidth = 1.5 * pixel
  context.setLineDash([5 * pixel, 4 * pixel])
  context.strokeRect(x, y - height / 2, width, height)
  context.setLineDash([])
}

/** A text is gone on with by two presses on it, too, while the select tool is chosen. */
export function listen({hands}) {
  let [before, down] = []
  const isNear = (one, other) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) <= secondPx
  const {stage} = hands.canvas
  stage.addEventListener('pointerdown', event => { down = event })
  stage.addEventListener('pointerup', event => {
    if (hands.tool !== 'select' || !hands.session.mayDraw || !down || !isNear(down, event)) return void (before = undefined)
    const isSecond = before && event.timeStamp - before.timeStamp < secondMs && isNear(before, event)
    before = isSecond ? undefined : event
    const element = isSecond && textAt(event, hands)
    if (!element || !hands.session.mayChange(element)) return
    hands.choose([])
    write(hands, element)
  })
}

/** The notes among what is chosen get another paper, as one step back. */
export function repaper({chosen, session, undo}, paper) {
  const step = chosen.filter(element => element.paper && !element.isLocked && session.mayChange(element)).flatMap(({records}) => records)
      .map(({key, customType, payload}) => ({key, before: {customType, payload},
        after: {customType, payload: written({...parse(payload), paper: `#${paper}FF`})}}))
  session.writeAll(step.map(({key, after}) => ({key, record: after})))
  undo.add(step)
}
