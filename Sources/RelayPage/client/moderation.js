// What a moderator decides.
import {tooLarge} from './errors.js'
import {Limits} from './limits.js'
import {all} from './pages.js'
import {Part} from './part.js'
import {checkedName, utf8} from './text.js'
/** @import {Ban, RelayStatus} from './types.js' */

function checkedReason(reason) {
  const bytes = reason === undefined ? 0 : utf8(reason).length
  if (bytes > Limits.endReasonBytesMax) throw tooLarge('a reason has', Limits.endReasonBytesMax, bytes)
  return reason
}

/**
 * What a moderator decides about others, who may draw, where, and who may come in, and sees of the relay. [AC10–AC19]
 *
 * Everything here wants the role moderator (`notPermitted`). What is decided holds at once, and is logged by the relay with this
 * client's user id. What is to hold over restarts is durable when it returns; on a relay that cannot store it is `storageFailed`.
 */
export class Moderation extends Part {
  async decide(type, body) {
    await this.client.request(type, body)
  }

  /**
   * Makes a user, there or not, a reader, an editor or a coeditor, until that is set anew. `reader` takes away what readers may not;
   * the others give that role to a user with less; `undefined`: what the user's credential gives counts again.
   *
   * @param {'reader'|'editor'|'coeditor'|undefined} role
   * @param {{of: string}} options
   * @throws {RelayError} `notPermitted` also for oneself and for a user who is a moderator by its credential; `limitReached`
   */
  async setRole(role, {of: user}) {
    await this.decide('setRole', {user: checkedName(user), role})
  }

  /**
   * Lets everybody but moderators only look on, in the message and the stream channel of this name.
   *
   * @param {string} channel
   * @throws {RelayError} `limitReached`
   */
  async freeze(channel) {
    await this.decide('setMode', {channel: checkedName(channel), mode: 'frozen', on: true})
  }

  /** Ends that. @param {string} channel */
  async unfreeze(channel) {
    await this.decide('setMode', {channel: checkedName(channel), mode: 'frozen', on: false})
  }

  /**
   * Lets everybody who may publish also replace and remove others' records, in the message channel of this name.
   *
   * @param {string} channel
   * @throws {RelayError} `limitReached`
   */
  async openEditing(channel) {
    await this.decide('setMode', {channel: checkedName(channel), mode: 'openEditing', on: true})
  }

  /** Ends that. @param {string} channel */
  async closeEditing(channel) {
    await this.decide('setMode', {channel: checkedName(channel), mode: 'openEditing', on: false})
  }

  /**
   * Ends the session of a user, who may come in again, but whose client does not by itself.
   *
   * @param {{of: string, reason?: string}} options `reason`: told the user, at most 256 bytes
   * @throws {RelayError} `userOffline` without a session, `tooLarge`
   */
  async endSession({of: user, reason}) {
    await this.decide('endSession', {user: checkedName(user), reason: checkedReason(reason)})
  }

  /**
   * Ends the message and the stream channel of this name: everybody is out of them, and their history, board, metadata and locks go for
   * good. Whoever comes in again finds a new channel. It is done when the relay's files hold nothing of it any more.
   *
   * @param {string} channel
   * @param {{reason?: string}} [options] `reason`: told everybody in them, with `channelEnded`; at most 256 bytes
   * @throws {RelayError} `tooLarge`, `busy`, `limitReached`; `storageFailed`, also when it is gone for everybody but not yet from the disk
   */
  async endChannel(channel, {reason} = {}) {
    await this.decide('endChannel', {channel: checkedName(channel), reason: checkedReason(reason)})
  }

  /**
   * Keeps a user out, and the client that used the id last, and ends its sessions. Who has a shared key may come back under
   * another id: see docs/security.md.
   *
   * @param {string} user
   * @param {{forMs?: number}} [options] 1 s to 365 days; without it: until `unban`
   * @throws {RelayError} `notPermitted` also for oneself and for a user who is a moderator by its credential; `badRequest` for
   *   another time, `limitReached`
   */
  async ban(user, {forMs} = {}) {
    await this.decide('banUser', {user: checkedName(user), forMs})
  }

  /** Takes a ban back. @param {string} user @throws {RelayError} `notBanned` */
  async unban(user) {
    await this.decide('unbanUser', {user: checkedName(user)})
  }

  /** Who is banned, in order of user ids; `until` is absent where `unban` ends it. Times are the relay's. @returns {Promise<Ban[]>} */
  async bans() {
    return all(this.client, 'getBans', {}, 'bans')
  }

  /**
   * Removes what the relay keeps of a user: its metadata, its role, and, unless it is there, whose the id is. Not its ban. It is done when
   * the relay's files hold nothing of it any more.
   *
   * @param {{user: string, withRecords?: boolean}} options `withRecords`: what the user drew goes from all boards, too
   * @throws {RelayError} `storageFailed`, also when it is gone for everybody but not yet from the disk
   */
  async forget({user, withRecords}) {
    await this.decide('forgetUser', {user: checkedName(user), withRecords: withRecords ? true : undefined})
  }

  /**
   * Removes all that a user drew on one board; readers see that, and no undone `clear` brings it back. It is done when the relay's files
   * hold nothing of it any more.
   *
   * @param {{of: string, from: string}} options a user, and the channel of the board
   * @returns {Promise<number>} records that went
   * @throws {RelayError} `boardNotFound`, `limitReached`; `storageFailed` also when some are gone for everybody: ask again
   */
  async removeRecords({of: user, from: channel}) {
    const {records} = await this.client.request('removeRecords', {channel: checkedName(channel), user: checkedName(user)})
    return records
  }

  /**
   * How the relay is at this moment, and a page of those who are there, in order of their ids, with what waits for each. Cheap
   * enough to be asked once a second; rates are the differences of two answers' `counters` over that of their `uptimeMs`.
   *
   * @param {{after?: string, limit?: number, user?: string}} [options] `after`: the `next` of the page before; `limit`: 1…100
   *   users, fewer may
   *   come; `user`: the answer's `known` tells whether the relay knows this one
   * @returns {Promise<RelayStatus>}
   */
  async status({after, limit, user} = {}) {
    const name = text => text === undefined ? undefined : checkedName(text)
    const {id, ...status} = await this.client.request('status', {after: name(after), limit, user: name(user)})
    return status
  }
}
