// The whiteboard page: puts its parts together, and tells the document how things are.
import {Canvas, picture} from './canvas.js'
import {arrive, claimUser, forgetUser, keepCredential, linkTo, open, readAddress} from './identity.js'
import {Live} from './live.js'
import {personName, titleOf} from './names.js'
import {qrCode, qrPath} from './qr.js'
import {Records} from './records.js'
import {Session} from './session.js'
import {svgDocument} from './svg.js'
import {Tools} from './tools.js'
import {$, ask, copyFrom, make, panels, save, showCursors, showPeople, toast} from './ui.js'
import {Undo} from './undo.js'
import {explain, explainEnd, linkWords} from './words.js'
import {Writing} from './writing.js'

const page = document.documentElement
const storage = open('localStorage')
const colors = [['Black', '1B1B1B'], ['Grey', '7A7F8A'], ['Red', 'D92D20'], ['Orange', 'E8730C'], ['Green', '15924B'], ['Blue', '1F66E5'], ['Violet', '7A3EE0'], ['Pink', 'D62A83']]
const widths = [['Fine', 200], ['Medium', 350], ['Bold', 700], ['Broad', 1_400]]
const textSizes = {200: 1_800, 350: 2_600, 700: 4_200, 1400: 7_200}

const {board, credential} = arrive()
addEventListener('hashchange', () => readAddress(location.hash).board !== board && location.reload())
addEventListener('hashchange', () => readAddress(location.hash).credential && location.reload())

// MARK: The board

const style = {color: colors[0][1], width: 350}
const undo = new Undo()
const records = new Records(change => {
  canvas.redraw(change?.added)
  $('hint').classList.toggle('gone', records.elements.size > 0)
})
const live = new Live(() => canvas.refresh())
const canvas = new Canvas({
  stage: $('stage'), board: $('board'), live: $('live'), elements: () => records.ordered,
  drawLive: context => {
    live.draw(context, canvas.scratch)
    tools?.drawLive(context, '#6b6bdb')
    showCursors(live.cursors, session?.members ?? new Map(), canvas)
    tell()
  },
  moved: () => queueMicrotask(() => {
    const {x, y, scale} = canvas.view
    const step = 24 * scale * 2 ** Math.max(0, Math.ceil(Math.log2(0.6 / scale)))
    Object.assign(canvas.stage.style, {backgroundSize: `${step}px ${step}px`, backgroundPosition: `${-x * scale}px ${-y * scale}px`})
    const percent = `${Math.round(scale * 100)} %`
    $('zoom-level').textContent = percent
    $('zoom-level').setAttribute('aria-label', `Zoom ${percent}: back to 100 %`)
    writing?.lay()
  }),
})
let session
let tools
let writing

const title = () => session?.title?.value || titleOf(board)
const svg = () => svgDocument(records.ordered, records.title)

/** What the document says of itself, for styles and for tests. */
function tell() {
  const {dataset} = page
  const state = session?.client.linkState.state ?? 'connecting'
  const set = (name, value) => dataset[name] !== String(value) && (dataset[name] = value)
  set('link', {closed: 'ended', paused: 'ended'}[state] ?? state)
  if (!records.isReading) set('boardOffset', records.offset)
  else delete dataset.boardOffset
  set('unsent', records.unstored)
  set('live', live.strokes.size + (tools?.stroke ? 1 : 0))
  set('role', session?.mayDraw ?? true ? 'editor' : 'reader')
  set('tool', tools?.tool ?? 'pen')
}

// MARK: The link

let retryAt = 0
function showLink() {
  const {linkState, unsent} = session.client
  const seconds = Math.max(0, Math.ceil((retryAt - performance.now()) / 1000))
  const text = linkWords(linkState, records.unstored, seconds)
  $('status-text').textContent = text
  $('status').setAttribute('aria-label', text || 'Connected')
  if (unsent.unkept > 0) toast('There is no more room to keep what is not sent: do not close this page.')
  tell()
}

async function linkChanged() {
  const {linkState} = session.client
  if (linkState.state === 'waiting') retryAt = performance.now() + linkState.afterMs
  showLink()
  if (linkState.state !== 'closed' && linkState.state !== 'paused') return
  const {key, newUser, ended, title} = explainEnd(linkState.reason)
  if (newUser) forgetUser(session.user)
  else if (ended) {
    $('ended-title').textContent = title ?? 'You are not connected any more'
    $('ended-text').textContent = ended
    await ask('ended-dialog', {isNeeded: true})
  } else {
    if (key) $('key-text').textContent = key
    await ask('key-dialog', {isNeeded: true})
    keepCredential({key: $('key').value.trim()})
  }
  location.reload()
}

function changed(what) {
  if (what === 'link') linkChanged()
  else if (what === 'people') {
    showPeople(session.members, session.user)
    canvas.refresh()
  } else if (what === 'title') showTitle()
  else if (what === 'access') showAccess()
  else if (what === 'read') canvas.fit(true)
  $('progress').hidden = session.progress === undefined
  if (session.progress !== undefined) {
    $('progress').setAttribute('aria-valuenow', Math.round(session.progress * 100))
    $('progress').firstChild.style.width = `${session.progress * 100}%`
  }
  showSteps()
  tell()
}

function showTitle() {
  if (document.activeElement !== $('title')) $('title').value = title()
  document.title = `${title()} – Whiteboard`
}

function showAccess() {
  const {mayDraw, mayClear, isFrozen, rights} = session
  $('reading').hidden = mayDraw
  $('reading').textContent = isFrozen ? 'The host has paused drawing' : 'View only'
  $('hint').hidden = !mayDraw
  $('clear').hidden = !mayClear
  $('title').disabled = !mayDraw || !(rights?.has('metadata') ?? true)
}

function showSteps() {
  $('undo').disabled = undo.done.length === 0
  $('redo').disabled = undo.undone.length === 0
}

function turn(writes) {
  for (const {key, record} of writes) session.write(key, record)
  showSteps()
}

const failed = (error, what) => {
  if (session?.client.linkState.state === 'closed') return
  toast(explain(error))
  if (what === 'enter') console.warn(error.message)
}

// MARK: Tools and their buttons

const toolKeys = {v: 'select', p: 'pen', h: 'marker', e: 'eraser', t: 'text'}
function choose(tool) {
  tools.tool = tool
  tools.choose([])
  for (const name of Object.values(toolKeys)) $(`tool-${name}`).setAttribute('aria-pressed', name === tool)
  tell()
}

function restyle(change) {
  Object.assign(style, change)
  for (const button of document.querySelectorAll('#colors button, #widths button')) {
    button.setAttribute('aria-pressed', button.dataset.color === `#${style.color}FF` || Number(button.dataset.width) === style.width)
  }
  const swatch = $('style').firstChild
  swatch.style.setProperty('--ink', `#${style.color}`)
  swatch.style.transform = `scale(${0.55 + 0.15 * widths.findIndex(([, width]) => width === style.width)})`
  if (['eraser', 'select'].includes(tools.tool)) choose('pen')
}

const press = (id, run) => $(id).addEventListener('click', run)

function furnish() {
  const show = panels([['people', 'people-panel'], ['more', 'menu'], ['style', 'style-panel']])
  const item = (id, run) => press(id, () => {
    show()
    run()
  })
  for (const [name, color] of colors) {
    const swatch = make('i', {className: 'swatch ink'})
    swatch.style.setProperty('--ink', `#${color}`)
    const button = make('button', {type: 'button', onclick: () => restyle({color})}, swatch)
    button.dataset.color = `#${color}FF`
    button.setAttribute('aria-label', name)
    $('colors').append(button)
  }
  for (const [name, width] of widths) {
    const dot = make('i')
    Object.assign(dot.style, {width: `${4 + width / 70}px`, height: `${4 + width / 70}px`})
    const button = make('button', {type: 'button', onclick: () => restyle({width})}, dot)
    button.dataset.width = width
    button.setAttribute('aria-label', name)
    $('widths').append(button)
  }
  $('style').firstChild.classList.add('ink')
  for (const tool of Object.values(toolKeys)) press(`tool-${tool}`, () => choose(tool))
  press('undo', () => turn(undo.undo(key => records.get(key))))
  press('redo', () => turn(undo.redo(key => records.get(key))))
  press('status', () => session.client.wakeUp())
  press('zoom-out', () => canvas.zoom(1 / 1.25))
  press('zoom-in', () => canvas.zoom(1.25))
  press('zoom-level', () => canvas.zoom(1 / canvas.view.scale))
  press('invite', invite)
  item('zoom-fit', () => canvas.fit())
  item('export-svg', () => save(new Blob([svg()], {type: 'image/svg+xml'}), `${title()}.svg`))
  item('export-png', () => picture(records.ordered).toBlob(blob => save(blob, `${title()}.png`)))
  item('print', print)
  item('keys', () => ask('keys-dialog'))
  item('clear', clear)
  item('rename', async () => {
    await askName()
    session.rename(storage.getItem('whiteboard.name'))
  })
  for (const id of ['invite', 'keys']) press(`${id}-close`, () => $(`${id}-dialog`).close())
  press('copy', () => {
    const isCopied = copyFrom($('address'))
    $('copy').textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
    setTimeout(() => $('copy').textContent = 'Copy', 2_000)
  })
  $('title').addEventListener('keydown', event => {
    if (event.key === 'Escape') $('title').value = title()
    if (event.key === 'Enter' || event.key === 'Escape') $('title').blur()
  })
  $('title').addEventListener('change', () => session.setTitle($('title').value.trim()).catch(failed).finally(showTitle))
  for (const [keys, what] of [['P', 'Pen'], ['H', 'Highlighter'], ['E', 'Eraser'], ['T', 'Text'], ['V', 'Select and move'], ['1 – 8', 'Colours'], ['[ ]', 'Thinner, thicker'],
    ['Ctrl Z', 'Undo'], ['Ctrl Shift Z', 'Redo'], ['Space', 'Hold to move the paper'], ['+ − 0', 'Zoom'], ['F', 'Show everything'], ['I', 'Invite']]) {
    $('keys-list').append(make('dt', {}, ...keys.split(' ').map(key => make('kbd', {textContent: key}))), make('dd', {textContent: what}))
  }
}

function invite() {
  const address = linkTo(location.origin, board, credential)
  const code = qrCode(address)
  $('address').value = address
  $('qr').toggleAttribute('hidden', !code)
  if (code) {
    $('qr').setAttribute('viewBox', `0 0 ${code.length + 8} ${code.length + 8}`)
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
    path.setAttribute('d', qrPath(code))
    $('qr').replaceChildren(path)
  }
  $('invite-text').textContent = /^(localhost|127\.|\[::1\])/.test(location.hostname) ? 'Only this computer knows this address: open the board by one that the relay printed.'
    : session.mayDraw ? 'Point a phone or tablet in the same network at the code.' : 'Whoever scans the code can watch.'
  ask('invite-dialog')
}

async function clear() {
  if (await ask('clear-dialog') !== 'yes') return
  try {
    await session.clear()
    toast('The board is clear.', 'Undo', () => session.undoClear().catch(failed))
  } catch (error) {
    failed(error)
  }
}

async function print() {
  const image = $('print-image')
  image.src = URL.createObjectURL(new Blob([svg()], {type: 'image/svg+xml'}))
  await image.decode().catch(() => {})
  window.print()
  URL.revokeObjectURL(image.src)
}

async function askName() {
  $('name').value = storage.getItem('whiteboard.name') ?? personName()
  $('name-other').onclick = () => $('name').value = personName()
  setTimeout(() => $('name').select())
  await ask('welcome', {isNeeded: true})
  storage.setItem('whiteboard.name', $('name').value.trim() || personName())
}

// MARK: Keys

function keyDown(event) {
  const {key, target} = event
  if (target.closest?.('input, textarea') || document.querySelector('dialog[open]')) return
  const name = key.toLowerCase()
  const isCommand = event.ctrlKey || event.metaKey
  const run = isCommand ? {z: () => $(event.shiftKey ? 'redo' : 'undo').click(), y: () => $('redo').click(), p: print}[name]
    : event.altKey ? undefined
      : toolKeys[name] ? () => session.mayDraw && choose(toolKeys[name])
        : {
          '+': () => canvas.zoom(1.25), '=': () => canvas.zoom(1.25), '-': () => canvas.zoom(0.8), 0: () => canvas.zoom(1 / canvas.view.scale), f: () => canvas.fit(), i: invite,
          '?': () => ask('keys-dialog'), '[': () => step(-1), ']': () => step(1), delete: () => tools.removeChosen(), backspace: () => tools.removeChosen(),
          escape: () => tools.choose([]),
        }[name] ?? (colors[key - 1] && (() => restyle({color: colors[key - 1][1]})))
  if (name === ' ' && !target.closest?.('button')) pan(true)
  else if (!run) return
  event.preventDefault()
  run?.()
}
const step = by => restyle({width: (widths[widths.findIndex(([, width]) => width === style.width) + by] ?? [0, style.width])[1]})
const pan = isPanning => {
  tools.isPanning = isPanning
  page.classList.toggle('panning', isPanning)
}

// MARK: Beginning

async function begin() {
  showTitle()
  if (!storage.getItem('whiteboard.name')) await askName()
  const user = await claimUser()
  session = new Session({board, credential, user, name: storage.getItem('whiteboard.name'), records, live, changed, failed})
  const parts = {canvas, session, records, undo}
  writing = new Writing({...parts, style: () => ({color: `#${style.color}FF`, size: textSizes[style.width]})})
  tools = new Tools({
    ...parts, changed: () => changed('drawn'), refused: () => toast('Only the host can change what others drew.'),
    style: tool => tool === 'marker' ? {color: `#${style.color}59`, width: style.width * 4} : {color: `#${style.color}FF`, width: style.width},
    writeText: (place, element) => writing.begin(place, element),
  })
  furnish()
  choose('pen')
  restyle({})
  showAccess()
  showPeople(new Map([[user, {name: session.name}]]), user)
  document.addEventListener('keydown', keyDown)
  document.addEventListener('keyup', ({key}) => key === ' ' && pan(false))
  addEventListener('beforeunload', event => session.client.unsent.unkept > 0 && event.preventDefault())
  setInterval(() => {
    live.age(performance.now())
    if (session.client.linkState.state === 'waiting') showLink()
  }, 500)
  window.whiteboard = {
    svg, board, user, client: session.client,
    get view() {
      return canvas.view
    },
    set view(view) {
      canvas.view = view
      canvas.paint()
    },
    get elements() {
      return records.elements.size
    },
  }
  changed('link')
}
begin()
