// A board's picture as an SVG document: the same picture is the same bytes as `boardrelay board export --format svg` gives
// (Sources/BoardFormat/BoardSVG.swift). It comes when a page is to export or print.
import {pictureBox} from './boxes.js'
import {kindOf} from './kinds/index.js'
import {lineColor, paperLines} from './paper.js'
import {$, save} from './ui.js'

const {floor} = Math

/** A number in 1/100 as a decimal one, without more digits than are needed. */
function decimal(value) {
  const digits = String(Math.abs(value) % 100).padStart(2, '0').replace(/0$/, '')
  return (value < 0 ? '-' : '') + floor(Math.abs(value) / 100) + (digits === '0' ? '' : '.' + digits)
}

/** What XML takes for itself as references; what no XML document may hold as U+FFFD. */
const escaped = text => text.replace(/[&<>\r]|[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, letter =>
  ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;'})[letter] ?? '\ufffd')

const opacity = (name, opacity) => opacity < 100 ? ` ${name}="${decimal(opacity)}"` : ''

/** A rectangle, from its box. */
const place = ([left, top, right, bottom]) =>
  `x="${decimal(left)}" y="${decimal(top)}" width="${decimal(right - left)}" height="${decimal(bottom - top)}"`

const lines = element => kindOf(element.type).svg(element, {decimal, escaped, opacity, place})
const boxOf = element => kindOf(element.type).documentBoxOf?.(element) ?? element.box

/** Of a print, in px. */
const printedSide = 1_000

/** The paper's lines as they are printed. */
function printed(paper, box) {
  const scale = Math.min(1, printedSide * 100 / Math.max(box.width, box.height))
  const path = paperLines(paper, box, scale).map(line => {
    const [fromX, fromY, toX, toY] = line.map(decimal)
    return `M${fromX} ${fromY}L${toX} ${toY}`
  })
  return path.length ? [`<path stroke="${lineColor}" stroke-width="${decimal(Math.round(100 / scale))}" d="${path.join('')}"/>`] : []
}

/** @param {object[]} elements from the lowest layer to the highest @param {string} [title] @param {string} [paper] only of a print */
export function svgDocument(elements, title, paper) {
  const box = pictureBox(elements.map(boxOf))
  const [x, y, width, height] = Object.values(box).map(decimal)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${width} ${height}">`,
    ...title ? [`<title>${escaped(title)}</title>`] : [],
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="#FFFFFF"/>`, ...printed(paper, box),
    '<g fill="none" stroke-linecap="round" stroke-linejoin="round">', ...elements.flatMap(lines), '</g>', '</svg>', '',
  ].join('\n')
}

const blob = (...parts) => new Blob([svgDocument(...parts)], {type: 'image/svg+xml'})

export const saveSVG = (elements, title, name) => save(blob(elements, title), name)

export async function print(elements, title, paper) {
  $('print-image').src = URL.createObjectURL(blob(elements, title, paper))
  await $('print-image').decode()
  window.print()
}
