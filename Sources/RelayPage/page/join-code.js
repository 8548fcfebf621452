// Six letters for people without a camera: a host shows them under Invite, newcomers type them in place of the key. [AC20]
import {Moderation} from '../client/moderation.js'
import {RelayClient} from '../relay-client.js'
import {explain} from './explain.js'
import {home, open} from './identity.js'
import {newID} from './ink.js'
import {ask, field, make} from './ui.js'
import {say} from './words/index.js'

/** As people read them: `QPF DKW`. */
export const spelled = code => `${code.slice(0, 3)} ${code.slice(3)}`

/** What somebody typed, if it is six letters; a key is longer. */
export function codeOf(text) {
  const letters = text.replace(/[\s-]/g, '').toUpperCase()
  return /^[A-Z]{6}$/.test(letters) ? letters : undefined
}

// MARK: Who types them

/**
 * What a code stands for. Nobody on a board sees the question.
 *
 * @param {string} joinCode @param {string} user this browser's person; one that is another's on this relay asks as somebody else
 * @returns {Promise<{key: string, channel: string}>}
 * @throws {RelayError} `codeWrong`, `rateLimited`, or why the relay was not reached
 */
export async function redeem(joinCode, user, Client = RelayClient) {
  const options = {credential: {joinCode}, storage: open('localStorage'), scope: location.host, device: newID().slice(0, 16)}
  const client = new Client(home(), user, options)
  try {
    await client.connect()
    return client.invitation
  } catch (error) {
    if (error.name !== 'userIDTaken') throw error
    return await redeem(joinCode, newID(), Client)
  } finally {
    await client.close()
  }
}

function explainCode(error) {
  if (error.name === 'rateLimited') return say('code.tooMany', {count: Math.ceil(error.retryAfterMs / 1_000)})
  if (error.name !== 'codeWrong') return explain(error)
  const left = error.limit - error.actual
  return left > 0 ? say('code.wrong', {count: left}) : say('code.wrongLast')
}

/** Asks for a code or a key until there is a key. @returns {Promise<{key: string, channel?: string}>} with the board to which a code leads */
export async function askKey(text, user, Client = RelayClient) {
  for (let words = text; ;) {
    const input = field({id: 'key', ariaLabel: say('key.label')})
    await ask('key-dialog', say('key.title'), words, [['key-enter', say('key.join')]], [input], true)
    const code = codeOf(input.value)
    if (!code) return {key: input.value.trim()}
    try {
      return await redeem(code, user, Client)
    } catch (error) {
      words = explainCode(error)
    }
  }
}

/** Asks a user who has a key already for a code. @returns {Promise<string|undefined>} the board to which it leads */
export async function askBoard(user, Client = RelayClient) {
  for (let words = say('code.text'); ;) {
    const input = field({id: 'code', ariaLabel: say('code.label')})
    const choices = [['code-no', say('code.no')], ['code-enter', say('key.join')]]
    const answer = await ask('code-dialog', say('code.title'), words, choices, [input])
    if (answer !== 'code-enter') return undefined
    try {
      return (await redeem(input.value, user, Client))?.channel
    } catch (error) {
      words = explainCode(error)
    }
  }
}

// MARK: Who shows them

const ends = {
  expired: 'code.expired', wrongTries: 'code.guessed', keyChanged: 'code.keyChanged', notPermitted: 'code.notPermitted',
}

/** The code for a board, for as long as it is shown: a host gets one, and another when that has ended and more are wanted. */
export class CodeBox {
  element = make('div', {id: 'join-code', hidden: true})
  #closing = new AbortController()
  #hasEnded = false

  /** @param {object} session @param {() => Moderation} [moderation] of the client that the session has now */
  constructor(session, moderation = () => new Moderation(session.client)) {
    Object.assign(this, {session, moderation})
    if (session.mayModerate) this.#follow()
  }

  /** Withdraws the code. */
  close() {
    this.#closing.abort()
    if (this.code) this.moderation().withdrawJoinCode().catch(() => {})
  }

  async #follow() {
    const {client, state} = this.session
    const events = client.events({signal: this.#closing.signal})
    if (state === 'connected') this.#offer()
    try {
      for await (const {type, state, reason} of events) {
        if (type === 'joinCodeEnded') this.#end(reason)
        // The same one again, unless it has ended meanwhile.
        if (type === 'link' && state === 'connected' && !this.#hasEnded) this.#offer()
      }
    } catch {}
  }

  async #offer() {
    try {
      const {code} = await this.moderation().offerJoinCode(this.session.board)
      if (this.#closing.signal.aborted) return this.moderation().withdrawJoinCode().catch(() => {})
      Object.assign(this, {code})
      this.#hasEnded = false
      this.#show(make('p', {textContent: say('code.go', {address: home().replace(/\/$/, '')})}),
          make('output', {textContent: spelled(code)}), make('p', {textContent: say('code.holds')}))
    } catch (error) {
      // A relay without a join key has no code, and nobody misses it.
      if (error.name === 'limitReached') this.#show(make('p', {textContent: say('code.noPlace')}))
    }
    return undefined
  }

  #end(reason) {
    this.#hasEnded = true
    this.#show(make('p', {role: 'alert', textContent: say(ends[reason])}),
        make('button', {id: 'code-again', type: 'button', textContent: say('code.again'), onclick: () => this.#offer()}))
  }

  #show(...parts) {
    this.element.hidden = false
    this.element.replaceChildren(...parts)
  }
}
