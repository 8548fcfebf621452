// The locks of a channel.
import {ErrorCode, problem} from './errors.js'
import {taken} from './options.js'
import {checkedName} from './text.js'
/** @import {AcquireOptions, CallOptions, LockDetail} from './types.js' */

/** A lock that this device has. */
export class Hold {
  /** @param {Lock} lock @param {number} fencing */
  constructor(lock, fencing) {
    this.lock = lock
    /** Greater than that of every earlier acquisition of any lock of this relay. */
    this.fencing = fencing
    /** Whether it is still had, as far as the client knows: told while the channel is open with `locks`. */
    this.isHeld = true
  }
  /** Gives it back: the lock goes with the last hold of this client. */
  async release(options) {
    await this.lock.giveBack(this, options)
  }
}

class LockUse {
  /** Acquisitions that wait for an answer. */
  waiting = 0
  /** @type {Set<Hold>} */
  holds = new Set()
  /** The lock came after its caller had stopped waiting, and was not released yet. */
  isOrphaned = false
  /** The end of the last `with`. */
  last = Promise.resolve()

  /** Forgets the lock. */
  lose() {
    for (const hold of this.holds) hold.isHeld = false
    this.holds.clear()
    this.isOrphaned = false
  }
}

/** Those that a client uses, by channel and name. */
export class LockUses {
  /** @type {Map<string, LockUse>} */
  uses = new Map()
  of(channel, lock) {
    const key = `${channel}\n${lock}`
    if (!this.uses.has(key)) this.uses.set(key, new LockUse())
    return this.uses.get(key)
  }
  /** @param {{channel: string, kind: string, locks: LockDetail[]}} event */
  told({channel, kind, locks}, user, device) {
    if (kind === 'set') return
    for (const {lock, owner, ownerDevice} of locks) {
      if (owner !== user || ownerDevice !== device) this.uses.get(`${channel}\n${lock}`)?.lose()
    }
  }
}

/** One lock: a named lease, free or owned by one device of a user while that has a live connection, and the ttl longer. */
export class Lock {
  constructor(channel, name) {
    Object.assign(this, {channel, client: channel.client, name: checkedName(name)})
    this.place = {kind: 'message', channel: channel.name, lock: name}
  }
  get use() {
    return this.client.lockUses.of(this.channel.name, this.name)
  }
  async request(type, more, call, how) {
    return this.client.request(type, {...this.place, ...more}, call, how)
  }

  /** Makes the lock, or changes the ttl of one that is there: how long it outlives its owner's last connection, 1,000…300,000 ms. */
  async make(/** @type {{ttl?: number} & CallOptions} */ options = undefined) {
    const [{ttl = 10_000}, call] = taken('make', options, ['ttl'])
    await this.request('setLock', {ttlMs: ttl}, call)
  }

  /**
   * Makes this device the owner. A call that ends before its answer leaves the line; if the lock came all the same, the client releases it,
   * unless another call of this client waits for it or has it.
   *
   * @param {AcquireOptions} [options]
   * @returns {Promise<Hold>} @throws {RelayError} `lockHeld` (the text names the owner), `lockNotFound`, `limitReached`
   */
  async acquire(options) {
    const [{wait}, call] = taken('acquire', options, ['wait'])
    const {use} = this
    use.waiting++
    const late = () => {
      use.isOrphaned = true
      this.settle()
    }
    try {
      const {fencing} = await this.request('acquireLock', {waitMs: wait}, call, {more: wait ?? 0, late})
      const hold = new Hold(this, fencing)
      use.holds.add(hold)
      use.isOrphaned = false
      return hold
    } finally {
      use.waiting--
      this.settle()
    }
  }

  /** Gives back what nobody here wants. */
  settle() {
    const {use} = this
    if (!use.isOrphaned || use.waiting + use.holds.size > 0) return
    use.isOrphaned = false
    this.release().catch(() => {})
  }

  /**
   * Has the lock while `body` runs, and gives it back, unless `acquire` has it here besides; one `with` of this client at a time.
   *
   * @template Result
   * @param {(hold: Hold) => Result|Promise<Result>} body
   * @param {AcquireOptions} [options] the signal ends the waiting, not the body
   * @returns {Promise<Result>}
   * @throws {RelayError} as `acquire`; `lockLost` when it was revoked or had expired before the body ended
   */
  async with(body, options) {
    const [{wait = 0}, call] = taken('with', options, ['wait'])
    const {use} = this
    const {last} = use
    let leave
    use.last = new Promise(resolve => { leave = resolve })
    try {
      await ended(last, call.signal, call.timeout + wait)
      const hold = await this.acquire(options)
      const result = await this.kept(hold, body)
      return result
    } finally {
      last.then(leave)
    }
  }

  async kept(hold, body) {
    let [result, error, isFailed] = [undefined, undefined, false]
    try {
      result = await body(hold)
    } catch (reason) {
      ;[error, isFailed] = [reason, true]
    }
    let isLost = !hold.isHeld
    const lost = [ErrorCode.lockNotHeld, ErrorCode.lockNotFound]
    if (hold.isHeld) await this.giveBack(hold).catch(({code}) => { isLost = lost.includes(code) })
    if (isFailed) throw error
    if (isLost) throw problem('lockLost', `the lock ${this.name} was lost before the body ended`)
    return result
  }

  /** Who has acquired it here besides, or is about to, keeps it. @param {Hold} hold @param {CallOptions} [options] */
  async giveBack(hold, options) {
    taken('release', options)
    const {use} = this
    hold.isHeld = false
    use.holds.delete(hold)
    if (use.holds.size > 0) return
    if (use.waiting === 0) return this.release(options)
    use.isOrphaned = true
  }

  /** Releases the lock, whoever has acquired it here; the user who has waited longest gets it. */
  async release(options) {
    const [, call] = taken('release', options)
    this.use.lose()
    await this.request('releaseLock', {}, call, {handsOver: true})
  }

  /** Takes the lock from a user, whatever its device, or from one device. */
  async revoke(/** @type {{from: string, device?: string} & CallOptions} */ options) {
    const [{from, device}, call] = taken('revoke', options, ['from', 'device'])
    await this.request('revokeLock', {owner: checkedName(from), ownerDevice: device}, call)
  }

  /** Removes the lock, held or not. The relay refuses users who wait for it. */
  async remove(options) {
    const [, call] = taken('remove', options)
    await this.request('removeLock', {}, call)
  }
}

/** Waits for earlier tasks, within the signal and the time. */
function ended(last, signal, timeout) {
  return new Promise((resolve, reject) => {
    let timer
    const giveUp = (name, text) => {
      clearTimeout(timer)
      reject(problem(name, text, {outcome: 'nothingHappened'}))
    }
    const abort = () => giveUp('cancelled', 'the call was cancelled')
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort, {once: true})
    const late = () => giveUp('timedOut', `another call of this client had the lock for ${timeout} ms`)
    if (timeout < 2 ** 31) timer = setTimeout(late, timeout)
    return last.then(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      resolve()
    })
  })
}

