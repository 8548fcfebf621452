// The board's own format (docs/board-format.md): records and point packets as values, and back.
// Places are integers in 1/100 px, as they stand in the format; nobody rounds twice.
import {readJSON} from '../relay-client.js'

const encoder = new TextEncoder()
const isWithin = (value, least, most) => Number.isSafeInteger(value) && value >= least && value <= most
const isPlace = value => isWithin(value, -1e9, 1e9)
const isText = (text, least, most) => typeof text === 'string' && isWithin(encoder.encode(text).length, least, most)
const hasHead = ({id, color, v}) => v === 1 && /^[A-Za-z0-9.:-][\w.:-]{0,63}$/.test(id) && /^#[\dA-F]{8}$/i.test(color)

/** To the nearest integer, halves away from zero, within the format's range. */
export const hundredths = pixels => Math.max(-1e9, Math.min(1e9, Math.sign(pixels) * Math.floor(Math.abs(pixels * 100) + 0.5)))

/** Absolute places `xy`, two numbers a point, and `pressure`, if there is any. @returns {{width, xy: Int32Array, pressure?: Uint8Array}|undefined} */
function readLine({width, points, cols}) {
  const columns = {xy: 2, xyp: 3, xyt: 3, xypt: 4}[cols]
  const count = points?.length / columns
  if (!Array.isArray(points) || !isWithin(count, 1, Infinity) || !isWithin(width, 1, 1e5)) return undefined
  const line = {width, xy: new Int32Array(2 * count), pressure: cols.includes('p') ? new Uint8Array(count) : undefined}
  const sums = [0, 0, 0, 0]
  const [p, t] = [cols.indexOf('p'), cols.indexOf('t')]
  for (let index = 0; index < count; index++) {
    for (let column = 0; column < columns; column++) sums[column] += points[index * columns + column]
    if (!isPlace(sums[0]) || !isPlace(sums[1]) || (p > 0 && !isWithin(sums[p], 0, 255))) return undefined
    if (t > 0 && (points[index * columns + t] < 0 || !isWithin(sums[t], 0, 864e5))) return undefined
    line.xy.set([sums[0], sums[1]], 2 * index)
    if (p > 0) line.pressure[index] = sums[p]
  }
  return line
}

/** What a record draws; `undefined`: nothing, as it is of another type, or breaks a rule. */
export function readRecord(type, payload) {
  try {
    const object = readJSON(encoder.encode(payload))
    const {id, z, color, x, y, size, text, v, part, parts = 1} = object
    if (type === 'title') return v === 1 && isText(text, 0, 256) ? {type, id: '', text} : undefined
    if (!hasHead(object) || !isWithin(z, -Number.MAX_SAFE_INTEGER, Infinity)) return undefined
    const head = {type, id, z, color: color.toUpperCase()}
    if (type === 'text') return isPlace(x) && isPlace(y) && isWithin(size, 100, 1e6) && isText(text, 1, 4096) ? {...head, x, y, size, text}
        : undefined
    const line = type === 'stroke' && isWithin(parts, 1, 256) && isWithin(part ?? 2 - parts, 1, parts) && readLine(object)
    return line ? {...head, part: part ?? 1, parts, ...line} : undefined
  } catch {
    return undefined
  }
}

/** Points of a stroke that is being drawn. */
export function readPacket(payload) {
  try {
    const object = readJSON(encoder.encode(payload))
    const line = hasHead(object) && isWithin(object.first, 0, 9_999_999) && readLine(object)
    return line ? {...object, ...line} : undefined
  } catch {
    return undefined
  }
}

/** Points from `from` on as differences, as many as fit into `bytesMax`. */
function differences({xy, pressure}, from, bytesMax) {
  const points = []
  let last = [0, 0, 0]
  let end = from
  for (let bytes = 0; end < xy.length / 2; end++) {
    const point = [xy[2 * end], xy[2 * end + 1], ...pressure ? [pressure[end]] : []]
    const step = point.map((value, column) => value - last[column])
    bytes += String(step).length + 1
    if (end > from && bytes > bytesMax) break
    points.push(...step)
    last = point
  }
  return {points, end}
}

const colsOf = ({pressure}) => pressure ? 'xyp' : 'xy'

/** The payload of a stroke's record; keys stand in the order of their bytes. */
export function writeStroke(stroke) {
  const {id, z, color, width} = stroke
  return JSON.stringify({color, cols: colsOf(stroke), id, points: differences(stroke, 0, Infinity).points, v: 1, width, z})
}

export const writeText = ({id, z, color, x, y, size, text}) => JSON.stringify({color, id, size, text, v: 1, x, y, z})

/** The packets of at most 1,024 bytes that carry a stroke's points from `from` on. */
export function writePackets(stroke, from) {
  const {id, color, width, xy} = stroke
  const packets = []
  for (let first = from; first < xy.length / 2;) {
    const {points, end} = differences(stroke, first, 864)
    packets.push(JSON.stringify({color, cols: colsOf(stroke), first, id, points, v: 1, width}))
    first = end
  }
  return packets
}

/** The same record, shifted; what else it says stays. `undefined` where it would leave the format's range. */
export function shifted({customType, payload}, dx, dy) {
  const object = readJSON(encoder.encode(payload))
  const [place, x, y] = customType === 'text' ? [object, 'x', 'y'] : [object.points, 0, 1]
  place[x] += dx
  place[y] += dy
  const moved = JSON.stringify(Object.fromEntries(Object.keys(object).sort().map(key => [key, object[key]])))
  return readRecord(customType, moved) && moved
}
