// The dock: a button for each group of tools (tools/index.js), which shows the tool of the group that was used last. Where a group has
// several, a second press, a long one, or the arrow up opens them all.
import {tools} from './tools/index.js'
import {$, icon, make} from './ui.js'
import {label} from './words/index.js'

const longPressMs = 500
const namesOf = group => Object.keys(tools).filter(name => tools[name].group === group)

export class Dock {
  /** Buttons by group. */
  #buttons = new Map()

  /** @param {(tool: string) => void} choose */
  constructor(choose) {
    this.choose = choose
    for (const group of new Set(Object.values(tools).map(({group}) => group))) {
      const button = make('button')
      const box = make('div', {className: 'group'}, button)
      this.#buttons.set(group, button)
      this.#wear(button, namesOf(group)[0])
      if (namesOf(group).length > 1) this.#makeFlyout(group, button, box)
      else button.onclick = () => choose(button.dataset.tool)
      $('tools').append(box)
    }
  }

  /** The tool that is chosen. */
  show(name) {
    this.tool = name
    for (const [group, button] of this.#buttons) {
      const isOf = tools[name].group === group
      if (isOf) this.#wear(button, name)
      button.ariaPressed = isOf
    }
  }

  #wear(button, name) {
    const {key, icon: path, label: word} = tools[name]
    Object.assign(button, {id: `tool-${name}`})
    Object.assign(button.dataset, {tool: name, label: word, title: word, key: key.toUpperCase()})
    button.replaceChildren(icon(path))
    label(button)
  }

  #makeFlyout(group, button, box) {
    const open = async () => {
      const {openFlyout} = await import('./flyout.js')
      openFlyout({button, box, group, names: namesOf(group), chosen: this.tool, choose: this.choose})
    }
    let timer
    let isLong
    button.ariaHasPopup = 'menu'
    button.ariaExpanded = false
    button.addEventListener('pointerdown', () => {
      isLong = false
      timer = setTimeout(() => {
        isLong = true
        open()
      }, longPressMs)
    })
    for (const type of ['pointerup', 'pointerleave', 'pointercancel']) button.addEventListener(type, () => clearTimeout(timer))
    button.addEventListener('contextmenu', event => event.preventDefault())
    button.addEventListener('keydown', event => {
      if (event.key !== 'ArrowUp') return
      event.preventDefault()
      open()
    })
    button.onclick = () => {
      // The press that opened it by its length ends here.
      if (isLong) isLong = false
      else if (this.tool === button.dataset.tool) open()
      else this.choose(button.dataset.tool)
    }
  }
}
