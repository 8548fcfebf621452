// Words on the board: a text area where they will stand, of the same letters.
import {hundredths} from './format.js'
import {newID} from './ink.js'
import {fontSize, writeText} from './kinds/text.js'
import {make} from './ui.js'
import {say} from './words/index.js'

const textBytesMax = 4_096

/** Cuts a text to what the format takes, between letters. */
export function cut(text) {
  let bytes = 0
  let kept = ''
  for (const letter of text.replace(/\r\n?/g, '\n')) {
    bytes += new TextEncoder().encode(letter).length
    if (bytes > textBytesMax) break
    kept += letter
  }
  return kept
}

export class Writing {
  /** @param {{canvas, session, records, undo, style: () => {color, size}}} parts */
  constructor(parts) {
    Object.assign(this, parts)
  }

  /** @param {{x, y}} place of the board, in px @param {object} [element] a text that is there */
  begin(place, element) {
    const {color, size} = element ?? this.style()
    // The middle of the first line is where one pressed.
    const [x, y] = element ? [element.x, element.y] : [hundredths(place.x), hundredths(place.y) - size / 2]
    this.place = {element, color, size, x, y}
    this.area = make('textarea', {id: 'words', value: element?.text ?? '', spellcheck: false, rows: 1})
    this.area.setAttribute('aria-label', say('writing'))
    this.area.addEventListener('input', () => this.lay())
    this.area.addEventListener('blur', () => this.finish())
    this.area.addEventListener('keydown', event => {
      event.stopPropagation()
      if (event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey))) this.finish()
    })
    for (const type of ['pointerdown', 'touchstart', 'wheel', 'dblclick']) {
      this.area.addEventListener(type, event => event.stopPropagation())
    }
    this.canvas.stage.append(this.area)
    if (element) this.canvas.hidden = new Set([element.id])
    this.lay()
    this.area.focus()
  }

  /** Where the board is, and as large as what is written. */
  lay() {
    if (!this.area) return
    const {x, y, color, size} = this.place
    const {scale} = this.canvas.view
    const at = this.canvas.toScreen(x, y)
    Object.assign(this.area.style, {
      transform: `translate(${at.x}px, ${at.y}px)`, color: color.slice(0, 7), fontSize: `${fontSize({size}) / 100 * scale}px`,
          lineHeight: `${size / 100 * scale}px`,
      width: '1ch', height: '0',
    })
    Object.assign(this.area.style, {width: `${this.area.scrollWidth + 4}px`, height: `${this.area.scrollHeight}px`})
  }

  finish() {
    if (!this.area) return
    const {area, place: {element, ...place}, session, undo, records} = this
    this.area = undefined
    const text = cut(area.value)
    area.remove()
    if (element) this.canvas.hidden = new Set()
    if (text === (element?.text ?? '')) return
    const isEmpty = text.trim() === ''
    // As others have left it meanwhile: where it is now; one that is gone is a new one.
    const now = records.isReading ? element : records.elements.get(element?.id)
    const record = now?.records[0]
    if (isEmpty && !record) return
    const id = now?.id ?? newID()
    const key = record?.key ?? id
    const {color, size, x, y, z = records.nextLayer} = now ?? place
    const after = isEmpty ? undefined : {customType: 'text', payload: writeText({id, z, color, x, y, size, text})}
    session.write(key, after)
    undo.add([{key, before: record && {customType: record.customType, payload: record.payload}, after}])
  }
}
