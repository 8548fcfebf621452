// Shapes: what a line, an arrow, a rectangle or an ellipse looks like between two places. Places are in 1/100 px.

const {abs, cos, hypot, round, sign, sin, sqrt, PI} = Math

/** To the nearest integer, halves away from zero, within the format's range. */
const whole = place => Math.max(-1e9, Math.min(1e9, sign(place) * Math.floor(abs(place) + 0.5))) + 0

/** How an arrow's barbs are turned: by 30° to both sides. */
const half = 1 / 2
const high = sqrt(3) / 2

const makers = {
  line: (from, to) => [from, to],
  arrow(from, to, width) {
    const [dx, dy] = [from[0] - to[0], from[1] - to[1]]
    const length = hypot(dx, dy)
    const size = length && Math.min(600 + 4 * width, length / 2) / length
    const barb = side => [to[0] + size * (high * dx - side * half * dy), to[1] + size * (side * half * dx + high * dy)]
    return [from, to, barb(1), to, barb(-1)]
  },
  rectangle: ([left, top], [right, bottom]) => [[left, top], [right, top], [right, bottom], [left, bottom], [left, top]],
  ellipse(from, to) {
    const middle = [0, 1].map(axis => (from[axis] + to[axis]) / 2)
    const radius = [0, 1].map(axis => abs(to[axis] - from[axis]) / 2)
    return Array.from({length: 65}, (_, k) => [middle[0] + radius[0] * cos(2 * PI * k / 64), middle[1] + radius[1] * sin(2 * PI * k / 64)])
  },
}

/** @param {number[]} from where a line begins, or one corner of a box @param {number[]} to @returns {number[][]} */
export const pointsOf = (shape, from, to, width) => makers[shape](from.map(whole), to.map(whole), width).map(place => place.map(whole))

/** The points of a shape after its points were scaled; `undefined` if the scaled points already are the shape. */
export function shapeIn(shape, places, width) {
  if (shape === 'arrow') return pointsOf(shape, places[0], places[1], width)
  if (shape === 'ellipse') return pointsOf(shape, [places[32][0], places[48][1]], [places[0][0], places[16][1]], width)
  return undefined
}

/** Where a shape ends so that it is a square, a circle, or a line at a multiple of 45°. */
export function evened(shape, from, to) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]]
  if (shape === 'rectangle' || shape === 'ellipse') {
    const side = Math.max(abs(dx), abs(dy))
    return [from[0] + (sign(dx) || 1) * side, from[1] + (sign(dy) || 1) * side]
  }
  const angle = round(Math.atan2(dy, dx) / (PI / 4)) * PI / 4
  const length = dx * cos(angle) + dy * sin(angle)
  return [from[0] + length * cos(angle), from[1] + length * sin(angle)]
}
