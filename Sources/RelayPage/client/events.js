// A sequence of events, for `for await`.

/**
 * Everything from the moment on in which it was made, in the relay's order. It throws `tooSlow`, and why the relay has refused what it
 * reads; it ends without an error with its client, its channel or its signal.
 */
export class Events {
  constructor(shell, cursor, signal, ended = () => {}) {
    Object.assign(this, {shell, cursor, ended})
    const abort = () => this.close()
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, {once: true})
    this.release = () => signal?.removeEventListener('abort', abort)
  }
  [Symbol.asyncIterator]() {
    return this
  }
  /** @returns {Promise<{done: boolean, value: any}>} */
  async next() {
    try {
      const next = await this.shell.take(this.cursor)
      if (next.done) this.close()
      return next
    } catch (error) {
      this.close()
      throw error
    }
  }
  async return() {
    this.close()
    return {done: true, value: undefined}
  }
  close() {
    const {shell, cursor} = this
    shell.readers.close(cursor)
    this.release?.()
    this.ended()
    this.ended = () => {}
    if (shell.machine.isHeldBack) shell.goOn()
  }
}
