// Finds the shape that a line drawn by hand is meant to be, when the pen holds still at the line's end. In doubt the line stays as it is.
import {boxAround} from './boxes.js'
import {pointsOf} from './shapes.js'

const {abs, hypot, max, min} = Math

/** How far from a shape a hand may be, on average and at most, as parts of its size. */
const straightMax = 0.05
const roundMeanMax = 0.035
const cornersMeanMax = 0.03
const worstMax = 0.13
/** How far from each other the ends of a closed line may be, as a part of its length. */
const gapMax = 0.15
/** How near a line goes to each corner of a rectangle, as a part of its diagonal: an ellipse stays 0.146 away. */
const cornerMax = 0.08
const stepsOf = 96
/** How large a shape is at least on the screen. */
const leastPx = 24

/** @param {InkStroke} stroke @returns {object|undefined} the shape that is meant, as a stroke's part */
export function meantBy({xy, color, width, scale}) {
  const found = recognise(xy, leastPx * 100 / scale)
  return found && {color, width, shape: found.shape, xy: pointsOf(found.shape, found.from, found.to, width).flat()}
}

/**
 * @param {number[]} xy two numbers a point
 * @param {number} least how large a shape is at least
 * @returns {{shape: string, from: number[], to: number[]}|undefined}
 */
export function recognise(xy, least) {
  const points = evenly(xy)
  const box = boxAround(points.map(([x, y]) => [x, y, x, y]))
  if (hypot(box[2] - box[0], box[3] - box[1]) < least) return undefined
  if (isStraight(points)) return {shape: 'line', from: points[0], to: points.at(-1)}
  return arrowOf(points) ?? closedOf(points, box)
}

const distance = (one, other) => hypot(one[0] - other[0], one[1] - other[1])
const lengthOf = points => points.slice(1).reduce((sum, point, at) => sum + distance(point, points[at]), 0)

/** Points of the line that are equally far from each other along it. */
function evenly(xy) {
  const points = Array.from({length: xy.length / 2}, (_, at) => [xy[2 * at], xy[2 * at + 1]])
  const step = lengthOf(points) / stepsOf
  if (step === 0) return points
  const found = [points[0]]
  let rest = step
  for (let at = 1; at < points.length; at++) {
    const [from, to] = [points[at - 1], points[at]]
    const length = distance(from, to)
    for (; rest <= length; rest += step) found.push(from.map((place, axis) => place + (to[axis] - place) * rest / length))
    rest -= length
  }
  if (found.length <= stepsOf) found.push(points.at(-1))
  return found
}

/** How far a place is along the way from one place to another, and beside it. */
function along([x, y], from, to) {
  const length = distance(from, to)
  const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length]
  return [(x - from[0]) * dx + (y - from[1]) * dy, (y - from[1]) * dx - (x - from[0]) * dy]
}

/** Whether it goes from its beginning to its end, and nowhere else. */
function isStraight(points) {
  const [from, to] = [points[0], points.at(-1)]
  const length = distance(from, to)
  // A hand trembles in small steps.
  const large = points.filter((_, at) => at % 6 === 0 || at === points.length - 1)
  return length > 0 && lengthOf(large) < length * 1.08 && points.every(point => abs(along(point, from, to)[1]) < length * straightMax)
}

/** A straight line to the tip, then back to both sides of it, and no farther. */
function arrowOf(points) {
  const from = points[0]
  const away = points.map(point => distance(from, point))
  const length = max(...away)
  const to = points[away.indexOf(length)]
  // It is there twice: the first time the shaft ends.
  const tip = away.findIndex((far, at) => far > length * 0.95 && !(away[at + 1] > far))
  const [shaft, head] = [points.slice(0, tip + 1), points.slice(tip)]
  if (tip < 2 || head.length < 5 || !isStraight(shaft) || lengthOf(head) > length * 1.6) return undefined
  const places = head.map(point => along(point, from, to))
  const sides = places.map(([, beside]) => beside)
  const isHead = max(...sides) > length * 0.05 && min(...sides) < -length * 0.05 && places.every(([far]) => far > length * 0.5)
  return isHead ? {shape: 'arrow', from, to} : undefined
}

/** A rectangle or an ellipse that lies level, whichever is nearer. */
function closedOf(points, [left, top, right, bottom]) {
  const length = lengthOf(points)
  const [width, height] = [right - left, bottom - top]
  const size = hypot(width, height)
  if (distance(points[0], points.at(-1)) > length * gapMax || min(width, height) < size / 12) return undefined
  const middle = [(left + right) / 2, (top + bottom) / 2]
  const [rx, ry] = [width / 2, height / 2]
  const fromRound = points.map(([x, y]) => {
    const [dx, dy] = [x - middle[0], y - middle[1]]
    const far = hypot(dx / rx, dy / ry)
    return far === 0 ? min(rx, ry) : abs(1 - 1 / far) * hypot(dx, dy)
  })
  const fromSides = points.map(([x, y]) => min(x - left, right - x, y - top, bottom - y))
  const isNear = (far, mean) => far.reduce((sum, one) => sum + one, 0) / far.length < size * mean && max(...far) < size * worstMax
  const corners = [[left, top], [right, top], [right, bottom], [left, bottom]]
  const hasCorners = corners.every(corner => points.some(point => distance(point, corner) < size * cornerMax))
  const [from, to] = [[left, top], [right, bottom]]
  // Round and round is a scribble.
  if (length > 2.3 * (width + height)) return undefined
  if (hasCorners) return isNear(fromSides, cornersMeanMax) ? {shape: 'rectangle', from, to} : undefined
  return goesAround(points, middle) && isNear(fromRound, roundMeanMax) ? {shape: 'ellipse', from, to} : undefined
}

/** Whether a line goes around a place once, in one direction. */
function goesAround(points, middle) {
  const angles = points.map(([x, y]) => Math.atan2(y - middle[1], x - middle[0]))
  const turns = angles.slice(1).map((angle, at) => {
    const turn = angle - angles[at]
    return turn > Math.PI ? turn - 2 * Math.PI : turn < -Math.PI ? turn + 2 * Math.PI : turn
  })
  const sum = abs(turns.reduce((sum, turn) => sum + turn, 0))
  const whole = turns.reduce((sum, turn) => sum + abs(turn), 0)
  return sum > 1.7 * Math.PI && sum < 2.6 * Math.PI && whole < sum * 1.15
}
