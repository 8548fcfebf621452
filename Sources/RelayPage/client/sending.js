// What a client sends to message channels and users.
import {problem} from './errors.js'
import {Pending} from './pending.js'
import {Receipt, StoredReceipt} from './receipts.js'
import {noBytes, payloadOf} from './text.js'
/** @import {Payload, SendOptions} from './types.js' */

/** The calls of `RelayClient` that send messages, drawings and change sets. */
export class Sending {
  /**
   * Publishes a message; it has its place in the order when this returns. After a break it is sent again until its outcome is
   * known: the relay accepts it once.
   *
   * - `send('hello', {to: 'lesson', customType, echo, storeInHistory})`: to a message channel
   * - `send('hello', {toUser: 'bob', customType})`: to one user; the receipt comes when the receiving app has taken it
   * - `send(json, {to: 'lesson', retainedAs: 's1', customType, echo})`: kept for good as the newest of its key
   * - `send({removing: 's1', from: 'lesson'})`: removes the record of a key; others receive a message with `isRemoval`. Another
   *   user's takes the right `revise`, as it does to replace it: the receipt is rejected with `notPermitted` [BL10]
   *
   * @template {SendOptions} Options
   * @param {Payload|{removing: string, from: string}} payload with its custom type at most 32,768 bytes; 1 or more if it is retained
   * @param {Options} [options] `echo`: whether this client receives it as well; `storeInHistory: false`: a client without a link
   *   at that moment misses it
   * @returns {Options extends {to: string, retainedAs?: undefined} | {toUser: string} ? Receipt : StoredReceipt}
   * @throws {RelayError} `badName`, `badText`, `tooLarge`, `badRequest` for an empty record, `unsentFull`, `clientClosed`: nothing
   *   was sent then
   */
  send(payload, {to, toUser, retainedAs, customType, echo = false, storeInHistory = true} = {}) {
    const accepted = new Pending()
    const stored = new Pending()
    if (toUser !== undefined) {
      this.act((machine, now) => machine.sendDirect({payload, user: toUser, customType, pending: accepted}, now))
      return new Receipt(accepted)
    }
    const removing = payload?.removing
    const key = removing ?? retainedAs
    const isRetained = key !== undefined
    if (removing === undefined && isRetained && payloadOf(payload).bytes.length === 0) {
      throw problem('badRequest', 'an empty payload removes a record: that is a call of its own')
    }
    const message = {
      payload: removing === undefined ? payload : noBytes, channel: removing === undefined ? to : payload.from, customType, echo,
      isKept: storeInHistory, key, isRetained, accepted, stored: isRetained ? stored : undefined,
    }
    this.act((machine, now) => machine.send(message, now))
    if (!isRetained) return new Receipt(accepted)
    return new StoredReceipt(accepted, stored)
  }

  /**
   * Publishes a drawing of up to 8 MiB, in parts where one message does not hold it; it arrives as one message or not at all.
   *
   * Parts take at most three quarters of the rate. What is sent meanwhile goes before it, but for messages and drawings with
   * its key. After a break it goes on, or begins anew, at most 5 times.
   *
   * @param {Payload} payload 1 byte or more
   * @param {{to: string, customType?: string, key?: string, retain?: boolean, echo?: boolean}} options
   * @returns {StoredReceipt}
   * @throws {RelayError} as `send`; `badName` for a record without a key; `unsentFull` when those that wait have too many bytes
   */
  sendLarge(payload, {to, customType, key, retain = false, echo = false}) {
    const accepted = new Pending()
    const stored = new Pending()
    this.act((machine, now) => machine.sendLarge({payload, channel: to, customType, key, isRetained: retain, echo, accepted, stored}, now))
    return new StoredReceipt(accepted, stored)
  }

  /**
   * Writes and removes many records of one board together: all of them or none, for its readers and after a crash of the relay.
   *
   * It costs one message of the rate for each 64 changes, or 32,768 bytes, begun. Readers have all of it at their next `caughtUp`;
   * messages with one of its keys that are sent behind it wait until it is accepted. After a break it goes on, or begins anew, at
   * most 5 times.
   *
   * @param {({key: string, payload: Payload, customType?: string}|{key: string, isRemoval: true})[]} changes 1…4,096, in this
   *   order, with 8,388,608 bytes together
   * @param {{to: string}} options
   * @returns {StoredReceipt} with the offset of the last change, behind those of the others without a gap; rejected with
   *   `changeIndex` where the relay refused one change, and then none was made [BL11]
   * @throws {RelayError} as `send`, with `changeIndex` where one change is meant; `limitReached`
   */
  sendChanges(changes, {to}) {
    const accepted = new Pending()
    const stored = new Pending()
    this.act((machine, now) => machine.sendChanges({changes, channel: to, accepted, stored}, now))
    return new StoredReceipt(accepted, stored)
  }
}
