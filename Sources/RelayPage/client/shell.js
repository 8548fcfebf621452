// The shell around the machine: its link, its clock, calls that end, and readers.
import {problem} from './errors.js'
import {Events} from './events.js'
import {Limits} from './limits.js'
import {callTimeoutMs} from './options.js'
import {Pending} from './pending.js'
import {Readers} from './readers.js'
/** @import {ClientMachine} from './machine.js' */
/** @import {AskHow} from './machine-types.js' */
/** @import {CallOptions, Transport} from './types.js' */

/** For calls whose result nobody wants. */
const nobody = () => {}

/** A machine with a link. Who extends it says what becomes of events: `told`. */
export class Shell {
  readers = new Readers()
  /** What the link brought while a reader held it back. @type {(() => void)[]} */
  held = []
  heldBytes = 0

  /** @param {ClientMachine} machine @param {Transport} transport */
  constructor(machine, transport) {
    Object.assign(this, {machine, transport})
  }

  // MARK: Calls

  /** Changes the machine and carries out what follows from it. */
  act(change) {
    try {
      return change(this.machine, performance.now())
    } finally {
      this.carryOut()
    }
  }

  /** The same for what needs the relay: the first of these connects. */
  reach(change) {
    this.start()
    return this.act(change)
  }

  /**
   * Waits for what the machine settles, as long as the caller does.
   *
   * @param {(machine: ClientMachine, pending: Pending, now: number) => void} change hands the work over
   * @param {CallOptions} [call] @param {AskHow} [how]
   */
  async ask(change, {signal, timeout = callTimeoutMs, offline = 'wait'} = {}, how = {}) {
    const {more = 0, handsOver = false, settled = nobody, began = nobody, late = nobody} = how
    const [cancelled, timedOut] = ['the call was cancelled', `no answer within ${timeout + more} ms`]
    if (signal?.aborted && !handsOver) throw problem('cancelled', cancelled, {outcome: 'nothingHappened'})
    this.start()
    if (offline === 'fail' && this.machine.state !== 'live' && this.machine.state !== 'closed') {
      throw problem('notConnected', 'there is no connection to the relay', {outcome: 'nothingHappened'})
    }
    const pending = new Pending(settled, began)
    this.act((machine, now) => change(machine, pending, now))
    if (pending.result) return pending.promise
    return new Promise((resolve, reject) => {
      const giveUp = (name, text) => {
        end()
        const outcome = handsOver ? 'unknown' : this.act(machine => machine.withdraw(pending))
        pending.promise.then(late, nobody)
        reject(problem(name, text, {outcome}))
      }
      const abort = () => giveUp('cancelled', cancelled)
      const timer = timeout + more < 2 ** 31 ? setTimeout(() => giveUp('timedOut', timedOut), timeout + more) : undefined
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        end.isOver = true
      }
      pending.promise.then(value => end.isOver || (end(), resolve(value)), error => end.isOver || (end(), reject(error)))
      if (signal?.aborted) abort()
      else signal?.addEventListener('abort', abort, {once: true})
    })
  }

  request(type, body, call, how = {}) {
    return this.ask((machine, pending, now) => machine.request(type, body, pending, now, how.texts), call, how)
  }

  // MARK: Readers

  /**
   * @param {(event: object) => any} view what the reader gets of an event
   * @param {AbortSignal} [signal] @param {() => void} [ended]
   * @returns {Events<any>}
   */
  read(view, signal, ended) {
    const cursor = this.readers.open(view, performance.now())
    if (this.machine.state === 'closed') this.readers.finish(cursor)
    return new Events(this, cursor, signal, ended)
  }

  /** The next event of a reader. */
  take(cursor) {
    const next = this.readers.take(cursor, performance.now())
    if (this.machine.isHeldBack) this.goOn()
    return next
  }

  /** Readers have taken enough, or have ended: waiting bytes come in. */
  goOn() {
    while (this.held.length > 0 && !this.readers.holdsBack) this.held.shift()()
    if (this.readers.holdsBack) return
    this.heldBytes = 0
    this.machine.isHeldBack = false
    this.wire?.resume?.()
    this.act((machine, now) => machine.goOn(now))
  }

  /** Hands an event to its readers. @returns {number} their number */
  append(event, cost) {
    const {catchingUp, behind} = this.machine.messages
    const taken = this.readers.append(event, cost, catchingUp.size + behind.size > 0, performance.now())
    if (this.readers.holdsBack && !this.machine.isHeldBack) {
      this.machine.isHeldBack = true
      this.wire?.pause?.()
    }
    return taken
  }

  // MARK: The machine and its link

  carryOut() {
    const {machine} = this
    for (let events; (events = machine.takeEvents()).length > 0;) for (const {event, cost} of events) this.told(event, cost)
    for (const {openLink, closeLink, userLearned} of machine.takeEffects()) {
      if (userLearned) this.keepUser(userLearned)
      else if (openLink !== undefined) this.open(openLink)
      else if (closeLink === this.wire?.attempt) this.closeLink()
    }
    while (this.wire?.isOpen && this.wire.bufferedBytes < Limits.outboundBytes) {
      const bytes = machine.gather(performance.now())
      if (!bytes) break
      this.wire.send(bytes)
    }
    clearTimeout(this.timer)
    // A full link does not tell when it has room again.
    const isStuck = this.wire?.isOpen && machine.outbound.bytes > 0
    const wait = isStuck ? 20 : Math.min(machine.nextDeadline, this.readers.nextDeadline) - performance.now()
    if (wait < Infinity) this.timer = setTimeout(() => this.deadline(), Math.max(0, Math.ceil(wait)))
  }

  deadline() {
    this.readers.deadline(performance.now())
    if (this.machine.isHeldBack) this.goOn()
    this.act((machine, now) => machine.deadline(now))
  }

  closeLink() {
    this.wire?.close()
    this.wire = undefined
    this.held = []
    this.heldBytes = 0
  }

  open(attempt) {
    this.closeLink()
    /** What the link says, in order, once readers have room. */
    const tell = change => (...values) => {
      if (this.wire !== link) return
      const say = () => this.wire === link && this.act((machine, now) => change(machine, now, ...values))
      if (!this.machine.isHeldBack) return void say()
      this.held.push(say)
      this.heldBytes += values[0]?.length ?? 0
      const {heldBytesMax} = Limits
      if (this.heldBytes > heldBytesMax) this.act((machine, now) => machine.pause(heldBytesMax, this.heldBytes, now))
    }
    const opened = tell((machine, now) => {
      link.isOpen = true
      machine.linkOpened(attempt, now)
    })
    const received = tell((machine, now, bytes) => machine.received(bytes, attempt, now))
    const ended = tell((machine, now, text) => {
      this.closeLink()
      machine.linkEnded(attempt, text, now)
    })
    let link = {attempt, close() {}}
    try {
      link = this.transport({opened, received, ended})
      link.attempt = attempt
    } catch (error) {
      queueMicrotask(() => ended(error.message))
    }
    this.wire = link
  }
}
