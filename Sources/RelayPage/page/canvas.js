// The board on the screen: one layer of all that is kept, out of tiles, and above it one for what moves.
import {boxAround} from './boxes.js'
import {drawElement, spanOf} from './kinds/index.js'
import {prepared} from './surface.js'
import {Tiles} from './tiles.js'

const between = scale => Math.min(20, Math.max(0.05, scale))

export class Canvas {
  /** What of the board lies in the window's upper left corner, in px of the board, and how large it is shown. */
  #view = {x: 0, y: 0, scale: 1}
  isDirty = true
  ratio = 1
  tiles = new Tiles({draw: drawElement, spanOf, layer: side =>
    prepared(Object.assign(document.createElement('canvas'), {width: side, height: side}))})

  /** @param {{stage: HTMLElement, board: HTMLCanvasElement, live: HTMLCanvasElement, elements: () => object[], drawLive: (context) => void, moved: () => void}} parts */
  constructor(parts) {
    Object.assign(this, parts)
    this.boardContext = this.board.getContext('2d')
    this.liveContext = prepared(this.live)
    new ResizeObserver(() => this.resize()).observe(this.stage)
  }

  get view() {
    return {...this.#view}
  }
  set view({x, y, scale}) {
    this.#view = {x, y, scale: between(scale)}
    this.redraw()
    this.moved()
  }

  resize() {
    const ratio = window.devicePixelRatio || 1
    const [width, height] = [Math.round(this.stage.clientWidth * ratio), Math.round(this.stage.clientHeight * ratio)]
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
    const scale = between(before * factor)
    const off = 1 / before - 1 / scale
    this.view = {x: x + at.clientX * off, y: y + at.clientY * off, scale}
  }

  /** Shows all of the board, never larger than it is. `isNeeded`: only if it does not lie within the window. */
  fit(isNeeded = false) {
    const elements = this.elements()
    const [left, top, right, bottom] = boxAround(elements.map(({box}) => box))
    const {clientWidth, clientHeight} = this.stage
    const [from, to] = [this.toScreen(left, top), this.toScreen(right, bottom)]
    if (isNeeded && from.x >= 0 && from.y >= 0 && to.x <= clientWidth && to.y <= clientHeight) return
    const [width, height] = [Math.max(1, right - left) / 100, Math.max(1, bottom - top) / 100]
    const scale = Math.min(1, (clientWidth - 48) / width, (clientHeight - 168) / height)
    this.view = {x: (left + right) / 200 - clientWidth / 2 / scale, y: (top + bottom) / 200 - clientHeight / 2 / scale, scale}
  }
}
