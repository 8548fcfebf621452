// Who is at this page and where: the board and key of the address, and a user id for each open tab.
import {checkedName} from './relay-client.js'
import {newID} from './ink.js'
import {boardName} from './names.js'

/** A storage, or one that forgets where the browser gives none. */
export function open(kind) {
  try {
    return window[kind]
  } catch {
    const items = new Map()
    return {getItem: key => items.get(key) ?? null, setItem: (key, value) => items.set(key, value), removeItem: key => items.delete(key)}
  }
}

/** What stands behind `#` in an address: `/b/name?k=…`, `k=…` or `key=…` (a host's has the key for guests as well: `j=…`), `token=…`. */
export function readAddress(hash) {
  const [, path, query] = /^#?(\/b\/[^?]*)?\??(.*)$/.exec(hash)
  const found = new URLSearchParams(query)
  const get = (...names) => names.map(name => found.get(name)).find(Boolean)
  const [key, token, guestKey] = [get('k', 'key'), get('t', 'token'), get('j', 'join')]
  let board
  try {
    board = checkedName(decodeURIComponent(path.slice(3)))
  } catch {}
  return {board, credential: key ? {key, guestKey} : token ? {token} : undefined}
}

/** A link to a board; the credential stands behind `#`, so no server ever gets it in a request line. */
export function linkTo(origin, board, {key, guestKey = key, token} = {}) {
  return `${origin}/#/b/${encodeURIComponent(board)}${guestKey ? `?k=${encodeURIComponent(guestKey)}` : token ? `?t=${encodeURIComponent(token)}` : ''}`
}

export const keepCredential = credential => open('sessionStorage').setItem('whiteboard.credential', JSON.stringify(credential))

/** Takes the key out of the address, and settles on a board. */
export function arrive() {
  const {board = boardName(), credential} = readAddress(location.hash)
  if (credential) keepCredential(credential)
  history.replaceState(null, '', linkTo('', board))
  return {board, credential: JSON.parse(open('sessionStorage').getItem('whiteboard.credential')) ?? undefined}
}

/** Ids in the order in which one is to be tried: this tab's, those with strokes that are not sent yet, the rest. */
export const candidates = (pool, own, hasUnsent) => [...new Set([own, ...pool.filter(hasUnsent), ...pool])].filter(Boolean)

const readPool = storage => JSON.parse(storage.getItem('whiteboard.ids') ?? '[]')

/**
 * A user id that no other tab has. Tabs of one browser share a pool of ids: what one has drawn stays its own to erase, and what
 * it has not sent is sent by the next that opens. Who is there is asked on a channel between tabs.
 */
export async function claimUser(storage, session) {
  const pool = readPool(storage)
  const taken = new Set(window.BroadcastChannel ? [] : pool)
  let user
  if (window.BroadcastChannel) {
    const tabs = new BroadcastChannel('whiteboard')
    tabs.onmessage = ({data}) => data === 'who' ? user && tabs.postMessage(user) : taken.add(data)
    tabs.postMessage('who')
    if (pool.length) await new Promise(resolve => setTimeout(resolve, 120))
  }
  const hasUnsent = id => storage.getItem(`boardrelay.outbox.${location.host}.${id}`)
  user = candidates(pool, session.getItem('whiteboard.user'), hasUnsent).find(id => !taken.has(id)) ?? newID()
  session.setItem('whiteboard.user', user)
  storage.setItem('whiteboard.ids', JSON.stringify([...new Set([...pool, user])].slice(-50)))
  return user
}

/** This id belongs to somebody else on this relay: it is not tried again. */
export function forgetUser(user, storage, session) {
  storage.setItem('whiteboard.ids', JSON.stringify(readPool(storage).filter(id => id !== user)))
  session.removeItem('whiteboard.user')
}
