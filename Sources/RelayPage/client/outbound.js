// Frames that wait for the link.
import {encodeFrame} from './frames.js'
import {Limits} from './limits.js'

/** Encoded frames in the order in which they leave. */
export class Outbound {
  /** @type {Uint8Array[]} */
  frames = []
  bytes = 0

  write(frame) {
    const bytes = encodeFrame(frame)
    this.frames.push(bytes)
    this.bytes += bytes.length
  }

  /** Whole frames, at most 64 KiB or one larger frame; `undefined` if none waits. */
  take() {
    const {frames} = this
    if (frames.length === 0) return undefined
    let bytes = 0
    let count = 0
    while (count < frames.length && (count === 0 || bytes + frames[count].length <= Limits.outboundBytes)) bytes += frames[count++].length
    const batch = new Uint8Array(bytes)
    frames.splice(0, count).reduce((at, frame) => (batch.set(frame, at), at + frame.length), 0)
    this.bytes -= bytes
    return batch
  }

  drop() {
    this.frames = []
    this.bytes = 0
  }
}
