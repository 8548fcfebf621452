// What others are doing at this moment: lines that are not finished yet, and where their pens are.
import {readPacket} from './format.js'
import {drawElement} from './canvas.js'

const strokesMax = 500
/** A line that has got no point for so long is shown no more: its author has gone, or taken it back unheard. */
const strokeAgeMaxMs = 30_000
const cursorAgeMaxMs = 8_000

export class Live {
  /** By stroke id: `{publisher, color, width, pieces, at}`; a piece is a line without a gap, shaped as a stroke's part. */
  strokes = new Map()
  /** By user: `{x, y, at}`, in 1/100 px. */
  cursors = new Map()

  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed
  }

  /** @param {{topic: string, publisher: string, payload: string}} packet @param {(id: string) => boolean} isFinished */
  packet({topic, publisher, payload}, isFinished, now) {
    if (typeof payload !== 'string') return
    if (topic === 'points') this.points(readPacket(payload), publisher, isFinished, now)
    else if (topic === 'cursors') this.cursor(payload, publisher, now)
    this.changed()
  }

  points(packet, publisher, isFinished, now) {
    if (!packet || isFinished(packet.id)) return
    const {id, first, color, width, xy, pressure} = packet
    if (!this.strokes.has(id) && this.strokes.size >= strokesMax) return
    const stroke = this.strokes.get(id) ?? {publisher, color, width, pieces: []}
    this.strokes.set(id, Object.assign(stroke, {at: now}))
    const piece = stroke.pieces.at(-1)
    if (piece && first === piece.first + piece.xy.length / 2 && !piece.pressure === !pressure) {
      piece.xy.push(...xy)
      piece.pressure?.push(...pressure)
      piece.paths = undefined
    } else stroke.pieces.push({first, color, width, xy: [...xy], pressure: pressure && [...pressure]})
    this.cursors.set(publisher, {x: xy.at(-2), y: xy.at(-1), at: now})
  }

  cursor(payload, publisher, now) {
    let place
    try {
      place = JSON.parse(payload)
    } catch {}
    if (Number.isSafeInteger(place?.x) && Number.isSafeInteger(place.y)) this.cursors.set(publisher, {x: place.x, y: place.y, at: now})
    else this.cursors.delete(publisher)
  }

  /** Its record has come, or it was taken back. */
  drop(id) {
    if (this.strokes.delete(id)) this.changed()
  }
  dropFinished(isFinished) {
    for (const id of this.strokes.keys()) if (isFinished(id)) this.drop(id)
  }
  left(publisher) {
    for (const [id, stroke] of this.strokes) if (stroke.publisher === publisher) this.strokes.delete(id)
    this.cursors.delete(publisher)
    this.changed()
  }
  clear() {
    this.strokes.clear()
    this.cursors.clear()
    this.changed()
  }
  /** Takes away what is too old. */
  age(now) {
    const old = (map, max) => [...map].filter(([, {at}]) => now - at > max).map(([key]) => map.delete(key)).length
    if (old(this.strokes, strokeAgeMaxMs) + old(this.cursors, cursorAgeMaxMs) > 0) this.changed()
  }

  draw(context, scratch) {
    for (const {pieces} of this.strokes.values()) drawElement(context, {type: 'stroke', parts: pieces}, scratch)
  }
}
