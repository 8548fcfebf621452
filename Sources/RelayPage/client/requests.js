// Requests and what their answers achieve.
import {Access} from './access.js'
import {answerShapes, holds} from './body-shapes.js'
import {ErrorCode, RelayError, fault, isOverAlready} from './errors.js'
import {channelKey, kindEntered, ownerKey, partsOfKey, stayKey, topicKey} from './keys.js'
import {Limits} from './limits.js'
import {messageOf} from './message.js'
import {Pending} from './pending.js'

/** What ends something. [SE11] */
const endings = new Set(['unsubscribe', 'leave', 'leaveTopic', 'unsubscribeTopic', 'unsubscribeUserMetadata'])

/** What changes nothing, or comes to the same when it is asked again. [SE11] */
const repeatable = new Set([...endings, 'subscribe', 'join', 'subscribedUsers', 'who', 'where', 'getStates', 'history', 'barrier',
  'getMetadata', 'getLocks', 'boards', 'getBans', 'setReaderLimits', 'offerDevice', 'offerJoinCode', 'withdrawJoinCode', 'status'])
export const mayBeRepeated = ({request, pending}) => !pending || repeatable.has(request.type)

/** What the relay may answer late, and can be asked to give up. [SE14] */
const waitAtRelay = new Set(['acquireLock', 'barrier'])

/** Requests that are not answered, by their id. */
export class Requests {
  constructor(machine) {
    this.machine = machine
    /** @type {Map<number, {request: {type: string, body: object, texts?: Uint8Array[]}, pending?: Pending, items: object[]}>} */
    this.byID = new Map()
    this.lastRequest = 0
    /** What can be asked again, of what was not answered when the link ended: `{request, pending}`. [SE11] */
    this.askedAgain = []
  }

  nextID() {
    this.lastRequest = this.lastRequest >= 2 ** 32 - 1 ? 1 : this.lastRequest + 1
    return this.lastRequest
  }

  ask(request, pending = undefined) {
    const id = this.nextID()
    this.byID.set(id, {request, pending, items: []})
    this.machine.outbound.write({type: request.type, body: {...request.body, id}, texts: request.texts})
  }

  /** Where nobody waits for its answer, a message channel is taken up where it was left. */
  askAgain(request, pending = undefined) {
    const {type, body, texts} = request
    if (pending) return this.ask({...request, isAgain: true}, pending)
    const {positions, readings} = this.machine.messages
    const position = type === 'subscribe' ? positions.get(body.channel) : undefined
    const since = position && {...position, ...readings.has(body.channel) && {own: true}}
    this.ask({type, body: type === 'subscribe' ? {...body, since} : body, texts})
  }

  /**
   * The caller has stopped waiting: the client does not send the request, or not again. The relay withdraws a request that waits
   * there; it answers, and what it has done meanwhile counts. [SE14]
   */
  withdraw(pending) {
    const isMeant = waiting => waiting.pending === pending
    if (this.machine.queue.withdraw(isMeant)) return 'nothingHappened'
    // A login that is under way has asked for the channel from its place. [SE2]
    const {session, state} = this.machine
    const isShown = ({request}) => (state === 'connecting' || session.awaitsRestoration) && kindEntered[request.type] !== undefined
    this.askedAgain = this.askedAgain.filter(waiting => !isMeant(waiting) || isShown(waiting))
    for (const [id, asked] of this.byID) {
      if (asked.pending !== pending || asked.isWithdrawn) continue
      asked.isWithdrawn = true
      if (waitAtRelay.has(asked.request.type)) this.ask({type: 'cancel', body: {request: id}}, new Pending())
    }
    return 'unknown'
  }

  answer(body) {
    const found = this.byID.get(body.id)
    if (!found) return
    this.byID.delete(body.id)
    const {request, pending, items} = found
    if (answerShapes[request.type]) holds(answerShapes[request.type], body, request.type)
    const value = this.achieved(request, body, items, pending !== undefined)
    pending?.settle({value})
  }

  /** Takes over what a request has achieved. @returns what its caller gets */
  achieved({type, body: asked}, body, items, isOfApp) {
    const topic = asked.topic !== undefined ? topicKey(asked.channel, asked.topic) : ''
    const {channels, credits, flows, session} = this.machine
    const {wanted} = session
    switch (type) {
      case 'subscribe':
      case 'join': return session.entered(body, {body: asked}, isOfApp)
      case 'unsubscribe': return session.left({kind: 'message', channel: asked.channel})
      case 'leave': return session.left({kind: 'stream', channel: asked.channel})
      case 'joinTopic': {
        const {priority, meta, lifetimeMs} = asked
        wanted.publishing.set(topic, {priority, meta, lifetimeMs})
        flows.ownFlows.set(topic, body.flow)
        if (flows.ownTopics.size >= Limits.ownFlowsMax) flows.ownTopics.clear()
        flows.ownTopics.set(body.flow, topic)
        return undefined
      }
      case 'goOn': return credits.goOnAnswered(asked)
      case 'leaveTopic': return session.leftTopic(topic)
      case 'subscribeTopic': {
        const selection = wanted.selections.get(topic) ?? {all: false, listed: new Set()}
        if (asked.users) for (const user of body.succeeded) selection.listed.add(user)
        else selection.all = true
        return this.select(topic, selection, body)
      }
      case 'unsubscribeTopic': {
        let selection = wanted.selections.get(topic) ?? {all: false, listed: new Set()}
        if (!asked.users) selection = {all: false, listed: new Set()}
        for (const user of body.succeeded) selection.listed.delete(user)
        for (const [handle, flow] of flows.byHandle) {
          const isHeard = selection.all || selection.listed.has(flow.user)
          if (topicKey(flow.channel, flow.topic) === topic && !isHeard) flows.byHandle.delete(handle)
        }
        return this.select(topic, selection, body)
      }
      case 'setStates':
      case 'removeStates': {
        const key = channelKey(asked.kind, asked.channel)
        const states = asked.states || asked.keys ? Object.assign(Object.create(null), wanted.states.get(key), asked.states) : {}
        for (const name of asked.keys ?? []) delete states[name]
        if (Object.keys(states).length > 0) wanted.states.set(key, states)
        else wanted.states.delete(key)
        return undefined
      }
      case 'history': {
        const {epoch, head, floor, next} = body
        return {messages: items.map(item => ({...item, channel: asked.channel, epoch})), epoch, head, floor, next}
      }
      case 'getMetadata': throw fault('the relay answered getMetadata without a page')
      case 'subscribeUserMetadata':
        wanted.userMetadata.add(asked.user)
        channels.metadataSets.set(ownerKey(asked), {items: new Map(), majorRevision: 0})
        return undefined
      case 'unsubscribeUserMetadata':
        wanted.userMetadata.delete(asked.user)
        channels.metadataSets.delete(ownerKey(asked))
        return undefined
      case 'renew':
        this.machine.credential = asked
        this.machine.access = new Access(body.access)
        return undefined
      default: return body
    }
  }

  select(topic, selection, {all, succeeded, failed}) {
    const {selections} = this.machine.session.wanted
    if (selection.all || selection.listed.size > 0) selections.set(topic, selection)
    else selections.delete(topic)
    return {all, users: succeeded, failed: failed.map(({user, code}) => ({user, code}))}
  }

  /** What the app has told to end, and the relay perhaps not heard. */
  forgetEnded(asked) {
    for (const {request} of asked) if (endings.has(request.type)) this.over(request)
  }

  over(request) {
    return this.achieved(request, {all: false, succeeded: request.body.users ?? [], failed: []}, [], true)
  }

  /** What is asked again to enter a channel, but for what is behind a request to leave it: that begins another stay. [SE11] */
  askedOfStay(key) {
    const all = this.askedAgain.filter(({request}) => stayKey(request) === key)
    const end = all.findIndex(({request}) => endings.has(request.type))
    return end < 0 ? all : all.slice(0, end)
  }

  /** From where on the app wants a channel, where its `subscribe` was not answered. [SE11] */
  placeAsked(channel) {
    const isMeant = ({request: {body}, pending}) => pending && body.since
    return this.askedOfStay(channelKey('message', channel)).findLast(isMeant)?.request.body.since
  }

  refused(body, now) {
    const {machine} = this
    const error = new RelayError(body.code, body.text, body)
    if (body.number !== undefined) {
      const publish = machine.sent.answered(body.number, body.credit, now)
      publish?.direct?.settle({error})
      if (publish?.message) machine.credits.refused(publish.message, body.number, error)
      return
    }
    const found = this.byID.get(body.id)
    if (found) {
      this.byID.delete(body.id)
      const {request, pending} = found
      if (request.isAgain && endings.has(request.type) && isOverAlready(error)) pending.settle({value: this.over(request)})
      else if (pending) pending.settle({error})
      else this.refusedAgain(request, error)
      return
    }
    if (machine.state === 'connecting') return machine.end({kind: 'loginRefused', error}, now)
    const key = machine.flows.ownTopics.get(body.flow)
    const refusal = {type: 'refused', subject: body.flow === undefined ? 'unknown' : 'packet', error}
    if (key) {
      // Left by a request whose answer was lost with the link, or the right to has ended.
      const isOver = error.code === ErrorCode.unknownFlow || error.code === ErrorCode.notPermitted
      if (isOver && machine.flows.ownFlows.get(key) === body.flow) machine.session.leftTopic(key)
      Object.assign(refusal, {channel: {kind: 'stream', channel: partsOfKey(key)[0]}, topic: partsOfKey(key)[1]})
    }
    machine.unread.emit(refusal)
  }

  /** What the app wanted is not to be had in the new session: it is told, and the machine stops wanting it. */
  refusedAgain({type, body}, error) {
    if (type === 'goOn') return
    const {session, unread} = this.machine
    const {topic, users = [], user} = body
    const kind = kindEntered[type] ?? body.kind ?? 'stream'
    const channel = body.channel === undefined ? undefined : {kind, channel: body.channel}
    const key = topic === undefined ? '' : topicKey(body.channel, topic)
    const subjects = {
      subscribe: ['channel', () => session.left(channel)],
      join: ['channel', () => session.left(channel)],
      joinTopic: ['publishedTopic', () => session.leftTopic(key)],
      subscribeTopic: ['subscribedTopic', () => session.wanted.selections.delete(key)],
      setStates: ['states', () => session.wanted.states.delete(channelKey(kind, body.channel))],
      subscribeUserMetadata: ['userMetadata', () => session.wanted.userMetadata.delete(user)],
    }
    const [subject, forget] = subjects[type] ?? ['unknown', () => {}]
    forget()
    unread.emit({type: 'refused', subject, channel, topic, users, user, error})
  }

  historyItem(frame) {
    const found = this.byID.get(frame.id)
    const {part: number, parts: of, key, payload, text: isText = false} = frame
    if (number !== undefined && (of < 2 || number > of || key === undefined)) {
      throw fault(`part ${number} of ${of} of a drawing`)
    }
    // Text may be cut inside a character: it is checked as a whole. [BL8]
    const part = number === undefined ? {} : {payload: payload.slice(), part: {number, of, isText}}
    const message = messageOf(frame, {sender: frame.publisher, ...part})
    if (found?.request.type !== 'history') return
    if (found.items.length >= Limits.historyItemsMax) throw fault('the relay sends more of the history than it may')
    found.items.push(message)
  }

  /** The answer to `getMetadata`. */
  metadataPage(body, now, frame) {
    const found = this.byID.get(body.id)
    if (!found) return
    this.byID.delete(body.id)
    found.pending?.settle({value: {items: this.machine.channels.itemsOf(frame), majorRevision: body.majorRevision, next: body.next}})
  }
}
