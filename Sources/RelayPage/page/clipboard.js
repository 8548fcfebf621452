// What is copied, as text that goes from board to board and from tab to tab: an exported board (docs/board-format.md, "Exported boards")
// of what was chosen. What comes in may be from anywhere.
import {order} from './layers.js'
import {copied, shifted} from './kinds/edits.js'
import {joined, kindOf, readRecord} from './kinds/index.js'

/** Elements that are pasted at once. */
export const pastedMax = 4_096

/** @param {object[]} elements from the lowest layer to the highest */
export function written(elements) {
  const lines = elements.flatMap(({records}) => records)
      .map(({key, customType, payload}) => JSON.stringify({customType, key, text: payload}))
  return `{"format":"board","records":[\n${lines.join('\n,')}\n],"version":1}\n`
}

/** @returns {object[]|undefined} elements in their layers, with their records; `undefined`: this is no board's text */
export function read(text) {
  let content
  try {
    content = JSON.parse(text)
  } catch {
    return undefined
  }
  if (content?.format !== 'board' || content.version !== 1 || !Array.isArray(content.records)) return undefined
  /** Parts and their records, by id. */
  const found = new Map()
  for (const record of content.records) {
    const {customType, text: payload} = record ?? {}
    if (typeof payload !== 'string' || !kindOf(customType)?.shift) continue
    const part = readRecord(customType, payload)
    if (part) found.set(part.id, [...found.get(part.id) ?? [], {part, record: {customType, payload}}])
  }
  return [...found.values()].map(parts => ({...joined(parts.map(({part}) => part)), records: parts.map(({record}) => record)})).sort(order)
}

/**
 * Copies with ids of their own, shifted by 1/100 px, above a layer. What leaves the format's range is left out.
 *
 * @returns {{key: string, record: object}[]}
 */
export function copies(elements, [dx, dy], layer, newID) {
  return elements.flatMap(({records}, at) => {
    const id = newID()
    const made = records.map(record => {
      const moved = shifted(record, dx, dy)
      return moved && copied(moved, id, Math.min(Number.MAX_SAFE_INTEGER, layer + at))
    })
    return made.every(Boolean) ? made.map((record, part) => ({key: part === 0 ? id : newID(), record})) : []
  })
}
