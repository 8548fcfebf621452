// The board's own format (docs/board-format.md): records and point packets as values, and back.
// Places are integers in 1/100 px, as they stand in the format; nobody rounds twice.
import {readJSON} from './relay-client.js'

const encoder = new TextEncoder()
const coordinateMax = 1e9
export const packetBytesMax = 1_024
const within = (value, least, most) => Number.isSafeInteger(value) && value >= least && value <= most
const isPlace = value => within(value, -coordinateMax, coordinateMax)
const isID = id => typeof id === 'string' && /^[A-Za-z0-9.:-][\w.:-]{0,63}$/.test(id)
const isColor = color => typeof color === 'string' && /^#[0-9A-Fa-f]{8}$/.test(color)
const bytes = text => encoder.encode(text).length

/** To the nearest integer, halves away from zero, within the format's range. */
export function hundredths(pixels) {
  const value = pixels * 100
  return Math.max(-coordinateMax, Math.min(coordinateMax, Math.sign(value) * Math.floor(Math.abs(value) + 0.5) || 0))
}

/** Absolute places `xy`, two numbers a point, and `pressure`, if there is any. @returns {{xy: Int32Array, pressure?: Uint8Array}|undefined} */
function readPoints(points, cols) {
  const width = {xy: 2, xyp: 3, xyt: 3, xypt: 4}[cols]
  if (!width || !Array.isArray(points) || points.length === 0 || points.length % width) return undefined
  const count = points.length / width
  const xy = new Int32Array(2 * count)
  const pressure = cols.includes('p') ? new Uint8Array(count) : undefined
  const hasTime = cols.includes('t')
  for (let index = 0, x = 0, y = 0, p = 0, t = 0; index < count; index++) {
    const at = index * width
    x += points[at]
    y += points[at + 1]
    if (!isPlace(x) || !isPlace(y)) return undefined
    xy[2 * index] = x
    xy[2 * index + 1] = y
    if (pressure) {
      if (!within(p += points[at + 2], 0, 255)) return undefined
      pressure[index] = p
    }
    if (hasTime && (points[at + width - 1] < 0 || !within(t += points[at + width - 1], 0, 86_400_000))) return undefined
  }
  return {xy, pressure}
}

/** The head that strokes, texts and packets share. */
const hasHead = ({id, color, width, v}) => v === 1 && isID(id) && isColor(color) && within(width, 1, 100_000)
const isLayer = z => within(z, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)

const readers = {
  stroke({id, z, color, width, cols, points, part = 1, parts, v}) {
    if (!hasHead({id, color, width, v}) || !isLayer(z) || !within(parts ?? 1, 1, 256) || !within(part, 1, parts ?? 1)) return undefined
    const read = readPoints(points, cols)
    return read && {type: 'stroke', id, z, color: color.toUpperCase(), width, part, parts: parts ?? 1, ...read}
  },
  text({id, z, color, x, y, size, text, v}) {
    const isText = hasHead({id, color, width: 1, v}) && isLayer(z) && isPlace(x) && isPlace(y) && within(size, 100, 1_000_000)
      && typeof text === 'string' && within(bytes(text), 1, 4_096)
    return isText ? {type: 'text', id, z, color: color.toUpperCase(), x, y, size, text} : undefined
  },
  title({text, v}) {
    return v === 1 && typeof text === 'string' && bytes(text) <= 256 ? {type: 'title', id: '', text} : undefined
  },
}

/** What a record draws; `undefined`: nothing, as it is of another type, or breaks a rule. */
export function readRecord(customType, payload) {
  if (!Object.hasOwn(readers, customType ?? '') || typeof payload !== 'string') return undefined
  try {
    const object = readJSON(encoder.encode(payload))
    // A part without its number is none of one.
    return object.parts > 1 && object.part === undefined ? undefined : readers[customType](object)
  } catch {
    return undefined
  }
}

/** Points of a stroke that is being drawn. */
export function readPacket(payload) {
  try {
    const {id, first, color, width, cols, points, v} = readJSON(encoder.encode(payload))
    const read = hasHead({id, color, width, v}) && within(first, 0, 9_999_999) && readPoints(points, cols)
    return read ? {id, first, color: color.toUpperCase(), width, ...read} : undefined
  } catch {
    return undefined
  }
}

/** Points from `from` on as differences, as many as fit into `bytesMax`. @returns {{points: number[], end: number}} */
function differences({xy, pressure}, from, bytesMax) {
  const count = xy.length / 2
  const points = []
  let [x, y, p, size, index] = [0, 0, 0, 0, from]
  for (; index < count; index++) {
    const step = [xy[2 * index] - x, xy[2 * index + 1] - y, ...pressure ? [pressure[index] - p] : []]
    size += String(step).length + 1
    if (index > from && size > bytesMax) break
    points.push(...step)
    x = xy[2 * index]
    y = xy[2 * index + 1]
    p = pressure?.[index] ?? 0
  }
  return {points, end: index}
}

const colsOf = ({pressure}) => pressure ? 'xyp' : 'xy'

/** The payload of a stroke's record; keys stand in the order of their bytes. */
export function writeStroke(stroke) {
  const {id, z, color, width} = stroke
  return JSON.stringify({color, cols: colsOf(stroke), id, points: differences(stroke, 0, Infinity).points, v: 1, width, z})
}

export function writeText({id, z, color, x, y, size, text}) {
  return JSON.stringify({color, id, size, text, v: 1, x, y, z})
}

/** The packets that carry a stroke's points from `from` on. */
export function writePackets(stroke, from) {
  const {id, color, width, xy} = stroke
  const packets = []
  for (let first = from; first < xy.length / 2;) {
    const {points, end} = differences(stroke, first, packetBytesMax - 160)
    packets.push(JSON.stringify({color, cols: colsOf(stroke), first, id, points, v: 1, width}))
    first = end
  }
  return packets
}

/** The same record, shifted; what else it says stays. `undefined` where it would leave the format's range. */
export function shifted({customType, payload}, dx, dy) {
  const object = readJSON(encoder.encode(payload))
  if (customType === 'text') {
    object.x += dx
    object.y += dy
  } else {
    object.points[0] += dx
    object.points[1] += dy
  }
  const moved = JSON.stringify(Object.fromEntries(Object.keys(object).sort().map(key => [key, object[key]])))
  return readRecord(customType, moved) && moved
}
