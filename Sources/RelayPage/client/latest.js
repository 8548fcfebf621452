// Readers of what is newest.

/** A value that changes, and its readers. */
export class Cell {
  version = 0
  /** @type {Set<() => void>} */
  waiting = new Set()
  isOver = false

  /** @param {any} value the present one, or nothing where each reader makes its own */
  constructor(value = undefined) {
    this.value = value
  }
  set(value) {
    this.value = value
    this.tell()
  }
  tell() {
    this.version++
    this.wake()
  }
  /** Its readers end behind its last value. */
  end() {
    this.isOver = true
    this.wake()
  }
  wake() {
    const {waiting} = this
    this.waiting = new Set()
    for (const look of waiting) look()
  }
}

/** The present value first, then the newest whenever it has changed. It never throws, and ends with its cell or its signal. */
export class Latest {
  version = -1

  /** @param {Cell} cell @param {AbortSignal} [signal] @param {() => any} [make] the value for this reader @param {() => void} [ended] */
  constructor(cell, signal, make = () => cell.value, ended = () => {}) {
    Object.assign(this, {cell, make, ended})
    const abort = () => this.return()
    if (signal?.aborted) this.isOver = true
    else signal?.addEventListener('abort', abort, {once: true})
    this.release = () => signal?.removeEventListener('abort', abort)
  }
  [Symbol.asyncIterator]() {
    return this
  }
  async next() {
    while (!this.isOver && !this.cell.isOver && this.version === this.cell.version) {
      await new Promise(resolve => this.cell.waiting.add(this.look = resolve))
    }
    const isOver = this.isOver || this.version === this.cell.version
    if (isOver) return this.return()
    this.version = this.cell.version
    return {done: false, value: this.make()}
  }
  async return() {
    if (!this.isOver) this.ended()
    this.isOver = true
    this.release()
    this.cell.waiting.delete(this.look)
    this.look?.()
    return {done: true, value: undefined}
  }
}
