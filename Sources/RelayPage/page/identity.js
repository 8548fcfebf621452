// Who is at this page and where: board and key of the address, the person of this browser, and which device this tab is.
import {spaceOf} from '../client/links.js'
import {checkedName} from '../client/text.js'
import {newID} from './ink.js'

/** The page's address: its path names the space. [SE16] */
export const home = () => location.origin + (location.pathname ?? '/')
const space = () => globalThis.location?.pathname && spaceOf(location.href)
const place = () => location.host + (space() ? `/${space()}` : '')

const forgetful = {}

/** A storage, of this space alone; where there is none, one that lasts as long as the page. */
export function open(kind) {
  try {
    return space() ? part(window[kind], `${space()}/`) : window[kind]
  } catch {
    const items = new Map()
    return forgetful[kind] ??= {getItem: key => items.get(key) ?? null, setItem: (key, value) => items.set(key, value),
        removeItem: key => items.delete(key), key: at => [...items.keys()][at], get length() { return items.size }}
  }
}

function part(storage, start) {
  const keys = () => Object.keys(storage).filter(key => key.startsWith(start))
  return {getItem: key => storage.getItem(start + key), setItem: (key, value) => storage.setItem(start + key, value),
      removeItem: key => storage.removeItem(start + key), key: at => keys()[at].slice(start.length), get length() { return keys().length }}
}

/** Keeps what the page can do without: a storage may be full. */
export function keep(storage, key, value) {
  try {
    storage.setItem(key, value)
  } catch {}
}

/** What stands behind `#` in an address: `/b/name?k=…`, `k=…` or `key=…` (a host's has the key for guests as well: `j=…`), `token=…`; `code=…` of another device. */
export function readAddress(hash) {
  const [, path, query] = /^#?(\/b\/[^?]*)?\??(.*)$/.exec(hash)
  const found = new URLSearchParams(query)
  const get = (...names) => names.map(name => found.get(name)).find(Boolean)
  const [key, token, guestKey] = [get('k', 'key'), get('t', 'token'), get('j', 'join')]
  let board
  try {
    board = checkedName(decodeURIComponent(path.slice(3)))
  } catch {}
  const code = get('code')
  return {board, credential: key ? {key, guestKey} : token ? {token} : undefined, ...code && {code}}
}

/** A link to a board, behind the page's address, if there is one; the key stands behind `#`, so no server ever gets it in a request line. A token is its owner's alone. */
export function linkTo(page, board, {key, guestKey = key} = {}) {
  return `${page}#/b/${encodeURIComponent(board)}${guestKey ? `?k=${encodeURIComponent(guestKey)}` : ''}`
}

/** The user that a token is for: it is good for no other. Whether it is right the relay judges. [AC1] */
export function subjectOf({token} = {}) {
  try {
    return checkedName(JSON.parse(atob(token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/'))).sub)
  } catch {
    return undefined
  }
}

const [local, tab] = [open('localStorage'), open('sessionStorage')]
const personPlace = 'whiteboard.person'

export function read(storage, key) {
  try {
    return JSON.parse(storage.getItem(key)) ?? undefined
  } catch {
    return undefined
  }
}
export const write = (storage, key, value) => keep(storage, key, JSON.stringify(value))

/** What all tabs of this browser share: `{user, relay, credential}`; `relay`: the public id of the relay that the rest is for. [SE6] */
const person = () => read(local, personPlace) ?? {}

// MARK: The key

/** What a client logs in with: the key for guests is this page's alone. */
export const loginWith = credential => credential && (({guestKey, ...login}) => login)(credential)

/** A key that was given to this tab, until a relay has let it in; a token, which is for one person, stays here. */
export const keepGiven = credential => write(tab, 'whiteboard.credential', credential)

/** A key was refused: after a reload the one that this browser keeps counts again. */
export const dropGiven = () => tab.removeItem('whiteboard.credential')

/** Takes the key and the code out of the address, and chooses a board: users of the printed address meet on the first one. */
export function arrive() {
  const {board = 'board', credential: given, ...code} = readAddress(location.hash)
  const {credential} = person()
  // A host who opens the guests' link stays a host.
  if (given && (!given.key || given.key !== credential?.guestKey)) keepGiven(given)
  history.replaceState(null, '', linkTo('', board))
  return {board, credential: read(tab, 'whiteboard.credential') ?? credential, ...code}
}

/**
 * Whether the relay that has let this page in is the one that this browser knows; the first one is. Then the key is kept for all tabs.
 *
 * @param {string} relay its public id @param {object} [credential] with which the page logged in
 */
export function isOwnRelay(relay, credential) {
  const kept = person()
  if (kept.relay !== undefined && kept.relay !== relay) return false
  write(local, personPlace, {...kept, relay, ...credential?.key && {credential}})
  // What no storage keeps for all tabs stays with this one.
  if (credential?.key && person().credential?.key === credential.key) dropGiven()
  return true
}

// MARK: The person

/** The id of this browser's person, in all tabs. @param {string} [lost] one that is somebody else's on this relay: it is not tried again */
export function ownUser(lost) {
  const kept = person()
  if (kept.user && kept.user !== lost) return kept.user
  const user = newID()
  write(local, personPlace, {...kept, user})
  return user
}

/** Whether this browser's person is another one by now: by a tab that has left, or come in with a code. */
export const isOutdated = user => person().user !== user

/** From now on this browser's person is the one whose other device has given it a code. [AC17] */
export function adoptPerson({user, device, relay}, credential) {
  const before = person()
  if (before.user && before.user !== user) local.removeItem(`boardrelay.secret.${place()}.${before.user}`)
  write(local, personPlace, {user, relay, ...credential?.key && {credential}})
  hearTabs()
  settle(device)
}

// MARK: The device

const readPool = () => read(local, 'whiteboard.devices') ?? []
/** Devices whose tabs have ended, and which no tab has become since. */
const readLeft = () => read(local, 'whiteboard.left') ?? []
const keepLeft = devices => write(local, 'whiteboard.left', devices.slice(-50))

/** Devices in the order of trying: this tab's, devices with unsent strokes, the rest. */
export const candidates = (pool, own, hasUnsent) => [...new Set([own, ...pool.filter(hasUnsent), ...pool])].filter(Boolean)

/** Devices that other tabs are, and what this one says of itself: `{device, claim}`. */
const taken = new Set()
let tabs
let mine

function hear({data: {device, claim, asks}}) {
  // Of two tabs that want to be the same at one moment the lower claim has it; a tab that has it for good claims with 0.
  if (device !== mine?.device || claim < mine.claim) taken.add(device)
  if (asks && mine) tabs.postMessage(mine)
}

/** @returns {boolean} whether this tab can hear the others */
function hearTabs() {
  try {
    tabs ??= Object.assign(new BroadcastChannel('whiteboard'), {onmessage: hear})
  } catch {}
  return tabs !== undefined
}

/** This tab is a device for good, and the pool has it, too. */
function settle(device) {
  mine = {device, claim: 0}
  keep(tab, 'whiteboard.device', device)
  write(local, 'whiteboard.devices', [...new Set([...readPool(), device])].slice(-50))
  keepLeft(readLeft().filter(other => other !== device))
}

/** This tab ends: loaded again, it need not ask whether another is its device. */
export const leaveDevice = () => isKnownTab() && keepLeft([...readLeft(), mine.device])

/** Whether this tab is loaded again. */
export const isKnownTab = () => tab.getItem('whiteboard.device') !== null

/**
 * Which of a person's devices this tab is: one that no other tab is. What a tab has not sent is sent by the next that takes its device up.
 * A tab that sleeps does not answer the others, and learns from the relay that it was replaced. [SE8]
 *
 * @param {string} user whose device it is @param {string} [lost] what this tab was until now, which is another's
 */
export async function claimDevice(user, lost) {
  const pool = readPool()
  const kept = tab.getItem('whiteboard.device')
  const hasUnsent = device => local.getItem(`boardrelay.outbox.${place()}.${user}.${device}`)
  const draw = () => newID().slice(0, 16)
  // Asleep as this one was, others may be the rest of the pool.
  if (lost) mine = {device: draw()}
  if (!hearTabs()) pool.forEach(device => device === kept || taken.add(device))
  if (!lost && readLeft().includes(kept)) {
    mine = {device: kept, claim: 0}
    // One that asks at this moment is told.
    tabs?.postMessage(mine)
  }
  while (!mine || taken.has(mine.device)) {
    const device = candidates(pool, kept, hasUnsent).find(device => !taken.has(device))
    mine = {device: device ?? draw(), claim: Math.random()}
    if (!device || !tabs) break
    tabs.postMessage({...mine, asks: true})
    await new Promise(resolve => setTimeout(resolve, 120))
  }
  settle(mine.device)
  return mine.device
}
