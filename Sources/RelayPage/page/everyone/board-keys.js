// The board by keys alone, while it has the focus: things are chosen one after the other, texts are changed, and what a tool makes is
// put in the middle of the view.
import {describe, pictureToDescribe} from '../describe.js'
import {isSwitchedOff} from '../remembered.js'
import {loadTool, tools} from '../tools/index.js'
import {$} from '../ui.js'
import {say} from '../words/index.js'
import {before, inRows} from './reading-order.js'
import {nameOf} from './thing-name.js'

/** In px of the screen: how far an arrow key takes the view, how large half a new shape is, how far what is put lies beside the last one. */
const [panPx, halfWidthPx, halfHeightPx, besidePx] = [80, 80, 50, 24]
const besideMax = 8
const ways = {ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}

/** @param {{hands: object, choose: (tool: string) => void, say: (text: string) => void}} parts */
export function hearBoardKeys({hands, choose, say: tell}) {
  const {canvas, session, records} = hands
  const select = element => {
    choose('select')
    hands.choose([element])
  }

  /** The next thing of the view, or the one before it, in the order in which they are read. */
  function go(step) {
    const all = inRows(records.within(canvas.window).filter(element => session.mayChange(element)).sort(before))
    if (all.length === 0) return tell(say('thing.none'))
    const at = all.findIndex(({id}) => hands.selection.has(id))
    const to = at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length
    select(all[to])
    return tell(say('thing.selected', {what: nameOf(all[to]), number: to + 1, count: all.length}))
  }

  let last = {view: '', times: 0}
  /** Of the window; a little beside what was put there just now. */
  function middle() {
    const view = JSON.stringify(canvas.view)
    last = {view, times: last.view === view ? (last.times + 1) % besideMax : 0}
    const {clientWidth, clientHeight} = canvas.stage
    return {clientX: clientWidth / 2 + last.times * besidePx, clientY: clientHeight / 2 + last.times * besidePx}
  }
  /** What was written is chosen, so that keys can move it. */
  const ended = key => {
    const element = records.elements.get(records.idOf.get(key))
    if (element) select(element)
    $('board').focus()
  }

  async function enter() {
    const [element] = hands.chosen
    const {tool} = hands
    const picture = pictureToDescribe(hands)
    if (picture) return void describe(hands, picture)
    if (element) {
      const isWritten = hands.chosen.length === 1 && element.type === 'text' && hands.mayEdit(element)
      if (isWritten) (await loadTool('text')).goOn(hands, element, ended)
      return
    }
    const {group} = tools[tool]
    if (group !== 'text' && group !== 'shapes') return
    const module = await loadTool(tool)
    const place = middle()
    if (group === 'text') return void module.putAt(hands, tool, canvas.toBoard(place), ended)
    const corner = side => ({type: 'pointerup', pointerType: 'mouse', clientX: place.clientX + side * halfWidthPx,
      clientY: place.clientY + side * halfHeightPx})
    const steps = hands.undo.done.length
    module.begin(corner(-1), hands, tool).end(corner(1))
    if (hands.undo.done.length > steps) ended(hands.undo.done.at(-1)[0].key)
  }

  addEventListener('keydown', event => {
    const {key, target, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented} = event
    if (ctrlKey || metaKey || shiftKey || isSwitchedOff(event)) return
    if (key === 'Escape' && target.closest?.('#dock, #zoom, #edit-bar, header') && !target.matches('input')) return $('board').focus()
    if (defaultPrevented || (target !== $('board') && target !== document.body)) return
    const step = (altKey ? {PageDown: 1, PageUp: -1} : {'.': 1, ',': -1})[key]
    const run = step ? () => go(step) : altKey ? undefined : key === 'Enter' && session.mayDraw ? enter
      : ways[key] && (() => canvas.pan(...ways[key].map(step => step * panPx)))
    if (!run) return
    event.preventDefault()
    run()
  })
}

/** Where a control goes while it has the focus, the board gets it: keys always lead on from somewhere. */
export function keepFocus(board) {
  let control
  addEventListener('keydown', () => { control = document.activeElement }, true)
  const look = () => requestAnimationFrame(() => {
    if (control && control !== document.body && document.activeElement === document.body) board.focus()
  })
  for (const type of ['keydown', 'keyup']) addEventListener(type, look, true)
}
