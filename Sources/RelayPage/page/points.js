// Lists of points as the format writes them, and the packets of a line that is being drawn.
import {hasHead, isPlace, isWithin, parse} from './format.js'

/** How many points shapes have. */
export const shapes = {line: 2, arrow: 5, rectangle: 5, ellipse: 65}

/**
 * Absolute places `xy`, two numbers a point, and `pressure`, if there is any; `shape`, if this page knows it.
 *
 * @returns {{width, xy: Int32Array, pressure?: Uint8Array, shape?: string}|undefined}
 */
export function readLine({width, points, cols, shape}) {
  const isShape = Object.hasOwn(shapes, shape ?? '')
  if (typeof (shape ?? '') !== 'string' || (isShape && cols !== 'xy')) return undefined
  const columns = {xy: 2, xyp: 3, xyt: 3, xypt: 4}[cols]
  const count = points?.length / columns
  if (!Array.isArray(points) || !isWithin(count, 1, Infinity) || !isWithin(width, 1, 1e5)) return undefined
  const pressure = cols.includes('p') ? new Uint8Array(count) : undefined
  const line = {width, xy: new Int32Array(2 * count), pressure, shape: isShape ? shape : undefined}
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

/** Points of a stroke that is being drawn. */
export function readPacket(payload) {
  try {
    const object = parse(payload)
    const line = hasHead(object) && isWithin(object.first, 0, 9_999_999) && readLine(object)
    return line ? {...object, ...line} : undefined
  } catch {
    return undefined
  }
}

/** Points from `from` on as differences, as many as fit into `bytesMax`. */
export function differences({xy, pressure}, from, bytesMax) {
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

export const colsOf = ({pressure}) => pressure ? 'xyp' : 'xy'

/** The packets of at most 1,024 bytes that carry a stroke's points from `from` on. */
export function writePackets(stroke, from) {
  const {id, color, width, xy, shape} = stroke
  const packets = []
  for (let first = from; first < xy.length / 2;) {
    const {points, end} = differences(stroke, first, 864)
    packets.push(JSON.stringify({color, cols: colsOf(stroke), first, id, points, shape, v: 1, width}))
    first = end
  }
  return packets
}
