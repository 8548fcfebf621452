// What a client sends to channels and users: each with its receipt, and with what becomes of it.
import {problem} from './errors.js'
import {Pending} from './pending.js'
import {Receipt, StoredReceipt} from './receipts.js'
import {payloadOf, utf8} from './text.js'

/** Tells readers of problems about a failure that no call waits for. */
function tellUnasked(client, receipt, fields, error, wasAccepted = false) {
  const {accepted, stored} = receipt.asked
  if (stored || (accepted && !wasAccepted)) return
  client.machine.unread.emit({type: 'refused', ...fields, receipt: receipt.id, error}, 0)
}

/** Sends a message: `send(machine, {accepted}, now)`. */
export function sendMessage(client, fields, send) {
  const accepted = new Pending()
  const receipt = new Receipt(client.nextReceipt(), accepted.promise)
  accepted.settled = ({error}) => error && tellUnasked(client, receipt, fields, error)
  client.reach((machine, now) => send(machine, {accepted}, now))
  return receipt
}

/** Follows records on their way: pictures show them at once, readers of changes get them once they are stored. */
export function followRecords(channel, changes, subject, pendings) {
  const {client, state, name} = channel
  const {accepted, stored} = pendings
  const receipt = new StoredReceipt(client.nextReceipt(), accepted.promise, stored.promise)
  let records = []
  let wasAccepted = false
  const follow = {
    accepted({value: last}) {
      if (last === undefined) return
      wasAccepted = true
      state.board.ownAccepted(records, last)
    },
    stored({value: last, error}) {
      if (error) {
        state.board.ownEnded(records)
        const key = changes.length === 1 ? changes[0].key : undefined
        tellUnasked(client, receipt, {subject, channel: name, key}, error, wasAccepted)
      } else {
        const {messages, unread} = client.machine
        unread.emit({type: 'ownStored', channel: name, records, last, receipt: receipt.id, isCatchingUp: messages.isCatchingUp(name)})
      }
    },
  }
  for (const [what, pending] of Object.entries({accepted, stored})) {
    pending.settled = follow[what]
    if (pending.result) follow[what](pending.result)
  }
  /** Shows them, once the machine has taken them. */
  const show = () => {
    if (!stored.result) records = state.board.ownSent(changes, client.user)
  }
  return {receipt, show}
}

/** Sends records: `send(machine, {accepted, stored}, now)`. */
export function sendRecords(channel, changes, send, subject = 'record') {
  const pendings = {accepted: new Pending(), stored: new Pending()}
  const {receipt, show} = followRecords(channel, changes, subject, pendings)
  channel.client.reach((machine, now) => {
    send(machine, pendings, now)
    show()
  })
  return receipt
}

/** How a payload is sent to a channel: as one message, or in parts. */
export function checkedMessage(payload, {customType, storeInHistory}, limits) {
  const size = payloadOf(payload).bytes.length + (customType === undefined ? 0 : utf8(customType).length)
  const isLarge = size > limits.messageBytesMax
  if (isLarge && !storeInHistory) {
    const limit = limits.messageBytesMax
    throw problem('tooLarge', `a message that is not kept has at most ${limit} bytes, not ${size}`, {limit, actual: size})
  }
  return isLarge
}
