// The places of the relays of one space, and which of them is tried next. [SE17]
import {ErrorCode} from './errors.js'
import {socketURL, webSocketTransport} from './links.js'
/** @import {LinkEndReason, LinkHandlers} from './types.js' */

/** The URL of an address; `undefined` if the text is no address. */
function urlOf(address) {
  try {
    return socketURL(address)
  } catch {
    return undefined
  }
}

/** The place that `also=…` names, with the path of the first. */
function otherPlace(text, first) {
  const other = urlOf(text.includes('://') ? text : `${first.protocol}//${text}`)
  if (!other) throw new TypeError(`also=${text} is no address of a relay`)
  // Otherwise who cuts the protected links would have the credential come without protection.
  if (other.protocol !== first.protocol) {
    throw new TypeError(`${first.host} and ${other.host} are not protected in the same way: all addresses of a client are`)
  }
  return Object.assign(new URL(first), {hostname: other.hostname, port: other.port})
}

/** Where a client may link up. */
export class Places {
  /** The one to try next, then those that were tried longest ago. @type {URL[]} */
  list

  /** @param {string|URL} address behind its `#` stand the other places: `also=HOST:PORT` @throws {TypeError} */
  constructor(address) {
    const first = socketURL(address)
    const parts = new URLSearchParams(new URL(address).hash.replace(/^#([^?&=]*\?)?/, ''))
    const others = parts.getAll('also').filter(Boolean).map(text => otherPlace(text, first))
    this.list = [...new Map([first, ...others].map(url => [url.host, url])).values()]
    /** How many of the others may still follow at once. */
    this.untried = this.list.length - 1
  }

  /** A link to the one to try next. @param {LinkHandlers} handlers */
  link = handlers => webSocketTransport(this.list[0])(handlers)

  /**
   * A link has ended. A relay that has let in, or refuses for a time, is tried again.
   *
   * @param {LinkEndReason} reason @param {boolean} wasLive whether the relay had let in
   * @param {string} [address] where it says that another serves
   * @returns {boolean} whether another place is to be tried at once
   */
  moveOn({kind, code}, wasLive, address) {
    const hasMoved = code === ErrorCode.moved
    const leaves = hasMoved || kind === 'relaySilent' || !wasLive && kind !== 'loginRefused'
    const isAtOnce = leaves && this.untried > 0
    this.untried = (isAtOnce ? this.untried : this.list.length) - 1
    if (!leaves) return false
    const [here, ...others] = this.list
    // Any other address is ignored: a browser cannot pin the key of the server there.
    const named = hasMoved && address !== undefined ? urlOf(address) : undefined
    const isNamed = ({protocol, host}) => protocol === named?.protocol && host === named.host
    this.list = [...new Set([...others.filter(isNamed), ...others, here])]
    return isAtOnce
  }
}
