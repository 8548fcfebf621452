// The board of a channel, as apps read it.
import {Board} from './board.js'
import {problem} from './errors.js'
import {Latest} from './latest.js'
import {optionsOf, taken} from './options.js'
/** @import {Events} from './events.js' */
/** @import {BoardChange, BoardRecord, CallOptions, ReaderOptions} from './types.js' */

export class ReadBoard extends Board {
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
