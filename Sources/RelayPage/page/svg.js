// A board's picture as shapes: how wide a line is, where words stand, what box is around them. The canvas draws them, and
// svg-document.js writes them.

const {floor} = Math

/** Of two points by their pressures, in steps of 1/24: half the line's width without, one and a half with all of it; between them their mean. */
function widthBetween({width, pressure}, from, to) {
  if (!pressure) return width
  return Math.max(1, floor(width * (24 + 2 * floor(((pressure[from] + pressure[to]) * 24 + 255) / 510)) / 48))
}

/** Runs of points of one width, as `{width, from, to}` by index; none for a dot. */
export function runs(part) {
  const found = []
  const last = part.xy.length / 2 - 1
  for (let from = 0; from < last && !isDot(part);) {
    const width = widthBetween(part, from, from + 1)
    let to = from + 1
    while (to < last && widthBetween(part, to, to + 1) === width) to++
    found.push({width, from, to})
    from = to
  }
  return found
}

/** Whether all its points are one place. */
export const isDot = ({xy}) => xy.every((value, at) => value === xy[at % 2])

export function dotRadius(part) {
  let width = 0
  for (let index = 0; index < part.xy.length / 2; index++) width = Math.max(width, widthBetween(part, index, index))
  return Math.max(1, floor(width / 2))
}

/** `#RRGGBB`, and the opacity in hundredths. */
export const ink = color => ({rgb: color.slice(0, 7), opacity: floor((parseInt(color.slice(7), 16) * 100 + 127) / 255)})

export const fontSize = ({size}) => floor(size * 5 / 6)
export const linesOf = ({text}) => text.split('\n')
export const baseline = ({y, size}, line) => y + line * size + floor(size * 4 / 5)

/** The box around an element as `[left, top, right, bottom]`, in 1/100 px; nobody can measure a text without the font that will be used. */
export function boxOf(element) {
  const {type, parts, x, y, size} = element
  if (type === 'text') {
    const lines = linesOf(element)
    const widths = lines.map(line => [...line].reduce((sum, letter) => sum + (letter.codePointAt() >= 0x1100 ? 100 : 62), 0))
    return [x, y, x + floor(fontSize(element) * Math.max(...widths) / 100), y + lines.length * size]
  }
  return boxAround(parts.flatMap(({xy, width, pressure}) => {
    const reach = floor(pressure ? width * 3 / 4 : width / 2)
    const box = boxAround(Array.from({length: xy.length / 2}, (_, at) => [xy[2 * at], xy[2 * at + 1], xy[2 * at], xy[2 * at + 1]]))
    return [box.map((place, side) => side < 2 ? place - reach : place + reach)]
  }))
}

/** The smallest box that holds all of some. */
export function boxAround(boxes) {
  const box = [Infinity, Infinity, -Infinity, -Infinity]
  for (const other of boxes) for (let side = 0; side < 4; side++) {
    if (side < 2 ? other[side] < box[side] : other[side] > box[side]) box[side] = other[side]
  }
  return boxes.length ? box : [0, 0, 0, 0]
}

/** The box of a whole picture, with its margin. */
export function pictureBox(elements) {
  const [left, top, right, bottom] = boxAround(elements.map(({box}) => box))
  return {x: left - 1_000, y: top - 1_000, width: right - left + 2_000, height: bottom - top + 2_000}
}
