// A board's picture: how wide a line is, where words stand, and the whole as an SVG document. The same picture is the same
// bytes as `boardrelay board export --format svg` gives (Sources/RelayBoard/BoardSVG.swift).

const margin = 1_000
const pressureSteps = 24

/** Of two points by their pressures: half the line's width without, one and a half with all of it; between them their mean. */
export function widthBetween({width, pressure}, from, to) {
  if (!pressure) return width
  const step = Math.floor(((pressure[from] + pressure[to]) * pressureSteps + 255) / 510)
  return Math.max(1, Math.floor(width * (pressureSteps + 2 * step) / (2 * pressureSteps)))
}

/** Runs of points of one width, as `{width, from, to}` by index; none for a dot. */
export function runs(part) {
  const {xy} = part
  const last = xy.length / 2 - 1
  const found = []
  if (isDot(part)) return found
  for (let from = 0; from < last;) {
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
  return Math.max(1, Math.floor(width / 2))
}

/** `#RRGGBB`, and the opacity in hundredths. */
export const ink = color => ({rgb: color.slice(0, 7), opacity: Math.floor((parseInt(color.slice(7), 16) * 100 + 127) / 255)})

export const fontSize = ({size}) => Math.floor(size * 5 / 6)
export const linesOf = ({text}) => text.split('\n')
export const baseline = ({y, size}, line) => y + line * size + Math.floor(size * 4 / 5)

/** Wide enough for most words: nobody can measure without the font that will be used. */
function textWidth(text) {
  const widths = linesOf(text).map(line => [...line].reduce((sum, letter) => sum + (letter.codePointAt(0) >= 0x1100 ? 100 : 62), 0))
  return Math.floor(fontSize(text) * Math.max(...widths) / 100)
}

/** The box around an element as `[left, top, right, bottom]`, in 1/100 px. */
export function boxOf({type, parts, ...element}) {
  if (type === 'text') return [element.x, element.y, element.x + textWidth(element), element.y + linesOf(element).length * element.size]
  const box = [Infinity, Infinity, -Infinity, -Infinity]
  for (const {xy, width, pressure} of parts) {
    const reach = Math.floor(pressure ? width * 3 / 4 : width / 2)
    for (let at = 0; at < xy.length; at += 2) grow(box, [xy[at] - reach, xy[at + 1] - reach, xy[at] + reach, xy[at + 1] + reach])
  }
  return box
}

/** Makes a box hold another one. */
export function grow(box, [left, top, right, bottom]) {
  if (left < box[0]) box[0] = left
  if (top < box[1]) box[1] = top
  if (right > box[2]) box[2] = right
  if (bottom > box[3]) box[3] = bottom
  return box
}

/** The box of a whole picture, with its margin. */
export function pictureBox(elements) {
  const [left, top, right, bottom] = elements.length
    ? elements.reduce((box, {box: own}) => grow(box, own), [Infinity, Infinity, -Infinity, -Infinity]) : [0, 0, 0, 0]
  return {x: left - margin, y: top - margin, width: right - left + 2 * margin, height: bottom - top + 2 * margin}
}

/** A number in 1/100 as a decimal one, without more digits than are needed. */
function decimal(value) {
  const whole = Math.floor(Math.abs(value) / 100)
  const rest = Math.abs(value) % 100
  const digits = rest === 0 ? '' : '.' + String(rest).padStart(2, '0').replace(/0$/, '')
  return (value < 0 ? '-' : '') + whole + digits
}

/** What XML takes for itself as references; what no XML document may hold as U+FFFD. */
function escaped(text) {
  const references = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;'}
  return text.replace(/[&<>\r]|[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, letter => references[letter] ?? '\ufffd')
}

const opacityAttribute = (name, opacity) => opacity < 100 ? ` ${name}="${decimal(opacity)}"` : ''

/** A run's line as SVG path data, after the first point each as its distance from the one before. */
function pathData(xy, from, to) {
  const steps = []
  for (let index = from + 1; index <= to; index++) {
    steps.push(`${decimal(xy[2 * index] - xy[2 * index - 2])} ${decimal(xy[2 * index + 1] - xy[2 * index - 1])}`)
  }
  return `M${decimal(xy[2 * from])} ${decimal(xy[2 * from + 1])}l${steps.join(' ')}`
}

function partLines(part, rgb) {
  const {xy} = part
  if (isDot(part)) return [`<circle fill="${rgb}" stroke="none" cx="${decimal(xy[0])}" cy="${decimal(xy[1])}" r="${decimal(dotRadius(part))}"/>`]
  return runs(part).map(({width, from, to}) => `<path stroke-width="${decimal(width)}" d="${pathData(xy, from, to)}"/>`)
}

function textLine(element) {
  const {rgb, opacity} = ink(element.color)
  const spans = linesOf(element).map((line, number) =>
    line && `<tspan x="${decimal(element.x)}" y="${decimal(baseline(element, number))}">${escaped(line)}</tspan>`)
  return `<text xml:space="preserve" font-family="sans-serif" font-size="${decimal(fontSize(element))}" fill="${rgb}"${opacityAttribute('fill-opacity', opacity)}>${spans.join('')}</text>`
}

/** @param {object[]} elements from the lowest layer to the highest @param {string} [title] */
export function svgDocument(elements, title) {
  const {x, y, width, height} = pictureBox(elements)
  const [left, top, across, down] = [x, y, width, height].map(decimal)
  const lines = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${across} ${down}">`]
  if (title) lines.push(`<title>${escaped(title)}</title>`)
  lines.push(`<rect x="${left}" y="${top}" width="${across}" height="${down}" fill="#FFFFFF"/>`)
  lines.push('<g fill="none" stroke-linecap="round" stroke-linejoin="round">')
  for (const element of elements) {
    if (element.type === 'text') {
      lines.push(textLine(element))
      continue
    }
    const {rgb, opacity} = ink(element.parts[0].color)
    lines.push(`<g stroke="${rgb}"${opacityAttribute('opacity', opacity)}>`, ...element.parts.flatMap(part => partLines(part, rgb)), '</g>')
  }
  return lines.join('\n') + '\n</g>\n</svg>\n'
}
