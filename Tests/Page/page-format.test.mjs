// The page's reading and writing of the board's format, and the picture it makes of a board: the same bytes as the relay's own.
import assert from 'node:assert/strict'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {test} from 'node:test'
import {hundredths} from '../../Sources/RelayPage/page/format.js'
import {shifted} from '../../Sources/RelayPage/page/kinds/edits.js'
import {writeImage} from '../../Sources/RelayPage/page/kinds/image.js'
import {loadKinds, readRecord} from '../../Sources/RelayPage/page/kinds/index.js'
import {writeStroke} from '../../Sources/RelayPage/page/kinds/stroke.js'
import {writeText} from '../../Sources/RelayPage/page/kinds/text.js'
import {readPacket, writePackets} from '../../Sources/RelayPage/page/points.js'
import {Records} from '../../Sources/RelayPage/page/records.js'
import {svgDocument} from '../../Sources/RelayPage/page/svg-document.js'
import {Daemon, run, skip} from './support/daemon.mjs'
import {Dice} from './support/dice.mjs'

await loadKinds()

const rows = readFileSync(new URL('../../docs/vectors/board.tsv', import.meta.url), 'utf8').split('\n').slice(1).filter(Boolean)
    .map(line => line.split('\t'))

test('vectors/board.tsv: the page draws what a reader reads, and passes over what it refuses', () => {
  let read = 0
  for (const [name, kind, reader, payload] of rows.filter(([, kind]) => ['stroke', 'text', 'image', 'title', 'points'].includes(kind))) {
    const found = kind === 'points' ? readPacket(payload) : readRecord(kind, payload)
    assert.equal(found !== undefined, reader === 'ok' || reader === 'reads', name)
    if (found) read++
  }
  assert.ok(read >= 15, `${read} rows that are read`)
})

test('vectors/board.tsv: what the page read it writes as the same bytes', () => {
  let written = 0
  for (const [name, kind, reader, payload] of rows) {
    const found = reader === 'ok' && readRecord(kind, payload)
    if (!found || /"cols":"xyp?t"|"part"/.test(payload) || kind === 'title') continue
    const write = {image: writeImage, stroke: writeStroke, text: writeText}[kind]
    assert.equal(write(found), payload, name)
    written++
  }
  assert.ok(written >= 4, `${written} rows that are written`)
})

test('places are rounded to the nearest 1/100 px, halves away from zero, and end at the range', () => {
  assert.deepEqual([12.345, -0.005, 0.004, 2e7, -2e7].map(hundredths), [1235, -1, 0, 1e9, -1e9])
})

test('points go out in packets of at most 1,024 bytes that together are the line', () => {
  const stroke = {id: 'x'.repeat(64), color: '#1B1B1BFF', width: 100_000, xy: [], pressure: []}
  for (let index = 0; index < 500; index++) {
    stroke.xy.push((index % 2 ? 1 : -1) * 1e9, -index)
    stroke.pressure.push(index % 256)
  }
  const packets = writePackets(stroke, 3)
  assert.ok(packets.every(packet => packet.length <= 1_024))
  const read = packets.map(readPacket)
  assert.deepEqual(read.flatMap(({xy}) => [...xy]), stroke.xy.slice(6))
  assert.deepEqual(read.flatMap(({pressure}) => [...pressure]), stroke.pressure.slice(3))
  assert.equal(read[1].first, 3 + read[0].xy.length / 2)
})

test('a record is moved with all that it says, and not out of the range', () => {
  const payload = '{"by":{"a":[1]},"color":"#1B1B1BFF","cols":"xyt","id":"s","points":[1,2,0,3,4,5],"v":1,"width":3,"z":-4}'
  assert.deepEqual(shifted({customType: 'stroke', payload}, 100, -2), {customType: 'stroke', payload: payload.replace('[1,2,', '[101,0,')})
  assert.equal(shifted({customType: 'stroke', payload}, 1e9, 0), undefined)
  assert.equal(readRecord('stroke', payload.replace('"v":1', '"v":2')), undefined, 'a newer version')
})

const picture = rows.find(([name]) => name === 'image-jpeg')[3]

/** Half of the texts wrap, and half of these are on a note. */
const note = (dice, color) => ({0: {width: 100 + dice.below(30_000)}, 1: {width: 100 + dice.below(30_000), paper: color()}})[dice.below(4)]

/** Records of every kind: also broken ones, parts, ids and titles that come again under other keys. */
function randomRecords(dice) {
  const letters = [
    'a', 'é', '😀', '&', '<', '\n', '\t', '\r', '\u0001', '\u001f', '\uffff', '\u1100', ' ', ' ', '"', '\u0301', '\u200d', '\ufe0f', '\u{1f3fd}',
  ]
  const words = () => Array.from({length: 1 + dice.below(40)}, () => letters[dice.below(letters.length)]).join('')
  const color = () => ['#1B1B1BFF', '#d92d2059', '#00FF0000', '#12345680'][dice.below(4)]
  return Array.from({length: 60}, (_, at) => {
    const id = dice.below(6) === 0 ? 'again' : `s${at}`
    const z = dice.below(20) - 10
    const kind = dice.below(12)
    if (kind === 0) return {customType: 'title', key: `t${at}`, text: JSON.stringify({text: words(), v: 1})}
    if (kind < 3) return {customType: 'text', key: `s${at}`,
        text: JSON.stringify({color: color(), id, size: 100 + dice.below(9_000), text: words(), v: 1, x: dice.below(9_999) - 5_000,
        y: dice.below(9_999), z, ...note(dice, color)})}
    if (dice.below(8) === 0) {
      const shown = dice.below(2) ? {description: words()} : {}
      const place = {x: dice.below(999) - 5_000, z}
      return {customType: 'image', key: `s${at}`, text: JSON.stringify({...JSON.parse(picture), ...shown, ...place, id})}
    }
    if (kind === 3) return {customType: ['stroke', 'erase', 'other'][dice.below(3)], key: `s${at}`, text: '{"color":"#000000FF","v":1}'}
    const cols = ['xy', 'xyp', 'xyt', 'xypt'][dice.below(4)]
    const isDot = dice.below(8) === 0
    const points = []
    let pressure = 0
    for (let index = 0; index < 1 + dice.below(30); index++) {
      const next = dice.below(256)
      points.push(isDot && index ? 0 : dice.below(3_000) - 1_500, isDot && index ? 0 : dice.below(3_000) - 1_400)
      if (cols.includes('p')) points.push(next - pressure)
      if (cols.includes('t')) points.push(dice.below(20))
      pressure = next
    }
    const parts = kind === 4 ? {part: 1 + dice.below(3), parts: 3} : {}
    return {customType: 'stroke', key: `s${at}`, text: JSON.stringify({color: color(), cols, id: kind === 4 ? 'parted' : id, ...parts,
        points, v: 1, width: 1 + dice.below(3_000), z: kind === 4 ? 2 : z})}
  })
}

test('a board’s SVG is the same bytes as `boardrelay board export --format svg`', {skip, timeout: 600_000}, async () => {
  const seed = Number(process.env.BOARDRELAY_PAGE_SEED ?? Math.floor(Math.random() * 2 ** 48))
  const dice = new Dice(seed)
  const daemon = await Daemon.start({options: ['--message-rate', '1000']})
  const folder = mkdtempSync(join(tmpdir(), 'relay-svg-'))
  const words = ['--url', `relay://127.0.0.1:${daemon.port}`, '--key', daemon.keys.host]
  try {
    for (let round = 0; round < 4; round++) {
      const list = round === 0 ? [] : randomRecords(dice)
      const file = join(folder, `${round}.json`)
      const first = [{customType: 'title', key: 'title', text: '{"text":"","v":1}'}, ...list]
      const lines = first.map((record, at) => (at ? ',' : '') + JSON.stringify(record))
      writeFileSync(file, ['{"format":"board","records":[', ...lines, '],"version":1}', ''].join('\n'))
      await run('board', 'import', `b${round}`, file, ...words)
      const expected = await run('board', 'export', `b${round}`, '--format', 'svg', ...words)
      const records = new Records(() => {})
      first.forEach(({key, customType, text}, at) =>
          records.received({isRetained: true, key, offset: at + 1, sender: 'a', customType, payload: text}))
      records.flush()
      assert.equal(svgDocument(records.ordered, records.title).trim(), expected, `BOARDRELAY_PAGE_SEED=${seed}, board ${round}`)
    }
  } finally {
    await daemon.end()
    rmSync(folder, {recursive: true, force: true})
  }
})
