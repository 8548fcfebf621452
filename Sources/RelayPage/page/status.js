// The status page: logs in with the host's key, asks once a second while somebody looks, and shows what it is told.
import {ErrorCode as code, RelayClient, credentialOf, wakeUpWithPage} from '../relay-client.js'
import {open} from './identity.js'
import {newID} from './ink.js'
import {languageChoice} from './language-choice.js'
import {showHour} from './status-hour.js'
import {bytesText, countText, holdsMuch, inOrder, lags, load, ratesBetween, rateText, readStatus, spanText} from './status-numbers.js'
import {$, ask, field, make} from './ui.js'
import {keepLanguage, label, preferred, say, speak} from './words/index.js'

const everyMs = 1_000
/** Of the last hour, which has a new sample each minute. */
const hourEveryMs = 20_000
/** Of `/status?space=school-a`. [SE16] */
const space = new URLSearchParams(location.search).get('space') ?? undefined
const kept = `status.credential${space ? `/${space}` : ''}`
const storage = open('sessionStorage')
const user = `status-${newID().slice(0, 8)}`
/** The same for each key that is tried: by it the relay knows this user again. [AC3] */
const secret = (newID() + newID()).slice(0, 32)
const keyWords = {
  [code.credentialRequired]: 'key.needed', [code.keyChanged]: 'key.changed', [code.notPermitted]: 'key.guest',
  [code.tokenExpired]: 'key.expired', [code.keyWrong]: 'key.wrong', [code.credentialsWrong]: 'key.wrong', [code.tokenInvalid]: 'key.wrong',
}
const linkWords = {
  idle: 'link.connecting', connecting: 'link.connecting', connected: 'link.connected', waiting: 'link.waiting', closed: 'link.none',
}

let client
let before
let timer
let toldAddresses
let hour = []
let hourAt
const rates = {}
const rows = new Map()

// MARK: Coming in

const keep = credential => storage.setItem(kept, JSON.stringify(credential))

function arrive() {
  const given = credentialOf(location.hash)
  if (given) keep(given)
  if (location.hash) history.replaceState(null, '', location.pathname + location.search)
  return JSON.parse(storage.getItem(kept)) ?? undefined
}

/** Asks for another key, and tries with that. */
async function askKey(why) {
  const input = field({id: 'key', ariaLabel: say('key.label'), type: 'password'})
  await ask('key-dialog', say('key.title'), say(why), [['key-enter', say('key.show')]], [input], true)
  keep({key: input.value.trim()})
  connect()
}

function connect() {
  clearTimeout(timer)
  const mine = client = new RelayClient(location.origin + '/ws', user, {
    secret, space, credential: arrive(), description: 'status page', presenceTimeout: 5_000,
  })
  mine.connect().catch(() => {})
  showLink(mine, wakeUpWithPage(mine))
}

async function showLink(mine, stop) {
  for await (const {state, reason} of mine.linkStates()) {
    if (mine !== client) return
    document.documentElement.dataset.link = {closed: 'ended', idle: 'connecting'}[state] ?? state
    $('link-text').dataset.text = linkWords[state]
    label($('link-text'))
    if (state === 'connected') refresh()
    if (state !== 'closed') continue
    stop()
    ended(reason)
  }
}

async function ended({code: number, error, text}) {
  const why = keyWords[number ?? error?.code]
  if (why) return askKey(why)
  const told = `${error?.message ?? text ?? say('end.asleep')}.`
  await ask('ended-dialog', say('end.title'), told, [['ended-again', say('end.again')]], [], true)
  connect()
}

// MARK: Speaking

async function translate(language) {
  await speak(language, 'status/')
  label(document.body)
  document.title = say('title')
  toldAddresses = undefined
  if (before) show(before)
  showSamples()
}

// MARK: Asking

async function refresh() {
  clearTimeout(timer)
  const mine = client
  if (document.hidden || mine.link.state !== 'connected') return
  const began = performance.now()
  try {
    const status = await readStatus(mine.moderation)
    const age = status.uptimeMs - hourAt
    if (!(age >= 0 && age < hourEveryMs)) {
      ({hour} = await mine.moderation.status({hour: true}))
      hourAt = status.uptimeMs
      showSamples()
    }
    if (mine === client) show(status)
  } catch (error) {
    if (mine === client && error.code === code.notPermitted) {
      client = undefined
      mine.close()
      return askKey(keyWords[error.code])
    }
  }
  if (mine === client) timer = setTimeout(refresh, Math.max(200, began + everyMs - performance.now()))
}

// MARK: Showing

/** Only what has changed touches the page. */
function put(id, text) {
  const element = typeof id === 'string' ? $(id) : id
  if (element.textContent !== text) element.textContent = text
  return element
}

function show(status) {
  const {sessions, channels: {message: messages, stream: streams}, users, storageFailure} = status
  const slow = users.filter(lags).length
  const texts = {
    uptime: spanText(status.uptimeMs - status.uptimeMs % 1000), present: countText(sessions.present),
    away: [say('sessions.away', {count: sessions.away}), say('connections', {count: status.connections})].join(' · '),
    channels: countText(messages + streams),
        kinds: say('channels.kinds', {messages, streams}),
    boards: countText(status.boards), 'board-bytes': bytesText(status.boardBytes),
    queued: bytesText(status.queuedBytes), slow: slow ? say('users.slow', {count: slow}) : '',
    trouble: storageFailure === undefined ? '' : say('trouble', {reason: storageFailure}),
  }
  for (const [id, text] of Object.entries(texts)) put(id, text)
  $('trouble').hidden = storageFailure === undefined
  $('more').hidden = !status.isCut
  Object.assign(rates, ratesBetween(before, status))
  for (const [id, rate] of Object.entries(rates)) {
    put(id, say('rate', {rate: rateText(rate)})).classList.toggle('some', rate > 0 && /lost|refus/.test(id))
  }
  before = status
  showAddresses(status.addresses)
  showUsers(inOrder(users))
}

function showSamples() {
  $('hour-none').hidden = hour.length > 0
  $('hour-table').hidden = !hour.length
  showHour(hour, $('charts'), $('hour-head'), $('hour-rows'))
}

function showAddresses(addresses) {
  const told = JSON.stringify(addresses)
  if (told === toldAddresses) return
  toldAddresses = told
  $('addresses').replaceChildren(...addresses.map(({address, sessions, memoryBytes}) => make('tr', {},
      make('th', {scope: 'row', textContent: address === 'this machine' ? say('address.here') : address}),
      make('td', {textContent: countText(sessions)}),
      make('td', {textContent: bytesText(memoryBytes)}))))
}

function makeRow(id) {
  const cells = {name: make('b', {textContent: id}), from: make('span', {className: 'note'}), memory: make('td'), waiting: make('span'),
      bar: make('i'), lost: make('td'), behind: make('td')}
  const row = make('tr', {}, make('th', {scope: 'row', title: id}, cells.name, cells.from), cells.memory,
      make('td', {}, cells.waiting, make('span', {className: 'load'}, cells.bar)), cells.lost, cells.behind)
  return {row, ...cells}
}

function showUsers(users) {
  const list = $('users')
  const gone = new Set(rows.keys())
  users.forEach((told, at) => {
    const {user: id, client: name, peer, away, memoryBytes, queuedBytes, packetsLost, backlogMs} = told
    gone.delete(id)
    if (!rows.has(id)) rows.set(id, makeRow(id))
    const {row, from, memory, waiting, bar, lost, behind} = rows.get(id)
    row.className = away ? 'away' : lags(told) ? 'lags' : ''
    put(from, [id === user ? say('user.here') : name, away ? say('user.away') : peer].filter(Boolean).join(' · '))
    put(memory, bytesText(memoryBytes)).classList.toggle('some', holdsMuch(told))
    put(waiting, bytesText(queuedBytes))
    bar.style.width = `${100 * load(queuedBytes)}%`
    put(lost, countText(packetsLost))
    put(behind, lags(told) ? spanText(backlogMs) : '–')
    if (list.children[at] !== row) list.insertBefore(row, list.children[at])
  })
  for (const id of gone) {
    rows.get(id).row.remove()
    rows.delete(id)
  }
}

await translate(preferred())
$('language-row').append(languageChoice(async language => {
  await translate(language)
  keepLanguage(language)
}))
addEventListener('hashchange', () => credentialOf(location.hash) && location.reload())
addEventListener('visibilitychange', () => client && refresh())
addEventListener('pagehide', () => client?.close())
addEventListener('pageshow', ({persisted}) => persisted && location.reload())
connect()
