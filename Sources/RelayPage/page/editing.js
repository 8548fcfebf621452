// What is done with all that is chosen: each time one change for everybody, and one step back. Keys, the clipboard and the bar beside
// what is chosen lead here. It comes behind the first drawing.
import {boxAround} from './boxes.js'
import {copies, pastedMax, read, written} from './clipboard.js'
import {hundredths, isText} from './format.js'
import {newID} from './ink.js'
import {layered, locked, recolored, resized, restyled, shifted} from './kinds/edits.js'
import {joined, loadKinds, readRecord} from './kinds/index.js'
import {order} from './layers.js'
import {grown} from './tools/handles.js'
import {toast} from './ui.js'
import {say} from './words/index.js'

/** Copies lie so far beside what they are copies of, in px of the screen. */
const besidePx = 16
/** Arrow keys: others see where things are so often, and what comes so soon behind the last one is the same step back. */
const keysShownMs = 250
const keysStepMs = 1_000
/** A resized selection is shown as it will be, up to this size; a larger one is only stretched until it is let go. */
const shownLettersMax = 300_000
/** Where this browser keeps the copied text, for people without a keyboard. */
const keptLettersMax = 500_000
const place = 'whiteboard.clipboard'

/**
 * Changes elements at once, as one step back.
 *
 * @param {(record: {customType: string, payload: string}, element: object, key: string) => object|undefined} edit one of kinds/edits.js;
 *   `undefined`: it stays as it is
 */
export function change({session, undo}, elements, edit, isStep = true) {
  const step = []
  for (const element of elements) for (const {key, customType, payload} of element.records) {
    const before = {customType, payload}
    const after = edit(before, element, key)
    if (after && after.payload !== payload) step.push({key, before, after})
  }
  session.writeAll(step.map(({key, after}) => ({key, record: after})))
  if (isStep) undo.add(step)
  return step
}

export const isShownResized = elements => elements.reduce((sum, {sources}) => sum + sources.join('').length, 0) <= shownLettersMax
/** As they will be. */
export const resizedElements = (elements, from, to) => elements.map(({records}) =>
  joined(records.map(record => readRecord(record.customType, (resized(record, from, to) ?? record).payload))))

export class Editing {
  /** Of the same text, so often it was pasted here. */
  #pasted = {text: '', times: 0}
  /**
   * The last run of arrow keys. `step` is its step back, and `changes` has that step's changes by key. A nudge goes `way`; a resize makes
   * the box `from` the box `to`. `written` is the way or box that the records have already.
   */
  #run
  /** Until what keys do is written: a timer. */
  #pending

  /**
   * @param {{hands: object, storage: Storage, choose: (tool: string) => void, style: (tool: string) => {color, width, size},
   *   lift: (hands: object, how?: object) => void, undo: () => void, sized?: (elements: object[]) => void}} parts `lift`: of the select
   *   tool; `sized`: keys have resized what is chosen
   */
  constructor(parts) {
    Object.assign(this, parts)
  }

  /** What is chosen and may be changed, from the lowest layer to the highest. */
  get chosen() {
    return this.hands.chosen.filter(element => this.hands.mayEdit(element)).sort(order)
  }
  /** What is chosen and protected, and may be unlocked. */
  get locked() {
    return this.hands.chosen.filter(element => element.isLocked && this.hands.session.mayChange(element))
  }

  // MARK: What is chosen

  selectAll() {
    this.#select(this.hands.records.ordered.filter(element => this.hands.mayEdit(element)))
  }
  #select(elements) {
    this.choose('select')
    this.hands.choose(elements)
  }

  // MARK: Looks and layers

  /** @param {{color?: string, width?: number}} how from the panel of styles @returns {boolean} whether anything was chosen */
  restyle({color, width}) {
    const {chosen} = this
    const as = (record, {color: own, parts}) => {
      const isMarker = !(own ?? parts?.[0].color ?? 'FF').endsWith('FF')
      return color ? recolored(record, `#${color}`) : restyled(record, this.style(isMarker ? 'marker' : 'pen'))
    }
    if (color || width) change(this.hands, chosen, as)
    return this.hands.chosen.length > 0
  }

  toFront() {
    this.#layer(this.hands.records.nextLayer)
  }
  toBack() {
    this.#layer((this.hands.records.ordered[0]?.z ?? 0) - this.chosen.length)
  }
  /** From a layer on, in the order in which they lie. */
  #layer(first) {
    const {chosen} = this
    const layers = new Map(chosen.map(({id}, at) => [id, Math.min(Number.MAX_SAFE_INTEGER, first + at)]))
    change(this.hands, chosen, (record, {id}) => layered(record, layers.get(id)))
  }

  /** Protects what is chosen, or unlocks it; with nothing chosen it chooses all that one may unlock. */
  protect() {
    const {hands} = this
    if (hands.chosen.length === 0) {
      return this.#select(hands.records.ordered.filter(element => element.isLocked && hands.session.mayChange(element)))
    }
    const isLocked = this.locked.length === 0
    const ids = (isLocked ? this.chosen : this.locked).map(({id}) => id)
    change(hands, isLocked ? this.chosen : this.locked, record => locked(record, isLocked))
    hands.choose(isLocked ? [] : ids.map(id => ({id})))
    if (isLocked && ids.length) toast(say('edit.protected'), say('undo'), this.undo)
  }

  // MARK: Places

  /** By px of the board. */
  nudge(dx, dy, at) {
    const run = this.#press('nudge', at)
    if (!run) return
    run.way = run.way.map((sum, axis) => sum + [dx, dy][axis] * 100)
    this.lift(this.hands, {shift: run.way.map((sum, axis) => sum - run.written[axis])})
  }

  /** Wider and higher by px of the board; pictures, and texts that do not wrap, keep their proportions. */
  resize(dx, dy, at) {
    const run = this.#press('resize', at)
    if (!run) return
    const {from, elements} = run
    const keepsProportions = elements.some(({type, width}) => type === 'image' || (type === 'text' && !width))
    run.to = grown(from, run.to, [dx * 100, dy * 100], keepsProportions)
    const shown = isShownResized(elements) ? resizedElements(elements, from, run.to) : undefined
    this.lift(this.hands, {from: run.written, to: run.to, elements: shown})
  }

  /** The run of keys to which a press belongs: its presses are one step back, and each counts from how things were before the run. */
  #press(kind, at) {
    if (this.#pending && this.#run.kind !== kind) this.settle()
    const elements = this.#pending ? this.#run.elements : this.chosen
    if (elements.length === 0) return undefined
    if (!this.#pending && !this.#goesOn(kind, elements, at)) {
      const box = boxAround(elements.map(({box}) => box))
      this.#run = {kind, elements, step: [], changes: new Map(), from: box, to: box, way: [0, 0], written: kind === 'nudge' ? [0, 0] : box}
    }
    this.#pending ??= setTimeout(() => this.settle(), keysShownMs)
    return Object.assign(this.#run, {at})
  }
  /** Whether the last run is of these keys and things, not long ago, and nothing has been changed since. */
  #goesOn(kind, elements, at) {
    const {undo, records} = this.hands
    const last = this.#run
    return last?.kind === kind && at - last.at < keysStepMs && last.step.length > 0 && undo.done.at(-1) === last.step
      && elements.map(({id}) => id).join() === last.elements.map(({id}) => id).join()
      && last.step.every(({key, after}) => records.get(key)?.payload === after.payload)
  }

  /** Writes what keys have moved, or resized. */
  settle() {
    if (!this.#pending) return
    clearTimeout(this.#pending)
    this.#pending = undefined
    this.lift(this.hands)
    const {hands} = this
    const {kind, elements, step, changes, from, to, way} = this.#run
    const isResized = kind === 'resize'
    const now = elements.map(({id}) => hands.records.elements.get(id)).filter(element => element && hands.mayEdit(element))
    const as = record => isResized ? resized(record, from, to) : shifted(record, ...way)
    const written = change(hands, now, (record, _, key) => as(changes.get(key)?.before ?? record), false)
    this.#run.written = isResized ? to : way
    for (const one of written) {
      const known = changes.get(one.key)
      if (known) known.after = one.after
      else changes.set(one.key, step[step.push(one) - 1])
    }
    if (!hands.undo.done.includes(step)) hands.undo.add(step)
    if (isResized) this.sized?.(now)
  }

  // MARK: Copies

  /** @returns {string|undefined} the text of what is chosen */
  copy() {
    const {chosen} = this
    if (chosen.length === 0) return undefined
    const text = written(chosen)
    this.#pasted = {text, times: 0}
    try {
      if (text.length <= keptLettersMax) this.storage.setItem(place, text)
      else this.storage.removeItem(place)
    } catch {
      // The clipboard has it.
      this.storage.removeItem(place)
    }
    return text
  }

  duplicate() {
    const way = besidePx * 100 / this.hands.canvas.view.scale
    this.#add(copies(this.chosen, [way, way].map(Math.round), this.hands.records.nextLayer, newID))
  }

  /** What was copied on this browser last. */
  pasteKept() {
    const text = this.storage.getItem(place)
    if (text) this.paste(text)
    else toast(say('paste.nothing'))
  }

  /** Things of a board lie where they lay, and beside what is there, if that can be seen; else, as any other text, in the window's middle. */
  async paste(text) {
    const {hands} = this
    if (!hands.session.mayDraw || !text.trim()) return
    await loadKinds()
    const elements = read(text)
    if (!elements) return this.#pasteWords(text)
    if (elements.length === 0) return toast(say('paste.nothing'))
    if (elements.length > pastedMax) return toast(say('paste.tooMany', {count: elements.length, limit: pastedMax}))
    const times = this.#pasted.text === text ? this.#pasted.times + 1 : 1
    this.#pasted = {text, times}
    this.#add(copies(elements, this.#wayOf(elements, times), hands.records.nextLayer, newID))
  }

  #wayOf(elements, times) {
    const {canvas} = this.hands
    const box = elements.map(({box}) => box).reduce((one, other) =>
      [0, 1, 2, 3].map(side => (side < 2 ? Math.min : Math.max)(one[side], other[side])))
    const window = canvas.window
    const isSeen = box[0] >= window[0] && box[1] >= window[1] && box[2] <= window[2] && box[3] <= window[3]
    return [0, 1].map(axis => Math.round(isSeen ? times * besidePx * 100 / canvas.view.scale
      : (window[axis] + window[axis + 2] - box[axis] - box[axis + 2]) / 2))
  }

  async #pasteWords(text) {
    const {canvas, records} = this.hands
    const {textBytesMax, writeText} = await import('./kinds/text.js')
    const words = text.replace(/\r\n?/g, '\n').replace(/\n+$/, '')
    if (!isText(words, 1, textBytesMax)) {
      return toast(say('paste.tooLong', {count: new TextEncoder().encode(words).length, limit: textBytesMax}))
    }
    const {color, size} = this.style('text')
    const [left, top, right, bottom] = canvas.window
    const lines = words.split('\n')
    const longest = Math.max(...lines.map(line => line.length))
    const [x, y] = [(left + right - longest * size / 2) / 2, (top + bottom - lines.length * size) / 2].map(place => hundredths(place / 100))
    const id = newID()
    const record = {customType: 'text', payload: writeText({id, z: records.nextLayer, color, x, y, size, text: words})}
    if (readRecord('text', record.payload)) this.#add([{key: id, record}])
  }

  #add(writes) {
    const {session, undo, records} = this.hands
    if (writes.length === 0) return
    session.writeAll(writes)
    undo.add(writes.map(({key, record}) => ({key, after: record})))
    const ids = new Set(writes.map(({key}) => records.idOf.get(key)))
    this.#select([...ids].filter(Boolean).map(id => ({id})))
  }
}
