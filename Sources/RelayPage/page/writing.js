// Words on the board: a text area where they will stand, of the same letters. The browser breaks its lines, and a few at other places
// than the board does.
import {hundredths, parse, written} from './format.js'
import {newID} from './ink.js'
import {fontSize, textBytesMax, writeText} from './kinds/text.js'
import {make} from './ui.js'
import {say} from './words/index.js'

const bytesOf = text => new TextEncoder().encode(text).length
/** A note without words has one space. */
const shownWords = ({text = '', paper} = {}) => paper && text === ' ' ? '' : text

export class Writing {
  /** @param {{canvas, session, records, undo, tell: (text: string) => void}} parts `tell`: shows a notice */
  constructor(parts) {
    Object.assign(this, parts)
  }

  /** @param {object} element a text that is there, or `{color, size, x, y, width, paper}` of one to be; places are in 1/100 px */
  begin(element, ended) {
    if (this.area) return this.area.focus()
    this.place = {...element, element: element.id && element}
    this.area = make('textarea', {id: 'words', value: shownWords(element), spellcheck: false, rows: 1, dir: 'auto'})
    this.area.setAttribute('aria-label', say('writing'))
    this.area.addEventListener('input', () => this.lay())
    this.area.addEventListener('blur', () => this.finish())
    this.area.addEventListener('keydown', event => {
      event.stopPropagation()
      if (event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey))) {
        const key = this.finish()
        if (!this.area) ended?.(key)
      }
    })
    for (const type of ['pointerdown', 'touchstart', 'wheel', 'dblclick', 'paste', 'drop']) {
      this.area.addEventListener(type, event => event.stopPropagation())
    }
    this.canvas.stage.append(this.area)
    if (element.id) this.canvas.hidden = new Set([element.id])
    this.lay()
    this.area.focus()
  }

  /** Where the board is, and as large as what is written; of the board's size, and magnified, so that a zoom breaks no line elsewhere. */
  lay() {
    if (!this.area) return
    const {x, y, color, size, width, paper} = this.place
    const {scale} = this.canvas.view
    const padding = paper ? Math.floor(size / 2) : 0
    const at = this.canvas.toScreen(x - padding, y - padding)
    const {style} = this.area
    Object.assign(style, {
      transform: `translate(${at.x}px, ${at.y}px) scale(${scale})`, transformOrigin: '0 0', color: color.slice(0, 7),
      fontSize: `${fontSize({size}) / 100}px`, lineHeight: `${size / 100}px`, padding: `${padding / 100}px`, background: paper ?? '',
      whiteSpace: width ? 'pre-wrap' : '', overflowWrap: 'anywhere', wordBreak: 'keep-all', outlineWidth: `${1.5 / scale}px`,
      outlineOffset: `${6 / scale}px`, outlineColor: this.isTooLong ? '#d5392d' : '',
      width: width ? `${width / 100}px` : '1ch', height: '0',
    })
    if (!width) style.width = `${this.area.scrollWidth + 4}px`
    style.height = `${Math.max(this.area.scrollHeight - 2 * padding / 100, paper ? size / 25 : 0)}px`
  }

  /** As the format counts: one that is longer stays to be shortened. */
  get isTooLong() {
    return this.area !== undefined && bytesOf(this.area.value) > textBytesMax
  }

  /** @returns {string|undefined} the key of its record */
  finish() {
    if (!this.area) return undefined
    if (this.isTooLong) return void this.tell(say('text.tooLong', {size: bytesOf(this.area.value), limit: textBytesMax}))
    const {area, place: {element, ...place}, session, undo, records} = this
    this.area = undefined
    const text = area.value.replace(/\r\n?/g, '\n')
    area.remove()
    if (element) this.canvas.hidden = new Set()
    if (text === shownWords(element)) return element?.records[0].key
    const isEmpty = text.trim() === ''
    // As others have left it meanwhile: where it is now; one that is gone is a new one.
    const now = records.isReading ? element : records.elements.get(element?.id)
    const record = now?.records[0]
    if (isEmpty && !record) return undefined
    const id = now?.id ?? newID()
    const key = record?.key ?? id
    const words = isEmpty && now?.paper ? ' ' : text
    const payload = record ? written({...parse(record.payload), text: words}) : writeText({...place, id, z: records.nextLayer, text: words})
    const after = isEmpty && !now?.paper ? undefined : {customType: 'text', payload}
    session.write(key, after)
    undo.add([{key, before: record && {customType: record.customType, payload: record.payload}, after}])
    return key
  }
}

/** Where a text begins whose first line has its middle where one pressed. @param {{x, y}} place of the board, in px */
export const cornerAt = ({x, y}, size) => ({x: hundredths(x), y: hundredths(y) - Math.floor(size / 2)})
