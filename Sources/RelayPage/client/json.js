// JSON as it goes over the wire: written sorted, read strictly. [JS1–JS4]
import {problem} from './errors.js'
import {Limits} from './limits.js'
import {textOf} from './text.js'

const encoder = new TextEncoder()

/**
 * JSON as the relay writes it: keys sorted, no spaces, `undefined` left out.
 *
 * @throws {RelayError} `badRequest` for a number that is no integer, which JSON would say as another one, or as `null` [JS3]
 */
export function writeJSON(value) {
  return encoder.encode(JSON.stringify(value, (key, part) => {
    if (typeof part === 'number' && !Number.isSafeInteger(part)) {
      throw problem('badRequest', `${key}: ${part} is no integer within ±(2⁵³−1)`)
    }
    return part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.keys(part).sort().map(name => [name, part[name]])) : part
  }))
}

/** Reads one text from its beginning to its end. */
class JSONReader {
  constructor(text) {
    this.text = text
    this.at = 0
    this.depth = 0
  }

  wrong(what) {
    return problem('badRequest', `JSON, character ${this.at}: ${what}`)
  }

  /** What a sticky pattern finds here; the reader goes behind it. */
  token(pattern) {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)
    if (found) this.at = pattern.lastIndex
    return found?.[0]
  }

  space() {
    this.token(/[ \t\n\r]*/y)
  }

  document() {
    this.space()
    if (this.text[this.at] !== '{') throw this.wrong('a body is one object')
    const body = this.value()
    this.space()
    if (this.at !== this.text.length) throw this.wrong('something stands behind the object')
    return body
  }

  value() {
    if (this.text[this.at] === '{') return this.object()
    if (this.text[this.at] === '[') return this.array()
    if (this.text[this.at] === '"') return this.string()
    const word = this.token(/true|false|null/y)
    if (word) return JSON.parse(word)
    const number = this.token(/-?(?:0|[1-9][0-9]{0,15})(?![0-9.eE])/y)
    if (number === undefined || !Number.isSafeInteger(Number(number))) {
      throw this.wrong('a value is expected; numbers are integers within ±(2⁵³−1)')
    }
    return Number(number)
  }

  object() {
    const object = Object.create(null)
    const keys = new Set()
    this.list('}', () => {
      const key = this.string()
      if (/[^\x00-\x7f]/.test(key)) throw problem('badName', 'JSON: a key that is not ASCII')
      if (keys.has(key)) throw this.wrong(`key ${key} stands twice`)
      keys.add(key)
      this.space()
      if (this.text[this.at] !== ':') throw this.wrong('a colon is expected')
      this.at++
      this.space()
      const value = this.value()
      if (value !== null) object[key] = value
    })
    return object
  }

  array() {
    const {at} = this
    // Integers alone are read by the engine, behind one scan.
    const flat = this.depth < Limits.jsonDepthMax && this.token(/\[[-\d,]*\]/y)
    try {
      const numbers = flat && JSON.parse(flat)
      if (numbers && numbers.every(Number.isSafeInteger)) return numbers
    } catch {
      // Told below.
    }
    this.at = at
    const array = []
    this.list(']', () => array.push(this.value()))
    return array
  }

  /** What stands between the brackets of an object or array: `readItem` reads each item. */
  list(end, readItem) {
    if (++this.depth > Limits.jsonDepthMax) throw this.wrong(`deeper than ${Limits.jsonDepthMax}`)
    this.at++
    this.space()
    if (this.text[this.at] !== end) {
      for (;;) {
        readItem()
        this.space()
        if (this.text[this.at] === end) break
        if (this.text[this.at] !== ',') throw this.wrong(`a comma or ${end} is expected`)
        this.at++
        this.space()
      }
    }
    this.at++
    this.depth--
  }

  string() {
    const raw = this.token(/"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"/y)
    if (raw === undefined) throw this.wrong('a string is expected')
    const value = JSON.parse(raw)
    if (/\p{Surrogate}/u.test(value)) throw this.wrong('half a surrogate pair')
    return value
  }
}

/**
 * Strict JSON: one object, ASCII keys, none twice, integers within ±(2⁵³−1), at most 8 deep, whole scalars. [JS1–JS4]
 *
 * Objects have no prototype, so that no key means anything by itself; `null` stands for an absent field.
 *
 * @param {Uint8Array} bytes
 */
export function readJSON(bytes) {
  return new JSONReader(textOf(bytes)).document()
}
