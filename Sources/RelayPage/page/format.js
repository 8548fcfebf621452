// What all records of the board's own format (docs/board-format.md) have in common, as values, and back. Each kind of record has a
// module in kinds/. Places are integers in 1/100 px, as they stand in the format; nobody rounds twice.
import {readJSON} from '../client/json.js'

const encoder = new TextEncoder()
export const isWithin = (value, least, most) => Number.isSafeInteger(value) && value >= least && value <= most
export const isPlace = value => isWithin(value, -1e9, 1e9)
/** `least` and `most` are bytes. */
export const isText = (text, least, most) => typeof text === 'string' && isWithin(encoder.encode(text).length, least, most)
export const hasHead = ({id, color, v}) => v === 1 && /^[A-Za-z0-9.:-][\w.:-]{0,63}$/.test(id) && /^#[\dA-F]{8}$/i.test(color)

/** To the nearest integer, halves away from zero, within the format's range. */
export const hundredths = pixels => Math.max(-1e9, Math.min(1e9, Math.sign(pixels) * Math.floor(Math.abs(pixels * 100) + 0.5)))

/** What a payload says. @throws {Error} it is no JSON that the relay takes */
export const parse = payload => readJSON(encoder.encode(payload))

/** Keys stand in the order of their bytes. */
export const written = object => JSON.stringify(Object.fromEntries(Object.keys(object).sort().map(key => [key, object[key]])))

/** What every record that is drawn in a colour has. @returns {{id: string, z: number, color: string}|undefined} `undefined`: it breaks a rule */
export function readHead(object) {
  const {id, z, color} = object
  return hasHead(object) && isWithin(z, -Number.MAX_SAFE_INTEGER, Infinity) ? {id, z, color: color.toUpperCase()} : undefined
}
