// Strokes: lines of a pen, as wide as it was pressed. A long one comes in parts, each a record.
import {boxAround} from '../boxes.js'
import {isWithin, readHead} from '../format.js'
import {colsOf, differences, readLine, shapes} from '../points.js'
import {scratch} from '../surface.js'

/** `#RRGGBB`, and the opacity in hundredths. */
export const ink = color => ({rgb: color.slice(0, 7), opacity: Math.floor((parseInt(color.slice(7), 16) * 100 + 127) / 255)})

const {floor} = Math

/** Of two points by their pressures, in steps of 1/24: half the line's width without, one and a half with all of it; between them their mean. */
function widthBetween({width, pressure}, from, to) {
  if (!pressure) return width
  return Math.max(1, floor(width * (24 + 2 * floor(((pressure[from] + pressure[to]) * 24 + 255) / 510)) / 48))
}

/** Whether all its points are one place. */
const isDot = ({xy}) => xy.every((value, at) => value === xy[at % 2])

/** Runs of points of one width, as `{width, from, to}` by index; none for a dot. */
function runs(part) {
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

function dotRadius(part) {
  let width = 0
  for (let index = 0; index < part.xy.length / 2; index++) width = Math.max(width, widthBetween(part, index, index))
  return Math.max(1, floor(width / 2))
}

/** The payload of a stroke's record; keys stand in the order of their bytes. */
export function writeStroke(stroke) {
  const {id, z, color, width, shape, isLocked: locked} = stroke
  return JSON.stringify({color, cols: colsOf(stroke), id, locked, points: differences(stroke, 0, Infinity).points, shape, v: 1, width, z})
}

function read(object) {
  const {part, parts = 1} = object
  const head = readHead(object)
  const line = head && isWithin(parts, 1, 256) && isWithin(part ?? 2 - parts, 1, parts) && readLine(object)
  const isShape = line?.shape && parts === 1 && line.xy.length === 2 * shapes[line.shape]
  return line && (isShape || !line.shape) ? {...head, part: part ?? 1, parts, ...line} : undefined
}

/** Parts of one stroke, in the order of their offsets; a first part, or one of another stroke, begins anew. */
function join(element, part) {
  const isMore = part.part > 1 && element?.parts?.[0].parts === part.parts
  const parts = isMore ? [...element.parts.filter(other => other.part !== part.part), part].sort((one, other) => one.part - other.part)
    : [part]
  return {type: 'stroke', id: part.id, z: parts[0].z, parts}
}

function boxOf({parts}) {
  return boxAround(parts.flatMap(({xy, width, pressure}) => {
    const reach = floor(pressure ? width * 3 / 4 : width / 2)
    const box = boxAround(Array.from({length: xy.length / 2}, (_, at) => [xy[2 * at], xy[2 * at + 1], xy[2 * at], xy[2 * at + 1]]))
    return [box.map((place, side) => side < 2 ? place - reach : place + reach)]
  }))
}

// MARK: On a canvas

/** The lines of one part as canvas paths in px of the board, one for each width. */
function pathsOf(part) {
  if (part.paths) return part.paths
  const {xy} = part
  return part.paths = runs(part).map(({width, from, to}) => {
    const path = new Path2D()
    path.moveTo(xy[2 * from] / 100, xy[2 * from + 1] / 100)
    for (let index = from + 1; index <= to; index++) path.lineTo(xy[2 * index] / 100, xy[2 * index + 1] / 100)
    return {width: width / 100, path}
  })
}

function drawPart(context, part, rgb) {
  context.strokeStyle = rgb
  context.fillStyle = part.color.slice(0, 7)
  if (isDot(part)) {
    context.beginPath()
    context.arc(part.xy[0] / 100, part.xy[1] / 100, dotRadius(part) / 100, 0, 7)
    context.fill()
  }
  for (const {width, path} of pathsOf(part)) {
    context.lineWidth = width
    context.stroke(path)
  }
}

function draw(context, {parts}) {
  const {rgb, opacity} = ink(parts[0].color)
  context.globalAlpha = opacity / 100
  if (opacity === 100 || (parts.length === 1 && pathsOf(parts[0]).length < 2)) {
    for (const part of parts) drawPart(context, part, rgb)
    return
  }
  // Runs overlap at their ends: they are drawn opaque on a layer of their own, which is laid over the board as one.
  const layer = scratch(context)
  for (const part of parts) drawPart(layer, part, rgb)
  const transform = context.getTransform()
  context.resetTransform()
  context.drawImage(layer.canvas, 0, 0)
  context.setTransform(transform)
}

// MARK: As SVG

function svg({parts}, {decimal, opacity: opacityOf}) {
  const {rgb, opacity} = ink(parts[0].color)
  /** A run's line, after the first point each as its distance from the one before. */
  const runLine = ({xy}, {width, from, to}) => {
    const steps = []
    for (let at = 2 * from + 2; at <= 2 * to; at += 2) steps.push(decimal(xy[at] - xy[at - 2]) + ' ' + decimal(xy[at + 1] - xy[at - 1]))
    return `<path stroke-width="${decimal(width)}" d="M${decimal(xy[2 * from])} ${decimal(xy[2 * from + 1])}l${steps.join(' ')}"/>`
  }
  const dotLine = part => {
    const place = `cx="${decimal(part.xy[0])}" cy="${decimal(part.xy[1])}" r="${decimal(dotRadius(part))}"`
    return `<circle fill="${ink(part.color).rgb}" stroke="none" ${place}/>`
  }
  const lines = parts.flatMap(part => isDot(part) ? dotLine(part) : runs(part).map(run => runLine(part, run)))
  return [`<g stroke="${rgb}"${opacityOf('opacity', opacity)}>`, ...lines, '</g>']
}

// MARK: Under a hand

function touches({parts}, x, y, slack) {
  return parts.some(({xy, width}) => {
    for (let at = 0; at < xy.length; at += 2) {
      const before = Math.max(0, at - 2)
      const [fromX, fromY, dx, dy] = [xy[before], xy[before + 1], xy[at] - xy[before], xy[at + 1] - xy[before + 1]]
      const along = Math.max(0, Math.min(1, ((x - fromX) * dx + (y - fromY) * dy) / (dx * dx + dy * dy) || 0))
      if (Math.hypot(x - fromX - along * dx, y - fromY - along * dy) <= width / 2 + slack) return true
    }
    return false
  })
}

export const stroke = {read, join, boxOf, draw, svg, touches}
