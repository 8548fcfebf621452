// The texts and pictures of a board as a list of buttons. It is seen while the focus is in it: one is reached by Tab, the others by arrow
// keys.
import {make} from '../ui.js'
import {say} from '../words/index.js'
import {nameOf} from './thing-name.js'

export const textsMax = 200
export const lettersMax = 2_000

export class TextList {
  /** Items by the texts' ids. */
  #items = new Map()
  #more = make('li')
  #list = make('ul')

  /** @param {(id: string) => void} go somebody wants to be where a text is */
  constructor(go) {
    this.go = go
    this.element = make('nav', {id: 'texts', className: 'panel', hidden: true}, this.#list)
    this.element.dataset.label = 'texts'
    this.element.addEventListener('keydown', event => this.#keyDown(event))
  }

  /** Only what has changed touches the page. @param {ReadingOrder} order */
  show(order) {
    const focused = document.activeElement
    const shown = order.first(textsMax)
    const gone = new Map(this.#items)
    shown.forEach((element, at) => {
      gone.delete(element.id)
      const item = this.#items.get(element.id) ?? this.#make(element.id)
      const words = nameOf(element, lettersMax)
      if (item.firstChild.textContent !== words) item.firstChild.textContent = words
      if (this.#list.children[at] !== item) this.#list.insertBefore(item, this.#list.children[at] ?? null)
    })
    const hadFocus = this.element.contains(focused)
    for (const [id, item] of gone) {
      item.remove()
      this.#items.delete(id)
    }
    this.element.hidden = shown.length === 0
    const left = order.list.length - shown.length
    this.#more.textContent = say('texts.more', {count: left})
    if (left > 0) this.#list.append(this.#more)
    else this.#more.remove()
    const buttons = this.#buttons
    const isLeft = buttons.includes(focused)
    if (!buttons.some(({tabIndex}) => tabIndex === 0) && buttons[0]) buttons[0].tabIndex = 0
    // An item that was moved has lost it.
    if (hadFocus && document.activeElement !== focused) (isLeft ? focused : buttons[0] ?? document.getElementById('board')).focus()
  }

  get #buttons() {
    return [...this.#list.querySelectorAll('button')]
  }

  #make(id) {
    const item = make('li', {}, make('button', {className: 'row', dir: 'auto', tabIndex: -1, onclick: () => this.go(id)}))
    this.#items.set(id, item)
    return item
  }

  #keyDown(event) {
    const buttons = this.#buttons
    const at = buttons.indexOf(document.activeElement)
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1}[event.key]
    if (to === undefined || at < 0) return
    event.preventDefault()
    event.stopPropagation()
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, to))]
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1
    next.focus()
  }
}
