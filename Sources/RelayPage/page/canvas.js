// The board on the screen: one layer of all that is kept, out of tiles, and above it one for what moves.
import {boxAround} from './boxes.js'
import {drawElement, looks, spanOf} from './kinds/index.js'
import {darkness, prepared, themed} from './surface.js'
import {Tiles} from './tiles.js'

/** What the format can hold, 20,000 km of it, is seen in a window at the least scale. */
const between = scale => Math.min(20, Math.max(1e-5, scale))
/** A hand makes a board no smaller than this; what lies far apart is shown smaller by `fit`. */
const handScaleMin = 0.05
/** A newcomer sees all of a board that need not be smaller than this, else a part of it. */
const homeScaleMin = 0.1

/** From a dot of the paper, or a line, to the next, in px of the board. The smaller the board is shown, the more are left out. */
export const paperStep = scale => 24 * 2 ** Math.max(0, Math.ceil(Math.log2(0.6 / scale)))

export class Canvas {
  /** What of the board lies in the window's upper left corner, in px of the board, and how large it is shown. */
  #view = {x: 0, y: 0, scale: 1}
  isDirty = true
  ratio = 1
  tiles = new Tiles({draw: drawElement, spanOf, layer: side =>
    themed(prepared(Object.assign(document.createElement('canvas'), {width: side, height: side})))})

  /** @param {{stage: HTMLElement, board: HTMLCanvasElement, live: HTMLCanvasElement, elements: () => object[], drawLive: (context) => void, moved: () => void}} parts */
  constructor(parts) {
    Object.assign(this, parts)
    this.boardContext = this.board.getContext('2d')
    this.liveContext = themed(prepared(this.live))
    this.measure()
    const renew = element => {
      this.tiles.renew(element)
      this.redraw()
    }
    const darken = () => renew()
    looks.views.add(renew)
    darkness.addEventListener?.('change', darken)
    const observer = new ResizeObserver(() => this.resize())
    observer.observe(this.stage)
    /** Hides it. */
    this.end = () => {
      cancelAnimationFrame(this.frame)
      looks.views.delete(renew)
      darkness.removeEventListener('change', darken)
      observer.disconnect()
    }
  }

  get view() {
    return {...this.#view}
  }
  set view({x, y, scale}) {
    this.#view = {x, y, scale: between(scale)}
    looks.turn++
    this.redraw()
    this.moved()
  }

  /** Who asks the stage in each frame has the document laid out in each. */
  measure() {
    this.width = this.stage.clientWidth
    this.height = this.stage.clientHeight
  }
  resize() {
    this.measure()
    const ratio = window.devicePixelRatio || 1
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)]
    this.ratio = ratio
    for (const canvas of [this.board, this.live]) {
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height})
    }
    // A new size forgets how lines end.
    this.liveContext.lineCap = this.liveContext.lineJoin = 'round'
    this.redraw()
    this.paint()
    this.moved()
  }

  /** The board layer at the next frame: where something has changed, or all of it. */
  redraw(changes) {
    if (changes) this.tiles.change(changes)
    this.isDirty = true
    this.refresh()
  }
  /** Ids of what is not on the board now. */
  get hidden() {
    return this.tiles.hidden
  }
  set hidden(ids) {
    this.isDirty = this.tiles.hide(ids) || this.isDirty
    this.refresh()
  }

  /** What moves, at the next frame. */
  refresh() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined
      this.paint()
    })
  }

  paint() {
    if (this.isDirty) this.isDirty = !this.tiles.show(this.boardContext, this.origin)
    this.liveContext.resetTransform()
    this.liveContext.clearRect(0, 0, this.live.width, this.live.height)
    this.place(this.liveContext)
    this.drawLive(this.liveContext)
    if (this.isDirty) this.refresh()
  }

  /** The window's corner in whole pixels of the screen, as tiles lie, and how many of them are one px of the board. */
  get origin() {
    const {x, y, scale} = this.#view
    const zoom = scale * this.ratio
    return {left: Math.round(x * zoom), top: Math.round(y * zoom), zoom}
  }
  place(context) {
    const {left, top, zoom} = this.origin
    context.setTransform(zoom, 0, 0, zoom, -left, -top)
  }

  /** Lays the paper under the drawing: from where on, and how far apart, its look (board.css, late.css) repeats dots or lines. */
  layPaper() {
    const {left, top, zoom} = this.origin
    const step = paperStep(zoom / this.ratio) * zoom
    const px = {left: -left % (2 * step), top: -top % (2 * step), step}
    for (const [name, length] of Object.entries(px)) this.stage.style.setProperty(`--${name}`, `${length / this.ratio}px`)
  }

  /** A place of the window as one of the board, in px. */
  toBoard({clientX, clientY}) {
    const {left, top, zoom} = this.origin
    return {x: (clientX * this.ratio + left) / zoom, y: (clientY * this.ratio + top) / zoom}
  }
  /** And back; from 1/100 px. */
  toScreen(x, y) {
    const {left, top, zoom} = this.origin
    return {x: (x / 100 * zoom - left) / this.ratio, y: (y / 100 * zoom - top) / this.ratio}
  }

  pan(dx, dy) {
    const {x, y, scale} = this.#view
    this.view = {x: x - dx / scale, y: y - dy / scale, scale}
  }
  /** Around a place of the window, which stays where it is. */
  zoom(factor, at = {clientX: this.stage.clientWidth / 2, clientY: this.stage.clientHeight / 2}) {
    const {x, y, scale: before} = this.#view
    const scale = between(Math.max(before * factor, Math.min(before, handScaleMin)))
    const off = 1 / before - 1 / scale
    this.view = {x: x + at.clientX * off, y: y + at.clientY * off, scale}
  }

  /** What of the board the window shows, as a box in 1/100 px. */
  get window() {
    const {x, y, scale} = this.#view
    return [x, y, x + this.width / scale, y + this.height / scale].map(place => place * 100)
  }

  /** Shows all of the board, never larger than it is. */
  fit() {
    const box = boxAround(this.elements().map(({box}) => box))
    this.show(box, Math.min(1, this.scaleOf(box)))
  }

  /**
   * Shows the drawing to whoever comes: all of it, or where most of it lies if things are so far apart that nothing could be made out.
   * `isNeeded`: only if all of it does not lie within the window.
   */
  home(isNeeded = false) {
    const boxes = this.elements().map(({box}) => box)
    const all = boxAround(boxes)
    const [from, to] = [this.toScreen(all[0], all[1]), this.toScreen(all[2], all[3])]
    const {clientWidth, clientHeight} = this.stage
    if (isNeeded && from.x >= 0 && from.y >= 0 && to.x <= clientWidth && to.y <= clientHeight) return
    if (this.scaleOf(all) >= homeScaleMin) return this.fit()
    const middles = boxes.map(([left, top, right, bottom]) => [(left + right) / 2, (top + bottom) / 2])
    const median = [0, 1].map(axis => middles.map(place => place[axis]).sort((one, other) => one - other)[middles.length >> 1])
    // Between two drawings is nothing: what lies next to the middle is seen.
    const away = middles.map(([x, y]) => Math.hypot(x - median[0], y - median[1]))
    const nearest = boxes[away.indexOf(away.reduce((least, one) => Math.min(least, one)))]
    this.show(nearest, Math.max(homeScaleMin, Math.min(1, this.scaleOf(nearest))))
  }

  /** The scale at which a box, with room for the bars, fills the window. */
  scaleOf([left, top, right, bottom]) {
    const {clientWidth, clientHeight} = this.stage
    return Math.min((clientWidth - 48) * 100 / Math.max(100, right - left), (clientHeight - 168) * 100 / Math.max(100, bottom - top))
  }

  /** A box in the middle of the window. */
  show([left, top, right, bottom], scale) {
    const {clientWidth, clientHeight} = this.stage
    this.view = {x: (left + right) / 200 - clientWidth / 2 / scale, y: (top + bottom) / 200 - clientHeight / 2 / scale, scale}
  }
}
