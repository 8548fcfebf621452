// Replays: what is read of a recording, what is shown of it when, and how much work any moment takes. Events are counted, and no times.
import assert from 'node:assert/strict'
import {before, test} from 'node:test'
import {loadKinds} from '../../Sources/RelayPage/page/kinds/index.js'
import {trailMs} from '../../Sources/RelayPage/page/lasers.js'
import {fileBytesMax, LessonFault, linesMax, mustFit, readLesson, standingLesson} from '../../Sources/RelayPage/page/replay/lesson.js'
import {checkpointEvents, pauseMaxMs, Scene, Timeline} from '../../Sources/RelayPage/page/replay/timeline.js'
import {Tiles} from '../../Sources/RelayPage/page/tiles.js'
import {Dice} from './support/dice.mjs'

before(loadKinds)

const bytesOf = text => new TextEncoder().encode(text)
const fileOf = lines => bytesOf(lines.map(line => typeof line === 'string' ? line : JSON.stringify(line)).map(line => line + '\n').join(''))
const begin = {at: 0, board: 'b', event: 'begin', time: 1_763_683_200_000, v: 1}
const strokeText = (id, x = 0) => JSON.stringify({color: '#1B1B1BFF', cols: 'xy', id, points: [x, 0, 500, 500], v: 1, width: 300, z: 1})
const textOf = (id, x = 0) => JSON.stringify({color: '#000000FF', id, size: 2_400, text: 'Ink', v: 1, x, y: 0, z: 2})
const record = (at, key, more) => ({at, board: 'b', by: 'ada', customType: 'stroke', event: 'record', key, text: strokeText(key),
  ...more && {more}})
const remove = (at, key, more) => ({at, board: 'b', by: 'ada', event: 'remove', key, ...more && {more}})
const message = (at, customType, object) => ({at, board: 'b', by: 'ada', customType, event: 'message',
  text: typeof object === 'string' ? object : JSON.stringify(object)})
const packet = (at, id, first, by = 'ben', device = 'd1') => ({at, board: 'b', by, device, event: 'packet', topic: 'points',
  text: JSON.stringify({color: '#1B1B1BFF', cols: 'xy', first, id, points: [first, 0, 5, 5], v: 1, width: 300})})
const cursor = (at, x, by = 'ben', device = 'd1') => ({at, board: 'b', by, device, event: 'packet', topic: 'cursors',
  text: JSON.stringify({v: 1, x, y: 1})})
const laser = (at, x, by = 'ben', device = 'd1') => ({at, board: 'b', by, device, event: 'packet', topic: 'cursors',
  text: JSON.stringify({laser: [x, 0, 10, 10], v: 1, x: x + 10, y: 10})})
const asBytes = line => ({...line, text: undefined, base64: Buffer.from(line.text).toString('base64')})
const end = at => ({at, board: 'b', event: 'end'})

const timelineOf = async lines => Timeline.of(await readLesson(fileOf([begin, ...lines])))
/** What is seen after so many events. */
function seen(scene, timeline, count) {
  scene.show(count, timeline.events[count - 1].at)
  const {records, live, lasers} = scene
  const {at: now} = timeline.events[count - 1]
  const lines = [...live.strokes].map(([id, {parts}]) => [id, parts.map(({first, xy}) => [first, ...xy])])
  const cursors = [...live.cursors].map(([key, {x, y}]) => [key, x, y])
  return {
    elements: records.ordered.map(({id, box}) => [id, ...box]), title: records.title, lines: lines.sort(), cursors: cursors.sort(),
    trails: lasers.trails.filter(({at}) => now - at < trailMs).map(({user, xy, at}) => [user, at, ...xy]),
  }
}
const idsAt = (scene, timeline, count) => seen(scene, timeline, count).elements.map(([id]) => id)
const sceneOf = timeline => new Scene(timeline, () => {})

// MARK: Files

test('a recording is read as docs/board-format.md says', async () => {
  const lesson = await readLesson(fileOf([begin, {...record(0, 'a'), newer: {x: 1}}, {at: 3, event: 'applause'}, '', packet(5, 's', 0),
    {at: 9, board: 'b', event: 'missed', what: 'packets', count: 7}, {at: 9, board: 'b', event: 'paper', paper: 'ruled'}, end(10)]))
  assert.deepEqual(lesson.events.map(({kind}) => kind), ['begin', 'record', 'packet', 'missed', 'paper', 'end'])
  assert.deepEqual([lesson.board, lesson.time, lesson.isWhole], ['b', begin.time, true])
})

const faults = [
  ['replay.missing', {at: 1, board: 'b', event: 'clear'}], ['replay.otherBoard', {...remove(1, 'k'), board: 'c'}], ['replay.begin', begin],
  ['replay.wrong', {at: -1, board: 'b', event: 'end'}], ['replay.backwards', record(4, 'k'), end(3)], ['replay.afterEnd', end(1), end(1)],
  ['replay.wrong', {...record(1, 'k'), key: '/'}], ['replay.wrong', {...record(1, 'k'), text: ''}],
  ['replay.missing', {...packet(1, 's', 0), device: undefined}], ['replay.wrong', {at: 1, board: 'b', event: 'missed', what: 'all'}],
  ['replay.wrong', {...end(1), more: 1}], ['replay.json', '{'], ['replay.json', '{"at":1,"at":1}'],
  ['replay.wrong', {...record(1, 'k'), text: 5}],
  ['replay.wrong', {...record(1, 'k'), base64: 'AA=='}], ['replay.wrong', {...record(1, 'k'), text: undefined, base64: 'A'}],
  ['replay.wrong', {...record(1, 'k'), text: undefined, base64: 'AB=='}], ['replay.wrong', {...record(1, 'k'), text: undefined, base64: ''}],
  ['replay.payload', {...record(1, 'k'), text: undefined, base64: 'AAAA'.repeat(2_796_203)}],
  ['replay.payload', {...record(1, 'k'), text: 'x'.repeat(8_388_603)}],
]
for (const [word, ...lines] of faults) {
  test(`a line at fault is named, and nothing is played: ${word}, ${JSON.stringify(lines.at(-1)).slice(0, 60)}`, async () => {
    await assert.rejects(readLesson(fileOf([begin, ...lines, ''])), fault => {
      assert.ok(fault instanceof LessonFault, fault)
      assert.deepEqual([fault.word, fault.line], [word, lines.length + 1])
      return true
    })
  })
}

test('a file of another kind, or version, says so', async () => {
  const rejects = (lines, word) => assert.rejects(readLesson(fileOf(lines)), {word, line: 1})
  await rejects(['{"board":"b","points":[[1,2.5]]}'], 'replay.strokes')
  await rejects([{...begin, v: 2}], 'replay.version')
  await rejects([end(0)], 'replay.begin')
  await rejects([''], 'replay.begin')
})

test('a recording that was cut off anywhere is played up to there', async () => {
  const file = fileOf([begin, record(0, 'a'), packet(3, 's', 0), end(4)])
  const first = fileOf([begin]).length
  for (let count = first; count < file.length - 1; count++) {
    const {isWhole, events} = await readLesson(file.subarray(0, count))
    assert.ok(!isWhole && events.length < 4)
  }
  assert.ok((await readLesson(file.subarray(0, -1))).isWhole)
})

test('what stands as base64 is played like text, and what is no text draws nothing', async () => {
  const lines = [record(1, 'a'), packet(2, 's', 0), message(3, 'text', textOf('t')), laser(4, 7)]
  const [text, bytes] = [await timelineOf([...lines, end(5)]), await timelineOf([...lines.map(asBytes), end(5)])]
  const shown = timeline => seen(sceneOf(timeline), timeline, 5)
  assert.deepEqual(shown(bytes), shown(text))
  assert.equal(shown(bytes).elements.length, 2)
  const others = ['AQID', '/w==', Buffer.from('\ufeff' + strokeText('a')).toString('base64')]
  const none = await timelineOf([...others.map((base64, at) => ({...record(1, `k${at}`), text: undefined, base64})), end(2)])
  assert.deepEqual(idsAt(sceneOf(none), none, 4), [])
})

test('files over the bounds are refused with limit and size', async () => {
  mustFit(fileBytesMax)
  assert.throws(() => mustFit(fileBytesMax + 1), {word: 'replay.large', values: {limit: fileBytesMax, actual: fileBytesMax + 1}})
  const lines = count => {
    const file = new Uint8Array(fileOf([begin]).length + count - 2).fill(10)
    file.set(fileOf([begin]))
    return file
  }
  assert.equal((await readLesson(lines(linesMax))).events.length, 1)
  await assert.rejects(readLesson(lines(linesMax + 1)), {word: 'replay.lines', values: {limit: linesMax, actual: linesMax + 1}})
  assert.equal((await readLesson(fileOf([begin, {...record(1, 'k'), text: 'x'.repeat(8_388_602)}]))).events.length, 2)
})

// MARK: Moments

test('what was erased, cleared, moved, or stands in parts is shown while it was there', async () => {
  const part = (number, x) => JSON.stringify({...JSON.parse(strokeText('p', x)), part: number, parts: 2})
  const timeline = await timelineOf([record(0, 'a'), record(1, 'b'), remove(2, 'a'), {at: 3, board: 'b', by: 'ada', event: 'clear'},
    message(4, 'text', textOf('t')), message(5, 'move', {dx: 700, dy: 0, ids: ['t', 'x'], v: 1}),
    message(6, 'move', {dx: 1, dy: 0, ids: ['t'], v: 1}),
    message(7, 'erase', {ids: ['t'], v: 1}), message(8, 'stroke', part(1, 0)), message(8, 'stroke', part(2, 9_000)),
    message(9, 'stroke', strokeText('p')),
    {at: 10, board: 'b', event: 'reset'}, record(10, 'c'), end(11)])
  const scene = sceneOf(timeline)
  const shown = Array.from({length: timeline.events.length}, (_, at) => idsAt(scene, timeline, at + 1).join())
  assert.deepEqual(shown, ['', 'a', 'a,b', 'b', '', 't', 't', 't', '', 'p', 'p', 'p', '', 'c', 'c'])
  const leftAt = count => seen(scene, timeline, count).elements[0][1]
  assert.deepEqual([leftAt(6), leftAt(7), leftAt(8)], [0, 700, 701])
  // A first part has begun the stroke anew: the second of before is gone.
  const right = count => seen(scene, timeline, count).elements[0][3]
  assert.deepEqual([right(11) > 9_000, right(12) < 9_000], [true, true])
})

test('a change set is shown at once, and at the time of its last line', async () => {
  const timeline = await timelineOf([record(100, 'a', true), record(150, 'b', true), remove(200, 'a'), end(300)])
  assert.deepEqual([timeline.countAt(0), timeline.countAt(199), timeline.countAt(200), timeline.countAt(300)], [1, 1, 4, 5])
  assert.deepEqual(timeline.keepPauses(true) ?? timeline.countAt(199), 1)
})

test('long pauses are shortened, unless they are kept; a moment of the recording stays that', async () => {
  const timeline = await timelineOf([record(1_000, 'a'), record(61_000, 'b'), end(62_000)])
  assert.deepEqual([...timeline.shown], [0, 1_000, 1_000 + pauseMaxMs, 2_000 + pauseMaxMs])
  const moments = [0, 500, 1_000, 2_500, 4_000, 5_000]
  assert.deepEqual(moments.map(moment => timeline.recordedAt(moment)), [0, 500, 1_000, 2_500, 61_000, 62_000])
  for (const moment of moments) assert.equal(timeline.shownAt(timeline.recordedAt(moment)), moment)
  assert.equal(timeline.shownAt(30_000), 1_000 + pauseMaxMs)
  timeline.keepPauses(true)
  assert.deepEqual([...timeline.shown], [0, 1_000, 61_000, 62_000])
})

test('lines and cursors of several people are live until they are finished, gone, or old', async () => {
  const timeline = await timelineOf([packet(1, 's', 0), packet(2, 's', 2), packet(3, 'r', 0, 'eve', 'd2'), cursor(4, 50, 'eve', 'd2'),
    record(5, 's'), packet(6, 's', 4), {at: 7, board: 'b', by: 'eve', device: 'd2', event: 'left', topic: 'points'},
    packet(8, 'q', 0), end(40_000)])
  const scene = sceneOf(timeline)
  const at = count => {
    const {lines, cursors} = seen(scene, timeline, count)
    return [lines.map(([id]) => id).join(), cursors.map(([key]) => key).join()]
  }
  const shown = Array.from({length: timeline.events.length}, (_, index) => at(index + 1))
  assert.deepEqual(shown, [['', ''], ['s', 'ben d1'], ['s', 'ben d1'], ['r,s', 'ben d1,eve d2'], ['r,s', 'ben d1,eve d2'],
    ['r', 'ben d1,eve d2'],
    ['r', 'ben d1,eve d2'], ['', 'ben d1'], ['q', 'ben d1'], ['', '']])
  assert.deepEqual(seen(scene, timeline, 3).lines, [['s', [[0, 0, 0, 5, 5, 2, 0, 7, 5]]]])
})

test('a laser is played as one: its trail lasts its time, whoever leaves, and is there again when somebody goes back', async () => {
  const others = Array.from({length: checkpointEvents - 4}, (_, at) => record(at, `k${at % 9}`))
  const begins = 5_000
  // The checkpoint comes right behind the third: the laser's device has left, and its trail is still seen.
  const timeline = await timelineOf([...others, laser(begins, 100), laser(begins + 50, 110),
    {at: begins + 60, board: 'b', by: 'ben', device: 'd1', event: 'left', topic: 'cursors'},
    ...Array.from({length: 2_000}, (_, at) => record(begins + 100 + at * 10, `k${at % 9}`)), end(60_000)])
  assert.ok(timeline.checkpoints.some(({count, lasers}) => count === checkpointEvents && lasers.length === 2))
  const scene = sceneOf(timeline)
  const trailsAt = now => {
    scene.show(timeline.events.filter(({at}) => at <= now).length, now)
    const widths = []
    const context = {beginPath() {}, moveTo() {}, lineTo() {}, stroke() { widths.push(this.lineWidth) }}
    scene.lasers.draw(context, 1, now)
    return widths.length
  }
  const moments = [begins - 1, begins, begins + 50, begins + 60, begins + trailMs, begins + 50 + trailMs, 60_000]
  const wanted = [0, 1, 2, 2, 1, 0, 0]
  assert.deepEqual(moments.map(trailsAt), wanted)
  assert.deepEqual(moments.toReversed().map(trailsAt), wanted.toReversed())
  assert.deepEqual([begins + trailMs - 1, 60_000, begins + 55, 0, begins + 120].map(trailsAt), [2, 0, 2, 0, 2])
  const from = laser(begins, 100)
  assert.deepEqual(scene.lasers.trails[0], {user: 'ben', xy: [100, 0, 110, 10], at: from.at})
})

test('a moment within a long pause that somebody goes back to shows what was live then', async () => {
  const timeline = await timelineOf([cursor(1_000, 50), packet(1_001, 's', 0), end(90_000)])
  const scene = sceneOf(timeline)
  const liveAt = now => {
    scene.show(3, now)
    return [scene.live.strokes.size, scene.live.cursors.size]
  }
  assert.deepEqual([2_000, 20_000, 60_000, 20_000, 2_000].map(liveAt), [[1, 1], [1, 0], [0, 0], [1, 0], [1, 1]])
})

test('what was missed is told for a while, paper is the one of the moment', async () => {
  const timeline = await timelineOf([{at: 1_000, board: 'b', event: 'missed', what: 'messages'}, {at: 1_500, board: 'b', event: 'broken'},
    {at: 2_000, board: 'b', event: 'paper', paper: 'ruled'}, {at: 2_500, board: 'b', event: 'paper'}, end(2_600)])
  assert.deepEqual([900, 1_000, 1_499, 1_500, 2_499, 2_500].map(moment => timeline.noticeAt(moment, 1_000)?.kind),
      [undefined, 'missed', 'missed', 'broken', 'broken', undefined])
  assert.deepEqual([0, 2_000, 2_500].map(moment => timeline.paperAt(timeline.countAt(moment))), [undefined, 'ruled', undefined])
})

// MARK: A lesson of an hour

const lessonEvents = 100_000
const hourMs = 3_600_000

/** Thirty people who draw, erase, move and clear for an hour. */
function hour(seed, count = lessonEvents) {
  const dice = new Dice(seed)
  const lines = []
  let [next, keys] = [0, []]
  const open = new Map()
  for (let index = 0; index < count; index++) {
    const at = Math.floor(index * hourMs / count) + 1
    const by = dice.below(30)
    const roll = dice.below(1_000)
    if (roll < 700) {
      const line = open.get(by) ?? {id: `s${next++}`, first: 0}
      open.set(by, line)
      lines.push(packet(at, line.id, line.first, `u${by}`, `d${by}`))
      line.first += 2
    } else if (roll < 850) {
      const {id} = open.get(by) ?? {id: `s${next++}`}
      open.delete(by)
      keys.push(id)
      lines.push(record(at, id))
    } else if (roll < 900) lines.push((roll < 875 ? laser : cursor)(at, index, `u${by}`, `d${by}`))
    else if (roll < 985 || keys.length === 0) lines.push(record(at, keys[dice.below(keys.length)] ?? 'k0'))
    else if (roll < 999) lines.push(remove(at, keys.splice(dice.below(keys.length), 1)[0]))
    else if (dice.below(10) === 0) {
      lines.push({at, board: 'b', by: 'ada', event: 'clear'})
      keys = []
    } else lines.push({at, board: 'b', by: `u${by}`, device: `d${by}`, event: 'left', topic: 'points'})
  }
  return [...lines, end(hourMs)]
}

test('whichever moment is sought from whichever, the board is as it is when all is played up to there', async () => {
  for (const seed of [1, 2]) {
    const dice = new Dice(seed)
    const timeline = await timelineOf(hour(seed, 12_000))
    const [sought, played] = [sceneOf(timeline), sceneOf(timeline)]
    const counts = Array.from({length: 40}, () => 1 + dice.below(timeline.events.length))
    const wanted = new Map()
    for (const count of [...counts].sort((one, other) => one - other)) {
      while (played.count < count) played.show(Math.min(count, played.count + 5), timeline.events[Math.min(count, played.count + 5) - 1].at)
      wanted.set(count, seen(played, timeline, count))
    }
    for (const count of counts) assert.deepEqual(seen(sought, timeline, count), wanted.get(count), `seed ${seed}, after ${count} events`)
  }
})

/** All that is drawn on tiles of a window, counted. */
function counted() {
  const layer = () => ({canvas: {}, resetTransform() {}, setTransform() {}, clearRect() {}})
  const counts = {drawn: 0}
  const tiles = new Tiles({layer, draw: () => { counts.drawn++ }, spanOf: ({box}) => box})
  const window = {canvas: {width: 800, height: 600}, resetTransform() {}, clearRect() {}, drawImage() {}}
  return {counts, tiles, frame: () => tiles.show(window, {left: 0, top: 0, zoom: 1})}
}

test(`a lesson of ${lessonEvents} events takes bounded memory, and any moment of it bounded work and drawing`, async context => {
  const timeline = await timelineOf(hour(7))
  assert.ok(timeline.events.length > lessonEvents)
  const numbers = timeline.checkpoints.reduce((sum, {versions, packets}) => sum + versions.length + packets.length, 0)
  assert.ok(numbers <= 2 * timeline.events.length, `${numbers} numbers`)
  assert.ok(timeline.checkpoints.length <= timeline.events.length / checkpointEvents + 1)
  const {counts, tiles, frame} = counted()
  const scene = new Scene(timeline, changes => tiles.change(changes))
  const dice = new Dice(7)
  let [most, mostDrawn] = [0, 0]
  for (let round = 0; round < 60; round++) {
    const [before, stood, drawn] = [scene.work, scene.records.told.size, counts.drawn]
    const count = 1 + dice.below(timeline.events.length)
    scene.show(count, timeline.events[count - 1].at)
    for (let frames = 0; frames < 100 && !frame(); frames++);
    const {versions, packets} = timeline.checkpointBefore(count)
    const kept = versions.length + packets.length
    // An event counts once, and what it puts or takes away once more.
    assert.ok(scene.work - before <= 2 * (stood + kept + Math.max(checkpointEvents, kept)), `${scene.work - before}`)
    // The window has six tiles at most; all that stands may lie on each, and nothing is drawn on one twice.
    assert.ok(counts.drawn - drawn <= 12 * scene.records.elements.size + 12, `${counts.drawn - drawn}`)
    most = Math.max(most, scene.work - before)
    mostDrawn = Math.max(mostDrawn, counts.drawn - drawn)
  }
  context.diagnostic(
      `${timeline.checkpoints.length} checkpoints of ${numbers} numbers; at most ${most} steps and ${mostDrawn} elements drawn`)
})

test('where much stands there are fewer checkpoints: their memory grows with the events alone', async () => {
  const lines = Array.from({length: 10_000}, (_, number) => record(0, `k${number}`))
  const timeline = await timelineOf([...lines, ...lines.map((_, at) => record(at + 1, 'k0')), end(10_001)])
  const numbers = timeline.checkpoints.reduce((sum, {versions, packets}) => sum + versions.length + packets.length, 0)
  assert.ok(numbers > 10_000 && numbers <= 2 * timeline.events.length, `${numbers} numbers`)
})

// MARK: What stands on a board

test('a board is shown in the relay’s order, at the times it was written', async () => {
  const of = (key, offset, at) =>
    ({key, offset, author: 'ada', customType: 'stroke', payload: strokeText(key), at})
  // The third is back after a clear, with its old time; the last is not stored yet.
  const lesson = standingLesson('b', [of('d', undefined, undefined), of('b', 2, 5_000), of('a', 1, 1_000), of('c', 3, 2_000)])
  assert.deepEqual(lesson.events.map(({at, kind, key}) => [at, key ?? kind]),
      [[0, 'begin'], [0, 'a'], [4_000, 'b'], [4_000, 'c'], [4_000, 'd'], [4_000, 'end']])
  const timeline = await Timeline.of(lesson)
  assert.deepEqual(idsAt(sceneOf(timeline), timeline, 3), ['a', 'b'])
  const empty = await Timeline.of(standingLesson('b', [], 'squared', 7))
  assert.deepEqual([empty.duration, empty.paperAt(empty.countAt(0))], [0, 'squared'])
})
