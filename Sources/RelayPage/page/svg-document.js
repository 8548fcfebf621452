// A board's picture as an SVG document: the same picture is the same bytes as `boardrelay board export --format svg` gives
// (Sources/BoardFormat/BoardSVG.swift). It comes when a page is to export or print.
import {pictureBox} from './boxes.js'
import {kindOf} from './kinds/index.js'
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

/** @param {object[]} elements from the lowest layer to the highest @param {string} [title] */
export function svgDocument(elements, title) {
  const [x, y, width, height] = Object.values(pictureBox(elements.map(boxOf))).map(decimal)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${width} ${height}">`,
    ...title ? [`<title>${escaped(title)}</title>`] : [],
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="#FFFFFF"/>`,
    '<g fill="none" stroke-linecap="round" stroke-linejoin="round">', ...elements.flatMap(lines), '</g>', '</svg>', '',
  ].join('\n')
}

const blob = (elements, title) => new Blob([svgDocument(elements, title)], {type: 'image/svg+xml'})

export const saveSVG = (elements, title, name) => save(blob(elements, title), name)

export async function print(elements, title) {
  $('print-image').src = URL.createObjectURL(blob(elements, title))
  await $('print-image').decode()
  window.print()
}
