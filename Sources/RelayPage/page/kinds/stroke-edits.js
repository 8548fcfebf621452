// Strokes that are moved, resized, or made wider. A shape stays one.
import {shapeIn} from '../shapes.js'

function shift({points}, dx, dy) {
  points[0] += dx
  points[1] += dy
}

/** Each place is scaled by itself, so that errors of rounding do not add up. */
function resize(object, {x, y}) {
  const {points, cols, shape, width} = object
  const places = []
  let sum = [0, 0]
  for (let at = 0; at < points.length; at += cols.length) {
    sum = [sum[0] + points[at], sum[1] + points[at + 1]]
    places.push([x(sum[0]), y(sum[1])])
  }
  // An arrow's head is as large as ever, and an ellipse as round as its points allow.
  const scaled = shapeIn(shape, places, width) ?? places
  for (const [at, place] of scaled.entries()) {
    const before = scaled[at - 1] ?? [0, 0]
    points[at * cols.length] = place[0] - before[0]
    points[at * cols.length + 1] = place[1] - before[1]
  }
}

function restyle(object, {width}) {
  object.width = width
  // The size of an arrow's head goes by it.
  resize(object, {x: place => place, y: place => place})
}

export const stroke = {shift, resize, restyle}
