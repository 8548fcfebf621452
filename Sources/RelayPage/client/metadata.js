// The metadata of a channel or user.
import {problem} from './errors.js'
import {sorted} from './keys.js'
import {Latest} from './latest.js'
import {listOf, optionsOf, taken, textsOf} from './options.js'
import {pages} from './pages.js'
import {checkedName, utf8} from './text.js'
/** @import {CallOptions, MetadataItem, ReaderOptions, WriteConditions, WriteOptions} from './types.js' */

const conditions = ['revisions', 'majorRevision', 'lock']

/** Small texts by key that outlive everybody's session. The channel need not be open for reading and writing. */
export class Metadata {
  /** @param {RelayClient} client @param {object} place of the protocol @param {Cell} [cell] a channel's newest metadata */
  constructor(client, place, cell) {
    Object.assign(this, {client, place, cell})
  }

  /**
   * Creates or replaces items, all of them or none.
   *
   * @param {Record<string, string>} values
   * @param {WriteOptions} [options]
   * @returns {Promise<number>} the set's major revision after it, which is also the revision of each item written
   * @throws {RelayError} `revisionMismatch` (with the revision found as `actual`), `lockNotFound`, `lockNotHeld`, `tooLarge`,
   *   `limitReached`, `storageFull`, `storageFailed`, `busy`: nothing was changed then
   */
  async set(values, options) {
    return this.write('setMetadata', 'set', values, options)
  }

  /** As `set`, of items that exist; `itemNotFound` if one does not. @returns {Promise<number>} */
  async update(values, options) {
    return this.write('updateMetadata', 'update', values, options)
  }

  async write(type, name, values, options) {
    const [own, call] = taken(name, options, [...conditions, 'recordsUser', 'recordsTime'])
    const {revisions = {}, majorRevision, lock, recordsUser, recordsTime} = own
    const keys = sorted(Object.keys(textsOf(name, 'values', values)))
    const texts = keys.map(key => utf8(values[key]))
    const items = keys.map((key, index) => ({key: checkedName(key), bytes: texts[index].length, revision: revisions[key]}))
    const body = {...this.place, items, majorRevision, lock, recordUser: recordsUser || undefined, recordTime: recordsTime || undefined}
    return (await this.client.request(type, body, call, {texts})).majorRevision
  }

  /** Removes items, all of them or none. @param {string[]} keys @returns {Promise<number>} */
  async remove(keys, /** @type {WriteConditions & CallOptions} */ options = undefined) {
    const [{revisions = {}, majorRevision, lock}, call] = taken('remove', options, conditions)
    const items = listOf('remove', 'keys', keys).map(key => ({key: checkedName(key), revision: revisions[key]}))
    return (await this.client.request('removeMetadata', {...this.place, items, majorRevision, lock}, call)).majorRevision
  }

  /** Removes every item. The major revision goes on counting. @returns {Promise<number>} */
  async removeAll(/** @type {{majorRevision?: number, lock?: string} & CallOptions} */ options = undefined) {
    const [{majorRevision, lock}, call] = taken('removeAll', options, ['majorRevision', 'lock'])
    return (await this.client.request('removeMetadata', {...this.place, majorRevision, lock}, call)).majorRevision
  }

  /** Everything, as it was at one moment. @returns {Promise<{items: MetadataItem[], majorRevision: number}>} */
  async get(options) {
    const [, call] = taken('get', options)
    reading: for (let round = 0; round < 8; round++) {
      const found = {items: [], majorRevision: undefined}
      for await (const {items, majorRevision} of pages(this.client, 'getMetadata', this.place, call)) {
        found.majorRevision ??= majorRevision
        if (found.majorRevision !== majorRevision) continue reading
        found.items.push(...items)
      }
      return found
    }
    throw problem('busy', 'the metadata changed each time it was read')
  }

  /**
   * The whole set, whenever it changes: of a channel `open` with `metadata` brings it, of a user `follow`.
   *
   * @param {ReaderOptions} [options] @returns {Latest} of `{items: Map<string, MetadataItem>, majorRevision: number}`
   */
  contents(options) {
    const {signal} = optionsOf('contents', options, ['signal'])
    return new Latest(this.cell(), signal)
  }

  /** Receives the changes of a user's metadata, beginning with all of it. */
  async follow(options) {
    const [, call] = taken('follow', options)
    await this.client.request('subscribeUserMetadata', {user: this.user}, call)
  }

  /** Ends `follow`. */
  async unfollow(options) {
    const [, call] = taken('unfollow', options)
    await this.client.request('unsubscribeUserMetadata', {user: this.user}, call, {handsOver: true})
  }

  get user() {
    if (this.place.user === undefined) throw problem('badRequest', "a channel's metadata comes with its part metadata: open it with that")
    return this.place.user
  }
}
