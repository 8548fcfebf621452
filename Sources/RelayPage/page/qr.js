// A QR code (ISO/IEC 18004) of a text: bytes, error correction level M, versions 1 to 10, which is 213 bytes.

/** By version: error correction bytes of a block, blocks of the first group, their data bytes, blocks with one byte more. */
const versions = [[10, 1, 16, 0], [16, 1, 28, 0], [26, 1, 44, 0], [18, 2, 32, 0], [24, 2, 43, 0], [16, 4, 27, 0], [18, 4, 31, 0],
    [22, 2, 38, 2], [22, 3, 36, 2], [26, 4, 43, 1]]
const alignments = version => version < 2 ? [] : version < 7 ? [6, 4 * version + 10] : [6, 2 * version + 8, 4 * version + 10]
// The field of 256 elements of x⁸ + x⁴ + x³ + x² + 1.
const powers = new Uint8Array(510)
const logarithms = new Uint8Array(256)
for (let exponent = 0, value = 1; exponent < 255; exponent++) {
  powers[exponent] = powers[exponent + 255] = value
  logarithms[value] = exponent
  value = value << 1 ^ (value > 127 ? 0x11D : 0)
}
const times = (one, other) => one && other ? powers[logarithms[one] + logarithms[other]] : 0

/** Reed-Solomon: what is left of the data, divided by the generator of that many bytes. */
function correction(data, count) {
  let generator = [1]
  for (let root = 0; root < count; root++) {
    generator = [...generator, 0].map((value, at) => value ^ (at ? times(generator[at - 1], powers[root]) : 0))
  }
  const rest = [...data, ...new Array(count).fill(0)]
  for (let at = 0; at < data.length; at++) {
    const factor = rest[at]
    generator.forEach((value, place) => rest[at + place] ^= times(value, factor))
  }
  return rest.slice(data.length)
}

/** All bytes of the code, those of its blocks interleaved. */
function codewords(bytes, version) {
  const [corrections, blocks, size, more] = versions[version - 1]
  const total = blocks * size + more * (size + 1)
  const head = version < 10 ? [bytes.length] : [bytes.length >> 8, bytes.length & 255]
  const nibbles = [4, ...[...head, ...bytes].flatMap(byte => [byte >> 4, byte & 15]), 0]
  const data = Array.from({length: nibbles.length >> 1}, (_, at) => nibbles[2 * at] << 4 | nibbles[2 * at + 1])
  for (let pad = 0xEC; data.length < total; pad ^= 0xFD) data.push(pad)
  const parts = Array.from({length: blocks + more}, (_, at) => data.splice(0, size + (at < blocks ? 0 : 1)))
  const interleaved = lists => Array.from({length: Math.max(...lists.map(list => list.length))}, (_, at) => lists.map(list => list[at]))
      .flat().filter(value => value !== undefined)
  return [...interleaved(parts), ...interleaved(parts.map(part => correction(part, corrections)))]
}

/** A number with the rest of its division by a polynomial behind it. */
function checked(value, polynomial, bits) {
  let rest = value
  for (let bit = 0; bit < bits; bit++) rest = rest << 1 ^ (rest >> bits - 1) * polynomial
  return value << bits | rest
}

/** Rows of modules, `true` is dark; `undefined` for a text that is too long. @returns {boolean[][]|undefined} */
export function qrCode(text) {
  const bytes = new TextEncoder().encode(text)
  const version = versions.findIndex(([, blocks, size, more], at) =>
      blocks * size + more * (size + 1) >= bytes.length + (at < 9 ? 2 : 3)) + 1
  if (version === 0) return undefined
  const size = 17 + 4 * version
  const rows = Array.from({length: size}, () => new Array(size))
  const fixed = Array.from({length: size}, () => new Array(size).fill(false))
  const set = (x, y, isDark) => {
    if (!rows[y] || x < 0 || x >= size) return
    rows[y][x] = Boolean(isDark)
    fixed[y][x] = true
  }
  const square = (x, y, radius, isDark) => {
    for (let dy = -radius; dy <= radius; dy++) for (let dx = -radius; dx <= radius; dx++) {
      set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))))
    }
  }
  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0)
    set(at, 6, at % 2 === 0)
  }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, distance => distance !== 2 && distance !== 4)
  const places = alignments(version)
  const last = places.at(-1)
  for (const y of places) for (const x of places) {
    if (!(x === 6 && (y === 6 || y === last)) && !(y === 6 && x === last)) square(x, y, 2, distance => distance !== 1)
  }
  const format = checked(6, 0x537, 10) ^ 0x5412
  for (let bit = 0; bit < 15; bit++) {
    const isDark = format >> bit & 1
    set(8, bit < 6 ? bit : bit < 8 ? bit + 1 : size - 15 + bit, isDark)
    set(bit < 8 ? size - 1 - bit : bit < 9 ? 15 - bit : 14 - bit, 8, isDark)
  }
  set(8, size - 8, true)
  if (version > 6) {
    const number = checked(version, 0x1F25, 12)
    for (let bit = 0; bit < 18; bit++) {
      const [near, far] = [Math.floor(bit / 3), size - 11 + bit % 3]
      set(near, far, number >> bit & 1)
      set(far, near, number >> bit & 1)
    }
  }
  const words = codewords(bytes, version)
  const free = []
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right--
    for (let step = 0; step < size; step++) {
      const y = right + 1 & 2 ? step : size - 1 - step
      for (const x of [right, right - 1]) if (!fixed[y][x]) free.push([x, y])
    }
  }
  // One pattern for all: any of the eight may be chosen, and a link is no picture that one of them would spoil.
  free.forEach(([x, y], at) => rows[y][x] = Boolean(words[at >> 3] >> 7 - (at & 7) & 1) !== ((x * y % 2 + x * y % 3) % 2 === 0))
  return rows
}

/** The dark modules as SVG path data, each row's runs as rectangles, with a quiet zone of four. */
export function qrPath(rows) {
  return rows.flatMap((row, y) => [...row.map(Number).join('').matchAll(/1+/g)]
      .map(run => `M${run.index + 4} ${y + 4}h${run[0].length}v1h-${run[0].length}z`)).join('')
}
