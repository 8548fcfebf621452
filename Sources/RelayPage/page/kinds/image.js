// Images: pictures of PNG, JPEG or WebP, each in a rectangle of its own.
import {bytesOf} from '../base64.js'
import {isPlace, isText, isWithin, readHead} from '../format.js'
import {Pictures} from '../pictures.js'
import {sizeOf} from './image-head.js'
import {looks} from './index.js'

export const imageBytesMax = 1_048_576
export const imagePixelsMax = 2_048
/** UTF-8. */
export const descriptionBytesMax = 1_024

function read(object) {
  const {x, y, width, height, type, pixelWidth, pixelHeight, data, description = null, locked = null} = object
  const head = readHead({...object, color: '#000000FF'})
  const isSide = side => isWithin(side, 100, 1e7)
  const isPixels = side => isWithin(side, 1, imagePixelsMax)
  if (!head || ![x, y].every(isPlace) || ![width, height].every(isSide) || ![pixelWidth, pixelHeight].every(isPixels)
    || (description !== null && !isText(description, 1, descriptionBytesMax)) || (locked !== null && typeof locked !== 'boolean')) {
    return undefined
  }
  // A small file cannot open as a huge picture.
  const bytes = typeof data === 'string' && data.length <= imageBytesMax * 4 / 3 + 4 ? bytesOf(data) : undefined
  const size = bytes && isWithin(bytes.length, 1, imageBytesMax) && sizeOf(bytes, type)
  if (!size || size[0] !== pixelWidth || size[1] !== pixelHeight) return undefined
  const {id, z} = head
  const more = {description: description ?? undefined, locked: locked || undefined}
  return {id, z, x, y, width, height, mime: type, pixelWidth, pixelHeight, data, ...more}
}

/** The payload of an image's record; keys stand in the order of their bytes. */
export const writeImage = ({id, z, x, y, width, height, mime, pixelWidth, pixelHeight, data, description, locked}) =>
  JSON.stringify({data, description, height, id, locked, pixelHeight, pixelWidth, type: mime, v: 1, width, x, y, z})

const boxOf = ({x, y, width, height}) => [x, y, x + width, y + height]

// MARK: On a canvas

const pictures = new Pictures({
  decode: ({data, mime}, width, height) => createImageBitmap(new Blob([bytesOf(data)], {type: mime}),
      {resizeWidth: width, resizeHeight: height, resizeQuality: 'high'}),
  changed: element => looks.changed(element),
})

/** In pixels of what it is drawn on. */
const shownWidth = ({width}, {a, b}) => Math.ceil(width / 100 * Math.hypot(a, b))

function draw(context, element) {
  const {x, y, width, height} = element
  const place = [x / 100, y / 100, width / 100, height / 100]
  const {bitmap, isBroken} = pictures.of(element, shownWidth(element, context.getTransform()), looks.turn)
  if (bitmap) {
    context.imageSmoothingQuality = 'high'
    context.drawImage(bitmap, ...place)
  } else drawFrame(context, place, isBroken)
}

/** Where a picture will be; with a cross: where it cannot be shown. */
function drawFrame(context, [x, y, width, height], isBroken) {
  context.fillStyle = '#ececf1'
  context.fillRect(x, y, width, height)
  context.lineWidth = Math.min(2, width / 4, height / 4)
  context.strokeStyle = '#8a8a99'
  context.strokeRect(x, y, width, height)
  if (!isBroken) return
  context.beginPath()
  context.moveTo(x, y)
  context.lineTo(x + width, y + height)
  context.moveTo(x + width, y)
  context.lineTo(x, y + height)
  context.stroke()
}

/** For drawing it once, at so many pixels for one of the board. */
const ready = (element, zoom) => pictures.load(element, shownWidth(element, {a: zoom, b: 0}))

// MARK: As SVG, and changed

const svg = ({mime, data, description, ...element}, {escaped, place}) => {
  const image = `<image ${place(boxOf(element))} preserveAspectRatio="none" href="data:${mime};base64,${data}"`
  return [description ? `${image}><title>${escaped(description)}</title></image>` : `${image}/>`]
}

/** All of its box. */
const touches = () => true

function shift(object, dx, dy) {
  object.x += dx
  object.y += dy
}

function resize(object, {x, y}) {
  const {x: left, y: top, width, height} = object
  Object.assign(object, {x: x(left), y: y(top), width: x(left + width) - x(left), height: y(top + height) - y(top)})
}

export const image = {read, boxOf, draw, ready, svg, touches, shift, resize, hasNoColor: true}
