// The board of one channel, as far as this client knows it. docs/javascript.md explains it; Tests/Page/board.test.mjs draws with it.
import {ErrorCode} from './relay-client.js'

/**
 * Holds the same records as every other client in the end, in whatever order answers and events arrive.
 *
 * `changed(this)` is called after each change; `failed(error)` when the relay refuses a change that an earlier page left unfinished.
 */
export class BoardRecords {
  /** By key: `{offset, payload}`; of one that was removed `payload` is `undefined`. */
  records = new Map()
  /** Whether the client reads the board from its beginning, own changes that settled meanwhile, and the offset up to which it has read. */
  isReading = true
  settled = []
  readThrough = 0
  clearedAt = 0
  /** Own changes whose outcome is unknown until the next `caughtUp`. */
  unknown = []

  constructor(client, channel, changed, failed = () => {}) {
    Object.assign(this, {client, channel, changed})
    const on = (type, handle) => client.on(type, event => {
      if (event.channel !== channel) return
      handle(event)
      changed(this)
    })
    const received = ({isRetained, isRemoval, key, offset, payload}) => {
      if (isRetained) this.put(key, offset, isRemoval ? undefined : payload)
    }
    on('message', received)
    on('board', ({messages}) => messages.forEach(received))
    on('cleared', ({offset}) => {
      this.clearedAt = offset
    })
    on('messagesMissed', ({extent}) => {
      // The records held here are void, and all of the board follows.
      if (extent === 'reset') Object.assign(this, {records: new Map(), isReading: true, settled: [], clearedAt: 0, readThrough: 0})
    })
    on('caughtUp', ({head}) => {
      if (this.isReading) {
        Object.assign(this, {isReading: false, readThrough: head})
        for (const change of this.settled.splice(0)) this.putOwn(change)
      }
      for (const isRead of this.unknown.splice(0)) isRead()
    })
    // Changes that an earlier page left unfinished.
    for (const {channel: place, key, customType, payload, receipt} of client.restored) {
      if (place === channel) this.follow(key, payload.length > 0 ? payload : undefined, customType, receipt).catch(failed)
    }
  }

  /** The payloads that the board holds now, by key. */
  get all() {
    const held = [...this.records].filter(([, {offset, payload}]) => payload !== undefined && offset > this.clearedAt)
    return new Map(held.map(([key, {payload}]) => [key, payload]))
  }

  /** The record that is later in the relay's order wins. */
  put(key, offset, payload) {
    if (offset > (this.records.get(key)?.offset ?? 0)) this.records.set(key, {offset, payload})
  }

  /** A board that was read holds own records, too. One at or below that offset was among them, or somebody has replaced or removed it. */
  putOwn({key, offset, payload}) {
    if (this.isReading) this.settled.push({key, offset, payload})
    else if (offset > this.readThrough) this.put(key, offset, payload)
  }

  /** Keeps a record, or removes one (`undefined`). */
  async write(key, payload, customType) {
    const {client, channel} = this
    const receipt = payload === undefined
      ? client.send({removing: key, from: channel}) : client.sendLarge(payload, {to: channel, key, retain: true, customType})
    return this.follow(key, payload, customType, receipt)
  }

  /** Shows a change once it is stored: the offset of one that is only accepted may be another record's after a restart of the relay. */
  async follow(key, payload, customType, receipt) {
    try {
      const offset = await receipt.stored
      this.putOwn({key, payload, offset})
      this.changed(this)
      return offset
    } catch (error) {
      if (error.code !== ErrorCode.outcomeUnknown) throw error
    }
    // Once the board is read it tells whether the change arrived. If not, write it again.
    await new Promise(resolve => this.unknown.push(resolve))
    const held = this.records.get(key)
    const isDone = payload === undefined ? held?.payload === undefined : held !== undefined
    return isDone ? held?.offset : this.write(key, payload, customType)
  }
}
