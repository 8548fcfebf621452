// The table of kinds: what a record of a type says, and what is done with what it draws. A kind is a module of this folder; here is
// all that others know of it. A record of a type that is not in the table is left as it is.
import {isText, parse} from '../format.js'
import {once} from '../once.js'
import {stroke} from './stroke.js'

/** @import {Kind} from '../types.js' */

/** A board's title: it is read, and never drawn. */
const title = {read: ({v, text}) => v === 1 && isText(text, 0, 256) ? {id: '', text} : undefined}

/** By the records' types. */
const kinds = {stroke, title}

/** What the first drawing does without: modules that have their kind, or what edits need of it, under its type. */
const late = {image: () => import('./image.js'), stroke: () => import('./stroke-edits.js'), text: () => import('./text.js')}
const loads = Object.fromEntries(Object.entries(late).map(([type, load]) => [type, once(async () => {
  const module = await load()
  kinds[type] = {...kinds[type], ...module[type]}
})]))

/** All `views` are told what looks different by itself; `turn` is another one for each view. */
export const looks = {views: new Set(), changed: element => looks.views.forEach(renew => renew(element)), turn: 0}

/** @returns {Kind|undefined} `undefined`: there is no such kind, or its module has not come yet */
export const kindOf = type => Object.hasOwn(kinds, type) ? kinds[type] : undefined

/** Whether records of a type are drawn as soon as their kind's module has come. */
export const isToCome = type => Object.hasOwn(late, type) && !kindOf(type)

/** Loads a kind's module. @returns {Promise<void>} */
export const loadKind = type => loads[type]()

/** Loads the modules of all kinds. */
export const loadKinds = () => Promise.all(Object.keys(late).map(loadKind))
/** The rest of what is drawn without it. */
export const loadEdits = () => Promise.all(Object.keys(late).filter(kindOf).map(loadKind))

/** What a record draws; `undefined` if no kind has its type, or if it breaks a rule. */
export function readRecord(type, payload) {
  try {
    const object = parse(payload)
    const {locked = null} = object
    const found = (locked === null || typeof locked === 'boolean') && kindOf(type)?.read(object)
    return found ? {type, ...found, ...locked && {isLocked: true}} : undefined
  } catch {
    return undefined
  }
}

/** What parts of one id draw together, in their order. */
export function joined(parts) {
  let element
  for (const part of parts) element = kindOf(part.type).join?.(element, part) ?? {...part}
  if (element?.id) Object.assign(element, {box: kindOf(element.type).boxOf(element), isLocked: parts.some(({isLocked}) => isLocked)})
  return element
}

/** Draws one element. */
export function drawElement(context, element) {
  kindOf(element.type).draw(context, element)
  context.globalAlpha = 1
}

export const spanOf = element => kindOf(element.type).spanOf?.(element) ?? element.box

/** Whether a place is on an element, or less than `slack` away; all in 1/100 px. */
export function touches(element, x, y, slack) {
  const [left, top, right, bottom] = element.box
  if (x < left - slack || x > right + slack || y < top - slack || y > bottom + slack) return false
  return kindOf(element.type).touches(element, x, y, slack)
}
