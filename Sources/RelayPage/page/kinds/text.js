// Texts, on a sticky note or without.
import {boxAround} from '../boxes.js'
import {isPlace, isText, isWithin, readHead} from '../format.js'
import {linesOf} from './lines.js'
import {ink} from './stroke.js'

const {floor} = Math

/** UTF-8. */
export const textBytesMax = 16_384

export const fontSize = ({size}) => floor(size * 5 / 6)
const baseline = ({y, size}, line) => y + line * size + floor(size * 4 / 5)
const fontOf = element => `${fontSize(element) / 100}px sans-serif`

export const writeText = ({id, z, color, x, y, size, text, width, paper, locked}) =>
  JSON.stringify({color, id, locked, paper, size, text, v: 1, width, x, y, z})

const isColor = color => typeof color === 'string' && /^#[\dA-F]{8}$/i.test(color)

function read(object) {
  const {x, y, size, text, width = null, paper = null, locked = null} = object
  const head = readHead(object)
  const isWhole = head && isPlace(x) && isPlace(y) && isWithin(size, 100, 1e6) && isText(text, 1, textBytesMax)
      && (width === null || isWithin(width, 100, 1e7)) && (paper === null || (width !== null && isColor(paper)))
      && (locked === null || typeof locked === 'boolean')
  if (!isWhole) return undefined
  return {...head, x, y, size, text, width: width ?? undefined, paper: paper?.toUpperCase(), locked: locked || undefined}
}

// MARK: How wide letters are

/** Of the letters' height: nobody can measure a text without the font that will be used. */
const estimated = element => text => {
  let sum = 0
  for (const letter of text) sum += letter.codePointAt() >= 0x1100 ? 100 : 62
  return floor(fontSize(element) * sum / 100)
}

let screen
/** Who draws letters knows how wide they are. @returns {CanvasRenderingContext2D|undefined} `undefined`: there is no screen */
const onScreen = element => {
  screen ??= globalThis.document?.createElement('canvas').getContext('2d')
  if (screen) straight(screen, element).font = fontOf(element)
  return screen
}
/** For tests. */
export const measureOn = context => { screen = context }

const rightToLeft = /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
/** Lines begin at the left, whatever the page's direction is; within them the text has its own, that of its first letter that has one. */
function straight(context, {text}) {
  context.textAlign = 'left'
  context.direction = rightToLeft.test(text) ? 'rtl' : 'ltr'
  return context
}

const measured = element => {
  const context = onScreen(element)
  return context ? text => Math.ceil(context.measureText(text).width * 100) : estimated(element)
}

const shownLines = element => element.lines ??= linesOf(element, measured(element))

// MARK: Boxes

/** The sticky note under so many lines. */
function paperOf({x, y, size, width}, lines) {
  const padding = floor(size / 2)
  return [x - padding, y - padding, x + width + padding, y + Math.max(lines, 4) * size + padding]
}

function boxWith(element, lines, widthOf) {
  const {x, y, size, paper} = element
  return paper ? paperOf(element, lines.length) : [x, y, x + Math.max(...lines.map(widthOf)), y + lines.length * size]
}

const boxOf = element => boxWith(element, shownLines(element), measured(element))
const documentBoxOf = element => boxWith(element, linesOf(element, estimated(element)), estimated(element))

/** What letters cover, which may be more than their box. */
function spanOf(element) {
  if (element.span) return element.span
  const {x, size, paper} = element
  const context = onScreen(element)
  const lines = shownLines(element)
  const letters = lines.map((line, number) => {
    const sides = context.measureText(line)
    const [left, up, right, down] = ['Left', 'Ascent', 'Right', 'Descent']
        .map(side => Math.max(0, Math.min(1e9, sides[`actualBoundingBox${side}`] * 110)) + size)
    const y = baseline(element, number)
    return [x - left, y - up, x + right, y + down]
  })
  return element.span = boxAround(paper ? [...letters, paperOf(element, lines.length)] : letters)
}

// MARK: Drawn

function draw(context, element) {
  const {x, color, paper} = element
  const lines = shownLines(element)
  if (paper) {
    const {rgb, opacity} = ink(paper)
    const [left, top, right, bottom] = paperOf(element, lines.length)
    context.globalAlpha = opacity / 100
    context.fillStyle = rgb
    context.fillRect(left / 100, top / 100, (right - left) / 100, (bottom - top) / 100)
  }
  const {rgb, opacity} = ink(color)
  context.globalAlpha = opacity / 100
  context.fillStyle = rgb
  context.font = fontOf(element)
  straight(context, element)
  lines.forEach((line, number) => context.fillText(line, x / 100, baseline(element, number) / 100))
}

function svg(element, {decimal, escaped, opacity: opacityOf, place}) {
  const lines = linesOf(element, estimated(element))
  const look = ({rgb, opacity}) => `fill="${rgb}"${opacityOf('fill-opacity', opacity)}`
  const spans = lines.map((line, number) => line
      && `<tspan x="${decimal(element.x)}" y="${decimal(baseline(element, number))}">${escaped(line)}</tspan>`)
  return [
    ...element.paper ? [`<rect ${place(paperOf(element, lines.length))} ${look(ink(element.paper))}/>`] : [],
    `<text xml:space="preserve" font-family="sans-serif" font-size="${decimal(fontSize(element))}" ${look(ink(element.color))}>`
      + `${spans.join('')}</text>`,
  ]
}

// MARK: Changed

/** All of its box. */
const touches = () => true

function shift(object, dx, dy) {
  object.x += dx
  object.y += dy
}

/** One that wraps gets the height of its letters from that of the box: a pull at the side alone is another width. */
function resize(object, {x, y, factor}) {
  const {x: left, y: top, size, width} = object
  const height = y(top + size) - y(top)
  Object.assign(object, {x: x(left), y: y(top), size: width ? height : Math.round(size * factor)})
  if (width) object.width = x(left + width) - object.x
}

function restyle(object, {size}) {
  object.size = size
}

export const text = {read, boxOf, documentBoxOf, spanOf, draw, svg, touches, shift, resize, restyle}
