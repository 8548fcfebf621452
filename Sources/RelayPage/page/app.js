// The whiteboard page: puts its parts together, and tells the document how things are.
import {Canvas} from './canvas.js'
import {Dock} from './dock.js'
import {hearEarlyKeys, hearGiven} from './given.js'
import {arrive, claimDevice, isKnownTab, isOutdated, keep, leaveDevice, linkTo, open, ownUser, readAddress, subjectOf} from './identity.js'
import {loadKinds} from './kinds/index.js'
import {Live} from './live.js'
import {titleOf} from './names.js'
import {beginAll, once} from './once.js'
import {PenMode} from './pen-mode.js'
import {Records} from './records.js'
import {isSwitchedOff, keepHand, keepView, keptHand, keptView} from './remembered.js'
import {Session} from './session.js'
import {loadTool, loadTools, toolOfKey, tools as toolTable} from './tools/index.js'
import {Tools} from './tools.js'
import {$, ask, field, hearTitle, make, showCursors, toast} from './ui.js'
import {Undo} from './undo.js'
import {keepLanguage, label, locale, preferred, restOfWords, say, speak} from './words/index.js'

const local = open('localStorage')
/** By the second half of their words, `color.…` and `width.…`. */
const colors = {
  black: '1B1B1B', grey: '7A7F8A', red: 'D92D20', orange: 'E8730C', green: '15924B', blue: '1F66E5', violet: '7A3EE0', pink: 'D62A83',
}
const widths = {fine: 200, medium: 350, bold: 700, broad: 1_400}
const textSizes = {200: 1_800, 350: 2_600, 700: 4_200, 1400: 7_200}
const style = {color: '1B1B1B', width: 350, paper: 'FFE680'}

/** The style of what comes late. */
const restOfLooks = once(() => new Promise((resolve, reject) => document.head.append(make('link', {
  rel: 'stylesheet', href: new URL('late.css', import.meta.url), onload: resolve, onerror: () => reject(new Error('no style')),
}))))
// What the first drawing does without. It comes behind it, so that it is there without a relay, or when it is wanted before.
// WebKit runs code of a module whose values it has not made, where two ask for it at once: so each is asked for once.
const withWords = load => once(async () => (await Promise.all([load(), restOfWords(), restOfLooks()]))[0])
const late = {
  boardChange: withWords(() => import('./board-change.js')), boards: withWords(() => import('./boards.js')),
  devices: withWords(() => import('./devices.js')), editing: withWords(() => import('./edit-bar.js')),
  endings: withWords(() => import('./endings.js')), everyone: withWords(() => import('./everyone/index.js')),
  explain: withWords(() => import('./explain.js')), host: withWords(() => import('./host.js')),
  invite: withWords(() => import('./invite.js')), joinCode: withWords(() => import('./join-code.js')),
  kinds: loadKinds, newPerson: () => import('./new-person.js'),
  panels: withWords(() => import('./panels.js')), people: withWords(() => import('./people.js')), png: () => import('./png.js'),
  replay: withWords(() => import('./replay/index.js')), shapes: () => import('./recognise.js'),
  svg: () => import('./svg-document.js'), together: () => import('./together.js'), tools: withWords(loadTools),
  undo: () => import('./kept-undo.js'),
}

const {board: first, credential, code} = arrive()
addEventListener('hashchange', () => {
  const {board = 'board', credential, code} = readAddress(location.hash)
  if (credential || code || !tools || session.state === 'closed') location.reload()
  else goTo(board).catch(() => location.reload())
})

const undo = new Undo()
const records = new Records(added => {
  canvas.redraw(added)
  everyone?.change(added)
})
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
    canvas.layPaper()
    $('zoom-level').textContent = canvas.view.scale.toLocaleString(locale, {style: 'percent'})
    tools?.writing?.lay()
    together?.moved()
  }),
})
const penMode = new PenMode({
  storage: local, changed: showPenMode, tell: () => toastLater('pen.told', 'pen.fingersToo', () => penMode.choose(false)),
})
let session
let host
let tools
let dock
let editing
/** Those that keep steps back, and the list of boards. */
let steps
let boards
/** Once they have come. */
let panels
let together
let everyone

const title = () => session?.title?.value || titleOf(session?.board ?? first)
const svg = async () => (await late.svg()).svgDocument(records.ordered, records.title)
const paper = () => session?.paper?.value ?? 'dotted'
const print = async () => (await restOfLooks(), await late.svg()).print(records.ordered, records.title, paper())

/** What the document says of itself, for styles and for tests. */
function tell() {
  $('hint').classList.toggle('gone', records.isReading || records.elements.size > 0)
  $('back').hidden = records.isReading || records.elements.size === 0 || records.hasWithin(canvas.window)
  const {dataset} = document.documentElement
  const state = session?.state ?? 'connecting'
  const values = {
    link: state === 'closed' ? 'ended' : state, unsent: session?.unsent ?? 0, live: live.strokes.size + (tools?.strokes.size ?? 0),
    role: session?.mayDraw ?? true ? 'editor' : 'reader', tool: tools?.tool ?? 'pen',
    notes: tools?.tool === 'note' || Boolean(tools?.chosen.some(({paper}) => paper)),
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
  const text = linkText(session.state, session.unsent, Math.ceil((retryAt - performance.now()) / 1000))
  $('status-text').textContent = text
  $('status').ariaLabel = text || say('link.connected')
  if (session.client.unsent.unkept > unkept) toast(say('notice.unkept'))
  unkept = session.client.unsent.unkept
  tell()
}

/** The state of the link in words; nothing where all is well. */
function linkText(state, unsent, seconds) {
  if (state === 'connected') return ''
  const text = state === 'waiting' && seconds > 0 ? say('link.waitingFor', {seconds})
    : say({connecting: 'link.connecting', waiting: 'link.waiting'}[state] ?? 'link.none')
  return unsent > 0 ? `${text} · ${say('link.unsent', {count: unsent})}` : text
}

async function linkChanged() {
  const {state, afterMs, reason} = session.client.link
  retryAt = performance.now() + (afterMs ?? 0)
  showLink()
  if (state === 'connected' && isFitted) comeLater()
  if (state !== 'closed' || reason.kind === 'closedByApp') return
  const {linkEnded} = await late.endings()
  await linkEnded(session, reason)
}

function changed(what) {
  if (what === 'link') linkChanged()
  if (what === 'ended') late.endings().then(({boardEnded}) => boardEnded(), noModule)
  if (what === 'people' || what === 'access') {
    // Before the board is read they would come in its way.
    if (isFitted !== undefined) showPeople().catch(() => {})
    if (session.mayModerate) showHost().catch(() => {})
    host?.show()
    canvas.refresh()
  }
  if (what === 'read') {
    if (!isFitted && !keptView(session.board)) showHome()
    // Of a board to which this page went.
    if (isFitted === false) restoreSteps().catch(() => {})
    isFitted = true
    boards?.keep()
    comeLater()
  }
  if (what === 'metadata' || what === 'access') showTitle()
  $('stage').dataset.paper = paper()
  together?.catchUp()
  const {progress, standing, mayDraw, mayClear, mayModerate} = session
  $('progress').hidden = progress === undefined
  $('progress').ariaValueNow = Math.round(progress * 100)
  $('progress').firstChild.style.width = `${progress * 100}%`
  $('reading').hidden = !standing
  $('reading').textContent = standing ? say(standing) : ''
  $('reading').classList.toggle('above', mayDraw)
  panels?.show({mayDraw, mayClear, mayModerate, paper: paper()})
  $('undo').disabled = undo.done.length === 0
  $('redo').disabled = undo.undone.length === 0
  showLink()
}

/** A newcomer sees the drawing; what comes late is looked at again, unless the view was moved meanwhile. */
function showHome() {
  canvas.home(true)
  const before = canvas.view
  const isMoved = () => Object.entries(canvas.view).some(([name, value]) => before[name] !== value)
  if (records.isUnread) loadKinds().then(() => isMoved() || canvas.home(true), () => {})
}

function showTitle() {
  if (document.activeElement !== $('title')) $('title').value = title()
  $('title').disabled = !session?.mayDraw
  document.title = say('app.title', {title: title()})
}

function turn(writes) {
  if (writes.some(({isClear}) => isClear)) session.undoClear().catch(failed)
  session.writeAll(writes.filter(({isClear}) => !isClear))
  changed()
}

const failed = async error => session?.state === 'closed' || late.explain().then(({explain}) => toast(explain(error)), noModule)
const beginEditing = once(async () => {
  // The bar's module imports this one, too: WebKit must not be asked for both at once.
  await loadTool('select')
  editing = (await late.editing()).beginEditing({hands: tools, choose, style: styleOf, tellWho, undo: $('undo').onclick,
    sized: elements => everyone?.tellSize(elements)})
})
const pasteWords = words => beginEditing().then(() => editing.paste(words), noModule)
const tellWho = () => showPeople().then(() => together.tellWho(tools.chosen), noModule)

async function restoreSteps() {
  steps = await late.undo()
  steps.restoreUndo(session.board, session.user, undo, records)
  changed()
}

/** What a reloaded page restores; nothing if this browser has forgotten its user, maybe in another tab. */
function remember() {
  if (subjectOf(session.credential) ? !local.getItem('whiteboard.person') : isOutdated(session.user)) return
  keepView(session.board, canvas.view)
  boards?.keep(true)
  if (!records.isReading) steps?.keepUndo(session.board, session.user, undo)
}

/** To another board, over the same link; the address names the board where this page is. */
async function goTo(board) {
  const {goTo, mayLeave} = await late.boardChange()
  if (board !== session.board && mayLeave({session, tools, editing, together})) {
    remember()
    Object.assign(undo, {done: [], undone: []})
    isFitted = false
    goTo(session, board)
    canvas.view = keptView(board) ?? {x: 0, y: 0, scale: 1}
  }
  history.replaceState(null, '', linkTo('', session.board))
}
const beginBoards = async () => {
  const {Boards} = await late.boards()
  boards ??= new Boards({session, records, title})
  boards.keep()
}

const showHost = async () => {
  const {Host} = await late.host()
  label($('host'))
  host ??= new Host(session)
  host.show()
}

const showPeople = async () => {
  const [{showPeople}, {Together}] = await Promise.all([late.people(), late.together()])
  together ??= new Together({session, canvas, live, tools, changed: () => changed('people')})
  together.show()
  showPeople(session.members, session.user, session.mayClear, session.mayModerate && ((user, name) => host?.manage(user, name)), together)
}

const greet = async () => isBack && toast(say('entry.here', {name: session.name}), say('entry.startFresh'), leave)
const beginForEveryone = once(async () => {
  const [{Everyone}] = await Promise.all([late.everyone(), loadKinds()])
  everyone = new Everyone({hands: tools, nameOf: user => session.names.get(user) ?? say('people.someone'), choose})
})
const beginnings = [beginForEveryone, async () => (await restOfWords(), greet()),
  beginEditing, () => restoreSteps(), beginBoards, () => showPanels(),
  ...['text', 'laser'].map(tool => async () => (await loadTool(tool)).listen({hands: tools, live}))].map(once)

/** What stands is shown: what may be wanted without a relay is loaded now. */
function comeLater() {
  if (performance.getEntriesByName('whiteboard-read').length === 0) performance.mark('whiteboard-read')
  // What does not come now is asked for again when the link is back, or when it is wanted.
  beginAll([...beginnings, showHost, showPeople, ...Object.values(late)])
}

// MARK: Tools, and what the buttons do

function choose(tool) {
  if (toolTable[tool].isAct) return void loadTool(tool).then(({act}) => act(tools, tool), noModule)
  tools.tool = tool
  tools.choose([])
  dock.show(tool)
  keepHand({tool, ...style})
  tell()
}

function restyle(change) {
  Object.assign(style, change)
  const {style: swatch} = $('style').firstChild
  swatch.background = `#${style.color}`
  swatch.transform = `scale(${0.5 + style.width / 2_800})`
  panels?.restyle(style)
  keepHand({tool: tools.tool, ...style})
  if (!editing?.restyle(change) && !toolTable[tools.tool].hasStyle) choose('pen')
}
const styleOf = tool => tool === 'marker' ? {color: `#${style.color}59`, width: style.width * 4}
  : {color: `#${style.color}FF`, width: style.width, size: textSizes[style.width], paper: `#${style.paper}FF`}

function showPenMode() {
  $('pen-mode').hidden = !penMode.isKnown
  $('pen-only').ariaChecked = penMode.isOn
}

function furnish() {
  const actions = {
    undo: () => turn(undo.undo(records)), redo: () => turn(undo.redo(records)), status: () => session.client.wakeUp(), invite,
    back: () => canvas.home(), 'pen-only': () => penMode.choose(!penMode.isOn),
    'zoom-out': () => canvas.zoom(0.8), 'zoom-in': () => canvas.zoom(1.25), 'zoom-level': () => canvas.zoom(1 / canvas.view.scale),
  }
  for (const [id, run] of Object.entries(actions)) $(id).onclick = run
  // Whoever is faster than what is behind these buttons gets it when it has come.
  for (const id of ['people', 'more', 'style']) $(id).onclick = () => showPanels().then(() => $(id).click(), noModule)
}

/** What is behind the buttons of menus and panels. */
async function showPanels() {
  const [{Panels}, {replayRows}] = await Promise.all([late.panels(), late.replay()])
  if (panels) return
  const replays = replayRows({session, records, title})
  panels = new Panels({
    colors, widths, restyle, translate, style, hands: tools,
    setPaper: name => session.setItem('paper', name).catch(failed).finally(changed),
    menu: {
      paste: async () => (await beginEditing(), editing.pasteKept()),
      'show-boards': async () => (await beginBoards(), boards.show()),
      'new-board': async () => (await beginBoards(), boards.beginProposed()),
      ...session.credential?.key ? {'type-code': typeCode} : {},
      'export-png': async () => (await late.png()).savePNG(records.ordered, `${title()}.png`, paper()),
      'export-svg': async () => (await late.svg()).saveSVG(records.ordered, records.title, `${title()}.svg`),
      print, ...replays, 'zoom-fit': () => canvas.fit(), clear: ending('clear'), 'end-board': ending('endBoard'), leave,
    },
    people: {rename: async () => session.rename(await askName()), ...credential?.token ? {} : {'another-device': offerDevice}},
  })
  panels.restyle(style)
  changed()
}

async function translate(language) {
  await speak(language)
  keepLanguage(language)
  label(document.body)
  canvas.moved()
  changed('metadata')
  changed('people')
}

const ending = name => () => late.endings().then(endings => endings[name]({session, undo, turn, changed, failed}), noModule)
const leave = ending('leave')
const noModule = () => toast(say('notice.notConnected'))
const toastLater = (word, action, run) => restOfWords().then(() => toast(say(word), action && say(action), run), noModule)
const invite = () => late.invite().then(({invite}) => invite(session), noModule)
const typeCode = () => late.joinCode().then(async ({askBoard}) => {
  const board = await askBoard(session.user)
  if (board) location.hash = linkTo('', board)
}, noModule)
const offerDevice = () => late.invite().then(({offerDevice}) => offerDevice({session, failed}), noModule)

async function askName() {
  const value = local.getItem('whiteboard.name') ?? await (await late.newPerson()).newPerson()
  const input = field({id: 'name', value, maxLength: 40, ariaLabel: say('welcome.name'),
      onfocus: () => input.select()})
  await ask('welcome', say('welcome.title'), say('welcome.text'), [['start', say('welcome.start')]], [input], true)
  keep(local, 'whiteboard.name', input.value.trim())
  return input.value.trim()
}

// MARK: Keys

function keyDown(event) {
  const {key, target, ctrlKey, metaKey, altKey, shiftKey} = event
  if (isSwitchedOff(event) || target.closest?.('input, textarea, dialog')) return
  const name = key.toLowerCase()
  const plain = {
    '+': $('zoom-in').onclick, '=': $('zoom-in').onclick, '-': $('zoom-out').onclick, 0: $('zoom-level').onclick, f: () => canvas.fit(),
        i: invite, '[': () => step(-1), ']': () => step(1),
    w: tellWho,
    delete: () => tools.removeChosen(), backspace: () => tools.removeChosen(), escape: () => tools.choose([]),
    ' ': target.tagName === 'BUTTON' ? undefined : () => pan(true),
  }
  const color = Object.values(colors)[key - 1]
  const run = ctrlKey || metaKey ? {z: $(shiftKey ? 'redo' : 'undo').onclick, y: $('redo').onclick, p: print}[name]
    : altKey ? undefined : toolOfKey[name] ? () => isOffered(toolOfKey[name]) && choose(toolOfKey[name])
    : color ? () => restyle({color}) : plain[name]
  if (!run) return
  event.preventDefault()
  run()
}
const isOffered = tool => session.mayDraw || !toolTable[tool].needsDraw
const step = by => restyle({width: Object.values(widths)[Object.values(widths).indexOf(style.width) + by] ?? style.width})
function pan(isPanning) {
  tools.isPanning = isPanning
  document.documentElement.classList.toggle('panning', isPanning)
}

// MARK: Beginning

await speak(preferred())
label(document.body)
showTitle()
if (code) await late.devices().then(({comeAsSame}) => comeAsSame(code, {board: first, credential, storage: local}))
const isBack = !isKnownTab() && local.getItem('whiteboard.name') !== null
const name = local.getItem('whiteboard.name') ?? await askName()
const user = subjectOf(credential) ?? ownUser()
const device = await claimDevice(user)
session = new Session({board: first, credential, user, device, name, records, live, changed, failed})
tools = new Tools({
  canvas, session, records, undo, changed, penMode, style: styleOf, failed: noModule, refused: () => toastLater('notice.othersThing'),
  chooseTool: choose,
})
dock = new Dock(choose)
hearGiven(tools, pasteWords, noModule)
hearEarlyKeys(() => editing && everyone, () => Promise.all([beginEditing(), beginForEveryone()]), noModule)
hearTitle(title, text => session.setItem('title', text).catch(failed).finally(showTitle))
furnish()
showPenMode()
const {tool: keptTool, color, width} = keptHand()
if (/^[\dA-F]{6}$/.test(color) && Object.values(widths).includes(width)) Object.assign(style, {color, width})
restyle({})
choose(Object.hasOwn(toolTable, keptTool) ? keptTool : 'pen')
canvas.view = keptView(first) ?? canvas.view
// Tabs of a browser are one person, and leave together.
addEventListener('storage', async ({key, newValue}) => {
  if (key !== 'whiteboard.person') return
  if (newValue === null) (await late.endings()).forgetAll({isOfTab: true})
  else if (subjectOf(session.credential) || !isOutdated(session.user)) return
  location.reload()
})
addEventListener('keydown', keyDown)
addEventListener('keyup', ({key}) => key === ' ' && pan(false))
// Closing the page means leaving. A sleeping page has not left.
addEventListener('pagehide', ({persisted}) => {
  tools.writing?.finish()
  tools.finish(Infinity)
  remember()
  if (!persisted) session.client.close(), leaveDevice()
})
document.addEventListener('visibilitychange', () => document.hidden && remember())
addEventListener('beforeunload', event => (session.client.unsent.unkept > 0 || tools.writing?.isTooLong) && event.preventDefault())
setInterval(() => {
  live.age(performance.now())
  showLink()
}, 500)
window.whiteboard = {
  svg,
  get board() { return session.board },
  get user() { return session.user },
  get client() { return session.client },
  get view() { return canvas.view },
  set view(view) { Object.assign(canvas, {view}).paint() },
  get elements() { return records.elements.size },
  get records() { return [...records.told.keys()].flatMap(key => records.get(key) ?? []) },
}
session.connect(session.user)
changed('link')
