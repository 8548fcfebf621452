// The board as bitmaps at the present zoom: what comes into view is drawn once, what changes where it changes.
import {order} from './layers.js'
import {overlap, Places} from './places.js'

/** A tile's side, in pixels of the screen. Around it more is drawn: near where a line is cut off its edges are others. */
export const tilePx = 384
export const edgePx = 64
const side = tilePx + 2 * edgePx
/** 64 MiB. What the window shows is kept in any case, and what it showed before until a zoom is drawn. */
export const tilesMax = 64 * 2 ** 20 / (4 * side ** 2)
/** So many elements are drawn in a frame, and what is left of a tile. */
export const drawnPerFrameMax = 2_000

export class Tiles {
  hidden = new Set()
  #elements = new Map()
  /** By place, the least recently seen first. */
  #tiles = new Map()
  /** Of another zoom, shown where there is nothing yet. */
  #old = new Map()

  /** @param {{layer: (side) => context, draw: (context, element) => void, spanOf: (element) => number[]}} parts */
  constructor(parts) {
    Object.assign(this, parts)
    this.places = new Places(parts.spanOf)
  }

  change({gone, come}) {
    for (const element of gone) {
      this.places.remove(element)
      this.#elements.delete(element.id)
      this.#touch(element)
    }
    for (const element of [...come].sort(order)) {
      this.places.add(element)
      this.#elements.set(element.id, element)
      this.#touch(element, true)
    }
  }

  /** Draws an element anew that looks different, or all of them. */
  renew(element) {
    if (!element) for (const tile of this.#tiles.values()) tile.isStale = true
    else if (this.#elements.get(element.id) === element) this.#touch(element)
  }

  /** What is not shown from now on. @returns {boolean} whether that is anything else */
  hide(ids) {
    const before = this.hidden
    const others = [...new Set([...ids, ...before])].filter(id => ids.has(id) !== before.has(id))
    this.hidden = new Set()
    for (const id of others) if (this.#elements.has(id)) this.#touch(this.#elements.get(id))
    this.hidden = ids
    return others.length > 0
  }

  /** Tiles under an element are drawn anew; one that lies above all of a tile is only added there. */
  #touch(element, isAdded) {
    if (this.hidden.has(element.id)) return
    const span = this.spanOf(element)
    for (const tile of this.#tiles.values()) {
      if (tile.isStale || !overlap(span, tile.box)) continue
      tile.isStale = !isAdded || (tile.top && order(tile.top, element) > 0)
      tile.top = element
      tile.more.push(element)
    }
  }

  /** Shows what lies from a corner on, in whole pixels of the screen. @returns {boolean} whether all of it is as it is to be */
  show(context, {left, top, zoom}) {
    const {width, height} = context.canvas
    if (zoom !== this.zoom) this.#rescale(zoom)
    const seen = []
    for (let row = Math.floor(top / tilePx); row * tilePx < top + height; row++) {
      for (let column = Math.floor(left / tilePx); column * tilePx < left + width; column++) seen.push(this.#see(column, row))
    }
    let rest = drawnPerFrameMax
    for (const tile of seen) if (rest > 0 && isToDraw(tile)) rest -= this.#make(tile)
    this.isWhole = !seen.some(isToDraw)
    if (this.isWhole) this.#old = free(this.#old)
    context.resetTransform()
    context.clearRect(0, 0, width, height)
    for (const tile of [...this.#old.values(), ...seen]) {
      if (!tile.layer) continue
      const shownPx = tilePx * zoom / tile.zoom
      const place = [tile.column * shownPx - left, tile.row * shownPx - top, shownPx, shownPx]
      if (this.#old.size && tile.zoom === zoom) context.clearRect(...place)
      context.drawImage(tile.layer.canvas, edgePx, edgePx, tilePx, tilePx, ...place)
    }
    for (const [key, tile] of this.#tiles) {
      if (this.#tiles.size + this.#old.size <= tilesMax || seen.includes(tile)) break
      free([tile])
      this.#tiles.delete(key)
    }
    return this.isWhole
  }

  #see(column, row) {
    const {zoom} = this
    const key = `${column} ${row}`
    // Lines may go a pixel over their boxes.
    const tile = this.#tiles.get(key) ?? {zoom, column, row, isStale: true, more: [],
      box: [column, row, column + 1, row + 1].map((at, side) => (at * tilePx + (side < 2 ? -2 : 2)) / zoom * 100)}
    this.#tiles.delete(key)
    this.#tiles.set(key, tile)
    return tile
  }

  /** How many elements it took. */
  #make(tile) {
    const {zoom, column, row, box, isStale, more} = tile
    const elements = isStale ? this.places.within(box).filter(({id}) => !this.hidden.has(id)).sort(order) : more
    // Where nothing is, a tile takes no memory.
    if (elements.length) tile.layer ??= this.layer(side)
    const {layer} = tile
    if (isStale) {
      layer?.resetTransform()
      layer?.clearRect(0, 0, side, side)
      tile.top = elements.at(-1)
    }
    layer?.setTransform(zoom, 0, 0, zoom, edgePx - column * tilePx, edgePx - row * tilePx)
    for (const element of elements) this.draw(layer, element)
    Object.assign(tile, {isStale: false, more: []})
    return elements.length
  }

  /** What was whole last stands in for what is not drawn yet. */
  #rescale(zoom) {
    if (this.isWhole || !this.#old.size) {
      free(this.#old)
      this.#old = this.#tiles
    } else free(this.#tiles)
    this.#tiles = new Map()
    this.zoom = zoom
  }
}

const isToDraw = ({isStale, more}) => isStale || more.length > 0

/** Some browsers keep the memory of a canvas until they look for what nobody needs. */
function free(tiles) {
  for (const {layer} of tiles.values()) if (layer) layer.canvas.width = 0
  return new Map()
}
