// Pictures: what a file must be, what becomes of it, and how many are kept decoded.
import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {test} from 'node:test'
import {pictureToDescribe} from '../../Sources/RelayPage/page/describe.js'
import {copied, described, resized} from '../../Sources/RelayPage/page/kinds/edits.js'
import {descriptionBytesMax, writeImage} from '../../Sources/RelayPage/page/kinds/image.js'
import {joined, loadKinds, readRecord} from '../../Sources/RelayPage/page/kinds/index.js'
import {base64, checked, fileBytesMax, filePixelsMax, pictureOf} from '../../Sources/RelayPage/page/picture-files.js'
import {Pictures} from '../../Sources/RelayPage/page/pictures.js'
import {turned} from '../../Sources/RelayPage/page/surface.js'
import {svgDocument} from '../../Sources/RelayPage/page/svg-document.js'

await loadKinds()

const rows = readFileSync(new URL('../../docs/vectors/board.tsv', import.meta.url), 'utf8').split('\n').map(line => line.split('\t'))
const payloadOf = wanted => rows.find(([name]) => name === wanted)[3]
const fileOf = name => Buffer.from(JSON.parse(payloadOf(name)).data, 'base64')
const letters = text => Uint8Array.from(text, letter => letter.charCodeAt())
/** A PNG that says to be so large. */
const png = (width, height) => {
  const file = fileOf('image')
  file.writeUInt32BE(width, 16)
  file.writeUInt32BE(height, 20)
  return file
}

test('a file is what its first bytes say, and what is none of the three kinds is called by its name', () => {
  assert.deepEqual(['image', 'image-jpeg', 'image-webp', 'image-webp-lossy', 'image-webp-extended'].map(name => checked(fileOf(name))),
      ['image/png', 'image/jpeg', 'image/webp', 'image/webp', 'image/webp'])
  const refused = {
    '': 'other', '\0\0\0\x18ftypheic\0\0\0\0mif1heic': 'heic', '\0\0\0\x18ftypmp42': 'film', 'GIF89a': 'gif', '%PDF-1.7': 'pdf', 'hello': 'other',
    '<svg xmlns="http://www.w3.org/2000/svg"/>': 'svg', '<?xml version="1.0"?>\n<!-- a drawing --><svg/>': 'svg', '\x89PNG\r\n\x1a\n': 'other',
  }
  for (const [file, name] of Object.entries(refused)) assert.throws(() => checked(letters(file)), {word: `image.${name}`}, file)
})

test('what would open as more pixels than a browser is asked for is not decoded', async () => {
  assert.equal(checked(png(10_000, filePixelsMax / 10_000)), 'image/png')
  const told = {word: 'image.tooManyPixels', values: {size: 101, limit: 100}}
  assert.throws(() => checked(png(10_000, filePixelsMax / 10_000 + 1)), told)
  const huge = {size: fileBytesMax + 1}
  await assert.rejects(pictureOf(huge, {}), {word: 'image.fileTooLarge', values: {size: 65, limit: 64}})
})

/** A browser that makes files of so many bytes for a pixel. @param {(kind: string, quality: number) => number} bytes `undefined`: it cannot */
function browser(width, height, bytes) {
  const asked = []
  return {asked, decode: async () => ({width, height}), encode: async (_, width, height, kind, quality = 1) => {
    asked.push([kind, quality, width, height])
    const size = bytes(kind, quality)
    if (size === undefined) return new Blob([], {type: 'image/png'})
    return new Blob([new Uint8Array(Math.round(width * height * size))], {type: kind})
  }}
}
const photo = () => new Blob([fileOf('image-jpeg')])
const drawing = () => new Blob([fileOf('image')])

test('a picture has at most 2,048 pixels a side and 1 MiB: its quality goes first, then its size', async () => {
  const large = await pictureOf(photo(), browser(4_000, 3_000, () => 0.1))
  assert.deepEqual([large.mime, large.pixelWidth, large.pixelHeight], ['image/jpeg', 2_048, 1_536])
  const small = await pictureOf(drawing(), browser(300, 200, () => 1))
  assert.deepEqual([small.mime, small.pixelWidth, small.pixelHeight], ['image/png', 300, 200], 'a drawing stays as sharp as it is')
  const by = browser(4_000, 3_000, (kind, quality) => quality)
  const coarse = await pictureOf(photo(), by)
  assert.deepEqual([coarse.pixelWidth, by.asked.slice(0, 4).map(([, quality]) => quality)], [1_536, [0.9, 0.8, 0.65, 0.5]])
  assert.ok(Buffer.from(coarse.data, 'base64').length <= 2 ** 20)
  const safari = browser(2_000, 2_000, kind => ({'image/png': 1, 'image/jpeg': 0.2})[kind])
  assert.equal((await pictureOf(drawing(), safari)).mime, 'image/jpeg', 'opaque, and no WebP')
})

test('one that stays too large, or cannot be decoded, is refused with the limit and its size', async () => {
  await assert.rejects(pictureOf(photo(), browser(4_000, 3_000, () => 40)), {word: 'image.tooLarge', values: {size: 7_680, limit: 1_024}})
  await assert.rejects(pictureOf(photo(), {decode: () => Promise.reject(new Error('no'))}), {word: 'image.broken'})
})

test('base64 is the same as everywhere, of however many bytes; the record of a picture is read again', () => {
  for (const size of [0, 1, 2, 0x8000, 0x8001, 100_000]) {
    const bytes = Uint8Array.from({length: size}, (_, at) => at * 7)
    assert.equal(base64(bytes), Buffer.from(bytes).toString('base64'))
  }
  const file = Buffer.concat([fileOf('image'), Buffer.alloc(2 ** 20)])
  const record = size => writeImage({...readRecord('image', payloadOf('image')), data: file.subarray(0, size).toString('base64')})
  assert.deepEqual([readRecord('image', record(2 ** 20)) !== undefined, readRecord('image', record(2 ** 20 + 1))], [true, undefined])
})

test('a picture whose head tells another size than its record is none: a small file opens as no huge one', () => {
  for (const name of ['image-other-size', 'image-huge', 'image-head-cut']) {
    assert.equal(readRecord('image', payloadOf(name)), undefined, name)
  }
})

test('an image is resized on each axis', () => {
  const {x, y, width, height} = JSON.parse(resized({customType: 'image', payload: payloadOf('image')}, [0, 0, 10_000, 5_000],
      [100, 0, 20_100, 15_000]).payload)
  assert.deepEqual([x, y, width, height], [100, 0, 20_000, 15_000])
})

test('a picture gets a description, keeps it when it is changed and copied, and loses it without words', () => {
  const plain = {customType: 'image', payload: payloadOf('image')}
  const record = described(plain, 'Two red pixels')
  const words = ({payload}) => readRecord('image', payload).description
  assert.deepEqual([record, copied(record, 'other', 9), resized(record, [0, 0, 100, 100], [0, 0, 200, 200])].map(words),
      Array(3).fill('Two red pixels'))
  assert.equal(described(record, '').payload, plain.payload)
  const long = 'é'.repeat(descriptionBytesMax / 2)
  assert.deepEqual([words(described(plain, long)), described(plain, `${long}x`)], [long, undefined], 'one byte more is none of the format')
})

test('an exported picture has its description as a title', () => {
  const svg = name => svgDocument([joined([readRecord('image', payloadOf(name))])])
  assert.match(svg('image'), /base64,[^"]*"\/>\n/)
  assert.match(svg('image-described'), /base64,[^"]*"><title>Two red pixels, "side by side" – &lt;b&gt;\nÄ😀<\/title><\/image>\n/)
})

test('one picture alone is described, by whoever may change it', () => {
  const [picture, line] = [{type: 'image'}, {type: 'stroke'}]
  const found = (chosen, mayEdit = true) => pictureToDescribe({chosen, mayEdit: () => mayEdit})
  assert.equal(found([picture]), picture)
  assert.deepEqual([found([]), found([line]), found([picture, line]), found([picture], false)], Array(4).fill(undefined))
})

test('in the dark a colour is light for dark of the same hue, and paper is dark; its opacity stays', () => {
  assert.deepEqual(['#FFFFFF', '#000000', '#1B1B1BFF', '#D92D2080'].map(turned), ['#000000', '#ffffff', '#e4e4e4FF', '#ff8b7e80'])
})

// MARK: Decoded pictures

const element = (data, pixelWidth = 1_000, pixelHeight = 1_000) => ({data, pixelWidth, pixelHeight})
/** With room for two whole pictures. */
function pictures(decode = async () => {}) {
  const [decoded, closed, changed] = [[], [], []]
  const all = new Pictures({most: 8_100_000, changed: ({data}) => changed.push(data), decode: async ({data}, width, height) => {
    decoded.push([data, width, height])
    await decode(data)
    return {data, close: () => closed.push(data)}
  }})
  return {all, decoded, closed, changed}
}
const settled = () => new Promise(setImmediate)

test('a picture is decoded once, as large as it is shown, and larger when that is wanted', async () => {
  const {all, decoded, closed, changed} = pictures()
  assert.deepEqual(all.of(element('a'), 100), {})
  all.of(element('a'), 100)
  await settled()
  assert.deepEqual([all.of(element('a'), 100).bitmap.data, decoded, changed.length], ['a', [['a', 125, 125]], 2])
  assert.equal(all.of(element('a'), 900, 1).bitmap.data, 'a', 'the small one stands in')
  await settled()
  assert.deepEqual([decoded.at(-1), closed], [['a', 1_000, 1_000], ['a']])
})

test('what was least recently drawn goes, and is decoded again; in one view no picture is decoded twice', async () => {
  const {all, decoded, closed} = pictures()
  const draw = async (name, turn) => {
    const {bitmap} = all.of(element(name), 1_000, turn)
    await settled()
    return Boolean(bitmap)
  }
  for (const name of ['a', 'b', 'a', 'c']) await draw(name, 1)
  assert.deepEqual([closed, decoded.map(([name]) => name)], [['b'], ['a', 'b', 'c']])
  assert.deepEqual([await draw('b', 1), await draw('b', 2), await draw('b', 2)], [false, false, true])
  assert.equal(decoded.length, 4)
})

test('one that cannot be decoded is said to be broken, and the others still come', async () => {
  const {all} = pictures(async data => { if (data === 'bad') throw new Error('no') })
  for (const name of ['bad', 'good']) all.of(element(name), 10)
  await all.load(element('good'), 10)
  assert.deepEqual([all.of(element('bad'), 10).isBroken, all.of(element('good'), 10).isBroken], [true, undefined])
})
