// What is done with all that is chosen: each time one change for everybody, and one step back. Keys, the clipboard and the bar beside
// what is chosen lead here. It comes behind the first drawing.
import {copies, pastedMax, read, written} from './clipboard.js'
import {hundredths, isText} from './format.js'
import {newID} from './ink.js'
import {layered, locked, recolored, restyled, shifted} from './kinds/edits.js'
import {loadKinds, readRecord} from './kinds/index.js'
import {order} from './layers.js'
import {toast} from './ui.js'
import {say} from './words/index.js'

/** Copies lie so far beside what they are copies of, in px of the screen. */
const besidePx = 16
/** Arrow keys: others see where things are so often, and what comes so soon behind the last one is the same step back. */
const nudgeShownMs = 250
const nudgeStepMs = 1_000
/** Where this browser keeps the copied text, for people without a keyboard. */
const keptLettersMax = 500_000
const place = 'whiteboard.clipboard'

/**
 * Changes elements at once, as one step back.
 *
 * @param {(record: {customType: string, payload: string}, element: object) => object|undefined} edit one of kinds/edits.js; `undefined`:
 *   it stays as it is
 */
export function change({session, undo}, elements, edit, isStep = true) {
  const step = []
  for (const element of elements) for (const {key, customType, payload} of element.records) {
    const before = {customType, payload}
    const after = edit(before, element)
    if (after && after.payload !== payload) step.push({key, before, after})
  }
  session.writeAll(step.map(({key, after}) => ({key, record: after})))
  if (isStep) undo.add(step)
  return step
}

export class Editing {
  /** Of the same text, so often it was pasted here. */
  #pasted = {text: '', times: 0}
  /** What arrow keys have moved, and did not write yet: `{elements, way, timer}`. */
  #nudged
  /** The step back of the last nudge, and when it was. */
  #nudgeStep = {at: -Infinity}

  /**
   * @param {{hands: object, storage: Storage, choose: (tool: string) => void, style: (tool: string) => {color, width, size},
   *   lift: (hands: object, how?: object) => void, undo: () => void}} parts `lift`: of the select tool
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
    const elements = this.#nudged?.elements ?? this.chosen
    if (elements.length === 0) return
    const way = [0, 1].map(axis => (this.#nudged?.way[axis] ?? 0) + [dx, dy][axis] * 100)
    const timer = this.#nudged?.timer ?? setTimeout(() => this.settle(), nudgeShownMs)
    this.#nudged = {elements, way, timer, at}
    this.lift(this.hands, {shift: way})
  }

  /** Writes what arrow keys have moved. */
  settle() {
    if (!this.#nudged) return
    const {elements, way, timer, at} = this.#nudged
    clearTimeout(timer)
    this.#nudged = undefined
    this.lift(this.hands)
    const {undo, records} = this.hands
    const now = elements.map(({id}) => records.elements.get(id)).filter(element => element && this.hands.mayEdit(element))
    const step = change(this.hands, now, record => shifted(record, ...way), false)
    const last = this.#nudgeStep
    const goesOn = at - last.at < nudgeStepMs && undo.done.at(-1) === last.step && last.step.length === step.length
        && step.every(({key, before}, index) => last.step[index].key === key && last.step[index].after.payload === before.payload)
    if (goesOn) step.forEach(({after}, index) => { last.step[index].after = after })
    else undo.add(step)
    this.#nudgeStep = {at, step: goesOn ? last.step : step}
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
