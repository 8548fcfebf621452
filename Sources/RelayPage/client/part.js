// What the parts of a client have in common.
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
