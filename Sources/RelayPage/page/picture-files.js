// From a file that somebody gives to a picture that the board takes: upright, no larger than the format has it, and telling nothing else.
import {has, sizeOf, typeOf} from './kinds/image-head.js'
import {imageBytesMax, imagePixelsMax} from './kinds/image.js'

/** What a browser is asked to decode: photos of phones are within both. */
export const fileBytesMax = 64 * 2 ** 20
export const filePixelsMax = 100e6

/** What cannot be done with a file: `word` is what the page says, with `values`. */
export class NoPicture extends Error {
  constructor(word, values = {}) {
    super(word)
    Object.assign(this, {word, values})
  }
}

/** The word for a file of another kind, by its first bytes. */
function otherKind(head) {
  if (has(head, '%PDF-', 0)) return 'pdf'
  if (has(head, 'ftyp', 4)) return /hei|hev|mif1|msf1/.test(String.fromCharCode(...head.subarray(8, 24))) ? 'heic' : 'film'
  if (has(head, 'GIF8', 0)) return 'gif'
  return /<svg|<!doctype svg/i.test(new TextDecoder().decode(head.subarray(0, 1_024))) ? 'svg' : 'other'
}

/** By its first bytes, whatever its name says. @returns {string} one of the three types @throws {NoPicture} */
export function checked(file) {
  const type = typeOf(file)
  if (!type) throw new NoPicture(`image.${otherKind(file)}`)
  const [width, height] = sizeOf(file, type)
  if (width * height > filePixelsMax) {
    throw new NoPicture('image.tooManyPixels', {size: Math.ceil(width * height / 1e6), limit: filePixelsMax / 1e6})
  }
  return type
}

/**
 * Ways to encode a picture, the best first. A drawing is sharp as PNG; what shines through is no JPEG, and not every browser makes WebP.
 *
 * @returns {{scale: number, kind: string, quality?: number}[]}
 */
export function waysFor(type, isOpaque) {
  const lossy = (kind, ...qualities) => qualities.map(quality => ({kind, quality}))
  const ways = type === 'image/jpeg' ? lossy(type, 0.9, 0.8, 0.65, 0.5)
    : [{kind: 'image/png'}, ...lossy('image/webp', 0.9, 0.75, 0.5), ...isOpaque ? lossy('image/jpeg', 0.9, 0.75, 0.5) : []]
  return [1, 0.75, 0.5, 0.35, 0.25].flatMap(scale => ways.map(way => ({scale, ...way})))
}

/** A PNG whose head says that it has no opacity. */
const isOpaque = (file, type) => type === 'image/png' && (file[25] === 0 || file[25] === 2)

/**
 * @param {Blob} blob
 * @param {{decode: (blob: Blob) => Promise<{width, height, close?}>, encode: (bitmap, width, height, kind, quality) => Promise<Blob>}} [by]
 * @returns {Promise<{mime: string, pixelWidth: number, pixelHeight: number, data: string}>}
 * @throws {NoPicture}
 */
export async function pictureOf(blob, {decode, encode} = browser) {
  if (blob.size > fileBytesMax) throw new NoPicture('image.fileTooLarge', {size: mebibytes(blob.size), limit: mebibytes(fileBytesMax)})
  const file = new Uint8Array(await blob.arrayBuffer())
  const type = checked(file)
  const bitmap = await decode(blob).catch(() => { throw new NoPicture('image.broken') })
  const fit = Math.min(1, imagePixelsMax / Math.max(bitmap.width, bitmap.height))
  let least = Infinity
  try {
    for (const {scale, kind, quality} of waysFor(type, isOpaque(file, type))) {
      const [width, height] = [bitmap.width, bitmap.height].map(side => Math.max(1, Math.round(side * fit * scale)))
      const made = await encode(bitmap, width, height, kind, quality)
      // A browser that has no such kind makes a PNG of it.
      if (!made || made.type !== kind) continue
      least = Math.min(least, made.size)
      if (made.size > imageBytesMax) continue
      const bytes = new Uint8Array(await made.arrayBuffer())
      return {mime: kind, pixelWidth: width, pixelHeight: height, data: base64(bytes)}
    }
  } finally {
    bitmap.close?.()
  }
  throw new NoPicture('image.tooLarge', {size: kibibytes(least), limit: kibibytes(imageBytesMax)})
}

const mebibytes = bytes => Math.ceil(bytes / 2 ** 20)
const kibibytes = bytes => Math.ceil(bytes / 2 ** 10)

/** In pieces: a function takes a limited number of arguments. */
export function base64(bytes) {
  let letters = ''
  for (let at = 0; at < bytes.length; at += 0x8000) letters += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(letters)
}

const browser = {
  decode: blob => createImageBitmap(blob, {imageOrientation: 'from-image'}),
  encode(bitmap, width, height, kind, quality) {
    const canvas = Object.assign(document.createElement('canvas'), {width, height})
    const context = canvas.getContext('2d')
    context.imageSmoothingQuality = 'high'
    if (kind === 'image/jpeg') {
      context.fillStyle = '#fff'
      context.fillRect(0, 0, width, height)
    }
    context.drawImage(bitmap, 0, 0, width, height)
    return new Promise(resolve => canvas.toBlob(resolve, kind, quality))
  },
}
