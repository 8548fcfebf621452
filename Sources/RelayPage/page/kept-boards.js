// The boards that this browser has been on, as pages: in the order in which it came to them, each with its title, when it was left, and
// a small picture. They are of one relay.
import {open, read, write} from './identity.js'
import {nameFor} from './new-names.js'
import {isName} from '../client/text.js'

const local = open('localStorage')
const place = 'whiteboard.boards'
/** Of more boards the one that was left longest ago goes; of more letters in pictures the picture of that one. */
export const boardsMax = 50
export const pictureLettersMax = 12_000
export const picturesLettersMax = 300_000

const isKept = board => isName(board?.name) && typeof board.title === 'string' && Number.isFinite(board.at)
    && (board.picture === undefined || /^data:image\/(png|webp);base64,[\w+/=]+$/.test(board.picture))

/** @param {string} [relay] its public id; before it is known the boards are those of the last one */
export function keptBoards(relay) {
  const {relay: of, list} = read(local, place) ?? {}
  return Array.isArray(list) && (relay === undefined || relay === of) ? list.filter(isKept) : []
}

/**
 * A board is what it is now, in its place or as the last page; `after`: behind that one.
 *
 * @param {{name: string, title: string, at: number, picture?: string, hasImages?: boolean}} board without `picture` it keeps the one it had
 */
export function keepBoard(relay, board, after) {
  const of = relay ?? read(local, place)?.relay
  if (of === undefined) return
  const list = keptBoards(relay)
  const at = list.findIndex(({name}) => name === board.name)
  if (at >= 0) list[at] = {...list[at], ...board}
  else list.splice(list.findIndex(({name}) => name === after) + 1 || list.length, 0, board)
  write(local, place, {relay: of, list: bounded(list)})
}

export function bounded(list) {
  const newest = list.toSorted((one, other) => other.at - one.at).slice(0, boardsMax)
  let letters = 0
  const pictured = new Set(newest.filter(({picture = ''}) => (letters += picture.length) <= picturesLettersMax))
  return list.filter(board => newest.includes(board)).map(board => pictured.has(board) ? board : {...board, picture: undefined})
}

/** The name of the page so many steps on. */
export function beside(list, name, step) {
  const at = list.findIndex(board => board.name === name)
  return at < 0 ? undefined : list[at + step]?.name
}

/** The title of the next board of its kind: `Lesson 2` behind `Lesson`, or behind it the first that no board of the list has. */
export function nextTitle(title, list) {
  const [, stem, number = '1'] = /^(.*?)(?:\s+(\d{1,6}))?$/.exec(title)
  for (let count = Number(number) + 1; ; count++) {
    const next = `${stem} ${count}`
    if (!list.some(board => board.title === next || board.name === nameFor(next))) return next
  }
}
