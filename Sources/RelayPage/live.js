// What others are doing at this moment: lines that are not finished yet, and where their pens are.
import {readPacket} from './format.js'
import {drawElement} from './canvas.js'

/** Lines and cursors that were not heard of for so long are shown no more: their authors have gone, or rest. */
const strokeAgeMaxMs = 30_000
const cursorAgeMaxMs = 8_000
const strokesMax = 500

export class Live {
  /** By stroke id: `{publisher, parts, at}`; a part is a line without a gap. */
  strokes = new Map()
  /** By user: `{x, y, at}`, in 1/100 px. */
  cursors = new Map()

  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed
  }

  packet({topic, publisher, payload}, isFinished, at = performance.now()) {
    let {x, y, id, first, color, width, xy, pressure} = topic === 'points' ? readPacket(payload) ?? {} : readCursor(payload)
    if (xy && !isFinished(id) && (this.strokes.has(id) || this.strokes.size < strokesMax)) {
      [x, y] = xy.slice(-2)
      const {parts} = this.strokes.get(id) ?? {parts: []}
      const part = parts.at(-1)
      if (part && first === part.first + part.xy.length / 2 && !part.pressure === !pressure) {
        part.xy.push(...xy)
        part.pressure?.push(...pressure)
        part.paths = undefined
      } else parts.push({first, color, width, xy: [...xy], pressure: pressure && [...pressure]})
      this.strokes.set(id, {type: 'stroke', publisher, parts, at})
    }
    if (x !== undefined) this.cursors.set(publisher, {x, y, at})
    else if (topic === 'cursors') this.cursors.delete(publisher)
    this.changed()
  }

  /** Takes strokes and cursors away: what is finished, too old, or of somebody who has gone. */
  drop(isStroke, isCursor = () => false) {
    for (const [id, stroke] of this.strokes) if (isStroke(id, stroke)) this.strokes.delete(id)
    for (const [user, cursor] of this.cursors) if (isCursor(user, cursor)) this.cursors.delete(user)
    this.changed()
  }
  left(user) {
    this.drop((_, {publisher}) => publisher === user, other => other === user)
  }
  age(now) {
    this.drop((_, {at}) => now - at > strokeAgeMaxMs, (_, {at}) => now - at > cursorAgeMaxMs)
  }

  draw(context) {
    for (const stroke of this.strokes.values()) drawElement(context, stroke)
  }
}

function readCursor(payload) {
  try {
    const {x, y} = JSON.parse(payload)
    return Number.isSafeInteger(x) && Number.isSafeInteger(y) ? {x, y} : {}
  } catch {
    return {}
  }
}
