// A client machine on a clock moved by hand, with the relay's side written down by the test.
import assert from 'node:assert/strict'
import {decodeFrame, encodeFrame, FrameReader} from '../../../Sources/RelayPage/client/frames.js'
import {Limits} from '../../../Sources/RelayPage/client/limits.js'
import {ClientMachine} from '../../../Sources/RelayPage/client/machine.js'

/** Objects without prototypes as plain ones, for comparisons. */
export const plain = value => value instanceof Uint8Array || value instanceof Map || value instanceof Error || value === null
    || typeof value !== 'object' ? value
  : Array.isArray(value) ? value.map(plain) : Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)
      .map(([key, part]) => [key, plain(part)]))

/** What somebody waits for, looked at without waiting. */
export class Watched {
  began = () => { }

  settle = result => {
    assert.equal(this.result, undefined, 'settled twice')
    this.result = result
  }
}

export const limits = new ClientMachine({user: 'x', instance: '0'}).limits

export class MachineDriver {
  now = 1_000_000
  links = []
  closed = []
  told = []
  watched = new Map()
  reader = new FrameReader()

  constructor(settings = {}) {
    this.machine = new ClientMachine({
      user: 'alice', instance: '00000000000000aa', secret: '01'.repeat(16), random: () => 0.5, ...settings,
    })
  }

  // MARK: The link

  connect() {
    this.machine.connect(this.watch('connect'), this.now)
    this.open()
  }

  /** Makes the link that was asked for. */
  open() {
    this.carryOut()
    this.reader = new FrameReader()
    this.machine.linkOpened(this.links.at(-1), this.now)
    this.carryOut()
  }

  /** Connected and logged in; what was sent for it is taken, and given. */
  logIn({resumed = false, start = 1000, limits: more = {}, ...fields} = {}) {
    if (this.links.length === 0) this.connect()
    const login = this.sent().findLast(({type}) => type === 'login')
    this.feed({type: 'welcome', body: {
      id: login.body.id, version: 1, capabilities: login.body.capabilities, relay: '0'.repeat(32), user: 'alice',
      handle: 1, resumeToken: 'f'.repeat(32), resumed, start, lastNumber: 0,
      heartbeatMs: 5000, presenceTimeoutMs: 10_000, ...start !== 1000 && login.body.lastNumber ? {forgotten: true} : {},
      access: {role: 'moderator'}, limits: {...limits, ...more}, ...fields,
    }})
    return login.body
  }

  cut(text = 'cut') {
    this.machine.linkEnded(this.links.at(-1), text, this.now)
    this.carryOut()
  }

  /** Cut, and linked again as soon as the machine wants to. */
  comeBack(welcome = {resumed: true}) {
    this.cut()
    this.advanceTo(this.machine.nextDeadline)
    this.open()
    return this.logIn(welcome)
  }

  advance(milliseconds) {
    this.advanceTo(this.now + milliseconds)
  }

  /** Moves the clock, with every deadline on the way. */
  advanceTo(moment) {
    for (let round = 0; this.machine.nextDeadline <= moment; round++) {
      assert.ok(round < 10_000, 'deadlines without an end')
      this.now = Math.max(this.now, this.machine.nextDeadline)
      this.machine.deadline(this.now)
      this.carryOut()
    }
    this.now = moment
  }

  feed(...frames) {
    for (const frame of frames) this.feedBytes(encodeFrame(frame.type === 'accepted' ? {credit: 60, ...frame} : frame))
  }

  feedBytes(bytes) {
    this.machine.received(bytes, this.links.at(-1), this.now)
    this.carryOut()
  }

  carryOut() {
    for (const {openLink, closeLink} of this.machine.takeEffects()) {
      if (openLink !== undefined) this.links.push(openLink)
      if (closeLink !== undefined) this.closed.push(closeLink)
    }
  }

  // MARK: What comes out

  /** Everything that the machine has written since the last call, as the link would take it. */
  sent() {
    const frames = []
    for (let bytes; (bytes = this.machine.gather(this.now));) {
      assert.ok(bytes.length <= Limits.outboundBytes || decodeFrame(bytes).type, 'a batch is 64 KiB, or one frame')
      this.reader.push(bytes)
      for (let frame; (frame = this.reader.next());) frames.push(frame)
      assert.equal(this.reader.buffer.length, 0, 'a batch holds whole frames')
    }
    return frames
  }

  /** The same without pings, as type and what identifies it. */
  sentTypes() {
    return this.sent().filter(({type}) => type !== 'ping')
        .map(({type, number, body}) => number ? `${type} ${number}` : body?.channel ? `${type} ${body.channel}` : type)
  }

  /** Answers pings that wait, as a relay does behind what it restores. */
  pong() {
    for (const {type, payload} of this.sent()) if (type === 'ping') this.feed({type: 'pong', payload})
  }

  readEvents() {
    this.told.push(...this.machine.takeEvents().map(({event}) => event))
    this.carryOut()
  }

  /** As an app that takes every direct message. */
  acknowledge() {
    this.readEvents()
    for (const {acknowledgement} of this.told.filter(({type}) => type === 'direct')) this.machine.acknowledge(acknowledgement)
  }

  /** The events since the last call. */
  events(type) {
    this.readEvents()
    const events = this.told.splice(0)
    return type ? events.filter(event => event.type === type) : events
  }

  /** The link events so far, taken out of what was told. */
  takeLinks() {
    this.readEvents()
    const links = this.told.filter(({type}) => type === 'link').map(({state}) => state)
    this.told = this.told.filter(({type}) => type !== 'link')
    return links
  }

  watch(name) {
    const watched = new Watched()
    this.watched.set(name, watched)
    return watched
  }

  result(name) {
    const result = this.watched.get(name).result
    return result?.error ? result.error.name : result && plain(result.value ?? 'done')
  }

  outcomes(name) {
    return {accepted: this.watched.get(`${name}.accepted`)?.result, stored: this.watched.get(`${name}.stored`)?.result}
  }

  /** `{accepted, stored}` in short: an offset, the name of an error, or undefined. */
  state(name) {
    const short = result => result && (result.error ? result.error.name : result.value)
    const {accepted, stored} = this.outcomes(name)
    return [short(accepted), short(stored)]
  }

  // MARK: Calls of the app

  send(name, fields) {
    this.machine.send({
      channel: 'lesson', payload: name, ...fields, accepted: this.watch(`${name}.accepted`),
          stored: fields?.isRetained ? this.watch(`${name}.stored`) : undefined,
    }, this.now)
  }

  retain(name, fields) {
    this.send(name, {key: name, isRetained: true, ...fields})
  }

  sendLarge(name, fields) {
    this.machine.sendLarge({
      channel: 'lesson', isRetained: true, key: name, echo: false, ...fields, accepted: this.watch(`${name}.accepted`),
          stored: this.watch(`${name}.stored`),
    }, this.now)
  }

  sendDirect(name, fields) {
    this.machine.sendDirect({...fields, pending: this.watch(name)}, this.now)
  }

  request(name, type, body, texts) {
    this.machine.request(type, body, this.watch(name), this.now, texts)
  }

  withdraw(name) {
    const outcome = this.machine.withdraw(this.watched.get(name))
    this.carryOut()
    return outcome
  }

  close() {
    this.machine.close(this.watch('close'), this.now)
    this.carryOut()
  }

  /** Subscribed and answered. */
  subscribe({channel = 'lesson', handle = 7, head = 0, epoch = {start: 1000, incarnation: 1}, since, features = ['messages', 'presence'],
      ...answer} = {}) {
    this.request('subscribe', 'subscribe', {channel, features, quiet: false, since})
    const asked = this.sent().findLast(({type}) => type === 'subscribe')
    this.feed({type: 'answer', body: {id: asked.body.id, kind: 'message', channel, handle, features, quiet: false, epoch, head, ...answer}})
  }

  /** Joined a stream channel, and hearing all in a topic. */
  hear({channel = 'lesson', handle = 9, topic = 'points'} = {}) {
    this.request('join', 'join', {channel, features: [], quiet: false})
    this.answer({kind: 'stream', channel, handle, features: [], quiet: false})
    this.request('subscribeTopic', 'subscribeTopic', {channel, topic})
    this.answer({all: true, succeeded: [], failed: []})
  }

  /** Joined a stream channel, and publishing in a topic. */
  publishIn({channel = 'lesson', handle = 9, topic = 'points', flow = 50} = {}) {
    this.request('join', 'join', {channel, features: [], quiet: false})
    this.answer({kind: 'stream', channel, handle, features: [], quiet: false})
    this.request('joinTopic', 'joinTopic', {channel, topic})
    this.answer({flow, next: 1})
  }

  /** Answers the newest request. */
  answer(fields = {}) {
    const asked = this.sent().findLast(({body}) => body?.id)
    this.feed({type: 'answer', body: {id: asked.body.id, ...fields}})
    return asked
  }
}

export const deliver = (offset, text, more = {}) => ({
  type: 'deliver', channel: 7, publisher: 2, offset, time: 1, text: true, payload: Buffer.from(text), ...more,
})
export const record = (offset, key, text, more = {}) => deliver(offset, text, {key, retain: true, ...more})
export const bob = {type: 'userNamed', handle: 2, user: 'bob'}
export const flowOpened = (flow, next, more = {}) =>
    ({type: 'flowOpened', body: {flow, channel: 9, topic: 'points', user: 'bob', device: '00000000000000bb', meta: '', next, ...more}})
export const packet = (flow, sequence) => ({type: 'packet', flow, sequence, payload: Uint8Array.of(sequence)})
