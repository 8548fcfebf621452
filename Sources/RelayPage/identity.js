// Who is at this page and where: the board and key of the address, the name people see, and a user id for each open tab.
import {boardName} from './names.js'

const poolKey = 'whiteboard.ids'
const credentialKey = 'whiteboard.credential'

/** A storage that may be closed to the page, as one that forgets. */
export function open(kind) {
  try {
    const storage = window[kind]
    storage.setItem('whiteboard.probe', '1')
    storage.removeItem('whiteboard.probe')
    return storage
  } catch {
    const items = new Map()
    return {getItem: key => items.get(key) ?? null, setItem: (key, value) => items.set(key, String(value)), removeItem: key => items.delete(key)}
  }
}

/** What stands behind `#` in an address: `/b/name?k=…`, `k=…`, `key=…`, `token=…`. @returns {{board?: string, credential?: object}} */
export function readAddress(hash) {
  const [, path, query = ''] = /^#?(\/b\/[^?]*)?\??(.*)$/.exec(hash)
  const found = new URLSearchParams(query)
  const key = found.get('k') ?? found.get('key')
  const token = found.get('t') ?? found.get('token')
  let board
  try {
    board = path && decodeURIComponent(path.slice(3))
  } catch {}
  const isName = board && /^[!-)+-.0-[\]^\x60-~][ -)+-.0-[\]-~]{0,63}$/.test(board)
  return {board: isName ? board : undefined, credential: key ? {key} : token ? {token} : undefined}
}

/** A link to a board; the credential stands behind `#`, so no server ever gets it in a request line. */
export function linkTo(origin, board, credential) {
  const [[kind, value] = []] = Object.entries(credential ?? {})
  return `${origin}/#/b/${encodeURIComponent(board)}${value ? `?${kind[0]}=${encodeURIComponent(value)}` : ''}`
}

/** Takes the key out of the address, and settles on a board. */
export function arrive(session = open('sessionStorage')) {
  const {board = boardName(), credential} = readAddress(location.hash)
  if (credential) session.setItem(credentialKey, JSON.stringify(credential))
  history.replaceState(null, '', linkTo('', board))
  let kept
  try {
    kept = JSON.parse(session.getItem(credentialKey) ?? 'null') ?? undefined
  } catch {}
  return {board, credential: kept}
}

export const keepCredential = credential => open('sessionStorage').setItem(credentialKey, JSON.stringify(credential))

/** Ids of a pool in the order in which one is to be tried: this tab's, those with strokes that are not sent yet, the rest. */
export function candidates(pool, own, hasUnsent) {
  const rest = pool.filter(id => id !== own)
  return [...own ? [own] : [], ...rest.filter(hasUnsent), ...rest.filter(id => !hasUnsent(id))]
}

/**
 * A user id that no other tab has. Tabs of one browser share a pool of ids: what one has drawn stays its own to erase, and what
 * it has not sent is sent by the next that opens. Who is there is asked on a channel between tabs.
 */
export async function claimUser(storage = open('localStorage'), session = open('sessionStorage')) {
  let pool = []
  try {
    pool = JSON.parse(storage.getItem(poolKey) ?? '[]').filter(id => /^p-[0-9a-f]{16}$/.test(id))
  } catch {}
  const taken = new Set()
  let user
  let tabs
  if (window.BroadcastChannel) {
    tabs = new BroadcastChannel('whiteboard.tabs')
    tabs.onmessage = ({data}) => {
      if (data === 'who' && user) tabs.postMessage(user)
      else taken.add(data)
    }
    tabs.postMessage('who')
    if (pool.length > 0) await new Promise(resolve => setTimeout(resolve, 120))
  } else pool = []
  const hasUnsent = id => storage.getItem(`boardrelay.outbox.${location.host}.${id}`) !== null
  user = candidates(pool, session.getItem('whiteboard.user'), hasUnsent).find(id => !taken.has(id))
  user ??= 'p-' + Array.from(crypto.getRandomValues(new Uint8Array(8)), byte => byte.toString(16).padStart(2, '0')).join('')
  tabs?.postMessage(user)
  session.setItem('whiteboard.user', user)
  if (!pool.includes(user)) storage.setItem(poolKey, JSON.stringify([...pool, user].slice(-50)))
  return user
}

/** This id belongs to somebody else on this relay: it is not tried again. */
export function forgetUser(user, storage = open('localStorage')) {
  storage.setItem(poolKey, JSON.stringify(JSON.parse(storage.getItem(poolKey) ?? '[]').filter(id => id !== user)))
  open('sessionStorage').removeItem('whiteboard.user')
}
