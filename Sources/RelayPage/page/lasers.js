// What lasers leave behind them for a moment: a trail that gets thinner until it is gone. Nothing of it is kept. Places are in 1/100 px.
import {isPlace} from './format.js'
import {tint} from './names.js'

/** After so long a trail is gone. It may have been on its way for a while. */
export const trailMs = 1_200
const widthPx = 7
export const trailsMax = 1_000

export class Lasers {
  /** `{user, xy, at}`, the oldest first: each lasts by itself, and begins where the one before it has ended. */
  trails = []

  /**
   * @param {() => void} changed there is something to draw
   * @param {() => boolean} isStill whether somebody wants nothing to move
   */
  constructor(changed = () => {}, isStill = () => false) {
    Object.assign(this, {changed, isStill})
  }

  /** @param {string} user whose colour it has @param {number[]} points as a packet has them */
  shine(user, points, at = performance.now()) {
    const xy = placesOf(points)
    if (!xy) return
    this.trails.push({user, xy, at})
    if (this.trails.length > trailsMax) this.trails.shift()
    this.changed()
  }

  /** At so large a scale. */
  draw(context, scale, now = performance.now()) {
    this.trails = this.trails.filter(({at}) => now - at < trailMs)
    for (const {user, xy, at} of this.trails) {
      const left = this.isStill() ? 1 : 1 - (now - at) / trailMs
      context.strokeStyle = tint(user)
      context.lineWidth = widthPx * left / scale
      context.beginPath()
      context.moveTo(xy[0] / 100, xy[1] / 100)
      // A single place is a dot.
      for (let index = 0; index < xy.length; index += 2) context.lineTo(xy[index] / 100, xy[index + 1] / 100)
      context.stroke()
    }
    if (this.trails.length) this.changed()
  }
}

/** Absolute places from a first place and differences; `undefined` if `points` breaks a rule. */
function placesOf(points) {
  if (!Array.isArray(points) || points.length < 2 || points.length % 2) return undefined
  const xy = []
  for (const [at, step] of points.entries()) xy.push(step + (xy[at - 2] ?? 0))
  return xy.every(isPlace) ? xy : undefined
}
