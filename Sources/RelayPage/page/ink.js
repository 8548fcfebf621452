// From pen to line: what a hand does becomes the points of a stroke, as smooth at 60 events a second as at 240. The points
// that others are shown live are the points of the record: nothing moves when the pen is lifted. They are a little behind the pen;
// whoever draws sees the rest of the way as well.
import {hundredths} from './format.js'

/** How much of the way to where the pen is a line goes at each event: the rest is the hand's tremble. */
const follow = 0.62

/** Random, and the same nowhere else. */
export const newID = () => Array.from(crypto.getRandomValues(new Uint8Array(10)), byte => byte.toString(16).padStart(2, '0')).join('')

const between = (one, other, t) => ({x: one.x + (other.x - one.x) * t, y: one.y + (other.y - one.y) * t, p: one.p + (other.p - one.p) * t})

/** Lists that grow, shaped as a stroke's part is; `scale`: how large the board is shown while it is drawn. */
export class InkStroke {
  id = newID()
  xy = []
  /** Where the browser expects the pen next, as `add` has its places: to be seen once. */
  ahead = []

  constructor({color, width, hasPressure, scale}) {
    Object.assign(this, {color, width, scale, pressure: hasPressure ? [] : undefined})
  }

  /** The pen is at a place of the board, in px; pressure 0…1. */
  add(x, y, p) {
    this.pen = {x, y, p}
    if (!this.corner) return put(this, this.from = this.corner = this.pen)
    const next = between(this.corner, this.pen, follow)
    // Less than a third of a pixel is no movement.
    if (Math.hypot(next.x - this.corner.x, next.y - this.corner.y) * this.scale > 0.33) this.bend(between(this.corner, next, 0.5), next)
    return undefined
  }

  /** The line goes to where the pen is: it rests there, or was lifted. */
  arrive() {
    this.bend(this.pen, this.pen)
  }

  /** The visible line, which ends where the pen is, or will be in a moment: a part that shares nothing with this one. */
  shown() {
    const {color, width, xy, pressure} = this
    const part = {color, width, xy: [...xy], pressure: pressure && [...pressure]}
    for (const place of [...this.curve(this.pen), ...this.ahead]) put(part, place)
    return part
  }

  bend(to, next) {
    for (const place of this.curve(to)) put(this, place)
    this.from = to
    this.corner = next
  }

  /** From the middle of one stretch to the middle of the next, pulled by the corner between them: a curve as straight lines, as many as it takes. */
  curve(to) {
    const {from, corner, scale} = this
    const off = Math.hypot(from.x - 2 * corner.x + to.x, from.y - 2 * corner.y + to.y) * scale
    const steps = Math.min(24, Math.ceil(Math.max(1, Math.sqrt(2 * off), this.pressure ? 24 * Math.abs(to.p - from.p) : 0)))
    return Array.from({length: steps}, (_, step) => {
      const t = (step + 1) / steps
      return between(between(from, corner, t), between(corner, to, t), t)
    })
  }
}

/** One more point of a line, unless it is where the last one is. */
function put({xy, pressure}, {x, y, p}) {
  const place = [hundredths(x), hundredths(y)]
  if (xy.at(-2) === place[0] && xy.at(-1) === place[1]) return
  xy.push(...place)
  pressure?.push(Math.round(Math.min(1, Math.max(0, p)) * 255))
}
