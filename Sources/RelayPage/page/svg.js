// A board's picture: how wide a line is, where words stand, and the whole as an SVG document. The same picture is the same
// bytes as `boardrelay board export --format svg` gives (Sources/BoardFormat/BoardSVG.swift).

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

/** A number in 1/100 as a decimal one, without more digits than are needed. */
function decimal(value) {
  const digits = String(Math.abs(value) % 100).padStart(2, '0').replace(/0$/, '')
  return (value < 0 ? '-' : '') + floor(Math.abs(value) / 100) + (digits === '0' ? '' : '.' + digits)
}

/** What XML takes for itself as references; what no XML document may hold as U+FFFD. */
const escaped = text => text.replace(/[&<>\r]|[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, letter =>
  ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;'})[letter] ?? '\ufffd')

const opacityOf = (name, opacity) => opacity < 100 ? ` ${name}="${decimal(opacity)}"` : ''

/** A run's line, after the first point each as its distance from the one before. */
function runLine({xy}, {width, from, to}) {
  const steps = []
  for (let at = 2 * from + 2; at <= 2 * to; at += 2) steps.push(decimal(xy[at] - xy[at - 2]) + ' ' + decimal(xy[at + 1] - xy[at - 1]))
  return `<path stroke-width="${decimal(width)}" d="M${decimal(xy[2 * from])} ${decimal(xy[2 * from + 1])}l${steps.join(' ')}"/>`
}

function dotLine(part) {
  const place = `cx="${decimal(part.xy[0])}" cy="${decimal(part.xy[1])}" r="${decimal(dotRadius(part))}"`
  return `<circle fill="${ink(part.color).rgb}" stroke="none" ${place}/>`
}

function elementLines(element) {
  const {rgb, opacity} = ink((element.parts?.[0] ?? element).color)
  if (element.type === 'text') {
    const spans = linesOf(element).map((line, number) => line
        && `<tspan x="${decimal(element.x)}" y="${decimal(baseline(element, number))}">${escaped(line)}</tspan>`)
    const look = `font-family="sans-serif" font-size="${decimal(fontSize(element))}" fill="${rgb}"${opacityOf('fill-opacity', opacity)}`
    return [`<text xml:space="preserve" ${look}>${spans.join('')}</text>`]
  }
  const lines = element.parts.flatMap(part => isDot(part) ? dotLine(part) : runs(part).map(run => runLine(part, run)))
  return [`<g stroke="${rgb}"${opacityOf('opacity', opacity)}>`, ...lines, '</g>']
}

/** @param {object[]} elements from the lowest layer to the highest @param {string} [title] */
export function svgDocument(elements, title) {
  const [x, y, width, height] = Object.values(pictureBox(elements)).map(decimal)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${width} ${height}">`,
    ...title ? [`<title>${escaped(title)}</title>`] : [],
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="#FFFFFF"/>`,
    '<g fill="none" stroke-linecap="round" stroke-linejoin="round">', ...elements.flatMap(elementLines), '</g>', '</svg>', '',
  ].join('\n')
}
