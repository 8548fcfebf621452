// The locks of a channel.
import {Part, waitingRequest} from './part.js'
import {checkedName} from './text.js'
/** @import {LockDetail} from './types.js' */

/** The locks of a channel: named leases, each free or owned by one device of a user while that has a live connection, and the ttl longer. */
export class Locks extends Part {
  request(type, lock, more) {
    return this.client.request(type, {...this.place, lock: checkedName(lock), ...more})
  }

  /**
   * Makes a lock, or changes the ttl of one that is there: how long it outlives its owner's last connection, 1…300 s.
   *
   * @param {string} lock
   */
  async set(lock, /** @type {{ttlMs?: number}} */ {ttlMs = 10_000} = {}) {
    await this.request('setLock', lock, {ttlMs})
  }

  /**
   * Makes this device the owner.
   *
   * @param {string} lock
   * @param {{waitMs?: number, signal?: AbortSignal}} [options] `waitMs`: how long to stand in line for it, 1…300,000; without it
   *   one is refused at once. `signal`: aborted, one leaves the line, and is refused as `cancelled` unless the lock came before that
   * @returns {Promise<number>} the fencing number: greater than that of every earlier acquisition of any lock of this relay
   * @throws {RelayError} `lockHeld` (the text names the owner), `lockNotFound`, `limitReached` when 100 wait already
   */
  async acquire(lock, {waitMs, signal} = {}) {
    return (await waitingRequest(this.client, 'acquireLock', {...this.place, lock: checkedName(lock), waitMs}, signal)).fencing
  }

  /** Gives the lock back; who waits longest gets it. @param {string} lock */
  async release(lock) {
    await this.request('releaseLock', lock)
  }

  /** Takes the lock from a user, whatever its device, or from one device. @param {string} lock */
  async revoke(lock, /** @type {{from: string, device?: string}} */ {from, device}) {
    await this.request('revokeLock', lock, {owner: checkedName(from), ownerDevice: device})
  }

  /** Takes the lock away, held or not. Those who wait for it are refused. @param {string} lock */
  async remove(lock) {
    await this.request('removeLock', lock)
  }

  /** All locks of the channel, in order of name. @returns {Promise<LockDetail[]>} */
  async all() {
    return (await this.client.request('getLocks', this.place)).locks
  }
}
