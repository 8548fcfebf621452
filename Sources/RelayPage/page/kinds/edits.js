// Records that are like others: moved, resized, in another colour, once more. What else they say stays. They are for whoever edits what
// is there, and come with that.
import {written, parse} from '../format.js'
import {kindOf, loadEdits, readRecord} from './index.js'

await loadEdits()

/** @returns {{customType: string, payload: string}|undefined} `undefined`: the format has no such record */
function edited({customType, payload}, edit) {
  const object = parse(payload)
  edit(object, kindOf(customType))
  const after = {customType, payload: written(object)}
  return readRecord(customType, after.payload) && after
}

/** By 1/100 px. */
export const shifted = (record, dx, dy) => edited(record, (object, kind) => kind.shift(object, dx, dy))

/**
 * As what fills the box `from` is when it fills the box `to`: places are scaled on each axis, and what has one size by the smaller
 * factor. Widths of lines stay. A box without a width, or height, is only moved on that axis.
 */
export function resized(record, from, to) {
  const [factorX, factorY] = [0, 1].map(axis => (to[axis + 2] - to[axis]) / (from[axis + 2] - from[axis]))
  const along = (axis, factor) => place => Math.round(to[axis] + (place - from[axis]) * (Number.isFinite(factor) ? factor : 1))
  const factors = [factorX, factorY].filter(Number.isFinite)
  const scale = {x: along(0, factorX), y: along(1, factorY), factor: factors.length ? Math.min(...factors) : 1}
  return edited(record, (object, kind) => kind.resize(object, scale))
}

/** @param {string} color `#RRGGBB`: how much shines through stays; `#RRGGBBAA` says that, too */
export const recolored = (record, color) => kindOf(record.customType)?.hasNoColor ? undefined
  : edited(record, object => { object.color = color + object.color.slice(color.length) })

/** With lines of another width, or letters of another size. @param {{width: number, size: number}} style */
export const restyled = (record, style) => edited(record, (object, kind) => kind.restyle?.(object, style))

/** In another layer; all records of an element get the same one. */
export const layered = (record, z) => edited(record, object => Object.assign(object, {z}))

/** Protects from changes, or allows them again. */
export const locked = (record, isLocked) => edited(record, object => isLocked ? object.locked = true : delete object.locked)

/** What a picture shows, in words; without words: none. */
export const described = (record, words) => edited(record, object => words ? object.description = words : delete object.description)

/** All records of an element get the same new id, and layer. A copy may be changed. */
export const copied = (record, id, z) => edited(record, object => delete Object.assign(object, {id, z}).locked)
