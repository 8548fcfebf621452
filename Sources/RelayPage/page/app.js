// The whiteboard page: puts its parts together, and tells the document how things are.
import {Canvas} from './canvas.js'
import {arrive, claimDevice, isKnownTab, isOutdated, keep, open, ownUser, readAddress, subjectOf} from './identity.js'
import {linkWords, penTexts} from './first-words.js'
import {loadKinds} from './kinds/index.js'
import {Live} from './live.js'
import {titleOf} from './names.js'
import {PenMode} from './pen-mode.js'
import {Records} from './records.js'
import {Session} from './session.js'
import {Tools} from './tools.js'
import {$, ask, field, make, panels, showCursors, showPeople, toast} from './ui.js'
import {Undo} from './undo.js'

const local = open('localStorage')
const colors = {
  Black: '1B1B1B', Grey: '7A7F8A', Red: 'D92D20', Orange: 'E8730C', Green: '15924B', Blue: '1F66E5', Violet: '7A3EE0', Pink: 'D62A83',
}
const widths = {Fine: 200, Medium: 350, Bold: 700, Broad: 1_400}
const textSizes = {200: 1_800, 350: 2_600, 700: 4_200, 1400: 7_200}
const toolKeys = {v: 'select', p: 'pen', h: 'marker', e: 'eraser', t: 'text'}
const style = {color: '1B1B1B', width: 350}

/** What the first drawing does without. It comes behind it, so that it is there without a relay, or when it is wanted before. */
const late = {
  devices: () => import('./devices.js'), endings: () => import('./endings.js'), host: () => import('./host.js'),
  invite: () => import('./invite.js'), kinds: loadKinds, names: () => import('./new-names.js'), png: () => import('./png.js'), svg: () => import('./svg-document.js'),
  words: () => import('./words.js'), writing: () => import('./writing.js'),
}

const {board, credential, code} = arrive()
addEventListener('hashchange', () => {
  const address = readAddress(location.hash)
  if (address.board !== board || address.credential || address.code) location.reload()
})

const undo = new Undo()
const records = new Records(added => canvas.redraw(added))
const live = new Live(() => canvas.refresh())
const canvas = new Canvas({
  stage: $('stage'), board: $('board'), live: $('live'), elements: () => records.ordered,
  drawLive: context => {
    live.draw(context)
    tools?.drawLive(context)
    showCursors(live.cursors, session?.members ?? new Map(), canvas)
    tell()
  },
  moved: () => queueMicrotask(() => {
    const {x, y, scale} = canvas.view
    const step = 24 * scale * 2 ** Math.max(0, Math.ceil(Math.log2(0.6 / scale)))
    Object.assign(canvas.stage.style, {backgroundSize: `${step}px ${step}px`, backgroundPosition: `${-x * scale}px ${-y * scale}px`})
    $('zoom-level').textContent = `${Math.round(scale * 100)} %`
    tools?.writing.lay()
  }),
})
const penMode = new PenMode({
  storage: local, changed: showPenMode, tell: () => toast(penTexts.penOnly, penTexts.fingersToo, () => penMode.choose(false)),
})
let session
let host
let tools

const title = () => session?.title?.value || titleOf(board)
const svg = async () => (await late.svg()).svgDocument(records.ordered, records.title)
const print = async () => (await late.svg()).print(records.ordered, records.title)

/** What the document says of itself, for styles and for tests. */
function tell() {
  const {dataset} = document.documentElement
  const state = session?.state ?? 'connecting'
  const values = {
    link: state === 'closed' ? 'ended' : state, unsent: records.own.length, live: live.strokes.size + (tools?.strokes.size ?? 0),
    role: session?.mayDraw ?? true ? 'editor' : 'reader', tool: tools?.tool ?? 'pen',
        ...records.isReading ? {} : {boardOffset: records.offset},
  }
  if (records.isReading) delete dataset.boardOffset
  for (const [name, value] of Object.entries(values)) if (dataset[name] !== String(value)) dataset[name] = value
}

// MARK: The session

let retryAt = 0
let isFitted
let unkept = 0
function showLink() {
  const text = linkWords(session.state, records.own.length, Math.ceil((retryAt - performance.now()) / 1000))
  $('status-text').textContent = text
  $('status').ariaLabel = text || 'Connected'
  if (session.client.unsent.unkept > unkept) toast('No space to save what is not sent yet. Keep this page open.')
  unkept = session.client.unsent.unkept
  tell()
}

async function linkChanged() {
  const {state, afterMs, reason} = session.client.link
  retryAt = performance.now() + (afterMs ?? 0)
  showLink()
  if (state !== 'closed' || reason.kind === 'closedByApp') return
  const {linkEnded} = await late.endings()
  await linkEnded(session, reason)
}

function changed(what) {
  if (what === 'link') linkChanged()
  if (what === 'ended') late.endings().then(({boardEnded}) => boardEnded())
  if (what === 'people' || what === 'access') {
    showPeople(session.members, session.user, session.mayClear, session.mayModerate && ((user, name) => host?.manage(user, name)))
    if (session.mayModerate) showHost()
    host?.show()
    canvas.refresh()
  }
  if (what === 'read') {
    isFitted ??= !canvas.fit(true)
    comeLater()
  }
  if (what === 'title' || what === 'access') showTitle()
  const {progress, standing, mayDraw, mayClear, mayModerate} = session
  $('progress').hidden = progress === undefined
  $('progress').ariaValueNow = Math.round(progress * 100)
  $('progress').firstChild.style.width = `${progress * 100}%`
  $('hint').classList.toggle('gone', records.isReading || records.elements.size > 0)
  $('reading').hidden = !standing
  $('reading').textContent = standing
  $('reading').classList.toggle('above', mayDraw)
  $('clear').hidden = !mayClear
  $('end-board').hidden = !mayModerate
  $('undo').disabled = undo.done.length === 0
  $('redo').disabled = undo.undone.length === 0
  showLink()
}

function showTitle() {
  if (document.activeElement !== $('title')) $('title').value = title()
  $('title').disabled = !session?.mayDraw
  document.title = `${title()} – Whiteboard`
}

function turn(writes) {
  if (writes.some(({isClear}) => isClear)) session.undoClear().catch(failed)
  session.writeAll(writes.filter(({isClear}) => !isClear))
  changed()
}

const failed = async error => session?.state === 'closed' || toast((await late.words()).explain(error))

const showHost = async () => {
  const {Host} = await late.host()
  host ??= new Host(session)
  host.show()
}

/** A text that is begun before its module has come begins when it has. */
const noWriting = {
  lay() {}, finish() {},
  async begin(...at) {
    await takeWriting()
    tools.writing.begin(...at)
  },
}
async function takeWriting() {
  const {Writing} = await late.writing()
  if (tools.writing !== noWriting) return
  tools.writing = new Writing({canvas, session, records, undo, style: () => ({color: `#${style.color}FF`, size: textSizes[style.width]})})
}

/** What stands is shown: what may be wanted without a relay is loaded now. */
function comeLater() {
  if (performance.getEntriesByName('whiteboard-read').length > 0) return
  performance.mark('whiteboard-read')
  const all = [showHost(), takeWriting(), ...Object.values(late).map(load => load())]
  // What does not come now is asked for again when it is wanted.
  for (const one of all) one.catch(() => {})
}

// MARK: Tools, and what the buttons do

function choose(tool) {
  tools.tool = tool
  tools.choose([])
  for (const name of Object.values(toolKeys)) $(`tool-${name}`).ariaPressed = name === tool
  tell()
}

function restyle(change) {
  Object.assign(style, change)
  for (const button of document.querySelectorAll('#style-panel button')) {
    button.ariaPressed = button.dataset.color === `#${style.color}FF` || Number(button.dataset.width) === style.width
  }
  const {style: swatch} = $('style').firstChild
  swatch.background = `#${style.color}`
  swatch.transform = `scale(${0.5 + style.width / 2_800})`
  if (['eraser', 'select'].includes(tools.tool)) choose('pen')
}

function showPenMode() {
  $('pen-mode').hidden = !penMode.isKnown
  $('pen-only').ariaChecked = penMode.isOn
}

function furnish() {
  const show = panels([['people', 'people-panel'], ['more', 'menu'], ['style', 'style-panel']])
  for (const [label, color] of Object.entries(colors)) {
    const swatch = make('i', {className: 'swatch ink'})
    swatch.style.background = `#${color}`
    const button = make('button', {ariaLabel: label, onclick: () => restyle({color})}, swatch)
    button.dataset.color = `#${color}FF`
    $('colors').append(button)
  }
  for (const [label, width] of Object.entries(widths)) {
    const dot = make('i')
    dot.style.width = dot.style.height = `${4 + width / 70}px`
    const button = make('button', {ariaLabel: label, onclick: () => restyle({width})}, dot)
    button.dataset.width = width
    $('widths').append(button)
  }
  for (const [key, tool] of Object.entries(toolKeys)) {
    $(`tool-${tool}`).onclick = () => choose(tool)
    $(`tool-${tool}`).title = `${$(`tool-${tool}`).ariaLabel} (${key.toUpperCase()})`
  }
  const actions = {
    undo: () => turn(undo.undo(records)), redo: () => turn(undo.redo(records)), status: () => session.client.wakeUp(), invite,
    'pen-only': () => penMode.choose(!penMode.isOn),
    'zoom-out': () => canvas.zoom(0.8), 'zoom-in': () => canvas.zoom(1.25), 'zoom-level': () => canvas.zoom(1 / canvas.view.scale),
  }
  const menu = {
    'new-board': async () => location.hash = `/b/${(await late.names()).boardName()}`,
    'zoom-fit': () => canvas.fit(), print, clear: ending('clear'), 'end-board': ending('endBoard'), leave,
    rename: async () => session.rename(await askName()), 'another-device': offerDevice,
    'export-svg': async () => (await late.svg()).saveSVG(records.ordered, records.title, `${title()}.svg`),
    'export-png': async () => (await late.png()).savePNG(records.ordered, `${title()}.png`),
  }
  for (const [id, run] of Object.entries(actions)) $(id).onclick = run
  for (const [id, run] of Object.entries(menu)) $(id).onclick = () => (show(), run())
  $('another-device').hidden = Boolean(credential?.token)
  $('title').onkeydown = ({key}) => {
    if (key === 'Escape') $('title').value = title()
    if (key === 'Enter' || key === 'Escape') $('title').blur()
  }
  $('title').onchange = () => session.setTitle($('title').value.trim()).catch(failed).finally(showTitle)
}

const ending = name => () => late.endings().then(endings => endings[name]({session, undo, turn, changed, failed}), noModule)
const leave = ending('leave')
const noModule = () => toast('You are not connected. Try again in a moment.')
const invite = () => late.invite().then(({invite}) => invite(session), noModule)
const offerDevice = () => late.invite().then(({offerDevice}) => offerDevice({session, failed}), noModule)

async function askName() {
  const value = local.getItem('whiteboard.name') ?? (await late.names()).personName()
  const input = field({id: 'name', value, maxLength: 40, ariaLabel: 'Your name',
      onfocus: () => input.select()})
  await ask('welcome', 'What is your name?', 'Others see it next to your pen.', [['start', 'Start drawing']], [input], true)
  keep(local, 'whiteboard.name', input.value.trim())
  return input.value.trim()
}

// MARK: Keys

function keyDown(event) {
  const {key, target, ctrlKey, metaKey, altKey, shiftKey} = event
  if (target.closest?.('input, textarea, dialog')) return
  const name = key.toLowerCase()
  const plain = {
    '+': $('zoom-in').onclick, '=': $('zoom-in').onclick, '-': $('zoom-out').onclick, 0: $('zoom-level').onclick, f: () => canvas.fit(),
        i: invite, '[': () => step(-1), ']': () => step(1),
    delete: () => tools.removeChosen(), backspace: () => tools.removeChosen(), escape: () => tools.choose([]),
    ' ': target.tagName === 'BUTTON' ? undefined : () => pan(true),
  }
  const color = Object.values(colors)[key - 1]
  const run = ctrlKey || metaKey ? {z: $(shiftKey ? 'redo' : 'undo').onclick, y: $('redo').onclick, p: print}[name]
    : altKey ? undefined : toolKeys[name] ? () => session.mayDraw && choose(toolKeys[name]) : color ? () => restyle({color}) : plain[name]
  if (!run) return
  event.preventDefault()
  run()
}
const step = by => restyle({width: Object.values(widths)[Object.values(widths).indexOf(style.width) + by] ?? style.width})
function pan(isPanning) {
  tools.isPanning = isPanning
  document.documentElement.classList.toggle('panning', isPanning)
}

// MARK: Beginning

showTitle()
if (code) await late.devices().then(({comeAsSame}) => comeAsSame(code, {board, credential, storage: local}))
const isBack = !isKnownTab() && local.getItem('whiteboard.name') !== null
const name = local.getItem('whiteboard.name') ?? await askName()
const user = subjectOf(credential) ?? ownUser()
const device = await claimDevice(user)
session = new Session({board, credential, user, device, name, records, live, changed, failed})
tools = new Tools({
  canvas, session, records, undo, changed, writing: noWriting, penMode, refused: () => toast('Only the host can change what others drew.'),
  style: tool => tool === 'marker' ? {color: `#${style.color}59`, width: style.width * 4}
      : {color: `#${style.color}FF`, width: style.width},
})
furnish()
showPenMode()
choose('pen')
restyle({})
showPeople(new Map([[session.user, {name}]]), session.user)
if (isBack) late.words().then(({entryTexts}) => toast(entryTexts.here(session.name), entryTexts.startFresh, leave), () => {})
// Tabs of a browser are one person, and leave together.
addEventListener('storage', async ({key, newValue}) => {
  if (key !== 'whiteboard.person') return
  if (newValue === null) (await late.endings()).forgetAll({isOfTab: true})
  else if (subjectOf(session.credential) || !isOutdated(session.user)) return
  location.reload()
})
addEventListener('keydown', keyDown)
addEventListener('keyup', ({key}) => key === ' ' && pan(false))
// A user who closes the page has left; one whose page only sleeps has not.
addEventListener('pagehide', ({persisted}) => {
  tools.writing.finish()
  tools.finish(Infinity)
  if (!persisted) session.client.close()
})
addEventListener('beforeunload', event => session.client.unsent.unkept > 0 && event.preventDefault())
setInterval(() => {
  live.age(performance.now())
  showLink()
}, 500)
window.whiteboard = {
  svg, board,
  get user() { return session.user },
  get client() { return session.client },
  get view() { return canvas.view },
  set view(view) {
    canvas.view = view
    canvas.paint()
  },
  get elements() { return records.elements.size },
}
session.connect(session.user)
changed('link')
