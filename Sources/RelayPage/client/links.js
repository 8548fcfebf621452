// Links over WebSocket, and the addresses that lead to a relay.
/** @import {Credential, Transport} from './types.js' */

/** Where a relay's WebSockets are, by any of its addresses. */
export function socketURL(address) {
  const url = new URL(String(address).replace(/^(http|relay)/, 'ws'))
  url.hash = ''
  if (url.pathname.endsWith('/') || spaceOf(address)) url.pathname = url.pathname.replace(/[^/]*$/, 'ws')
  return url
}

/**
 * A link over WebSocket. Each message of it is one or more whole frames with their lengths; what the relay sends may be cut
 * anywhere.
 *
 * @param {string|URL} address `http:`, `https:`, `ws:`, `wss:` or `relay:`, as a relay prints it or a board's link has it. What stands
 *   behind `#` is no part of the place; a path that ends in `/`, or in a space, is that of the relay's page, with WebSockets at `ws`
 * @returns {Transport}
 */
export function webSocketTransport(address) {
  const url = socketURL(address)
  return ({opened, received, ended}) => {
    if (!globalThis.WebSocket) {
      const advice = 'give the client a transport of your own instead of an address'
      throw new Error(`there is no WebSocket here, as in Node 20: ${advice}`)
    }
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    socket.onopen = opened
    socket.onmessage = ({data}) => typeof data === 'string' ? ended('the relay sent text') : received(new Uint8Array(data))
    // The close behind it says as much. Of Node's `ws` an error that nobody hears ends the program.
    socket.onerror = () => {}
    socket.onclose = ({code, reason}) => ended(reason || `the WebSocket was closed with ${code}`)
    return {send: bytes => socket.send(bytes), get bufferedBytes() { return socket.bufferedAmount }, close: () => socket.close()}
  }
}

/** The space that an address of the page names. [SE16] */
export function spaceOf(address) {
  const {protocol, pathname} = new URL(address)
  const name = pathname.split('/').at(-1)
  // A WebSocket's path is its own.
  return protocol.startsWith('ws') || /^(ws|status)?$/.test(name) ? undefined : name
}

/**
 * What stands behind `#` in an address that a relay has printed, or in a link to a board: `http://192.168.1.5:7420/#key=…`,
 * `…#token=…`,
 * `…/#/b/lesson?k=…`, `…?t=…`.
 *
 * @returns {Credential|undefined}
 */
export function credentialOf(address) {
  const found = /(?:^|[?&])(?:(k|key)|t|token)=([^&]+)/.exec(String(address).split('#').slice(1).join('#'))
  return found ? {[found[1] ? 'key' : 'token']: found[2]} : undefined
}
