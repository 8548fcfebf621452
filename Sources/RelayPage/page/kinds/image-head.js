// What the first bytes of a file say of it: docs/board-format.md, "image". Nothing is decoded.

const big = (file, place, count) => file.subarray(place, place + count).reduce((sum, byte) => sum * 256 + byte, 0)
const little = (file, place, count) => file.subarray(place, place + count).reduceRight((sum, byte) => sum * 256 + byte, 0)
export const has = (file, word, place) => [...word].every((letter, at) => file[place + at] === letter.charCodeAt())

function png(file) {
  if (file.length < 24 || !has(file, '\x89PNG\r\n\x1a\n', 0) || !has(file, 'IHDR', 12)) return undefined
  return [big(file, 16, 4), big(file, 20, 4)]
}

/** Segments are FF, a marker, and a length that counts itself; the one with the size comes before the picture. */
function jpeg(file) {
  if (!has(file, '\xff\xd8\xff', 0)) return undefined
  for (let place = 2; place + 9 <= file.length && file[place] === 0xff;) {
    const marker = file[place + 1]
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return [big(file, place + 7, 2), big(file, place + 5, 2)]
    if (marker >= 0xd8 && marker <= 0xda) return undefined
    place += marker === 0xff ? 1 : 2 + Math.max(2, big(file, place + 2, 2))
  }
  return undefined
}

function webp(file) {
  const isLossless = has(file, 'VP8L', 12)
  if (file.length < (isLossless ? 25 : 30) || !has(file, 'RIFF', 0) || !has(file, 'WEBP', 8)) return undefined
  if (has(file, 'VP8X', 12)) return [little(file, 24, 3) + 1, little(file, 27, 3) + 1]
  if (isLossless && file[20] === 0x2f) {
    const bits = little(file, 21, 4)
    return [(bits & 0x3fff) + 1, (Math.floor(bits / 0x4000) & 0x3fff) + 1]
  }
  if (!has(file, 'VP8 ', 12) || !has(file, '\x9d\x01\x2a', 23)) return undefined
  return [little(file, 26, 2) & 0x3fff, little(file, 28, 2) & 0x3fff]
}

const sizes = {'image/png': png, 'image/jpeg': jpeg, 'image/webp': webp}

/** @returns {[number, number]|undefined} width and height; `undefined`: it is of another type, or its head tells no size */
export const sizeOf = (file, type) => Object.hasOwn(sizes, type) ? sizes[type](file) : undefined

/** @returns {string|undefined} the file's type; `undefined` if it is no PNG, JPEG or WebP */
export const typeOf = file => Object.keys(sizes).find(type => sizeOf(file, type))
