// What a hand does on the board. `Gestures` says which pointers begin what, and the chosen tool's module (tools/) does it. To such
// a module this is what its hands can reach. Each gesture is `{move, end, cancel}`; a cancelled one has never been.
import {boxAround} from './boxes.js'
import {Gestures} from './gestures.js'
import {touches} from './kinds/index.js'
import {loadTool, moduleOf, tools} from './tools/index.js'

const slackPx = {mouse: 5, pen: 6, touch: 12}
export const noGesture = {move() {}, end() {}, cancel() {}}

export class Tools {
  tool = 'pen'
  /** The last event of each pointer that is down. */
  pointers = new Map()
  hands = new Gestures()
  /** By number. */
  gestures = new Map()
  /** Own lines that are not finished. */
  strokes = new Set()
  selection = new Set()
  /** What a tool draws above the board: functions that get the context, by the tool's name. */
  overlays = new Map()
  /** Ids of what a tool does not want to be shown on the board, by its name. */
  #concealed = new Map()
  isPanning = false

  /**
   * @param {{canvas, session, records, undo, penMode, style: (tool: string) => {color, width, size, paper}, changed: () => void,
   *   refused: () => void, failed: () => void}} parts `refused`: tells that a thing is another's; `failed`: that a module has not come.
   *   The text tool puts `writing` beside them
   */
  constructor(parts) {
    Object.assign(this, parts)
    const {stage} = this.canvas
    const on = (type, handle) => stage.addEventListener(type, handle, {passive: false})
    on('pointerdown', event => this.down(event))
    on('pointermove', event => this.move(event))
    on('pointerup', event => this.up(event))
    on('pointercancel', event => this.up(event, true))
    on('pointerleave', () => this.session.sendCursor(undefined))
    on('wheel', event => this.wheel(event))
    on('contextmenu', event => event.preventDefault())
    // WebKit on a tablet magnifies, and pans, with these if they are let through.
    for (const type of ['touchstart', 'touchmove', 'gesturestart', 'dblclick']) on(type, event => event.preventDefault())
  }

  // MARK: Pointers

  down(event) {
    event.preventDefault()
    const {penMode} = this
    if (event.pointerType === 'pen') penMode.seen()
    // A press that finishes a text begins no other.
    this.wasWriting = Boolean(this.writing?.area?.value)
    document.activeElement.blur()
    this.canvas.stage.setPointerCapture?.(event.pointerId)
    this.pointers.set(event.pointerId, event)
    const isView = this.isPanning || !this.session.mayDraw
    if (event.pointerType === 'touch' && !isView) penMode.touched()
    const how = {isView, penOnly: penMode.isOn, isHarmless: tools[this.tool].isHarmless}
    this.carryOut(this.hands.down(event, event.timeStamp, how))
  }

  move(event) {
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, event)
    this.carryOut(this.hands.move(event))
    if (event.pointerType !== 'touch') this.session.sendCursor(this.canvas.toBoard(event))
  }

  up(event, isCancelled) {
    this.carryOut(this.hands.up(event, event.timeStamp, isCancelled))
    this.pointers.delete(event.pointerId)
    this.changed()
  }

  carryOut(acts) {
    for (const {act, gesture, pointer, does, ids} of acts) {
      if (act === 'begin') this.gestures.set(gesture, this.begin(does, pointer, ids))
      else {
        const found = this.gestures.get(gesture)
        if (act !== 'move') this.gestures.delete(gesture)
        found[act](pointer)
      }
    }
    const {deadline} = this.hands
    clearTimeout(this.timer)
    if (deadline !== undefined) this.timer = setTimeout(() => this.finish(), deadline - performance.now())
  }
  /** Ends what is held until now; `at`: until then. */
  finish(at = performance.now()) {
    this.carryOut(this.hands.passed(at))
    this.changed()
  }

  begin(does, event, ids) {
    if (does === 'view') return this.pan(...ids)
    if (does === 'nothing') return noGesture
    const name = does === 'erase' ? 'eraser' : this.tool
    return moduleOf(name)?.begin(event, this, name) ?? this.#beginLate(event, name)
  }

  /** Of a tool whose module is still to come: what the hand does meanwhile is done when it has. */
  #beginLate(event, name) {
    const played = []
    let gesture
    let isCancelled
    loadTool(name).then(module => {
      if (isCancelled) return
      gesture = module.begin(event, this, name)
      for (const [what, next] of played) gesture[what](next)
    }).catch(this.failed)
    const play = what => next => gesture ? gesture[what](next) : played.push([what, next])
    return {move: play('move'), end: play('end'), cancel: () => {
      isCancelled = true
      gesture?.cancel()
    }}
  }

  wheel(event) {
    event.preventDefault()
    const unit = event.deltaMode === 1 ? 32 : event.deltaMode === 2 ? 400 : 1
    const [x, y] = [event.deltaX * unit, event.deltaY * unit]
    if (event.ctrlKey || event.metaKey) this.canvas.zoom(Math.exp(-Math.max(-30, Math.min(30, y)) / 100), event)
    else this.canvas.pan(-(event.shiftKey ? x || y : x), event.shiftKey ? 0 : -y)
  }

  /** Elements at a place that one may change, the uppermost first. */
  at(event, slack = slackPx[event.pointerType] ?? 6) {
    return this.along(event, event, slack).reverse()
  }

  /** Elements that lie between two places of the window, the lowest first; none that is protected. */
  along(from, to, slack = slackPx[to.pointerType] ?? 6) {
    const {canvas} = this
    const concealed = this.#concealed.get('eraser')
    const reach = slack * 100 / canvas.view.scale
    const steps = Math.ceil(Math.hypot(to.clientX - from.clientX, to.clientY - from.clientY) / 4) || 1
    const [begin, end] = [canvas.toBoard(from), canvas.toBoard(to)].map(({x, y}) => [x * 100, y * 100])
    const way = Array.from({length: steps}, (_, step) => begin.map((place, axis) => place + (end[axis] - place) * (step + 1) / steps))
    const box = boxAround([begin, end].map(([x, y]) => [x - reach, y - reach, x + reach, y + reach]))
    const isHit = element => !element.isLocked && !concealed?.has(element.id) && way.some(([x, y]) => touches(element, x, y, reach))
    return this.records.within(box).filter(isHit)
  }

  // MARK: Gestures

  /** One finger, or the mouse, takes the paper along; two magnify it as well. */
  pan(...ids) {
    const state = () => {
      const pointers = ids.map(id => this.pointers.get(id))
      const [one, other] = [pointers[0], pointers.at(-1)]
      return {
        clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2,
        spread: Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1,
      }
    }
    const {view} = this.canvas
    let last = state()
    return {
      move: () => {
        const now = state()
        this.canvas.pan(now.clientX - last.clientX, now.clientY - last.clientY)
        if (ids.length > 1) this.canvas.zoom(now.spread / last.spread, now)
        last = now
      },
      end() {},
      cancel: () => { this.canvas.view = view },
    }
  }

  remove(records) {
    const step = records.map(({key, customType, payload}) => ({key, before: {customType, payload}}))
    this.session.writeAll(step.map(({key}) => ({key})))
    return step
  }

  // MARK: What is chosen, and concealed

  choose(elements) {
    this.selection = new Set(elements.map(({id}) => id))
    this.canvas.refresh()
  }
  get chosen() {
    return [...this.selection].map(id => this.records.elements.get(id)).filter(Boolean)
  }

  removeChosen() {
    this.undo.add(this.remove(this.chosen.filter(element => this.mayEdit(element)).flatMap(({records}) => records)))
    this.choose([])
  }

  /** Whether one may change it, and it is not protected. */
  mayEdit(element) {
    return !element.isLocked && this.session.mayChange(element)
  }

  /** @param {string} name of the tool @param {Iterable<string>} ids of all that it does not want to be shown on the board */
  conceal(name, ids) {
    this.#concealed.set(name, new Set(ids))
    this.canvas.hidden = new Set([...this.#concealed.values()].flatMap(ids => [...ids]))
  }

  /** What moves here. */
  drawLive(context) {
    for (const draw of this.overlays.values()) draw(context)
  }
}
