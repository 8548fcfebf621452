// Frames to bytes and back. [FR1–FR8]
import {fault, problem} from './errors.js'
import {layouts, layoutsByNumber} from './frame-layouts.js'
import {readJSON, writeJSON} from './json.js'
import {Limits} from './limits.js'
import {checkedName, noBytes, textOf, utf8} from './text.js'

/** Writes `value` behind what is there, big-endian. @param {number[]} out */
export function putInteger(out, value, bytes) {
  if (!Number.isSafeInteger(value) || value < 0 || (bytes < 8 && value >= 2 ** (8 * bytes))) {
    throw new RangeError(`${value} is no integer of ${bytes} bytes`)
  }
  for (let byte = bytes - 1; byte >= 0; byte--) out.push(Math.floor(value / 2 ** (8 * byte)) % 256)
}

/**
 * A frame as it goes over the wire, with its length.
 *
 * @param {{type: string, body?: object, texts?: Uint8Array[], payload?: Uint8Array, [field: string]: any}} frame as `decodeFrame` gives it
 * @returns {Uint8Array}
 */
export function encodeFrame(frame) {
  const layout = layouts.get(frame.type)
  let flags = 0
  const head = []
  let rest = []
  if (layout.body === 'json') {
    rest = [writeJSON(frame.body)]
  } else if (layout.body === 'texts') {
    const json = writeJSON(frame.body)
    putInteger(head, json.length, 2)
    rest = [json, ...frame.texts]
  }
  for (const [name, bit] of layout.flags) if (frame[name]) flags |= bit
  for (const {name, kind, flag} of layout.fields) {
    const value = frame[name]
    if (flag && value === undefined) continue
    flags |= flag
    if (kind === 'rest' || kind === 'user') {
      rest = [kind === 'rest' ? value ?? noBytes : utf8(value)]
    } else if (kind === 'n' || kind === 's') {
      const bytes = utf8(value)
      putInteger(head, bytes.length, 1)
      head.push(...bytes)
    } else if (kind === 'extensions') {
      putInteger(head, value.length, 2)
      head.push(...value)
    } else if (kind === 'ranges') {
      putInteger(head, value.length, 2)
      for (const range of value) for (const number of [range.flow, range.first, range.last]) putInteger(head, number, 4)
    } else {
      putInteger(head, value, Number(kind.slice(1)) / 8)
    }
  }
  const bodyBytes = rest.reduce((sum, bytes) => sum + bytes.length, head.length)
  const start = []
  putInteger(start, bodyBytes + 2, 4)
  const out = new Uint8Array(Limits.frameHeadBytes + bodyBytes)
  out.set([...start, layout.number, flags])
  out.set(head, Limits.frameHeadBytes)
  let at = Limits.frameHeadBytes + head.length
  for (const bytes of rest) {
    out.set(bytes, at)
    at += bytes.length
  }
  return out
}

/**
 * Reads one whole frame.
 *
 * @param {Uint8Array} bytes
 * @returns {{type: string|undefined, number: number, [field: string]: any}} without `type` of one that this client does not know [FR6]
 * @throws {RelayError} for a flag or body that its type does not allow [FR4, FR7]
 */
export function decodeFrame(bytes) {
  const layout = layoutsByNumber.get(bytes[4])
  const flags = bytes[5]
  if (!layout) return {type: undefined, number: bytes[4]}
  if (flags & ~layout.allowed) {
    throw problem('badRequest', `flags 0x${flags.toString(16)} of ${layout.type} have bits that it does not define`)
  }
  const body = bytes.subarray(Limits.frameHeadBytes)
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  let at = 0
  const take = count => {
    if (at + count > body.length) throw problem('badRequest', `the body of ${layout.type} ends in the middle of a field`)
    at += count
    return body.subarray(at - count, at)
  }
  const integer = count => {
    take(count)
    if (count === 1) return body[at - 1]
    if (count === 2) return view.getUint16(at - 2)
    if (count === 4) return view.getUint32(at - 4)
    const value = view.getUint32(at - 8) * 2 ** 32 + view.getUint32(at - 4)
    if (!Number.isSafeInteger(value)) throw problem('badRequest', `a number of ${layout.type} is above 2⁵³−1`)
    return value
  }
  const range = () => ({flow: integer(4), first: integer(4), last: integer(4)})
  const frame = {type: layout.type, code: layout.number}
  if (layout.body === 'json') {
    frame.body = readJSON(body)
    return frame
  }
  if (layout.body === 'texts') {
    frame.body = readJSON(take(integer(2)))
    const items = Array.isArray(frame.body.items) ? frame.body.items : []
    frame.texts = items.map(item => take(Number.isSafeInteger(item?.bytes) && item.bytes >= 0 ? item.bytes : body.length + 1))
    frame.texts.forEach(textOf)
  }
  for (const [name, bit] of layout.flags) if (flags & bit) frame[name] = true
  for (const {name, kind, flag} of layout.fields) {
    if (flag && !(flags & flag)) continue
    if (kind === 'rest') frame[name] = take(body.length - at)
    else if (kind === 'user') frame[name] = checkedName(textOf(take(body.length - at)))
    else if (kind === 'n') frame[name] = checkedName(textOf(take(integer(1))))
    else if (kind === 's') frame[name] = textOf(take(integer(1)))
    else if (kind === 'extensions') frame[name] = checkedExtensions(take(integer(2)), layout.type)
    else if (kind === 'ranges') frame[name] = Array.from({length: integer(2)}, range)
    else frame[name] = integer(Number(kind.slice(1)) / 8)
  }
  if (at !== body.length) throw problem('badRequest', `${body.length - at} bytes behind the last field of ${layout.type}`)
  return frame
}

/** What a later version has put in front of a frame is passed over, unless it says that it must not be. [FR9] */
function checkedExtensions(entries, type) {
  if (entries.length > Limits.extensionBytesMax) throw problem('badRequest', `${entries.length} bytes of extensions of ${type}`)
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength)
  for (let at = 0; at < entries.length; at += 4 + view.getUint16(at + 2)) {
    if (at + 4 > entries.length || at + 4 + view.getUint16(at + 2) > entries.length) {
      throw problem('badRequest', `the extensions of ${type} end in the middle of an entry`)
    }
    const number = view.getUint16(at)
    if (number & 0x8000) throw problem('badRequest', `extension ${number & 0x7fff} of ${type} must be known, and is not`)
  }
  return entries
}

/** Cuts a stream of bytes into frames, however it arrives. [FR2] */
export class FrameReader {
  constructor() {
    this.buffer = noBytes
  }

  /** @param {Uint8Array} bytes */
  push(bytes) {
    if (this.buffer.length === 0) {
      this.buffer = bytes
      return
    }
    const joined = new Uint8Array(this.buffer.length + bytes.length)
    joined.set(this.buffer)
    joined.set(bytes, this.buffer.length)
    this.buffer = joined
  }

  /**
   * The next whole frame, or `undefined` until more bytes come.
   *
   * @throws {RelayError} for a length outside the limits: the stream cannot be read on [FR3]
   */
  next() {
    const {buffer} = this
    if (buffer.length < 4) return undefined
    const length = new DataView(buffer.buffer, buffer.byteOffset).getUint32(0)
    if (length < 2) throw fault(`a frame's length is at least 2, not ${length}`)
    if (length > Limits.frameBodyBytesMax + 2) {
      throw problem('frameTooLarge', `a frame body has at most ${Limits.frameBodyBytesMax} bytes, not ${length - 2}`)
    }
    if (buffer.length < length + 4) return undefined
    this.buffer = buffer.subarray(length + 4)
    return decodeFrame(buffer.subarray(0, length + 4))
  }
}
