// The tools of the page under a hand that a test plays: a stage without a browser, real records, and what was written.
import {PenMode} from '../../../Sources/RelayPage/page/pen-mode.js'
import {Records} from '../../../Sources/RelayPage/page/records.js'
import {loadTools} from '../../../Sources/RelayPage/page/tools/index.js'
import {Tools} from '../../../Sources/RelayPage/page/tools.js'
import {Undo} from '../../../Sources/RelayPage/page/undo.js'
import {MemoryStorage} from './memory-storage.mjs'

await loadTools()

const pointers = {f: 'touch', p: 'pen', m: 'mouse'}

export class PlayedHand {
  written = []
  takenBack = []
  packets = []
  shownUpTo = 0
  toasts = 0
  frames = []
  /** What the browser expects behind the next event. */
  predicted = []
  handlers = new Map()

  /** @param {{strokes?: object, mine?: (id: string) => boolean}} [board] payloads by id */
  constructor({strokes = {}, mine = () => true} = {}) {
    globalThis.document = {activeElement: {blur() {}}, hidden: false, addEventListener() {}, removeEventListener() {}}
    globalThis.requestAnimationFrame = run => this.frames.push(run)
    globalThis.cancelAnimationFrame = frame => { this.frames[frame - 1] = () => {} }
    this.records = new Records(() => {})
    Object.entries(strokes).forEach(([key, payload], at) =>
      this.records.received({isRetained: true, key, offset: at + 1, sender: 'me', customType: 'stroke', payload}))
    this.records.caughtUp(Object.keys(strokes).length)
    this.records.flush()
    const stage = {addEventListener: (type, handle) => this.handlers.set(type, handle)}
    this.canvas = {
      stage, view: {x: 0, y: 0, scale: 1}, hidden: new Set(), refresh() {}, redraw() {}, zoom() {},
      toBoard: ({clientX, clientY}) => ({x: clientX, y: clientY}),
      pan(dx, dy) { this.view = {...this.view, x: this.view.x - dx, y: this.view.y - dy} },
    }
    this.session = {
      mayDraw: true, mayChange: ({id}) => mine(id), sendCursor() {}, takeBack: id => this.takenBack.push(id),
      write: (key, record) => this.written.push([{key, record}]), writeAll: changes => changes.length && this.written.push(changes),
      user: 'me', packet: (topic, payload) => this.packets.push(payload),
      sendPoints: ({xy}) => this.shownUpTo = xy.length / 2,
    }
    this.undo = new Undo()
    this.penMode = new PenMode({storage: new MemoryStorage(), changed() {}, tell: () => void this.toasts++})
    this.tools = new Tools({canvas: this.canvas, session: this.session, records: this.records, undo: this.undo, penMode: this.penMode,
      style: () => ({color: '#000000FF', width: 300}), changed() {}, refused: () => void this.toasts++})
  }

  /** `at who what x y`, and `shift` if that key is down: fingers are `f1`, …, a pen `p1`, a mouse `m1`. Times are in ms, and count from now. */
  play(...lines) {
    this.began ??= performance.now()
    for (const line of lines) {
      const [at, who, what, x = 0, y = 0, key] = line.split(' ')
      this.handlers.get(`pointer${what}`)({
        pointerId: who.charCodeAt(0) * 10 + Number(who[1]), pointerType: pointers[who[0]], clientX: Number(x), clientY: Number(y),
        button: 0, buttons: 1, pressure: 0.5, getPredictedEvents: () => this.predicted.splice(0), type: `pointer${what}`,
        timeStamp: this.began + Number(at), shiftKey: key === 'shift', preventDefault() {},
      })
    }
  }
  /** All frames that were asked for. */
  frame() {
    for (const run of this.frames.splice(0)) run()
  }
  /** What is held has its time over. */
  rest() {
    this.tools.finish?.(Infinity)
  }
  get keys() {
    return this.written.map(changes => changes.map(({key, record}) => record ? `${key}` : `-${key}`))
  }
}
