// Texts: lines of letters without a width of their own.
import {boxAround} from '../boxes.js'
import {isPlace, isText, isWithin, readHead} from '../format.js'
import {ink} from './color.js'

const {floor} = Math

export const fontSize = ({size}) => floor(size * 5 / 6)
const linesOf = ({text}) => text.split('\n')
const baseline = ({y, size}, line) => y + line * size + floor(size * 4 / 5)
const fontOf = element => `${fontSize(element) / 100}px sans-serif`

export const writeText = ({id, z, color, x, y, size, text}) => JSON.stringify({color, id, size, text, v: 1, x, y, z})

function read(object) {
  const {x, y, size, text} = object
  const head = readHead(object)
  return head && isPlace(x) && isPlace(y) && isWithin(size, 100, 1e6) && isText(text, 1, 4096) ? {...head, x, y, size, text} : undefined
}

/** Nobody can measure a text without the font that will be used. */
function boxOf(element) {
  const {x, y, size} = element
  const lines = linesOf(element)
  const widths = lines.map(line => [...line].reduce((sum, letter) => sum + (letter.codePointAt() >= 0x1100 ? 100 : 62), 0))
  return [x, y, x + floor(fontSize(element) * Math.max(...widths) / 100), y + lines.length * size]
}

/** Who draws letters knows how wide they are. */
function spanOf(element) {
  if (element.span) return element.span
  const {x, size} = element
  const context = spanOf.context ??= document.createElement('canvas').getContext('2d')
  context.font = fontOf(element)
  return element.span = boxAround(linesOf(element).map((line, number) => {
    const sides = context.measureText(line)
    const [left, up, right, down] = ['Left', 'Ascent', 'Right', 'Descent']
        .map(side => Math.max(0, Math.min(1e9, sides[`actualBoundingBox${side}`] * 110)) + size)
    const y = baseline(element, number)
    return [x - left, y - up, x + right, y + down]
  }))
}

function draw(context, element) {
  const {rgb, opacity} = ink(element.color)
  context.globalAlpha = opacity / 100
  context.fillStyle = rgb
  context.font = fontOf(element)
  linesOf(element).forEach((line, number) => context.fillText(line, element.x / 100, baseline(element, number) / 100))
}

function svg(element, {decimal, escaped, opacity: opacityOf}) {
  const {rgb, opacity} = ink(element.color)
  const spans = linesOf(element).map((line, number) => line
      && `<tspan x="${decimal(element.x)}" y="${decimal(baseline(element, number))}">${escaped(line)}</tspan>`)
  const look = `font-family="sans-serif" font-size="${decimal(fontSize(element))}" fill="${rgb}"${opacityOf('fill-opacity', opacity)}`
  return [`<text xml:space="preserve" ${look}>${spans.join('')}</text>`]
}

/** All of its box. */
const touches = () => true

function shift(object, dx, dy) {
  object.x += dx
  object.y += dy
}

function resize(object, {x, y, factor}) {
  Object.assign(object, {x: x(object.x), y: y(object.y), size: Math.round(object.size * factor)})
}

export const text = {read, boxOf, spanOf, draw, svg, touches, shift, resize}
