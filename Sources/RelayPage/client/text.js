// Text as UTF-8, names, and payloads.
import {problem} from './errors.js'
/** @import {Payload} from './types.js' */

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true})
export const noBytes = new Uint8Array(0)

/** @param {string} text @throws {RelayError} `badText` for half a surrogate pair, which no UTF-8 can say */
export function utf8(text) {
  if (/\p{Surrogate}/u.test(text)) throw problem('badText', 'text with half a surrogate pair')
  return encoder.encode(text)
}

/** @param {Uint8Array} bytes */
export function textOf(bytes) {
  try {
    return decoder.decode(bytes)
  } catch {
    throw problem('badText', 'text that is not well-formed UTF-8')
  }
}

export const isName = text => typeof text === 'string' && /^[!-)+-.0-[\]^\x60-~][ -)+-.0-[\]-~]{0,63}$/.test(text)

/**
 * @param {string} text
 * @throws {RelayError} `badName`: names have 1…64 bytes of ASCII without `* / \`, the first neither `_` nor space [NM1]
 */
export function checkedName(text) {
  if (!isName(text)) {
    const shown = JSON.stringify(String(text).slice(0, 80))
    throw problem('badName', `${shown} is no name: 1…64 bytes of ASCII without * / \\, not beginning with _ or space`)
  }
  return text
}

/** What a message or packet carries, as bytes of its own. @param {Payload} payload */
export function payloadOf(payload) {
  if (typeof payload === 'string') return {bytes: utf8(payload), text: true}
  if (payload instanceof ArrayBuffer || ArrayBuffer.isView(payload)) {
    const view = ArrayBuffer.isView(payload) ? new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength) : payload
    return {bytes: new Uint8Array(view), text: false}
  }
  throw new TypeError('a payload is a string or bytes')
}

/** A payload as apps get it: text, or bytes of their own. */
export const contentOf = (bytes, isText) => isText ? textOf(bytes) : bytes.slice()
