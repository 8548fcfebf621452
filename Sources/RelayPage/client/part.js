// What the parts of a client have in common.
import {problem} from './errors.js'
import {checkedName} from './text.js'

/** A part of what a client does, in one place. */
export class Part {
  constructor(client, place) {
    this.client = client
    this.place = place
  }
}

/** `{message: name}`, `{stream: name}` or `{user: id}` as the protocol names it. */
export function ownerOf({message, stream, user}) {
  if (user !== undefined) return {user: checkedName(user)}
  return {kind: message === undefined ? 'stream' : 'message', channel: checkedName(message ?? stream)}
}

/** A request that may wait at the relay, until a signal withdraws it. What the relay has done by then counts. [SE14] */
export function waitingRequest(client, type, body, /** @type {AbortSignal|undefined} */ signal) {
  if (signal?.aborted) throw problem('cancelled', 'withdrawn before it was sent')
  return client.ask((machine, pending, now) => {
    machine.request(type, body, pending, now)
    const withdraw = () => client.act(machine => machine.cancel(pending))
    signal?.addEventListener('abort', withdraw, {once: true})
    pending.promise.catch(() => {}).then(() => signal?.removeEventListener('abort', withdraw))
  })
}
