// What apps pass as options: a name that no call has is a mistake, and is told.

/** How many letters have to change, go or come. */
function distance(one, other) {
  let row = Array.from({length: other.length + 1}, (_, at) => at)
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let to = 1; to <= other.length; to++) {
      next.push(Math.min(row[to] + 1, next[to - 1] + 1, row[to - 1] + (one[at - 1] === other[to - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[other.length]
}

/**
 * The options of a call.
 *
 * @param {string} call as the app writes it
 * @param {object|undefined} options
 * @param {string[]} names those that there are
 * @throws {TypeError} for another name, with the nearest one; for what is no object
 */
export function optionsOf(call, options, names) {
  if (options === undefined) return {}
  if (options === null || typeof options !== 'object' || Array.isArray(options)) throw new TypeError(`${call}: options are an object`)
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue
    const far = other => distance(name.toLowerCase(), other.toLowerCase())
    const [nearest] = [...names].sort((one, other) => far(one) - far(other))
    throw new TypeError(nearest === undefined ? `${call} has no options` : `${call} has no option ${name}; the nearest is ${nearest}`)
  }
  return options
}

/** A value as an error shows it. */
const shown = value => typeof value === 'string' ? `'${value}'` : Array.isArray(value) ? 'a list' : `${value}`

/** @throws {TypeError} unless a value is a list */
export function listOf(call, name, value) {
  if (!Array.isArray(value)) throw new TypeError(`${call}: ${name} is a list, not ${shown(value)}`)
  return value
}

/** @throws {TypeError} unless a value is an object of texts */
export function textsOf(call, name, value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new TypeError(`${call}: ${name} is an object of texts, not ${shown(value)}`)
  }
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') throw new TypeError(`${call}: ${key} is a text, not ${shown(text)}`)
  }
  return value
}

/** What every call that waits takes: when it ends without an answer, and what it does without a link. */
const callNames = ['signal', 'timeout', 'offline']

/** How long a call waits for its answer, in milliseconds. */
export const callTimeoutMs = 15_000

/**
 * The options of a call that waits, without those that are its own.
 *
 * @param {{signal?: AbortSignal, timeout?: number, offline?: 'wait'|'fail'}} options
 * @throws {TypeError} for a value that they cannot have
 */
export function callOf(call, {signal, timeout = callTimeoutMs, offline = 'wait'}) {
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') throw new TypeError(`${call}: signal is an AbortSignal`)
  if (!(timeout >= 0)) throw new TypeError(`${call}: timeout is a number of milliseconds, not ${timeout}`)
  if (offline !== 'wait' && offline !== 'fail') throw new TypeError(`${call}: offline is 'wait' or 'fail', not ${offline}`)
  return {signal, timeout, offline}
}

/** The own options of a call, and how it ends: `[own, call]`. */
export function taken(call, options, names = []) {
  const {signal, timeout, offline, ...own} = optionsOf(call, options, [...names, ...callNames])
  return [own, callOf(call, {signal, timeout, offline})]
}
