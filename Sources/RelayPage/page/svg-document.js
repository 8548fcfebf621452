// A board's picture as an SVG document: the same picture is the same bytes as `boardrelay board export --format svg` gives
// (Sources/BoardFormat/BoardSVG.swift). It comes when a page is to export or print.
import {baseline, dotRadius, fontSize, ink, isDot, linesOf, pictureBox, runs} from './svg.js'
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

const blob = (elements, title) => new Blob([svgDocument(elements, title)], {type: 'image/svg+xml'})

export const saveSVG = (elements, title, name) => save(blob(elements, title), name)

export async function print(elements, title) {
  $('print-image').src = URL.createObjectURL(blob(elements, title))
  await $('print-image').decode()
  window.print()
}
