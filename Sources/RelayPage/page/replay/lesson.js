// Recorded lessons, as docs/board-format.md has them: a file becomes a list of events, and so does what stands on a board.
import {readJSON} from '../../client/json.js'
import {checkedName} from '../../client/text.js'
import {bytesOf} from '../base64.js'

/** What this page plays at most; all of it is held in memory. */
export const fileBytesMax = 64 * 2 ** 20
export const linesMax = 500_000
const payloadBytesMax = 8_388_608
const linesAtOnce = 2_000
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true})

/** Why a recording is not played: a word with its values, and the line, where one is at fault. */
export class LessonFault extends Error {
  constructor(word, values = {}, line = undefined) {
    super(`${word} ${JSON.stringify({...values, line})}`)
    Object.assign(this, {word, values, line})
  }
}

/** One line's fields. */
class Fields {
  constructor(object) {
    this.object = object
  }
  string(name, isNeeded = true) {
    const value = this.object[name]
    if (value === undefined && isNeeded) throw new LessonFault('replay.missing', {field: name})
    if (value !== undefined && typeof value !== 'string') throw new LessonFault('replay.wrong', {field: name})
    return value
  }
  count(name, isNeeded = true) {
    const value = this.object[name]
    if (value === undefined && isNeeded) throw new LessonFault('replay.missing', {field: name})
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) throw new LessonFault('replay.wrong', {field: name})
    return value
  }
  key() {
    try {
      return checkedName(this.string('key'))
    } catch (error) {
      throw error instanceof LessonFault ? error : new LessonFault('replay.wrong', {field: 'key'})
    }
  }
  /** A payload as text. A page draws nothing of other bytes: they are `undefined`. */
  payload(customType = '') {
    const [text, base64] = [this.string('text', false), this.string('base64', false)]
    if (text === undefined && base64 === undefined) throw new LessonFault('replay.missing', {field: 'text'})
    const payload = base64 === undefined ? encoder.encode(text) : bytesOf(base64)
    if (!payload || (text !== undefined && base64 !== undefined)) throw new LessonFault('replay.wrong', {field: 'base64'})
    const bytes = encoder.encode(customType).length + payload.length
    if (bytes > payloadBytesMax) throw new LessonFault('replay.payload', {limit: payloadBytesMax, actual: bytes})
    try {
      return text ?? decoder.decode(payload)
    } catch {
      return undefined
    }
  }
}

/** By `event`: what a line has besides `at` and `more`. */
const readers = {
  begin: fields => {
    if (fields.count('v') !== 1) throw new LessonFault('replay.version', {limit: 1, actual: fields.count('v')})
    return {time: fields.count('time')}
  },
  record: fields => {
    const [key, customType] = [fields.key(), fields.string('customType', false)]
    const payload = fields.payload(customType)
    if (payload === '') throw new LessonFault('replay.wrong', {field: 'text'})
    return {by: fields.string('by'), key, customType, payload}
  },
  remove: fields => ({by: fields.string('by'), key: fields.key()}),
  clear: fields => ({by: fields.string('by')}),
  message: fields => {
    fields.string('key', false)
    const customType = fields.string('customType', false)
    return {by: fields.string('by'), customType, payload: fields.payload(customType)}
  },
  packet: fields =>
    ({by: fields.string('by'), device: fields.string('device'), topic: fields.string('topic'), payload: fields.payload()}),
  left: fields => ({by: fields.string('by'), device: fields.string('device'), topic: fields.string('topic')}),
  paper: fields => ({paper: fields.string('paper', false)}),
  broken: () => ({}),
  missed: fields => {
    const what = fields.string('what')
    if (what !== 'messages' && what !== 'packets') throw new LessonFault('replay.wrong', {field: 'what'})
    return {what, count: fields.count('count', false)}
  },
  reset: () => ({}),
  end: () => ({}),
}

/** @returns {object|undefined} `undefined`: an event of a newer recorder */
function readEvent(object, lesson) {
  const fields = new Fields(object)
  const at = fields.count('at')
  const {more = false} = object
  if (typeof more !== 'boolean') throw new LessonFault('replay.wrong', {field: 'more'})
  const kind = fields.string('event')
  if (!Object.hasOwn(readers, kind)) return undefined
  const event = {at, kind, more, ...readers[kind](fields)}
  const board = fields.string('board')
  lesson.board ??= board
  if (board !== lesson.board) throw new LessonFault('replay.otherBoard', {board})
  const last = lesson.events.at(-1)
  if ((kind === 'begin') !== (last === undefined)) throw new LessonFault('replay.begin')
  if (last && at < last.at) throw new LessonFault('replay.backwards', {limit: last.at, actual: at})
  if (last?.kind === 'end') throw new LessonFault('replay.afterEnd')
  return event
}

/** Where lines begin and end. */
function * linesOf(bytes) {
  for (let from = 0, number = 1; from <= bytes.length; number++) {
    const found = bytes.indexOf(10, from)
    const to = found < 0 ? bytes.length : found
    const line = bytes.subarray(from, to)
    if (line.some(byte => byte !== 32 && byte !== 9 && byte !== 13)) yield {line, number, isCut: found < 0}
    from = to + 1
  }
}

/** @returns {object|undefined} `undefined`: a last line without its end, whose recorder was stopped while it wrote */
function readLine({line, isCut}, lesson) {
  try {
    return readJSON(line)
  } catch {
    if (isCut && lesson.events.length > 0) return undefined
    // Recordings of strokes have fractions, which no event has.
    const isOfStrokes = lesson.events.length === 0 && new TextDecoder().decode(line.subarray(0, 1_000)).includes('"points":[[')
    throw new LessonFault(isOfStrokes ? 'replay.strokes' : 'replay.json')
  }
}

/**
 * Reads a recording; nothing of it is played if a line breaks a rule.
 *
 * @param {Uint8Array} bytes @param {() => Promise<void>} pause now and then: a page has other things to do
 * @returns {Promise<{board: string, time: number, isWhole: boolean, events: object[]}>}
 * @throws {LessonFault}
 */
export async function readLesson(bytes, pause = async () => {}) {
  mustFit(bytes.length)
  let lines = 1
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
  if (lines > linesMax) throw new LessonFault('replay.lines', {limit: linesMax, actual: lines})
  const lesson = {board: undefined, events: []}
  let number = 1
  try {
    for (const found of linesOf(bytes)) {
      ({number} = found)
      if (number % linesAtOnce === 0) await pause()
      const object = readLine(found, lesson)
      const event = object && readEvent(object, lesson)
      if (event) lesson.events.push(event)
    }
    if (lesson.events.length === 0) throw new LessonFault('replay.begin')
  } catch (error) {
    throw error instanceof LessonFault ? new LessonFault(error.word, error.values, number) : error
  }
  return {...lesson, time: lesson.events[0].time, isWhole: lesson.events.at(-1).kind === 'end'}
}

/** Asked before a file is read. @throws {LessonFault} */
export function mustFit(bytes) {
  if (bytes > fileBytesMax) throw new LessonFault('replay.large', {limit: fileBytesMax, actual: bytes})
}

/** What stands on a board now, in the order and at the times it was last written. @param {object[]} records as `Records` shows them @param {string} [paper] the board's */
export function standingLesson(board, records, paper, now = Date.now()) {
  const place = ({offset}) => offset ?? Infinity
  const sorted = [...records].sort((one, other) => place(one) - place(other) || 0)
  const time = sorted.find(({at}) => at !== undefined)?.at ?? now
  const events = [{at: 0, kind: 'begin', time}, ...paper ? [{at: 0, kind: 'paper', paper}] : []]
  for (const {key, author, customType, payload, at = time} of sorted) {
    // Clocks are set anew at times, and what `undoClear` brought back has its old one: the order is the relay's.
    events.push({at: Math.max(events.at(-1).at, at - time), kind: 'record', by: author, key, customType, payload})
  }
  events.push({at: events.at(-1).at, kind: 'end'})
  return {board, time, isWhole: true, events}
}
