// Which hand does what: pointers and times in, acts out. A pen draws whatever touches the screen beside it; fingers draw, or move
// the view; a palm does nothing.
//
//     nothing ── down ──▶ one ── a second finger at its start ──▶ pinch ── one is lifted ──▶ one, which moves the view
//        ▲                 │                                        │
//        └── up ───────────┴──────── a pen's down ends it ──────────┘
//
// One gesture at a time is under way. Behind it may be ended ones that are held: touches that were so short, and so long ago, that a
// pen may still show them to be a palm's.

/** A touch that came so shortly before a pen, or behind it, is a palm. */
export const palmMs = 150
/** How long a touch is at its start, where a second finger makes it a pinch: so long, and until it has gone so far. */
export const pinchMs = 250
export const pinchPx = 20

/** @typedef {{pointerId: number, pointerType: string, clientX: number, clientY: number, button: number, buttons: number}} Pointer */
/**
 * What the app does next. `gesture`: its number, from 1. `begin` has what it does (`tool`: what the chosen tool does, `erase`, `view`,
 * `nothing`) and by which pointers; `end` is where it was lifted; `cancel` means it has never been: what it drew goes.
 *
 * @typedef {{act: 'begin'|'move'|'end'|'cancel', gesture: number, pointer: Pointer, does?: string, ids?: number[]}} Act
 */

export class Gestures {
  /** `{is: 'nothing'}`, or `{is: 'one', gesture, does, first, at, ids, isStart}`, or `{is: 'pinch', gesture, at, ids}`. */
  #state = {is: 'nothing'}
  /** Short touches that were lifted: `{gesture, pointer, until}`. */
  #held = []
  #last = 0
  /** When a pen was last put down or lifted. */
  #penAt = -Infinity

  /** When `passed` is wanted, in ms; `undefined`: not at all. */
  get deadline() {
    return this.#held[0]?.until
  }

  /**
   * @param {Pointer} pointer
   * @param {number} at in ms
   * @param {{isView?: boolean, penOnly?: boolean, isHarmless?: boolean}} how `isView`: everything moves the view; `penOnly`: fingers do;
   *   `isHarmless`: what the tool does may stay when it was a palm, so nothing is held
   * @returns {Act[]}
   */
  down(pointer, at, {isView, penOnly, isHarmless} = {}) {
    const acts = [...this.passed(at), ...this.#lost(pointer, at)]
    const isTouch = pointer.pointerType === 'touch'
    if (pointer.pointerType === 'pen') acts.push(...this.#palms(pointer, at))
    const isPalm = isTouch && at - this.#penAt < palmMs
    if (pointer.pointerType === 'pen') this.#penAt = at
    const state = this.#state
    if (state.is === 'nothing') {
      if (isPalm) return acts
      const does = pointer.button === 1 || isView || (isTouch && penOnly) ? 'view' : pointer.button === 2 ? 'nothing'
        : pointer.buttons & 32 ? 'erase' : 'tool'
      return [...acts, this.#begin({is: 'one', does, first: pointer, at, ids: [pointer.pointerId], isStart: true, isHarmless}, pointer)]
    }
    const isPinch = isTouch && !isPalm && state.is === 'one' && state.first.pointerType === 'touch'
      && (state.does === 'view' || (state.isStart && at - state.at <= pinchMs))
    if (!isPinch) return acts
    return [...acts, this.#over(state.does === 'view' ? 'end' : 'cancel', pointer),
      this.#begin({is: 'pinch', does: 'view', at, ids: [...state.ids, pointer.pointerId]}, pointer)]
  }

  /** @returns {Act[]} */
  move(pointer) {
    const state = this.#state
    if (!this.#isPart(pointer)) return []
    if (state.is === 'one') {
      const {clientX, clientY} = state.first
      state.isStart &&= Math.hypot(pointer.clientX - clientX, pointer.clientY - clientY) <= pinchPx
    }
    return [{act: 'move', gesture: state.gesture, pointer}]
  }

  /** A pointer was lifted, or with `isCancelled` the browser has taken it for itself. @returns {Act[]} */
  up(pointer, at, isCancelled = false) {
    if (pointer.pointerType === 'pen') this.#penAt = at
    const acts = this.passed(at)
    const state = this.#state
    if (!this.#isPart(pointer)) return acts
    const isTouch = pointer.pointerType === 'touch'
    if (state.is === 'pinch') {
      const ids = state.ids.filter(id => id !== pointer.pointerId)
      return [...acts, this.#over('end', pointer),
        this.#begin({is: 'one', does: 'view', first: pointer, at, ids}, pointer)]
    }
    if (isTouch && !isCancelled && !state.isHarmless && state.does !== 'view' && at - state.at < palmMs) {
      this.#state = {is: 'nothing'}
      this.#held.push({gesture: state.gesture, pointer, until: state.at + palmMs})
      return acts
    }
    // What a pen has drawn until the browser took it stays; a finger's was the beginning of something else.
    return [...acts, this.#over(isCancelled && isTouch && state.does !== 'view' ? 'cancel' : 'end', pointer)]
  }

  /** Ends what was held until now. @returns {Act[]} */
  passed(at) {
    const over = this.#held.filter(({until}) => until <= at)
    this.#held = this.#held.slice(over.length)
    return over.map(({gesture, pointer}) => ({act: 'end', gesture, pointer}))
  }

  /** A pen comes down: what touches do goes, and what they have done shortly before. */
  #palms(pointer, at) {
    const acts = this.#held.splice(0).map(held => ({act: 'cancel', gesture: held.gesture, pointer: held.pointer}))
    const {is, first, does, at: since} = this.#state
    if (is === 'nothing' || (is === 'one' && first.pointerType !== 'touch')) return acts
    // Whoever moved the view for long meant it.
    return [...acts, this.#over(does === 'view' && at - since >= palmMs ? 'end' : 'cancel', pointer)]
  }

  /** The browser did not tell that this pointer was lifted. */
  #lost(pointer, at) {
    return this.#isPart(pointer) ? this.up(pointer, at) : []
  }

  #isPart({pointerId}) {
    return this.#state.is !== 'nothing' && this.#state.ids.includes(pointerId)
  }

  #begin(state, pointer) {
    this.#state = {...state, gesture: ++this.#last}
    return {act: 'begin', gesture: this.#last, pointer, does: state.does, ids: state.ids}
  }

  #over(act, pointer) {
    const {gesture} = this.#state
    this.#state = {is: 'nothing'}
    return {act, gesture, pointer}
  }
}
