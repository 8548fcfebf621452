// What an app sees of a client, and waiting for it.
import assert from 'node:assert/strict'

/** Ends a run that hangs, and judges nothing. */
export const patienceMs = 300_000

/** What a promise gives, if it gives it in time. */
export async function within(promise, what) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({message: `no ${what} within ${patienceMs / 1000} s`})), patienceMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Collects all events of a client. */
export class Watcher {
  events = []
  waiting = []

  constructor(client) {
    this.client = client
    // At the moment in which the readers of the client get it, so that what a test awaits is never ahead of this.
    client.read(event => {
      if (event.type !== 'boardChange') this.take(event)
    })
  }

  take(event) {
    if (event.type === 'direct') event.acknowledge()
    this.events.push(event)
    this.waiting = this.waiting.filter(look => !look())
  }

  of(type) {
    return this.events.filter(event => event.type === type)
  }

  /** All messages, those of batches among them. */
  get messages() {
    return this.events.flatMap(event => event.type === 'board' ? event.messages : event.type === 'message' ? [event] : [])
  }

  /** The first event from `from` on that is wanted; fails after a while with what came. */
  async until(wanted, from = 0) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const message = `it did not come: ${wanted}; last came ${JSON.stringify(this.events.slice(-5))}`
        reject(new assert.AssertionError({message}))
      }, patienceMs)
      const look = () => {
        const found = this.events.slice(from).find(wanted)
        if (!found) return false
        clearTimeout(timer)
        resolve(found)
        return true
      }
      if (!look()) this.waiting.push(look)
    })
  }
}
