// A replay on the screen: a modal window over the board, which goes on receiving. Nothing in it can draw.
import {Canvas} from '../canvas.js'
import {isSwitchedOff} from '../remembered.js'
import {icon, make, showCursors} from '../ui.js'
import {locale, say} from '../words/index.js'
import {Scene} from './timeline.js'

const speeds = [1, 2, 5, 20]
/** A page that was asleep goes on where it was. */
const stepMaxMs = 250
const noticeMs = 5_000
/** The slider of a shorter replay has tenths of seconds. */
const fineMs = 60_000
const keySteps = {ArrowLeft: -5_000, ArrowDown: -5_000, ArrowRight: 5_000, ArrowUp: 5_000, PageDown: -30_000, PageUp: 30_000,
  Home: -Infinity, End: Infinity}
const icons = {
  play: 'M8 5.5v13l10-6.5z', pause: 'M9 5.5v13M15 5.5v13', pauses: 'M12 7v5l3 2M12 4a8 8 0 1 0 .01 0z', close: 'M6 6l12 12M18 6L6 18',
}

/** `1:05`, `1:02:03`. */
export function clockText(ms) {
  const seconds = Math.floor(ms / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].slice(seconds < 3600 ? 1 : 0)
  return parts.map((part, at) => at ? String(part).padStart(2, '0') : part).join(':')
}

/** Lines of a page that this browser has once. */
function styled() {
  const {href} = new URL('replay.css', import.meta.url)
  const found = document.querySelector(`link[href="${href}"]`)
  if (found) return found.loaded
  const link = make('link', {rel: 'stylesheet', href})
  link.loaded = new Promise(resolve => { link.onload = link.onerror = resolve })
  document.head.append(link)
  return link.loaded
}

export class Player {
  moment = 0
  speed = 1
  isPlaying = true
  /** Where somebody looks stays; until then all that comes is seen. */
  isLookedAt = false

  /** @param {{timeline: Timeline, session: object, title: string, closed: () => void}} parts */
  constructor(parts) {
    Object.assign(this, parts)
    this.#furnish()
    this.#begin()
  }

  async #begin() {
    await styled()
    document.body.append(this.dialog)
    this.dialog.showModal()
    this.#makeCanvas()
    this.#listen()
    const {timeline} = this
    this.scene = new Scene(timeline, changes => this.#changed(changes))
    // All that stands in the end is seen from the beginning on.
    this.scene.show(timeline.events.length, timeline.events.at(-1).at)
    if (this.scene.records.elements.size) this.canvas.home()
    this.#show()
    this.#schedule()
  }

  close() {
    this.dialog.close()
  }

  // MARK: Furniture

  #furnish() {
    const button = (name, word, onclick) =>
      make('button', {type: 'button', className: name, ariaLabel: say(word), title: say(word), onclick}, icon(icons[name]))
    this.play = button('play', 'replay.play', () => this.#toggle())
    this.slider = make('input', {type: 'range', min: 0, ariaLabel: say('replay.slider'),
      oninput: () => this.#seek(Number(this.slider.value))})
    this.clock = make('span', {className: 'clock', ariaHidden: true})
    this.speeds = make('select', {ariaLabel: say('replay.speed'), onchange: () => { this.speed = Number(this.speeds.value) }},
        ...speeds.map(speed => make('option', {value: speed, textContent: `${speed}×`})))
    this.pauses = button('pauses', 'replay.pauses', () => this.#keepPauses(!this.timeline.keepsPauses))
    this.when = make('p', {className: 'bar when'})
    this.notice = make('p', {className: 'bar notice', role: 'status'})
    const board = make('canvas', {role: 'img', ariaLabel: say('board.picture')})
    const live = make('canvas', {ariaHidden: true})
    this.cursors = make('div', {className: 'cursors', ariaHidden: true})
    this.stage = make('div', {className: 'stage sheet'}, board, live, this.cursors)
    Object.assign(this, {board, live})
    const controls = make('div', {className: 'bar controls', role: 'group', ariaLabel: say('replay')}, this.play, this.slider, this.clock,
        this.speeds, this.pauses, button('close', 'replay.close', () => this.close()))
    this.dialog = make('dialog', {id: 'replay', tabIndex: -1, ariaLabel: say('replay')}, this.stage,
        make('div', {className: 'told'}, this.when, this.notice), controls)
    this.#measure()
  }

  #measure() {
    const {duration} = this.timeline
    const step = duration < fineMs ? 100 : 1_000
    Object.assign(this.slider, {step, max: Math.ceil(duration / step) * step})
    this.pauses.ariaPressed = this.timeline.keepsPauses
  }

  #makeCanvas() {
    const {stage, board, live} = this
    this.canvas = new Canvas({
      stage, board, live, elements: () => this.scene.records.ordered,
      drawLive: context => this.#drawLive(context),
      moved: () => queueMicrotask(() => {
        this.canvas.layPaper()
      }),
    })
    this.canvas.resize()
  }

  #drawLive(context) {
    if (!this.scene) return
    const recorded = this.timeline.recordedAt(this.moment)
    this.scene.live.draw(context)
    this.scene.lasers.draw(context, this.canvas.view.scale, recorded)
    const now = performance.now()
    const cursors = new Map([...this.scene.live.cursors].map(([key, cursor]) => [key, {...cursor, at: now - (recorded - cursor.at)}]))
    showCursors(cursors, this.session.members, this.canvas, this.cursors)
  }

  #changed(changes) {
    this.canvas.redraw(changes)
    const [left, top, right, bottom] = this.canvas.window
    const isOutside = ({box}) => box[0] < left || box[1] < top || box[2] > right || box[3] > bottom
    if (!this.isLookedAt && this.scene && changes.come.some(isOutside)) this.canvas.home(true)
  }

  // MARK: What a hand does

  #listen() {
    const ending = new AbortController()
    // The board below hears no key, and nothing is put into it.
    for (const type of ['keydown', 'paste', 'copy', 'cut']) {
      addEventListener(type, event => {
        // A question that comes meanwhile lies above.
        if ([...document.querySelectorAll('dialog[open]')].at(-1) !== this.dialog) return
        event.stopImmediatePropagation()
        if (type === 'keydown') this.#keyDown(event)
      }, {capture: true, signal: ending.signal})
    }
    this.dialog.onclose = () => {
      ending.abort()
      cancelAnimationFrame(this.frame)
      this.canvas.end()
      this.hasEnded = true
      this.dialog.remove()
      this.closed()
    }
    const pointers = new Map()
    const {stage} = this
    stage.onpointerdown = event => {
      stage.setPointerCapture?.(event.pointerId)
      pointers.set(event.pointerId, event)
    }
    stage.onpointerup = stage.onpointercancel = ({pointerId}) => pointers.delete(pointerId)
    stage.onpointermove = event => this.#look(pointers, event)
    stage.addEventListener('wheel', event => this.#wheel(event), {passive: false})
    stage.addEventListener('touchstart', event => event.preventDefault(), {passive: false})
  }

  #look(pointers, event) {
    if (!pointers.has(event.pointerId)) return
    const middle = () => {
      const [one, other] = [[...pointers.values()][0], [...pointers.values()].at(-1)]
      return {clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2,
        spread: Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1}
    }
    const before = middle()
    pointers.set(event.pointerId, event)
    const now = middle()
    this.isLookedAt = true
    this.canvas.pan(now.clientX - before.clientX, now.clientY - before.clientY)
    if (pointers.size > 1) this.canvas.zoom(now.spread / before.spread, now)
  }

  #wheel(event) {
    event.preventDefault()
    this.isLookedAt = true
    const unit = event.deltaMode === 1 ? 32 : event.deltaMode === 2 ? 400 : 1
    if (event.ctrlKey || event.metaKey) this.canvas.zoom(Math.exp(-Math.max(-30, Math.min(30, event.deltaY * unit)) / 100), event)
    else this.canvas.pan(-event.deltaX * unit, -event.deltaY * unit)
  }

  #keyDown(event) {
    const {key, target, ctrlKey, metaKey, altKey} = event
    if (ctrlKey || metaKey || altKey || isSwitchedOff(event) || target.closest?.('select')) return
    const run = key in keySteps ? () => this.#seek(this.moment + keySteps[key])
      : key === ' ' && !target.closest?.('button') ? () => this.#toggle()
      : key.toLowerCase() === 'f' ? () => this.#lookAtAll() : undefined
    if (!run) return
    event.preventDefault()
    run()
  }
  #lookAtAll() {
    this.isLookedAt = false
    if (this.scene.records.elements.size) this.canvas.home()
  }

  #toggle() {
    if (!this.isPlaying && this.moment >= this.timeline.duration) this.moment = 0
    this.isPlaying = !this.isPlaying
    this.last = undefined
    this.#schedule()
  }

  #seek(moment) {
    this.moment = Math.max(0, Math.min(this.timeline.duration, moment))
    this.#schedule()
  }

  /** The same moment of the recording is shown. */
  #keepPauses(isKept) {
    const recorded = this.timeline.recordedAt(this.moment)
    this.timeline.keepPauses(isKept)
    this.#measure()
    this.#seek(this.timeline.shownAt(recorded))
  }

  // MARK: Time

  /** However often a moment is chosen, one is shown a frame. */
  #schedule() {
    if (!this.hasEnded) this.frame ??= requestAnimationFrame(now => this.#tick(now))
  }

  #tick(now) {
    this.frame = undefined
    if (this.hasEnded || !this.scene) return
    const {duration} = this.timeline
    if (this.isPlaying) this.moment = Math.min(duration, this.moment + Math.min(stepMaxMs, now - (this.last ?? now)) * this.speed)
    this.last = now
    if (this.moment >= duration) this.isPlaying = false
    this.#show()
    if (this.isPlaying) this.#schedule()
  }

  #show() {
    const {timeline, moment, scene, stage} = this
    const count = timeline.countAt(moment)
    const recorded = timeline.recordedAt(moment)
    scene.show(count, recorded)
    this.canvas.refresh()
    stage.dataset.paper = timeline.paperAt(count) ?? 'dotted'
    const word = this.isPlaying ? 'replay.pause' : 'replay.play'
    if (this.play.ariaLabel !== say(word)) {
      Object.assign(this.play, {ariaLabel: say(word), title: say(word)})
      this.play.replaceChildren(icon(icons[this.isPlaying ? 'pause' : 'play']))
    }
    this.slider.value = moment
    const values = {at: clockText(moment), of: clockText(timeline.duration)}
    write(this.clock, `${values.at} / ${values.of}`)
    if (this.slider.ariaValueText !== say('replay.time', values)) this.slider.ariaValueText = say('replay.time', values)
    const when = new Date(timeline.lesson.time + recorded).toLocaleString(locale, {dateStyle: 'medium', timeStyle: 'medium'})
    write(this.when, `\u2068${this.title}\u2069 · \u2068${when}\u2069`)
    write(this.notice, this.#noticeText())
  }

  #noticeText() {
    const {timeline, moment} = this
    if (moment >= timeline.duration && !timeline.lesson.isWhole) return say('replay.cutOff')
    const event = timeline.noticeAt(moment, noticeMs)
    if (event?.kind === 'broken') return say('replay.broken')
    if (event) {
      const {what, count} = event
      if (what === 'packets') return count === undefined ? say('replay.somePackets') : say('replay.packets', {count})
      return count === undefined ? say('replay.someMessages') : say('replay.messages', {count})
    }
    return ''
  }
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text
}
