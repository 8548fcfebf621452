// The board as bitmaps: what is drawn when, counted on a screen that remembers what was drawn on it. No browser, and no times.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {Canvas} from '../../Sources/RelayPage/page/canvas.js'
import {order} from '../../Sources/RelayPage/page/layers.js'
import {overlap} from '../../Sources/RelayPage/page/places.js'
import {drawnPerFrameMax, edgePx, tilePx, Tiles, tilesMax} from '../../Sources/RelayPage/page/tiles.js'
import {Dice} from './support/dice.mjs'

/** A bitmap that knows which elements are drawn on it, and which bitmaps. */
class Bitmap {
  drawn = []
  laid = []
  constructor(width, height = width) {
    this.canvas = {width, height, bitmap: this}
  }
  clearRect(x, y, width, height) {
    if (width === this.canvas.width && height === this.canvas.height) Object.assign(this, {drawn: [], laid: []})
    else this.laid = this.laid.filter(tile => tile.x !== x || tile.y !== y)
  }
  drawImage({width, bitmap}, fromX, fromY, fromWidth, fromHeight, x, y, side) {
    assert.equal(width, tilePx + 2 * edgePx, 'its memory was given back')
    assert.deepEqual([fromX, fromY, fromWidth, fromHeight], [edgePx, edgePx, tilePx, tilePx])
    this.laid.push({x, y, side, drawn: bitmap.drawn})
  }
  resetTransform() {}
  setTransform(...transform) {
    this.transform = transform
  }
}

/** Tiles, with a window onto them. */
class Screen {
  count = 0
  layers = []
  view = {left: 0, top: 0, zoom: 1}
  all = new Map()

  constructor(width, height) {
    this.window = new Bitmap(width, height)
    this.tiles = new Tiles({
      layer: side => {
        this.layers.push(new Bitmap(side))
        return this.layers.at(-1)
      },
      draw: (bitmap, element) => {
        this.count++
        bitmap.drawn.push(element)
      },
      spanOf: ({box}) => box,
    })
  }
  change(gone, come) {
    for (const {id} of gone) this.all.delete(id)
    for (const element of come) this.all.set(element.id, element)
    this.tiles.change({gone, come})
  }
  /** One frame; how many elements it drew. */
  frame(change = {}) {
    this.count = 0
    Object.assign(this.view, change)
    this.isWhole = this.tiles.show(this.window, this.view)
    return this.count
  }
  /** Frames until all is there; how many elements each drew. */
  settle(change) {
    const counts = [this.frame(change)]
    while (!this.isWhole) counts.push(this.frame())
    return counts
  }
  /** What is on the window is what a drawing of all of it would show. */
  check(message) {
    const {left, top, zoom} = this.view
    const {width, height} = this.window.canvas
    const sorted = [...this.all.values()].filter(({id}) => !this.tiles.hidden.has(id)).sort(order)
    for (let y = Math.floor(top / tilePx) * tilePx; y < top + height; y += tilePx) {
      for (let x = Math.floor(left / tilePx) * tilePx; x < left + width; x += tilePx) {
        const box = [x - 2, y - 2, x + tilePx + 2, y + tilePx + 2].map(place => place / zoom * 100)
        const laid = this.window.laid.filter(tile => tile.x === x - left && tile.y === y - top && tile.side === tilePx)
        assert.deepEqual(laid.flatMap(({drawn}) => drawn.map(({id}) => id)),
            sorted.filter(element => overlap(element.box, box)).map(({id}) => id), `${message}: tile at ${x}, ${y}`)
      }
    }
  }
  /** Bitmaps whose memory is in use. */
  get used() {
    return this.layers.filter(({canvas}) => canvas.width > 0).length
  }
}

const boxAt = (x, y, side) => [x, y, x + side, y + side].map(place => place * 100)
const many = 20_000
/** So many at most lie in a tile. */
const perTile = (zoom = 1) => Math.ceil((tilePx + 4) / zoom / 20 + 1) ** 2
/** 20,000 strokes of 12 px, in 100 columns 20 px apart: 4,000 px to the side. */
const field = () => Array.from({length: many}, (_, at) => ({id: `s${at}`, z: at, box: boxAt(at % 100 * 20, Math.floor(at / 100) * 20, 12)}))

test(`panning ${many} strokes draws only tiles that are new, and what was seen before not again`, () => {
  const screen = new Screen(1_000, 700)
  screen.change([], field())
  screen.settle()
  screen.check('at first')
  let [left, drawn] = [0, 0]
  for (; left < 512; left += 8) {
    const count = screen.frame({left})
    drawn += count
    const isNew = (left + 1_000 - 1) % tilePx < 8
    assert.ok(count <= (isNew ? 3 * perTile() : 0), `${count} at ${left}`)
    assert.ok(screen.isWhole)
    screen.check(`at ${left}`)
  }
  assert.ok(drawn > 0 && drawn <= 6 * perTile(), `${drawn}`)
  for (; left >= 0; left -= 8) assert.equal(screen.frame({left}), 0)
  screen.check('back')
})

test('a change draws anew the tiles that it touches; what comes above all is drawn alone', () => {
  const screen = new Screen(2_000, 1_400)
  const strokes = field()
  screen.change([], strokes)
  screen.settle()
  const one = {id: 'one', z: many, box: boxAt(tilePx - 6, tilePx - 6, 12)}
  screen.change([], [one])
  assert.equal(screen.frame(), 4, 'over the corner of four tiles, once on each')
  screen.check('above all')
  const below = {id: 'below', z: 0.5, box: boxAt(300, 300, 5)}
  screen.change([], [below])
  const inOne = screen.frame()
  assert.ok(inOne > 1 && inOne <= perTile(), `${inOne}: one tile`)
  screen.check('below others')
  screen.change([one], [{...one, box: boxAt(600, 20, 12)}])
  assert.ok(screen.frame() <= 5 * perTile(), 'where it was and where it is')
  screen.check('moved')
  assert.ok(!screen.tiles.hide(new Set()))
  assert.ok(screen.tiles.hide(new Set(['s0', 's1'])))
  assert.ok(screen.frame() <= perTile())
  screen.check('hidden')
  screen.change(strokes.slice(0, 2), [])
  assert.ok(screen.tiles.hide(new Set()))
  assert.equal(screen.frame(), 0, 'what was not shown has gone')
  screen.check('gone')
})

test('whatever comes, changes, hides and moves, the window shows what is there', () => {
  const dice = new Dice(11)
  const screen = new Screen(600, 500)
  const newElement = number => ({id: `e${number}`, z: dice.below(20),
    box: boxAt(dice.below(2_000) - 500, dice.below(2_000) - 500, dice.below(300))})
  for (let turn = 0; turn < 400; turn++) {
    const gone = [...screen.all.values()].filter(() => dice.below(12) === 0)
    screen.change(gone, [...gone.filter(() => dice.below(2)).map(element => ({...newElement(0), id: element.id})),
      ...Array.from({length: dice.below(4)}, (_, at) => newElement(turn * 10 + at))])
    if (dice.below(3) === 0) screen.tiles.hide(new Set([...screen.all.keys()].filter(() => dice.below(6) === 0)))
    if (dice.below(2) === 0) screen.frame({left: dice.below(1_500) - 700, top: dice.below(1_500) - 700})
    if (dice.below(8) === 0) screen.frame({zoom: [0.25, 1, 1.5, 3][dice.below(4)]})
    if (dice.below(2) === 0) {
      screen.settle()
      screen.check(`turn ${turn}`)
    }
  }
})

test('a frame draws a bounded number; while that goes on after a zoom, what was there is seen at the new size', () => {
  const screen = new Screen(1_000, 700)
  screen.change([], field())
  assert.ok(Math.max(...screen.settle()) < drawnPerFrameMax + perTile())
  const first = screen.frame({zoom: 0.25})
  assert.ok(!screen.isWhole && first < drawnPerFrameMax + perTile(0.25), `${first}`)
  assert.ok(screen.window.laid.some(({side}) => side === tilePx / 4), 'scaled')
  // A pinch goes on: what is half done is never shown scaled, what was whole is.
  screen.frame({zoom: 0.125})
  assert.ok(screen.window.laid.some(({side}) => side === tilePx / 8))
  assert.ok(screen.window.laid.every(({side}) => [tilePx, tilePx / 8].includes(side)))
  screen.settle()
  assert.ok(screen.window.laid.every(({side}) => side === tilePx))
  screen.check('zoomed')
  assert.ok(screen.used <= 12, `${screen.used}: the old ones have gone`)
})

test(`${tilesMax} tiles are kept, the least recently seen go first; what a large window shows is more than that, and stays`, () => {
  const screen = new Screen(1_000, 700)
  screen.change([], [{id: 'paper', z: 0, box: boxAt(-1e6, -1e6, 2e6)}])
  for (let left = 0; left < 60_000; left += 500) {
    screen.frame({left})
    assert.ok(screen.used <= tilesMax, `${screen.used}`)
  }
  assert.equal(screen.frame({left: 50_000}), 0, 'seen lately')
  assert.ok(screen.frame({left: 0}) > 0, 'long ago')
  const large = new Screen(8_192, 4_320)
  large.change([], [{id: 'paper', z: 0, box: boxAt(-1e6, -1e6, 2e6)}])
  large.settle()
  assert.equal(large.frame(), 0)
  large.check('large')
  const empty = new Screen(1_000, 700)
  for (let left = 0; left < 500_000; left += 900) empty.frame({left})
  assert.equal(empty.layers.length, 0, 'nothing takes no memory')
})

test('tiles lie on whole pixels of the screen, whatever the view and the ratio of pixels; a hand is where things are shown', () => {
  globalThis.requestAnimationFrame = () => 1
  globalThis.ResizeObserver = class { observe() {} }
  globalThis.window = {devicePixelRatio: 1.5}
  const surface = () => ({getContext: () => new Bitmap(1)})
  const canvas = new Canvas({stage: {clientWidth: 333, clientHeight: 777}, board: surface(), live: surface(), elements: () => [],
    drawLive() {}, moved() {}})
  canvas.tiles = {show: (_, origin) => canvas.shown = origin}
  canvas.resize()
  assert.deepEqual([canvas.board.width, canvas.board.height], [500, 1_166])
  for (const view of [{x: 0, y: 0, scale: 1}, {x: 10.37, y: -99.71, scale: 0.313}, {x: 1 / 3, y: 1e5 / 7, scale: 7.77}]) {
    canvas.view = view
    canvas.paint()
    const {left, top, zoom} = canvas.shown
    assert.ok(Number.isInteger(left) && Number.isInteger(top) && zoom === view.scale * 1.5)
    assert.ok(Math.abs(left - view.x * zoom) <= 0.5 && Math.abs(top - view.y * zoom) <= 0.5)
    const {x, y} = canvas.toBoard({clientX: 20, clientY: 30})
    assert.ok(Math.abs(x * zoom - left - 20 * 1.5) < 1e-6 && Math.abs(y * zoom - top - 30 * 1.5) < 1e-6)
    const back = canvas.toScreen(x * 100, y * 100)
    assert.ok(Math.abs(back.x - 20) < 1e-6 && Math.abs(back.y - 30) < 1e-6)
    canvas.place(canvas.liveContext)
    assert.deepEqual(canvas.liveContext.transform, [zoom, 0, 0, zoom, -left, -top])
    canvas.pan(0.1, 0)
    assert.ok(Math.abs(canvas.view.x - (view.x - 0.1 / view.scale)) < 1e-9, 'steps below a pixel add up')
  }
})

/** A canvas of 1,000 by 700 px that shows a board of dots, each at a place in px. */
function boardOf(...places) {
  globalThis.requestAnimationFrame = () => 1
  globalThis.ResizeObserver = class { observe() {} }
  const surface = () => ({getContext: () => new Bitmap(1)})
  const elements = places.map(([x, y]) => ({box: boxAt(x, y, 4)}))
  const canvas = new Canvas({stage: {clientWidth: 1_000, clientHeight: 700}, board: surface(), live: surface(), elements: () => elements,
    drawLive() {}, moved() {}})
  const seen = () => elements.filter(({box}) => {
    const [from, to] = [canvas.toScreen(box[0], box[1]), canvas.toScreen(box[2], box[3])]
    return from.x >= 0 && from.y >= 0 && to.x <= 1_000 && to.y <= 700
  }).length
  return {canvas, seen}
}

test('everything is shown with a dot 60,000 px away, and at the ends of the format’s range', () => {
  for (const far of [[60_000, 0], [0, -60_000], [9_999_990, 9_999_990]]) {
    const {canvas, seen} = boardOf([-far[0], -far[1]], [0, 0], far)
    canvas.fit()
    assert.equal(seen(), 3, `${far}`)
    const {scale} = canvas.view
    canvas.zoom(0.5)
    assert.equal(canvas.view.scale, scale, 'a hand makes it no smaller')
    canvas.zoom(2)
    assert.equal(canvas.view.scale, 2 * scale)
  }
  const {canvas} = boardOf([0, 0])
  canvas.zoom(1e-9)
  assert.equal(canvas.view.scale, 0.05)
})

test('a newcomer sees all of a drawing, or where most of it lies; who sees all of it is moved nowhere', () => {
  const near = boardOf([10, 10], [500, 400])
  near.canvas.home(true)
  assert.deepEqual(near.canvas.view, {x: 0, y: 0, scale: 1})
  const wide = boardOf([0, 0], [3_000, 0])
  wide.canvas.home(true)
  assert.equal(wide.seen(), 2)
  const far = boardOf([5_000, 5_000], [5_100, 5_000], [5_000, 5_100], [60_000, 0])
  far.canvas.home(true)
  assert.deepEqual([far.seen(), far.canvas.view.scale], [3, 1])
  const apart = boardOf([-60_000, 0], [60_000, 0])
  apart.canvas.home(true)
  assert.ok(apart.seen() >= 1, 'not the empty middle')
})

test('who comes to things that lie far apart sees one of them, not the empty middle between', () => {
  const boxes = [[0, 0, 10, 10], [90_000, 0, 90_010, 10], [100_000, 0, 100_010, 10], [200_000, 0, 200_010, 10]]
  const shown = []
  const board = {
    elements: () => boxes.map(box => ({box})), toScreen: (x, y) => ({x, y}), stage: {clientWidth: 800, clientHeight: 600},
    scaleOf: ([left, , right]) => 800 / (right - left), show: (box, scale) => shown.push({box, scale}), fit: () => shown.push('all'),
  }
  Canvas.prototype.home.call(board)
  assert.deepEqual(shown, [{box: boxes[2], scale: 1}])
  boxes.splice(1)
  Canvas.prototype.home.call(board)
  assert.equal(shown[1], 'all', 'what can be made out is shown whole')
})
