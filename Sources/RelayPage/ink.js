// From pen to line: what a hand does becomes the points of a stroke, as smooth at 60 events a second as at 240. The points
// that are shown live are the points of the record: nothing moves when the pen is lifted.
import {hundredths} from './format.js'

/** How far a line may be from its curve, in px of the screen. */
const tolerance = 0.12
/** How much of the way to where the pen is a line goes at each event: the rest is the hand's tremble. */
const follow = 0.62

/** Random, and the same nowhere else. */
export const newID = () => Array.from(crypto.getRandomValues(new Uint8Array(10)), byte => byte.toString(16).padStart(2, '0')).join('')

/** Lists that grow, shaped as a stroke's arrays are. */
export class InkStroke {
  xy = []
  /** @type {number[]|undefined} */
  pressure
  /** @type {{x: number, y: number, p: number}[]} smoothed events: the last two */
  corners = []

  constructor({color, width, hasPressure, scale}) {
    Object.assign(this, {type: 'stroke', id: newID(), color, width, scale, z: 0, part: 1, parts: 1, pressure: hasPressure ? [] : undefined})
  }

  /** The pen is at a place of the board, in px; pressure 0…1. */
  add(x, y, p = 0.5) {
    const before = this.corners.at(-1)
    if (!before) {
      this.corners.push({x, y, p})
      return this.put(x, y, p)
    }
    const next = {x: before.x + (x - before.x) * follow, y: before.y + (y - before.y) * follow, p: before.p + (p - before.p) * 0.5}
    this.raw = {x, y, p: next.p}
    // Less than a third of a pixel is no movement.
    if (Math.hypot(next.x - before.x, next.y - before.y) * this.scale < 0.33) return undefined
    this.corners.push(next)
    if (this.corners.length > 3) this.corners.shift()
    return this.corners.length > 2 ? this.curve(...this.corners.slice(-3)) : undefined
  }

  /** The line goes to where the pen was lifted. */
  finish() {
    if (!this.raw) return
    const [from, to] = [this.corners.at(-1), this.raw]
    const start = this.corners.length > 1 ? middle(this.corners.at(-2), from) : from
    this.bend(start, from, to)
  }

  /** From the middle of one stretch to the middle of the next, with the corner between them as what pulls. */
  curve(first, corner, last) {
    const start = this.xy.length === 2 ? first : middle(first, corner)
    this.bend(start, corner, middle(corner, last))
  }

  /** A quadratic curve as short straight lines, as many as it takes. */
  bend(start, pull, end) {
    const off = Math.hypot(start.x - 2 * pull.x + end.x, start.y - 2 * pull.y + end.y) * this.scale
    const steps = Math.min(24, Math.max(1, Math.ceil(Math.sqrt(off / (4 * tolerance))), Math.ceil(Math.abs(end.p - start.p) * (this.pressure ? 24 : 0))))
    for (let step = 1; step <= steps; step++) {
      const t = step / steps
      const [a, b, c] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t]
      this.put(a * start.x + b * pull.x + c * end.x, a * start.y + b * pull.y + c * end.y, start.p + (end.p - start.p) * t)
    }
  }

  put(x, y, p) {
    const [left, top] = [hundredths(x), hundredths(y)]
    const {xy} = this
    if (xy.length > 0 && xy.at(-2) === left && xy.at(-1) === top) return
    xy.push(left, top)
    this.pressure?.push(Math.round(Math.min(1, Math.max(0, p)) * 255))
  }
}

const middle = (one, other) => ({x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, p: (one.p + other.p) / 2})

/** Whether a place is on an element, or less than `slack` away; all in 1/100 px. */
export function touches(element, x, y, slack) {
  const [left, top, right, bottom] = element.box
  if (x < left - slack || x > right + slack || y < top - slack || y > bottom + slack) return false
  if (element.type === 'text') return true
  return element.parts.some(({xy, width}) => {
    const reach = width / 2 + slack
    for (let at = 0; at < xy.length; at += 2) {
      const before = Math.max(0, at - 2)
      if (distance(x, y, xy[before], xy[before + 1], xy[at], xy[at + 1]) <= reach) return true
    }
    return false
  })
}

/** From a place to a stretch of line. */
function distance(x, y, fromX, fromY, toX, toY) {
  const [dx, dy] = [toX - fromX, toY - fromY]
  const length = dx * dx + dy * dy
  const along = length ? Math.max(0, Math.min(1, ((x - fromX) * dx + (y - fromY) * dy) / length)) : 0
  return Math.hypot(x - fromX - along * dx, y - fromY - along * dy)
}
