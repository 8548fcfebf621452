// The board on the screen: one layer of all that is kept, out of tiles, and above it one for what moves.
import {Tiles} from './tiles.js'
import {baseline, boxAround, dotRadius, fontSize, ink, isDot, linesOf, pictureBox, runs} from './svg.js'

const between = scale => Math.min(20, Math.max(0.05, scale))

/** The lines of one part as canvas paths in px of the board, one for each width. */
function pathsOf(part) {
  if (part.paths) return part.paths
  const {xy} = part
  return part.paths = runs(part).map(({width, from, to}) => {
    const path = new Path2D()
    path.moveTo(xy[2 * from] / 100, xy[2 * from + 1] / 100)
    for (let index = from + 1; index <= to; index++) path.lineTo(xy[2 * index] / 100, xy[2 * index + 1] / 100)
    return {width: width / 100, path}
  })
}

function drawPart(context, part, rgb) {
  context.strokeStyle = rgb
  context.fillStyle = part.color.slice(0, 7)
  if (isDot(part)) {
    context.beginPath()
    context.arc(part.xy[0] / 100, part.xy[1] / 100, dotRadius(part) / 100, 0, 7)
    context.fill()
  }
  for (const {width, path} of pathsOf(part)) {
    context.lineWidth = width
    context.stroke(path)
  }
}

const fontOf = element => `${fontSize(element) / 100}px sans-serif`

/** Draws one stroke or text. */
export function drawElement(context, element) {
  const {rgb, opacity} = ink((element.parts?.[0] ?? element).color)
  if (element.type === 'text') {
    context.globalAlpha = opacity / 100
    context.fillStyle = rgb
    context.font = fontOf(element)
    linesOf(element).forEach((line, number) => context.fillText(line, element.x / 100, baseline(element, number) / 100))
  } else if (opacity === 100 || (element.parts.length === 1 && pathsOf(element.parts[0]).length < 2)) {
    context.globalAlpha = opacity / 100
    for (const part of element.parts) drawPart(context, part, rgb)
  } else {
    // Runs overlap at their ends: they are drawn opaque on a layer of their own, which is laid over the board as one.
    const layer = scratch(context)
    for (const part of element.parts) drawPart(layer, part, rgb)
    const transform = context.getTransform()
    context.resetTransform()
    context.globalAlpha = opacity / 100
    context.drawImage(layer.canvas, 0, 0)
    context.setTransform(transform)
  }
  context.globalAlpha = 1
}

function prepared(canvas) {
  const context = canvas.getContext('2d')
  context.lineCap = context.lineJoin = 'round'
  return context
}

/** An empty layer as another one is; one is kept for all. */
function scratch(like) {
  const {width, height} = like.canvas
  const canvas = scratch.canvas ??= document.createElement('canvas')
  // This empties it, too.
  Object.assign(canvas, {width, height})
  const context = prepared(canvas)
  context.setTransform(like.getTransform())
  return context
}

/** What an element covers, in 1/100 px: who draws letters knows how wide they are. */
function spanOf(element) {
  const {type, box, x, size} = element
  if (type !== 'text' || element.span) return element.span ?? box
  const context = spanOf.context ??= document.createElement('canvas').getContext('2d')
  context.font = fontOf(element)
  return element.span = boxAround(linesOf(element).map((line, number) => {
    const sides = context.measureText(line)
    const [left, up, right, down] = ['Left', 'Ascent', 'Right', 'Descent']
        .map(side => Math.max(0, Math.min(1e9, sides[`actualBoundingBox${side}`] * 110)) + size)
    const y = baseline(element, number)
    return [x - left, y - up, x + right, y + down]
  }))
}

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

/** The whole picture on white, at twice its size unless that were too large. @returns {HTMLCanvasElement} */
export function picture(elements) {
  const {x, y, width, height} = pictureBox(elements)
  const scale = Math.min(2, 8_192 / Math.max(width, height) * 100)
  const canvas = Object.assign(document.createElement('canvas'),
      {width: Math.ceil(width / 100 * scale), height: Math.ceil(height / 100 * scale)})
  const context = prepared(canvas)
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.setTransform(scale, 0, 0, scale, -x / 100 * scale, -y / 100 * scale)
  for (const element of elements) drawElement(context, element)
  return canvas
}
