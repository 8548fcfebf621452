// The handles of a box: which of them a place is on, and what becomes of the box when one is pulled. All in 1/100 px of the board.

/** So far from the box, and so near each other, handles are; in px of the screen. */
const [marginPx, roomPx] = [6, 60]
/** Who reaches farther than this reaches into the box as well. */
const insidePx = 8
/** No box is made smaller than this, unless it was. */
const sideMin = 100

/** The sides that a handle takes along: left or right, upper or lower. */
const handles = [[-1, -1], [1, -1], [1, 1], [-1, 1], [0, -1], [1, 0], [0, 1], [-1, 0]]

/** @param {number[]} box @param {number} pixel how much of the board one px of the screen is @returns {{sides, x, y}[]} */
export function handlesOf([left, top, right, bottom], pixel) {
  const margin = marginPx * pixel
  const hasRoom = [right - left, bottom - top].map(length => length + 2 * margin >= roomPx * pixel)
  // What lies between two corners needs room beside them.
  return handles.filter(sides => sides.every((side, axis) => side !== 0 || hasRoom[axis])).map(sides => ({sides,
    x: [left - margin, (left + right) / 2, right + margin][sides[0] + 1],
    y: [top - margin, (top + bottom) / 2, bottom + margin][sides[1] + 1]}))
}

/** The handle at a place. A place within the box is to move it: only a finger, which covers a handle, reaches a little into it. */
export function handleAt(box, {x, y}, reach, pixel) {
  const [left, top, right, bottom] = box
  const inset = [right - left, bottom - top].map(length => Math.min(reach - insidePx * pixel, length / 3))
  if (x > left + inset[0] && x < right - inset[0] && y > top + inset[1] && y < bottom - inset[1]) return undefined
  const away = handle => Math.hypot(handle.x - x, handle.y - y)
  return handlesOf(box, pixel).filter(handle => away(handle) <= reach).sort((one, other) => away(one) - away(other))[0]
}

/** The box with some of its sides pulled by a way; corners may keep its proportions. The other sides stay. */
export function pulled(box, sides, [dx, dy], keepsProportions) {
  const lengths = [box[2] - box[0], box[3] - box[1]]
  const wanted = lengths.map((length, axis) => Math.max(Math.min(length, sideMin), length + sides[axis] * [dx, dy][axis]))
  if (keepsProportions && sides[0] && sides[1]) {
    const factor = (wanted[0] * lengths[0] + wanted[1] * lengths[1]) / (lengths[0] ** 2 + lengths[1] ** 2)
    lengths.forEach((length, axis) => { wanted[axis] = length * factor })
  }
  const after = [...box]
  for (const axis of [0, 1]) {
    if (sides[axis] < 0) after[axis] = Math.round(box[axis + 2] - wanted[axis])
    if (sides[axis] > 0) after[axis + 2] = Math.round(box[axis] + wanted[axis])
  }
  return after
}

/**
 * The box `from`, which is `to` by now, wider and higher by a step, and its upper left corner where it is; one that keeps its proportions
 * takes the other side along.
 */
export function grown(from, to, [dx, dy], keepsProportions) {
  const [[width, height], [wide, high]] = [from, to].map(([left, top, right, bottom]) => [right - left, bottom - top])
  const along = wide - width + dx + dy * width / height
  const way = keepsProportions ? [along, along * height / width] : [wide - width + dx, high - height + dy]
  return pulled(from, [1, 1], way, keepsProportions)
}

/** What a mouse over it looks like. */
export const cursorOf = ([x, y]) => x === 0 ? 'ns-resize' : y === 0 ? 'ew-resize' : x === y ? 'nwse-resize' : 'nesw-resize'
