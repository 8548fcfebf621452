// Who is at this page and where: the board and key of the address, and a user id for each open tab.
import {checkedName} from '../relay-client.js'
import {newID} from './ink.js'

const forgetful = {}

/** A storage; where the browser gives none, one that lasts as long as the page. */
export function open(kind) {
  try {
    return window[kind]
  } catch {
    const items = new Map()
    return forgetful[kind] ??= {getItem: key => items.get(key) ?? null, setItem: (key, value) => items.set(key, value),
        removeItem: key => items.delete(key)}
  }
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

/** A link to a board; the key stands behind `#`, so no server ever gets it in a request line. A token is its owner's alone. */
export function linkTo(origin, board, {key, guestKey = key} = {}) {
  return `${origin}/#/b/${encodeURIComponent(board)}${guestKey ? `?k=${encodeURIComponent(guestKey)}` : ''}`
}

/** The user that a token is for: it is good for no other. Whether it is right the relay judges. [AC1] */
export function subjectOf({token} = {}) {
  try {
    return checkedName(JSON.parse(atob(token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/'))).sub)
  } catch {
    return undefined
  }
}

export const keepCredential = credential => keep(open('sessionStorage'), 'whiteboard.credential', JSON.stringify(credential))

/** Takes the key and the code out of the address, and settles on a board: who comes by the address as it was printed meets the others there. */
export function arrive() {
  const {board = 'board', credential, ...code} = readAddress(location.hash)
  if (credential) keepCredential(credential)
  history.replaceState(null, '', linkTo('', board))
  return {board, credential: JSON.parse(open('sessionStorage').getItem('whiteboard.credential')) ?? undefined, ...code}
}

/** Ids in the order in which one is to be tried: this tab's, those with strokes that are not sent yet, the rest. */
export const candidates = (pool, own, hasUnsent) => [...new Set([own, ...pool.filter(hasUnsent), ...pool])].filter(Boolean)

const readPool = storage => JSON.parse(storage.getItem('whiteboard.ids') ?? '[]')

/** Ids that other tabs have, and what this one says of itself: `{user, claim}`. */
const taken = new Set()
let tabs
let mine

function hear({data: {user, claim, asks}}) {
  // Of two tabs that want the same id at one moment the lower claim has it; a tab that has it for good claims with 0.
  if (user !== mine?.user || claim < mine.claim) taken.add(user)
  if (asks && mine) tabs.postMessage(mine)
}

/** @returns {boolean} whether this tab can hear the others */
function hearTabs() {
  try {
    tabs ??= Object.assign(new BroadcastChannel('whiteboard'), {onmessage: hear})
  } catch {}
  return tabs !== undefined
}

/** This tab has an id for good, and the pool has it, too. */
function settle(user, storage, session) {
  mine = {user, claim: 0}
  keep(session, 'whiteboard.user', user)
  keep(storage, 'whiteboard.ids', JSON.stringify([...new Set([...readPool(storage), user])].slice(-50)))
}

/**
 * A user id that no other tab has. Tabs of one browser share a pool of ids: what one has drawn stays its own to erase, and what
 * it has not sent is sent by the next that opens. They ask each other on a channel between tabs; a tab that sleeps does not answer.
 *
 * @param {string} [lost] an id that this tab had until now, which is another's
 */
export async function claimUser(storage, session, lost) {
  const pool = readPool(storage)
  const kept = session.getItem('whiteboard.user')
  const hasUnsent = id => storage.getItem(`boardrelay.outbox.${location.host}.${id}`)
  // Asleep as this one was, others may have the rest of the pool.
  if (lost) mine = {user: newID()}
  if (!hearTabs()) pool.forEach(id => id === kept || taken.add(id))
  while (!mine || taken.has(mine.user)) {
    const user = candidates(pool, kept, hasUnsent).find(id => !taken.has(id))
    mine = {user: user ?? newID(), claim: Math.random()}
    if (!user || !tabs) break
    tabs.postMessage({...mine, asks: true})
    await new Promise(resolve => setTimeout(resolve, 120))
  }
  settle(mine.user, storage, session)
  return mine.user
}

const deviceKey = user => `whiteboard.device.${user}`

/** Which of a person's devices this is: kept with the id, which one tab has at a time, so that a tab that takes it up goes on with it. */
export function deviceOf(user, storage, session) {
  const kept = session.getItem(deviceKey(user)) ?? storage.getItem(deviceKey(user))
  const device = kept ?? newID().slice(0, 16)
  if (!kept) keep(storage, deviceKey(user), device)
  return device
}

/** From now on this tab is a person whose other device has given it a code; in the same browser each of both stays a device. [AC17] */
export function adoptUser({user, device}, storage, session) {
  hearTabs()
  keep(storage.getItem(deviceKey(user)) ? session : storage, deviceKey(user), device)
  settle(user, storage, session)
}

/** This id belongs to somebody else on this relay: it is not tried again. */
export function forgetUser(user, storage, session) {
  keep(storage, 'whiteboard.ids', JSON.stringify(readPool(storage).filter(id => id !== user)))
  session.removeItem('whiteboard.user')
  storage.removeItem(deviceKey(user))
}
