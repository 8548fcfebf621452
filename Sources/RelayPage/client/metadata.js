// The metadata of a channel or user.
import {problem} from './errors.js'
import {sorted} from './keys.js'
import {pages} from './pages.js'
import {Part} from './part.js'
import {checkedName, utf8} from './text.js'
/** @import {MetadataItem, WriteConditions} from './types.js' */

/**
 * The metadata of a channel or user: small texts by key that outlive everybody's session. Neither a subscription nor membership
 * is needed. To be told of changes, subscribe the channel with the feature `metadata`, or a user's with `subscribe`.
 */
export class Metadata extends Part {
  /**
   * Creates or replaces items, all of them or none.
   *
   * @param {Record<string, string>} values
   * @param {WriteConditions & {recordsUser?: boolean, recordsTime?: boolean}} [options] whether to keep with the items who wrote
   *   them, and when
   * @returns {Promise<number>} the set's major revision after it, which is also the revision of each item written
   * @throws {RelayError} `revisionMismatch` (with the revision found as `actual`), `lockNotFound`, `lockNotHeld`, `tooLarge`,
   *   `limitReached`, `storageFull`, `storageFailed`, `busy`, `rateLimited`: nothing was changed then; `outcomeUnknown` when the
   *   link broke before the answer
   */
  async set(values, options) {
    return this.write('setMetadata', values, options)
  }

  /** As `set`, of items that exist; `itemNotFound` if one does not. @returns {Promise<number>} */
  async update(values, options) {
    return this.write('updateMetadata', values, options)
  }

  async write(type, values, {revisions = {}, majorRevision, lock, recordsUser, recordsTime} = {}) {
    const keys = sorted(Object.keys(values))
    const texts = keys.map(key => utf8(values[key]))
    const items = keys.map((key, index) => ({key: checkedName(key), bytes: texts[index].length, revision: revisions[key]}))
    const body = {...this.place, items, majorRevision, lock, recordUser: recordsUser || undefined, recordTime: recordsTime || undefined}
    return (await this.client.request(type, body, texts)).majorRevision
  }

  /** Removes items, all of them or none. @param {string[]} keys @returns {Promise<number>} */
  async remove(keys, /** @type {WriteConditions} */ {revisions = {}, majorRevision, lock} = {}) {
    const items = keys.map(key => ({key: checkedName(key), revision: revisions[key]}))
    return (await this.client.request('removeMetadata', {...this.place, items, majorRevision, lock})).majorRevision
  }

  /** Removes every item. The major revision goes on counting. @returns {Promise<number>} */
  async removeAll(/** @type {{majorRevision?: number, lock?: string}} */ {majorRevision, lock} = {}) {
    return (await this.client.request('removeMetadata', {...this.place, majorRevision, lock})).majorRevision
  }

  /**
   * Everything, as it was at one moment, over as many pages as it takes.
   *
   * @returns {Promise<{items: MetadataItem[], majorRevision: number}>}
   */
  async get() {
    reading: for (let round = 0; round < 8; round++) {
      const found = {items: [], majorRevision: undefined}
      for await (const {items, majorRevision} of pages(this.client, 'getMetadata', this.place)) {
        found.majorRevision ??= majorRevision
        if (found.majorRevision !== majorRevision) continue reading
        found.items.push(...items)
      }
      return found
    }
    throw problem('busy', 'the metadata changed each time it was read')
  }

  /** Receives the changes of a user's metadata as `metadata` events, beginning with all of it. */
  async subscribe() {
    await this.client.request('subscribeUserMetadata', {user: this.user})
  }

  /** Ends `subscribe`. */
  async unsubscribe() {
    await this.client.request('unsubscribeUserMetadata', {user: this.user})
  }

  get user() {
    if (this.place.user === undefined) {
      throw problem('badRequest', "a channel's metadata comes with its subscription: subscribe it with the feature metadata")
    }
    return this.place.user
  }
}
