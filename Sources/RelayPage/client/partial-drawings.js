// Large drawings that come in parts.
import {Limits} from './limits.js'
import {utf8} from './text.js'

/** The large drawings of one channel whose last part has not come: told apart by publisher and key, a retained one by its offset. */
export class PartialDrawings {
  /** Oldest first, by their newest part. */
  drawings = []
  bytes = 0

  /**
   * @returns {{whole?: Uint8Array, isBroken?: boolean, givenUp: object[]}} what the part makes, and what was given up for the
   *   bound on all
   */
  add(part, bytesMax) {
    const same = drawing => drawing.isRetained === part.isRetained
      && (part.isRetained ? drawing.offset === part.offset : drawing.sender === part.sender && drawing.key === part.key)
    let [drawing] = this.remove(same)
    if (part.part === 1) {
      drawing = {...part, pieces: [part.bytes], size: part.bytes.length, next: 2}
    } else {
      const goesOn = drawing && part.part === drawing.next
        && ['parts', 'isText', 'customType', 'key', 'sender'].every(field => part[field] === drawing[field])
      if (!goesOn) return {isBroken: true, givenUp: []}
      drawing.pieces.push(part.bytes)
      drawing.size += part.bytes.length
      drawing.next++
      drawing.offset = part.offset
    }
    if (drawing.size + utf8(part.customType ?? '').length > bytesMax) return {isBroken: true, givenUp: []}
    if (part.part === part.parts) {
      const whole = new Uint8Array(drawing.size)
      drawing.pieces.reduce((at, piece) => (whole.set(piece, at), at + piece.length), 0)
      return {whole, givenUp: []}
    }
    this.drawings.push(drawing)
    this.bytes += drawing.size
    const givenUp = []
    while (this.drawings.length > Limits.partialDrawingsMax || this.bytes > bytesMax * Limits.partialDrawingsBytesFactor) {
      const oldest = this.drawings[0]
      givenUp.push(...this.remove(other => other === oldest))
    }
    return {givenUp}
  }
  remove(isOver) {
    const over = this.drawings.filter(isOver)
    this.drawings = this.drawings.filter(drawing => !over.includes(drawing))
    for (const drawing of over) this.bytes -= drawing.size
    return over
  }
}
