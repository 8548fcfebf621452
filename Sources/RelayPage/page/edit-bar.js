// Where editing begins: keys, what is copied and cut, and a bar beside the selection for people without a keyboard.
import {describe, pictureToDescribe} from './describe.js'
import {Editing} from './editing.js'
import {open} from './identity.js'
import {cursorOf} from './tools/handles.js'
import {boxOfChosen, handleUnder, lift} from './tools/select.js'
import {icon, make} from './ui.js'
import {label} from './words/index.js'

const icons = {
  duplicate: 'M9 9h10.5v10.5H9zM5.5 15H4.5V4.5H15v1M14.2 12v4.5M12 14.2h4.5',
  copy: 'M9 9h10.5v10.5H9zM5.5 15H4.5V4.5H15v1',
  toFront: 'M8 8h8v8H8zM4.5 10.5v-6h6M19.5 13.5v6h-6',
  toBack: 'M4.5 4.5h7v7h-7zM12.5 12.5h7v7h-7zM15 4.5h4.5V9M4.5 15v4.5H9',
  protect: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  unlock: 'M6 11h12v9H6zM8.5 11V7a3.5 3.5 0 0 1 6.8-1',
  describe: 'M4.5 5h15v10.5h-8l-4 4v-4h-3zM8 8.8h8M8 11.8h5',
  who: 'M12 4.5a3.5 3.5 0 0 1 0 7a3.5 3.5 0 0 1 0-7zM4.5 19.5c.8-3.6 3.8-5.4 7.5-5.4s6.7 1.8 7.5 5.4',
  remove: 'M5 7h14M9.5 7V4.5h5V7M7 7l.8 12.5h8.4L17 7M10.3 10.5v6M13.7 10.5v6',
}
const keys = {duplicate: 'Ctrl+D', copy: 'Ctrl+C', toFront: 'Shift+PageUp', toBack: 'Shift+PageDown', protect: 'Ctrl+Shift+L',
  unlock: 'Ctrl+Shift+L', describe: 'Enter', who: 'W', remove: 'Delete'}
/** The bar lies so far from what is chosen, and leaves so much at the window's upper and lower edge to the others, in px. */
const [gapPx, abovePx, belowPx] = [20, 72, 88]

/** @param {{hands, choose, style, undo: () => void, tellWho: () => void, sized: (elements: object[]) => void}} parts */
export function beginEditing(parts) {
  const {hands} = parts
  const editing = new Editing({...parts, storage: open('localStorage'), lift})
  const bar = makeBar(editing)
  lift(hands)
  hands.overlays.set('edit', () => showBar(bar, editing))
  hearKeys(editing)
  hearClipboard(editing)
  hands.canvas.stage.addEventListener('pointermove', event => {
    if (hands.gestures.size > 0) return
    const handle = hands.tool === 'select' && event.pointerType === 'mouse' ? handleUnder(event, hands) : undefined
    hands.canvas.stage.style.cursor = handle ? cursorOf(handle.sides) : ''
  })
  return editing
}

// MARK: The bar

function makeBar(editing) {
  const button = name => {
    const runs = {copy: () => document.execCommand('copy'), remove: () => editing.hands.removeChosen(), unlock: () => editing.protect(),
      describe: () => describe(editing.hands, pictureToDescribe(editing.hands)), who: editing.tellWho}
    const element = make('button', {id: `edit-${name}`, onclick: runs[name] ?? (() => editing[name]())}, icon(icons[name]))
    const word = `edit.${name}`
    Object.assign(element.dataset, {label: word, title: word, key: keys[name]})
    return element
  }
  const bar = make('div', {id: 'edit-bar', className: 'bar', role: 'toolbar', hidden: true}, ...Object.keys(icons).map(button))
  bar.dataset.label = 'edit'
  Object.assign(bar.style, {left: 0, top: 0, zIndex: 1, flexWrap: 'wrap', boxSizing: 'border-box', maxWidth: 'calc(100vw - 1rem)'})
  document.getElementById('dock').before(bar)
  label(bar)
  return bar
}

/** Above what is chosen, or below it where there is no room; while a hand moves something it is away. */
function showBar(bar, {hands, chosen, locked}) {
  const isShown = hands.gestures.size === 0 && chosen.length + locked.length > 0
  bar.hidden = !isShown
  if (!isShown) return
  const isOffered = id => id === 'edit-who'
    || (id === 'edit-describe' ? Boolean(pictureToDescribe(hands)) : (id === 'edit-unlock') === (locked.length > 0))
  for (const button of bar.children) button.hidden = !isOffered(button.id)
  const [left, top, right, bottom] = boxOfChosen(hands)
  const [from, to] = [hands.canvas.toScreen(left, top), hands.canvas.toScreen(right, bottom)]
  const {offsetWidth: width, offsetHeight: height} = bar
  const lowest = innerHeight - belowPx - height
  const above = from.y - gapPx - height
  const y = above >= abovePx ? Math.min(above, lowest) : to.y + gapPx <= lowest ? Math.max(abovePx, to.y + gapPx) : abovePx
  const x = Math.max(8, Math.min(innerWidth - width - 8, (from.x + to.x - width) / 2))
  bar.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`
}

// MARK: Keys

const ways = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}

const isElsewhere = target => Boolean(target?.closest?.('input, textarea, select, dialog, [role=menu], [aria-haspopup], .panel'))

function hearKeys(editing) {
  const {hands} = editing
  addEventListener('keydown', event => {
    const {key, target, ctrlKey, metaKey, altKey, shiftKey} = event
    if (isElsewhere(target) || !hands.session.mayDraw) return
    const way = ways[key]
    const isControl = ctrlKey || metaKey
    const controls = {a: () => editing.selectAll(), d: () => editing.duplicate(), L: () => editing.protect()}
    const run = altKey ? undefined
      : way && editing.chosen.length
        ? () => editing[isControl ? 'resize' : 'nudge'](...way.map(step => shiftKey ? step * 10 : step), event.timeStamp)
      : isControl ? controls[shiftKey ? key.toUpperCase() : key.toLowerCase()]
      : shiftKey && {PageUp: () => editing.toFront(), PageDown: () => editing.toBack()}[key]
    // What is done next is done with what was moved.
    if (!way) editing.settle()
    if (!run) return
    event.preventDefault()
    event.stopPropagation()
    run()
  }, true)
  addEventListener('pointerdown', () => editing.settle(), true)
  addEventListener('pagehide', () => editing.settle())
}

// MARK: The clipboard

/** Over plain http there are its events alone. */
function hearClipboard(editing) {
  const on = (type, use) => document.addEventListener(type, event => {
    if (!isElsewhere(event.target) && !isElsewhere(document.activeElement)) use(event)
  })
  const copy = event => {
    editing.settle()
    const text = editing.copy()
    if (text === undefined) return false
    event.preventDefault()
    event.clipboardData.setData('text/plain', text)
    return true
  }
  on('copy', copy)
  on('cut', event => copy(event) && editing.hands.removeChosen())
  // WebKit lets nothing be copied that no text is selected for, unless it is told so.
  for (const type of ['beforecopy', 'beforecut']) on(type, event => editing.chosen.length && event.preventDefault())
}
