// Boxes, as `[left, top, right, bottom]` in 1/100 px.

/** The smallest box that holds all of some. */
export function boxAround(boxes) {
  const box = [Infinity, Infinity, -Infinity, -Infinity]
  for (const other of boxes) for (let side = 0; side < 4; side++) {
    if (side < 2 ? other[side] < box[side] : other[side] > box[side]) box[side] = other[side]
  }
  return boxes.length ? box : [0, 0, 0, 0]
}

/** The box of a whole picture, with its margin, out of those of its elements. */
export function pictureBox(boxes) {
  const [left, top, right, bottom] = boxAround(boxes)
  return {x: left - 1_000, y: top - 1_000, width: right - left + 2_000, height: bottom - top + 2_000}
}
