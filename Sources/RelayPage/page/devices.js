// One more device of the same person: the link that leads it here, and how it becomes that person.
import {ClientCore} from '../client/client.js'
import {explain} from './explain.js'
import {adoptPerson, home, keep, loginWith} from './identity.js'
import {newID} from './ink.js'
import {ask} from './ui.js'
import {say} from './words/index.js'

/** As people read it: `3J7XQ-0M9TZ`. */
export const spelled = code => `${code.slice(0, 5)}-${code.slice(5)}`

/** A link to a board as the same person, good once. It has this page's own key, a host's as well: so the other device has the same rights. */
export function deviceLink(page, board, {key, guestKey} = {}, code) {
  const query = Object.entries({k: key, j: guestKey, code: spelled(code)}).filter(([, value]) => value)
  return `${page}#/b/${encodeURIComponent(board)}?${query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`
}

/**
 * Logs in with a code, keeps the person's secret, and leaves again: from then on this browser comes in as that person by itself.
 *
 * @returns {Promise<{user: string, device: string, relay: string, name?: string}>} `relay`: its public id; `name`: what the person is
 *   called on the board
 * @throws {RelayError} `codeWrong`, or why the relay was not reached
 */
export async function comeWith(code, {board, credential, storage, Client = ClientCore}) {
  const device = newID().slice(0, 16)
  const options = {code, credential: loginWith(credential), storage, scope: location.host, device}
  const client = new Client(home(), undefined, options)
  try {
    await client.connect()
    const {name} = await client.channel(board).presence.states(client.user).catch(() => ({}))
    return {user: client.user, device, relay: client.relayID, name}
  } finally {
    await client.close()
  }
}

/** Who comes to the page with a code of another device is the same person here; a code that is wrong makes somebody new. */
export async function comeAsSame(code, {board, credential, storage}) {
  try {
    const person = await comeWith(code, {board, credential, storage})
    adoptPerson(person, credential)
    if (person.name) keep(storage, 'whiteboard.name', person.name)
  } catch (error) {
    await ask('code-dialog', say('device.failed'), explain(error), [['code-close', say('device.goOn')]])
  }
}
