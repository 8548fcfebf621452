// What a hand does on the board. `Gestures` says which pointers begin what; here are the tools. Each gesture is `{move, end, cancel}`;
// a cancelled one has never been.
import {Gestures} from './gestures.js'
import {boxAround} from './boxes.js'
import {InkStroke} from './ink.js'
import {shifted} from './kinds/edits.js'
import {drawElement, touches} from './kinds/index.js'
import {writeStroke} from './kinds/stroke.js'

/** A finger's line is shown to others when it has become one: before, it may turn out to be a pinch. */
const fingerHoldPx = 8
/** A pen that is not heard of for so long rests: the line goes to where it is, for others too. */
const restMs = 80
const slackPx = {mouse: 5, pen: 6, touch: 12}
const noGesture = {move() {}, end() {}, cancel() {}}

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
  /** Ids of what an eraser has gone over: it is not shown, and goes when that is lifted. */
  erased = new Set()
  shift = [0, 0]
  isPanning = false

  /**
   * @param {{canvas, session, records, undo, writing, penMode, style: () => {color, width}, changed: () => void,
   *   refused: () => void}} parts
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
    this.wasWriting = Boolean(this.writing.area?.value)
    document.activeElement.blur()
    this.canvas.stage.setPointerCapture?.(event.pointerId)
    this.pointers.set(event.pointerId, event)
    const isView = this.isPanning || !this.session.mayDraw
    if (event.pointerType === 'touch' && !isView) penMode.touched()
    // A screen's keyboard comes only while the finger is being lifted: a text that a palm begins is empty, and goes.
    const how = {isView, penOnly: penMode.isOn, isHarmless: this.tool === 'text'}
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
    if (does === 'erase') return this.erase(event)
    const gestures = {pen: this.draw, marker: this.draw, eraser: this.erase, text: this.text, select: this.select}
    return gestures[this.tool].call(this, event)
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

  /** Elements that lie between two places of the window, the lowest first. */
  along(from, to, slack = slackPx[to.pointerType] ?? 6) {
    const {canvas} = this
    const reach = slack * 100 / canvas.view.scale
    const steps = Math.ceil(Math.hypot(to.clientX - from.clientX, to.clientY - from.clientY) / 4) || 1
    const [begin, end] = [canvas.toBoard(from), canvas.toBoard(to)].map(({x, y}) => [x * 100, y * 100])
    const way = Array.from({length: steps}, (_, step) => begin.map((place, axis) => place + (end[axis] - place) * (step + 1) / steps))
    const box = boxAround([begin, end].map(([x, y]) => [x - reach, y - reach, x + reach, y + reach]))
    return this.records.within(box).filter(element => !this.erased.has(element.id) && way.some(([x, y]) => touches(element, x, y, reach)))
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

  draw(event) {
    const {canvas, session, records, undo} = this
    const isPen = event.pointerType === 'pen'
    const stroke = new InkStroke({...this.style(this.tool), hasPressure: isPen && this.tool === 'pen', scale: canvas.view.scale})
    const placeOf = ({clientX, clientY, pressure}) => ({...canvas.toBoard({clientX, clientY}), p: isPen ? pressure : 0.5})
    const add = event => {
      const {x, y, p} = placeOf(event)
      stroke.add(x, y, p)
      canvas.refresh()
    }
    let [frame, rest, sent, farthest] = [undefined, undefined, 0, 0]
    add(event)
    this.strokes.add(stroke)
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
      this.strokes.delete(stroke)
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

  /** What it goes over is not shown any more, and goes as one when it is lifted: for everybody at once. */
  erase(event) {
    const {records, session, undo} = this
    const found = new Set()
    let refused = false
    let last = event
    /** Also what lies between two events. */
    const hit = next => {
      for (const element of this.along(last, next)) {
        if (session.mayChange(element)) found.add(element.id)
        else refused = true
      }
      last = next
      for (const id of found) this.erased.add(id)
      this.conceal()
    }
    const shown = () => {
      for (const id of found) this.erased.delete(id)
      this.conceal()
    }
    hit(event)
    return {
      move: hit,
      end: () => {
        const elements = [...found].map(id => records.elements.get(id)).filter(element => element && session.mayChange(element))
        undo.add(this.remove(elements.flatMap(({records}) => records)))
        shown()
        if (refused && elements.length === 0) this.refused()
      },
      cancel: shown,
    }
  }

  remove(records) {
    const step = records.map(({key, customType, payload}) => ({key, before: {customType, payload}}))
    this.session.writeAll(step.map(({key}) => ({key})))
    return step
  }

  text(event) {
    return {...noGesture, end: last => {
      if (this.wasWriting || Math.hypot(last.clientX - event.clientX, last.clientY - event.clientY) > 12) return
      const element = this.at(event, 0).find(({type}) => type === 'text')
      if (element && !this.session.mayChange(element)) this.refused()
      else this.writing.begin(this.canvas.toBoard(event), element)
    }}
  }

  // MARK: Moving

  select(event) {
    const {canvas} = this
    const from = canvas.toBoard(event)
    const before = this.chosen
    const found = this.at(event)
    const hit = found.find(element => this.session.mayChange(element))
    if (!hit) {
      if (found.length) this.refused()
      this.choose([])
      return this.marquee(from, before)
    }
    if (!this.selection.has(hit.id)) this.choose([hit])
    const drop = () => {
      this.shift = [0, 0]
      this.lift(false)
    }
    return {
      move: next => {
        const {x, y} = canvas.toBoard(next)
        this.shift = [Math.round((x - from.x) * 100), Math.round((y - from.y) * 100)]
        this.lift(true)
      },
      end: () => {
        const {shift} = this
        drop()
        if (shift[0] || shift[1]) this.moveBy(...shift)
      },
      cancel: () => {
        drop()
        this.choose(before)
      },
    }
  }

  marquee(from, before) {
    const {canvas} = this
    return {
      move: next => {
        const to = canvas.toBoard(next)
        this.frameBox = [Math.min(from.x, to.x), Math.min(from.y, to.y), Math.max(from.x, to.x), Math.max(from.y, to.y)]
            .map(place => place * 100)
        canvas.refresh()
      },
      end: () => {
        const [left, top, right, bottom] = this.frameBox ?? [0, 0, -1, -1]
        this.frameBox = undefined
        this.choose(this.records.within([left, top, right, bottom]).filter(element =>
          this.session.mayChange(element) && element.box[0] >= left && element.box[1] >= top && element.box[2] <= right
          && element.box[3] <= bottom))
      },
      cancel: () => {
        this.frameBox = undefined
        this.choose(before)
      },
    }
  }

  choose(elements) {
    this.selection = new Set(elements.map(({id}) => id))
    this.canvas.refresh()
  }
  get chosen() {
    return [...this.selection].map(id => this.records.elements.get(id)).filter(Boolean)
  }

  /** What is being moved is drawn above the board, and not on it. */
  lift(isLifted) {
    this.isLifted = isLifted
    this.conceal()
  }
  /** What is lifted, or erased, is not drawn on the board. */
  conceal() {
    const {canvas} = this
    canvas.hidden = new Set([...this.erased, ...this.isLifted ? this.selection : []])
  }

  moveBy(dx, dy) {
    const step = []
    for (const {key, customType, payload} of this.chosen.flatMap(({records}) => records)) {
      const after = shifted({customType, payload}, dx, dy)
      if (after) step.push({key, before: {customType, payload}, after})
    }
    this.session.writeAll(step.map(({key, after}) => ({key, record: after})))
    this.undo.add(step)
  }

  removeChosen() {
    this.undo.add(this.remove(this.chosen.filter(element => this.session.mayChange(element)).flatMap(({records}) => records)))
    this.choose([])
  }

  /** What moves here: own lines, what is chosen and being moved. */
  drawLive(context) {
    const {canvas, frameBox} = this
    for (const stroke of this.strokes) {
      drawElement(context, {type: 'stroke', parts: [stroke.shown()]})
      if (stroke.ahead.length === 0) continue
      // The pen may have stopped: at the next frame the line ends where it is known to be.
      stroke.ahead = []
      canvas.refresh()
    }
    const pixel = 1 / canvas.view.scale
    const outline = ([left, top, right, bottom], margin) => {
      context.strokeStyle = '#6b6bdb'
      context.lineWidth = 1.5 * pixel
      context.setLineDash([5 * pixel, 4 * pixel])
      context.strokeRect(left / 100 - margin, top / 100 - margin, (right - left) / 100 + 2 * margin, (bottom - top) / 100 + 2 * margin)
      context.setLineDash([])
    }
    if (frameBox) outline(frameBox, 0)
    const {chosen} = this
    if (chosen.length === 0) return
    context.save()
    context.translate(this.shift[0] / 100, this.shift[1] / 100)
    if (this.isLifted) for (const element of chosen) drawElement(context, element)
    outline(boxAround(chosen.map(({box}) => box)), 6 * pixel)
    context.restore()
  }
}
