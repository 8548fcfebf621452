// A client beside a relay that the test plays, frame by frame, without a socket.
import assert from 'node:assert/strict'
import {encodeFrame, FrameReader} from '../../../Sources/RelayPage/client/frames.js'
import {RelayClient} from '../../../Sources/RelayPage/relay-client.js'
import {limits} from './machine-driver.mjs'

/** Lets everything run that is ready. */
export const turn = () => new Promise(resolve => setImmediate(resolve))

export class PlayedRelay {
  /** What the client has sent, without logins and pings. */
  frames = []
  links = 0
  /** Whether a link comes about, and lets in. */
  isUp = true
  isPaused = false

  constructor(options = {}) {
    this.client = new RelayClient(handlers => this.link(handlers), 'alice', {secret: '01'.repeat(16), random: () => 0, ...options})
  }

  link(handlers) {
    this.links++
    const reader = new FrameReader()
    this.now = {handlers}
    if (this.isUp) setImmediate(() => handlers.opened())
    else setImmediate(() => handlers.ended('nobody there'))
    return {
      send: bytes => {
        reader.push(bytes)
        for (let frame; (frame = reader.next());) this.take(frame)
      },
      bufferedBytes: 0, close() {}, pause: () => { this.isPaused = true }, resume: () => { this.isPaused = false },
    }
  }

  take(frame) {
    if (frame.type === 'login') this.welcome(frame.body)
    else if (frame.type === 'ping') this.say({type: 'pong', payload: frame.payload})
    else if (frame.type === 'logout') this.end('logged out')
    else if (frame.type !== 'pong') {
      this.frames.push(frame)
      this.heard?.()
    }
  }

  /** Until the client has asked for something, however long a clock takes. */
  async asks() {
    while (this.frames.length === 0) await new Promise(resolve => { this.heard = resolve })
  }

  welcome({id, capabilities, resume}) {
    this.say({type: 'welcome', body: {
      id, version: 1, capabilities, relay: '0'.repeat(32), user: 'alice', handle: 1, resumeToken: 'f'.repeat(32),
      resumed: resume !== undefined, start: 1000, lastNumber: 0, heartbeatMs: 5_000, presenceTimeoutMs: 10_000,
      access: {role: 'moderator'}, limits,
    }})
  }

  /** Frames reach the client in one piece. */
  say(...frames) {
    const {handlers} = this.now
    const bytes = Buffer.concat(frames.map(frame => encodeFrame(frame.type === 'accepted' ? {credit: 60, ...frame} : frame)))
    setImmediate(() => handlers.received(bytes))
  }

  end(text = 'cut') {
    const {handlers} = this.now
    setImmediate(() => handlers.ended(text))
  }

  /** The link ends, and the client with it: nobody waits for answers that will not come. */
  async leave() {
    this.isUp = false
    this.end()
    await turn()
    await this.client.close()
  }

  /** The newest request of a type. */
  asked(type) {
    const found = this.frames.findLast(frame => frame.type === type)
    assert.ok(found, `no ${type} among ${this.frames.map(({type}) => type)}`)
    return found.body
  }

  answer(type, fields = {}) {
    this.say({type: 'answer', body: {id: this.asked(type).id, ...fields}})
  }

  refuse(type, code, name, fields = {}) {
    this.say({type: 'error', body: {id: this.asked(type).id, code, name, text: name, retry: 'never', ...fields}})
  }

  /** Answers `open` of a channel. */
  opened({channel = 'lesson', handle = 7, head = 0, ...fields} = {}) {
    this.answer('subscribe', {kind: 'message', channel, handle, features: ['messages', 'presence'], quiet: false,
      epoch: {start: 1000, incarnation: 1}, head, ...fields})
  }

  async connected() {
    await this.client.connect()
    await turn()
    return this
  }
}

/** A client that has opened its channel `lesson`, which is read to its end. */
export async function openLesson(options, answer = {}) {
  const relay = await new PlayedRelay(options).connected()
  const lesson = relay.client.channel('lesson')
  const opening = lesson.open()
  await turn()
  relay.opened({after: 0, ...answer})
  relay.say({type: 'userNamed', handle: 2, user: 'bob'}, ...answer.records ?? [])
  if (!answer.isReading) relay.say({type: 'caughtUp', body: {channel: 7, head: answer.head ?? 0}})
  await opening
  await turn()
  return {relay, lesson, client: relay.client}
}
