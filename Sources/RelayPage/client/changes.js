// Change sets: many records of one board, written and removed together. [BL11]
import {problem} from './errors.js'
import {Limits} from './limits.js'
import {checkedName, noBytes, payloadOf, utf8} from './text.js'

/**
 * The changes of a call, with bytes of their own.
 *
 * @param {({key: string, payload: Payload, customType?: string}|{key: string, isRemoval: true})[]} changes
 * @param {(bytes: number, customType?: string) => void} checkSize of each record
 * @returns {{key: string, customType?: string, text: boolean, bytes: Uint8Array}[]} no bytes: the record was removed
 * @throws {RelayError} with `changeIndex` where one change is meant
 */
export function checkedChanges(changes, checkSize) {
  if (changes.length === 0) throw problem('badRequest', 'a change set has one change or more')
  if (changes.length > Limits.changesMax) {
    const [limit, actual] = [Limits.changesMax, changes.length]
    throw problem('limitReached', `a change set has at most ${limit} changes, not ${actual}`, {limit, actual})
  }
  return changes.map(({key, payload, customType, isRemoval}, changeIndex) => {
    try {
      checkedName(key)
      if (isRemoval) return {key, text: false, bytes: noBytes}
      const {bytes, text} = payloadOf(payload)
      if (bytes.length === 0) throw problem('badRequest', 'an empty payload removes a record: that is written isRemoval')
      checkSize(bytes.length, customType)
      return {key, customType, text, bytes}
    } catch (error) {
      throw Object.assign(error, {changeIndex})
    }
  })
}

/** How they stand in a part: length, flags, custom type, key, payload. */
export function encodedChange({key, customType, text, bytes}) {
  const type = customType === undefined ? noBytes : utf8(customType)
  const head = [(text ? 1 : 0) | (customType === undefined ? 0 : 2), ...customType === undefined ? [] : [type.length, ...type],
    key.length, ...utf8(key)]
  const encoded = new Uint8Array(4 + head.length + bytes.length)
  new DataView(encoded.buffer).setUint32(0, head.length + bytes.length)
  encoded.set(head, 4)
  encoded.set(bytes, 4 + head.length)
  return {encoded, contentBytes: type.length + bytes.length}
}
