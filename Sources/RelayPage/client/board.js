// The board of a channel: its records.
import {problem} from './errors.js'
import {Latest} from './latest.js'
import {optionsOf, taken} from './options.js'
import {sendRecords} from './sending.js'
import {checkedName, noBytes} from './text.js'
/** @import {Events} from './events.js' */
/** @import {StoredReceipt} from './receipts.js' */
/** @import {BoardChange, BoardClearing, BoardRecord, CallOptions, Payload, ReaderOptions} from './types.js' */

/** Changes that are made together. */
export class Batch {
  changes = []

  /** @param {string} key @param {Payload} payload @param {{customType?: string}} [options] */
  put(key, payload, options) {
    const {customType} = optionsOf('put', options, ['customType'])
    this.changes.push({key, payload, customType})
  }
  /** @param {string} key */
  remove(key) {
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
  remove(key) {
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
  batch(make) {
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

  /** Removes the board with all that is known of it; readers begin anew (`reset`). [BL9] */
  async delete(options) {
    const [, call] = taken('delete', options)
    await this.client.request('removeBoard', {channel: this.channel.name}, call)
  }

  // MARK: Reading

  /** Every change of the board, own ones once they are stored. @param {ReaderOptions} [options] @returns {Events} of `BoardChange` */
  changes(options) {
    const {signal} = optionsOf('changes', options, ['signal'])
    const {name} = this.channel
    return this.channel.read(event => event.type === 'boardChange' && event.channel === name ? event.change : undefined, signal)
  }

  /**
   * The board as it is shown, with own records on top that are not stored yet. `records` is never copied, and goes on changing;
   * `changed` has the keys that have changed since this reader's last picture.
   *
   * @param {ReaderOptions} [options] @returns {Latest} of `BoardPicture`
   */
  pictures(options) {
    const {signal} = optionsOf('pictures', options, ['signal'])
    const {board} = this.channel.state
    const reader = {changed: new Set(board.records.keys())}
    if (!signal?.aborted) board.readers.add(reader)
    return new Latest(board, signal, () => board.picture(reader), () => board.readers.delete(reader))
  }

  /**
   * All records as the relay has them now, by key. A channel that is not open is read without being seen in it.
   *
   * @returns {Promise<Map<string, BoardRecord>>} @throws {RelayError} `badRequest` where the channel is open, and not from the board
   */
  async records(options) {
    const [, call] = taken('records', options)
    const {channel: {state, name}, client} = this
    if (state.asked.message) return this.complete(call)
    const isFirst = state.privateReads++ === 0
    try {
      const features = ['messages']
      if (isFirst) await client.subscribe(state, {channel: name, features, quiet: true, since: {beginning: true}}, call)
      return await this.complete(call)
    } finally {
      if (--state.privateReads === 0 && !state.asked.message) {
        client.request('unsubscribe', {channel: name}, undefined, {handsOver: true}).catch(() => {})
        state.end()
      }
    }
  }

  async complete(call) {
    const {client, channel: {state}} = this
    const {board} = state
    const isOf = ({offset, payload}) => payload !== undefined && offset !== undefined
    const found = () => new Map([...board.told].filter(([, record]) => isOf(record)))
    if (board.isComplete) return found()
    await client.ask((machine, pending) => {
      const look = () => {
        if (pending.result) return
        if (board.isComplete) pending.settle({value: undefined})
        else if (board.isOver) pending.settle({error: problem('notSubscribed', 'the channel was left')})
        else if (board.isBegun && !board.isWhole) pending.settle({error: isNotWhole()})
        else board.waiting.add(look)
      }
      look()
    }, call)
    return found()
  }
}

const isNotWhole = () => problem('badRequest', 'the channel is not open from the board: its records are not known')
