// The board of a channel: how its records are written. board-reading.js is how they are read.
import {optionsOf, taken} from './options.js'
import {sendRecords} from './sending.js'
import {checkedName, noBytes} from './text.js'
/** @import {StoredReceipt} from './receipts.js' */
/** @import {BoardClearing, CallOptions, Payload} from './types.js' */

/** Changes that are made together. */
export class Batch {
  changes = []

  /** @param {string} key @param {Payload} payload @param {{customType?: string}} [options] */
  put(key, payload, options) {
    const {customType} = optionsOf('put', options, ['customType'])
    this.changes.push({key, payload, customType})
  }
  /** @param {string} key */
  remove(key, options) {
    optionsOf('remove', options, [])
    this.changes.push({key, isRemoval: true})
  }
}

/** What a channel keeps for good: records, each the newest under its key. It need not be open for writing. */
export class Board {
  constructor(channel) {
    Object.assign(this, {channel, client: channel.client})
  }

  // MARK: Writing

  /**
   * Keeps a record. It has its place in the order when this returns, and is sent again after a break until its outcome is known. A large
   * one leaves in parts; what is sent meanwhile goes before it, but for what has its key.
   *
   * @param {string} key @param {Payload} payload 1 byte to 8 MiB, with its custom type
   * @param {{customType?: string}} [options] @returns {StoredReceipt}
   * @throws {RelayError} `badName`, `badText`, `tooLarge`, `badRequest` without a byte, `unsentFull`, `clientClosed`: nothing was sent then
   */
  put(key, payload, options) {
    const {customType} = optionsOf('put', options, ['customType'])
    const {name: channel} = this.channel
    return sendRecords(this.channel, [{key, payload, customType}], (machine, pendings, now) =>
      machine.sendLarge({payload, channel, customType, key: checkedName(key), isRetained: true, echo: false, ...pendings}, now))
  }

  /** Removes the record of a key. @param {string} key @returns {StoredReceipt} @throws {RelayError} as `put` */
  remove(key, options) {
    optionsOf('remove', options, [])
    const {name: channel} = this.channel
    return sendRecords(this.channel, [{key}], (machine, pendings, now) =>
      machine.send({payload: noBytes, channel, key, isRetained: true, ...pendings}, now))
  }

  /**
   * Writes and removes many records together, all of them or none. It costs one message of the rate for each 64 changes, or 32,768 bytes,
   * begun. [BL11]
   *
   * @param {(batch: Batch) => void} make adds the changes: 1…4,096 of them, each up to 32,768 bytes, together up to 8 MiB
   * @returns {StoredReceipt} with the offset of the last change; rejected with `changeIndex` where the relay refused one
   * @throws {RelayError} as `put`, with `changeIndex` where one change is meant; `limitReached`
   */
  batch(make, options) {
    optionsOf('batch', options, [])
    const batch = new Batch()
    make(batch)
    const {name: channel} = this.channel
    const shown = batch.changes.map(({key, payload, customType, isRemoval}) => isRemoval ? {key} : {key, payload, customType})
    return sendRecords(this.channel, shown, (machine, pendings, now) =>
      machine.sendChanges({changes: batch.changes, channel, ...pendings}, now), 'changes')
  }

  async change(type, options) {
    const [, call] = taken(type, options)
    const {offset, records} = await this.client.request(type, {channel: this.channel.name}, call)
    return {offset, records}
  }

  /** Removes all records, as one change (`cleared`), durable. [BL6] @returns {Promise<BoardClearing>} */
  async clear(options) {
    return this.change('clear', options)
  }

  /** Takes the newest `clear` of the last 10 minutes back, but for keys that were written or removed since. @returns {Promise<BoardClearing>} */
  async undoClear(options) {
    return this.change('undoClear', options)
  }

  /**
   * Removes the board with all that is known of it; readers begin anew (`reset`). With `unusedFor` only if nobody has used it for so many
   * milliseconds. [BL9, BL12] @throws {RelayError} `boardInUse`
   */
  async delete(options) {
    const [{unusedFor: unusedMs}, call] = taken('delete', options, ['unusedFor'])
    await this.client.request('removeBoard', {channel: this.channel.name, unusedMs}, call)
  }
}
