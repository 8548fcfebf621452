// The laser: points at what is on the board, and leaves nothing there.
import {hundredths} from '../format.js'
import {Lasers} from '../lasers.js'
import {differences} from '../points.js'

/** Others get what a hand has pointed at for so long. */
const packetEveryMs = 40
const packetPointsBytesMax = 800

function lasersOf(hands) {
  if (!hands.lasers) {
    hands.lasers = new Lasers(() => hands.canvas.refresh(), () => matchMedia('(prefers-reduced-motion:reduce)').matches)
    hands.overlays.set('laser', context => hands.lasers.draw(context, hands.canvas.view.scale))
  }
  return hands.lasers
}

/** Shows others' lasers as well. */
export function listen({hands, live}) {
  live.shone = (...shone) => lasersOf(hands).shine(...shone)
}

export function begin(event, hands) {
  const {canvas, session} = hands
  const lasers = lasersOf(hands)
  const placeOf = event => Object.values(canvas.toBoard(event)).map(hundredths)
  /** From where the last packet has ended. */
  let xy = placeOf(event)
  let timer
  const show = () => {
    timer = undefined
    const {points, end} = differences({xy}, 0, packetPointsBytesMax)
    const [x, y] = xy.slice(2 * end - 2, 2 * end)
    session.packet('cursors', JSON.stringify({laser: points, v: 1, x, y}))
    xy = xy.slice(2 * end - 2)
    if (xy.length > 2) showSoon()
  }
  const showSoon = () => { timer ??= setTimeout(show, packetEveryMs) }
  lasers.shine(session.user, xy)
  showSoon()
  const over = () => {
    clearTimeout(timer)
    if (timer) show()
  }
  return {
    move: next => {
      const before = xy.slice(-2)
      const all = next.getCoalescedEvents?.().length ? next.getCoalescedEvents() : [next]
      const places = all.flatMap(placeOf)
      xy.push(...places)
      lasers.shine(session.user, differences({xy: [...before, ...places]}, 0, Infinity).points)
      showSoon()
    },
    end: over,
    cancel: over,
  }
}
