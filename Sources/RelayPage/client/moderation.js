// What a moderator decides.
import {tooLarge} from './errors.js'
import {Latest} from './latest.js'
import {Limits} from './limits.js'
import {all} from './pages.js'
import {optionsOf, taken} from './options.js'
import {checkedName, utf8} from './text.js'
/** @import {Ban, CallOptions, OfferedCode, ReaderOptions, RelayStatus, StatusOptions} from './types.js' */

function checkedReason(reason) {
  const bytes = reason === undefined ? 0 : utf8(reason).length
  if (bytes > Limits.endReasonBytesMax) throw tooLarge('a reason has', Limits.endReasonBytesMax, bytes)
  return reason
}

/**
 * A moderator's calls: rights, bans and keys of others, modes of channels, and the state of the relay. [AC10–AC20]
 *
 * Everything here wants the role moderator (`notPermitted`), and takes `CallOptions` beside its own. What is decided holds at once, and
 * is logged by the relay with this client's user id. What is to hold over restarts is durable when it returns; on a relay that cannot
 * store it is `storageFailed`.
 */
export class Moderation {
  constructor(client) {
    this.client = client
  }
  async decide(type, body, call) {
    await this.client.request(type, body, call)
  }

  /**
   * Makes a user, there or not, a reader, an editor or a coeditor, until that is set anew. `reader` takes away what readers may not; the
   * others give that role to a user with less; `undefined`: what the user's credential gives counts again.
   *
   * @param {'reader'|'editor'|'coeditor'|undefined} role @param {{of: string}} options
   * @throws {RelayError} `notPermitted` also for oneself and for a moderator by credential; `limitReached`
   */
  async setRole(role, options) {
    const [{of: user}, call] = taken('setRole', options, ['of'])
    await this.decide('setRole', {user: checkedName(user), role}, call)
  }

  async setMode(channel, mode, on, name, options) {
    const [, call] = taken(name, options)
    await this.decide('setMode', {channel: checkedName(channel), mode, on}, call)
  }

  /** Lets everybody but moderators only look on. @param {string} channel @throws {RelayError} `limitReached` */
  async freeze(channel, options) {
    await this.setMode(channel, 'frozen', true, 'freeze', options)
  }

  /** Ends that. @param {string} channel */
  async unfreeze(channel, options) {
    await this.setMode(channel, 'frozen', false, 'unfreeze', options)
  }

  /** Lets everybody who may publish also replace and remove others' records. @param {string} channel @throws {RelayError} `limitReached` */
  async openEditing(channel, options) {
    await this.setMode(channel, 'openEditing', true, 'openEditing', options)
  }

  /** Ends that. @param {string} channel */
  async closeEditing(channel, options) {
    await this.setMode(channel, 'openEditing', false, 'closeEditing', options)
  }

  /**
   * Ends the sessions of a user. The user may log in again; the user's client does not do so by itself.
   *
   * @param {{of: string, reason?: string}} options `reason`: told the user, at most 256 bytes
   * @throws {RelayError} `userOffline` without a session, `tooLarge`
   */
  async endSession(options) {
    const [{of: user, reason}, call] = taken('endSession', options, ['of', 'reason'])
    await this.decide('endSession', {user: checkedName(user), reason: checkedReason(reason)}, call)
  }

  /**
   * Ends a channel: everybody is out of it, and its history, board, metadata and locks go for good. It is done when the relay's files hold
   * nothing of it any more.
   *
   * @param {string} channel @param {{reason?: string}} [options] `reason`: told everybody in it, with `channelEnded`; at most 256 bytes
   * @throws {RelayError} `tooLarge`, `busy`, `limitReached`; `storageFailed`, also when it is gone for everybody but not yet from the disk
   */
  async endChannel(channel, options) {
    const [{reason}, call] = taken('endChannel', options, ['reason'])
    await this.decide('endChannel', {channel: checkedName(channel), reason: checkedReason(reason)}, call)
  }

  /**
   * Makes a code that stands for the join key: six letters, for people without a camera. Their clients have the credential
   * `{joinCode}`. It holds for 30 minutes, while this client keeps its session, which has at most one: another call for the same
   * channel gives the same code. `joinCodes` tells of another end, `problems()` why. When the link is back, ask again: an end may have
   * been missed. [AC20]
   *
   * @param {string} channel where it leads @returns {Promise<OfferedCode>}
   * @throws {RelayError} `notSupported` by a relay without a join key; `limitReached`
   */
  async offerJoinCode(channel, options) {
    const [, call] = taken('offerJoinCode', options)
    const how = this.tells(value => value)
    const {code, validMs} = await this.client.request('offerJoinCode', {channel: checkedName(channel)}, call, how)
    return {code, validMs}
  }

  /** Ends that code. */
  async withdrawJoinCode(options) {
    const [, call] = taken('withdrawJoinCode', options)
    await this.client.request('withdrawJoinCode', {}, call, this.tells(() => null))
  }

  /** An answer has its place among what ends a code. */
  tells(codeOf) {
    const {machine} = this.client
    return {settled: ({error, value}) => error || machine.unread.emit({type: 'joinCode', offered: codeOf(value)}, 0)}
  }

  /**
   * The code of this client that holds now, `null` without one; `problems()` tell why one has ended.
   *
   * @param {ReaderOptions} [options] @returns {Latest} of `OfferedCode|null`; `validMs` counts from when it is taken
   */
  joinCodes(options) {
    const {signal} = optionsOf('joinCodes', options, ['signal'])
    const {codes} = this.client
    const left = until => Math.max(0, Math.floor(until - performance.now()))
    return new Latest(codes, signal, () => codes.value && {code: codes.value.code, validMs: left(codes.value.until)})
  }

  /**
   * Keeps a user out, and the client that used the id last, and ends its sessions. Who has a shared key may come back under another id.
   *
   * @param {string} user @param {{for?: number}} [options] 1 s to 365 days, in milliseconds; without it: until `unban`
   * @throws {RelayError} `notPermitted` also for oneself and for a moderator by credential; `badRequest` for another time, `limitReached`
   */
  async ban(user, options) {
    const [{for: forMs}, call] = taken('ban', options, ['for'])
    await this.decide('banUser', {user: checkedName(user), forMs}, call)
  }

  /** Takes a ban back. @param {string} user @throws {RelayError} `notBanned` */
  async unban(user, options) {
    const [, call] = taken('unban', options)
    await this.decide('unbanUser', {user: checkedName(user)}, call)
  }

  /** Who is banned, by user id; `until` is absent where `unban` ends it. Times are the relay's. @returns {Promise<Ban[]>} */
  async bans(options) {
    const [, call] = taken('bans', options)
    return all(this.client, 'getBans', {}, 'bans', call)
  }

  /**
   * Removes what the relay keeps of a user, from its files, too: metadata, role, its boards have no owner any more, and, unless it is
   * there, whose the id is. Not its ban.
   *
   * @param {{user: string, withRecords?: boolean}} options `withRecords`: what the user drew goes from all boards, too
   * @returns {Promise<Forgotten>} what went, and what stays
   * @throws {RelayError} `storageFailed`, also when it is gone for everybody but not yet from the disk
   */
  async forget(options) {
    const [{user, withRecords}, call] = taken('forget', options, ['user', 'withRecords'])
    const asked = {user: checkedName(user), withRecords: withRecords ? true : undefined}
    const {id: _, ...forgotten} = await this.client.request('forgetUser', asked, call)
    return forgotten
  }

  /**
   * Removes all that a user drew on one board, from the relay's files, too; no undone `clear` brings it back.
   *
   * @param {{of: string, from: string}} options a user, and the channel of the board
   * @returns {Promise<number>} records that went
   * @throws {RelayError} `boardNotFound`, `limitReached`; `storageFailed` also when some are gone for everybody: ask again
   */
  async removeRecords(options) {
    const [{of: user, from: channel}, call] = taken('removeRecords', options, ['of', 'from'])
    const {records} = await this.client.request('removeRecords', {channel: checkedName(channel), user: checkedName(user)}, call)
    return records
  }

  /**
   * The relay's present state, and a page of its users, by id, with what waits for each. Cheap enough to be asked once a
   * second; rates are the differences of two answers' `counters` over that of their `uptimeMs`.
   *
   * @param {StatusOptions} [options] @returns {Promise<RelayStatus>}
   */
  async status(options) {
    const [{after, limit, user, hour}, call] = taken('status', options, ['after', 'limit', 'user', 'hour'])
    const name = text => text === undefined ? undefined : checkedName(text)
    const {id, ...status} = await this.client.request('status', {after: name(after), limit, user: name(user), hour}, call)
    return status
  }
}
