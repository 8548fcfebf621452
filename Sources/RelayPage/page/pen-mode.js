// Whether only the pen draws in this browser, and fingers move the view. The first pen switches it on; the choice is kept.
import {keep} from './identity.js'

const place = 'whiteboard.fingers'

export class PenMode {
  /** @param {{storage: Storage, changed: () => void, tell: () => void}} parts `tell`: says that fingers move the view, and how that ends */
  constructor(parts) {
    Object.assign(this, parts)
    this.fingers = this.storage.getItem(place) ?? undefined
  }

  /** Before the first pen there is nothing to choose. */
  get isKnown() {
    return this.fingers !== undefined
  }
  get isOn() {
    return this.fingers === 'move'
  }
  choose(isOn) {
    this.fingers = isOn ? 'move' : 'draw'
    keep(this.storage, place, this.fingers)
    this.changed()
  }

  /** A pen came down. */
  seen() {
    this.isPenHere = true
    if (this.isKnown) return
    this.choose(true)
    this.tell()
  }
  /** A finger came down. Whoever has no pen here may want to draw with it, and is told once. */
  touched() {
    if (!this.isOn || this.isPenHere || this.isTold) return
    this.isTold = true
    this.tell()
  }
}
