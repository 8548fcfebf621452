// What is left of a stroke that an eraser goes over. A line is a list of points, each with all its columns, as the format's `cols`
// names them: `[x, y, …]`. Places are in 1/100 px.
import {newID} from './ink.js'
import {parse, written} from './format.js'

const {hypot, max, min, round, sqrt} = Math
/** As the relay counts it: with the custom type. */
const pieceBytesMax = 32_768 - 'stroke'.length
const encoder = new TextEncoder()

const add = (one, other, sign = 1) => one.map((value, column) => value + sign * (other?.[column] ?? 0))

/** All points of an element's records, in the order of its parts, and what its first record says besides. */
export function lineOf({records}) {
  const objects = records.map(({payload}) => parse(payload)).sort((one, other) => (one.part ?? 1) - (other.part ?? 1))
  const points = []
  for (const {points: steps, cols: {length}} of objects) {
    let last
    for (let at = 0; at < steps.length; at += length) {
      last = add(steps.slice(at, at + length), last)
      // A part begins where the one before it has ended.
      if (at > 0 || String(last) !== String(points.at(-1))) points.push(last)
    }
  }
  const {part, parts, shape, ...object} = objects[0]
  return {object, points}
}

/** From where to where, 0…1, `p` + t · `d` is no farther than `reach` from a stretch; what is near is in one piece. */
function near(p, d, [from, to], reach) {
  const found = []
  const within = (least, value, step, most) => {
    if (step === 0) return value >= least && value <= most ? [-Infinity, Infinity] : [1, 0]
    const ends = [(least - value) / step, (most - value) / step]
    return [min(...ends), max(...ends)]
  }
  for (const [x, y] of [from, to]) {
    const [dx, dy] = [p[0] - x, p[1] - y]
    const [a, b, c] = [d[0] ** 2 + d[1] ** 2, dx * d[0] + dy * d[1], dx ** 2 + dy ** 2 - reach ** 2]
    if (a === 0 ? c <= 0 : b * b >= a * c) found.push(a === 0 ? [0, 1] : [(-b - sqrt(b * b - a * c)) / a, (-b + sqrt(b * b - a * c)) / a])
  }
  const length = hypot(to[0] - from[0], to[1] - from[1])
  if (length > 0) {
    const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length]
    const [dx, dy] = [p[0] - from[0], p[1] - from[1]]
    const [along, across] = [within(0, dx * ux + dy * uy, d[0] * ux + d[1] * uy, length),
      within(-reach, dy * ux - dx * uy, d[1] * ux - d[0] * uy, reach)]
    const both = [max(along[0], across[0]), min(along[1], across[1])]
    if (both[0] <= both[1]) found.push(both)
  }
  const span = [max(0, min(...found.map(([begin]) => begin))), min(1, max(...found.map(([, end]) => end)))]
  return span[0] <= span[1] ? span : undefined
}

/**
 * What is left of a line behind an eraser that goes one stretch.
 *
 * @param {number[][]} points @param {number[][]} stretch from a place to another @param {number} reach how far the eraser reaches
 * @returns {number[][][]} pieces; the line itself if it is not touched
 */
export function cut(points, stretch, reach) {
  const pieces = []
  const box = [0, 1].map(axis => [min(stretch[0][axis], stretch[1][axis]) - reach, max(stretch[0][axis], stretch[1][axis]) + reach])
  const isAway = (one, other) => box.some(([least, most], axis) =>
    max(one[axis], other[axis]) < least || min(one[axis], other[axis]) > most)
  const between = (one, other, t) => one.map((value, column) => round(value + (other[column] - value) * t))
  let isCut = false
  let piece = [points[0]]
  const end = () => {
    isCut = true
    // Nothing is left where both ends of a piece are one place.
    if (piece.some(([x, y]) => x !== piece[0][0] || y !== piece[0][1])) pieces.push(piece)
  }
  if (points.length === 1) return near(points[0], [0, 0], stretch, reach) ? [] : [points]
  for (let at = 1; at < points.length; at++) {
    const [one, other] = [points[at - 1], points[at]]
    const span = isAway(one, other) ? undefined : near(one, add(other, one, -1), stretch, reach)
    if (span) {
      if (span[0] > 0) piece.push(between(one, other, span[0]))
      end()
      piece = span[1] < 1 ? [between(one, other, span[1]), other] : [other]
    } else piece.push(other)
  }
  if (!isCut) return [points]
  end()
  // Of a line that is closed the last piece goes on with the first.
  const [first, last] = [pieces[0], pieces.at(-1)]
  const hasBothEnds = pieces.length > 1 && first[0] === points[0] && last.at(-1) === points.at(-1)
  const isClosed = hasBothEnds && String(points[0]) === String(points.at(-1))
  return isClosed ? [...pieces.slice(1, -1), [...last, ...first.slice(1)]] : pieces
}

/** The records of a piece, each under a new id; a large one is cut once more. @returns {{key: string, after: object}[]} */
export function recordsOf(object, points) {
  const time = object.cols.indexOf('t')
  const begins = points[0].map((value, column) => column === time ? value : 0)
  const id = newID()
  const steps = points.flatMap((point, at) => add(point, at > 0 ? points[at - 1] : begins, -1))
  const after = {customType: 'stroke', payload: written({...object, id, points: steps})}
  if (encoder.encode(after.payload).length <= pieceBytesMax || points.length < 3) return [{key: id, after}]
  const middle = points.length >> 1
  return [points.slice(0, middle + 1), points.slice(middle)].flatMap(half => recordsOf(object, half))
}
