// What others are doing at this moment: lines that are not finished yet, and where their pens are.
import {drawElement} from './kinds/index.js'
import {readPacket} from './points.js'

/** The page hides lines and cursors after so long without news: their authors have gone, or rest. */
export const strokeAgeMaxMs = 30_000
export const cursorAgeMaxMs = 8_000
const strokesMax = 500
/** What one publisher may have this page keep, and how long a part grows: it is drawn anew for each packet. */
const partsOfOneMax = 100
const partPointsMax = 500

/** A person may draw with several devices at once, and each goes by itself. */
export const keyOf = (user, device) => `${user} ${device}`

export class Live {
  /** By stroke id: `{publisher, key, parts, at}`; a part is a line without a gap. */
  strokes = new Map()
  /** By user and device: `{user, x, y, at}`, in 1/100 px. */
  cursors = new Map()

  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed
  }

  packet({topic, publisher, device, payload}, isFinished, at = performance.now()) {
    const key = keyOf(publisher, device)
    const said = topic === 'points' ? readPacket(payload) ?? {} : readCursor(payload)
    const {view, laser, id, first, color, width, xy, pressure, shape} = said
    let {x, y} = said
    if (xy && !isFinished(id) && (this.strokes.has(id) || this.strokes.size < strokesMax)) {
      [x, y] = xy.slice(-2)
      // A shape changes as a whole.
      const parts = (shape && first === 0 ? undefined : this.strokes.get(id)?.parts) ?? []
      let part = parts.at(-1)
      const goesOn = part && first === part.first + part.xy.length / 2 && !part.pressure === !pressure
      // A line that is long goes on in a new part, from its last point.
      if (!goesOn) parts.push(part = {first, color, width, xy: [], pressure: pressure && []})
      else if (part.xy.length > 2 * partPointsMax) parts.push(part = {...part, first: first - 1, xy: part.xy.slice(-2),
          pressure: part.pressure?.slice(-1)})
      part.xy.push(...xy)
      part.pressure?.push(...pressure)
      part.paths = undefined
      this.strokes.set(id, {type: 'stroke', publisher, key, parts, at})
      this.bound(key)
    }
    if (view) this.viewed?.(publisher, view)
    if (laser) this.shone?.(publisher, laser, at)
    if (x !== undefined) this.cursors.set(key, {user: publisher, x, y, at})
    else if (topic === 'cursors') this.cursors.delete(key)
    this.changed()
  }

  /** Takes the oldest away of what one shows too much of. */
  bound(key) {
    const own = [...this.strokes].filter(([, stroke]) => stroke.key === key)
    let over = own.reduce((sum, [, {parts}]) => sum + parts.length, -partsOfOneMax)
    for (const [id, {parts}] of own) {
      over -= parts.splice(0, Math.max(0, over)).length
      if (parts.length === 0) this.strokes.delete(id)
    }
  }

  /** Removes strokes and cursors that are finished, too old, or of an author who has left. */
  drop(isStroke, isCursor = () => false) {
    for (const [id, stroke] of this.strokes) if (isStroke(id, stroke)) this.strokes.delete(id)
    for (const [key, cursor] of this.cursors) if (isCursor(key, cursor)) this.cursors.delete(key)
    this.changed()
  }
  /** Somebody has gone with all devices, or with one. */
  left(user, device) {
    const isGone = (publisher, key) => publisher === user && (device === undefined || key === keyOf(user, device))
    this.drop((_, {publisher, key}) => isGone(publisher, key), (key, cursor) => isGone(cursor.user, key))
  }
  age(now) {
    this.drop((_, {at}) => now - at > strokeAgeMaxMs, (_, {at}) => now - at > cursorAgeMaxMs)
  }

  draw(context) {
    for (const stroke of this.strokes.values()) drawElement(context, stroke)
  }
}

/** What a packet on topic `cursors` says. */
export function readCursor(payload) {
  try {
    const {x, y, view, laser} = JSON.parse(payload)
    return Number.isSafeInteger(x) && Number.isSafeInteger(y) ? {x, y, view, laser} : {view}
  } catch {
    return {}
  }
}
