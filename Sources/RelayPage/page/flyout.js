// A menu of a group's tools, above the group's button. A press, or arrow keys and Enter, choose one of them.
import {tools} from './tools/index.js'
import {icon, make} from './ui.js'
import {label} from './words/index.js'

/** @param {{button: HTMLElement, box: HTMLElement, group: string, names: string[], chosen: string, choose: (tool: string) => void}} parts */
export function openFlyout({button, box, group, names, chosen, choose}) {
  if (box.querySelector('.flyout')) return
  const items = names.map(name => {
    const item = make('button', {role: 'menuitemradio', ariaChecked: name === chosen, tabIndex: -1}, icon(tools[name].icon))
    Object.assign(item.dataset, {tool: name, label: tools[name].label, title: tools[name].label, key: tools[name].key.toUpperCase()})
    item.onclick = () => {
      close()
      choose(name)
      button.focus()
    }
    return item
  })
  const menu = make('div', {className: 'flyout bar', role: 'menu'}, ...items)
  menu.dataset.label = `group.${group}`
  const close = () => {
    removeEventListener('pointerdown', pressed, true)
    button.ariaExpanded = false
    menu.remove()
  }
  const pressed = ({target}) => menu.contains(target) || close()
  menu.addEventListener('keydown', event => {
    const on = getComputedStyle(menu).direction === 'rtl' ? -1 : 1
    const step = {ArrowRight: on, ArrowDown: 1, ArrowLeft: -on, ArrowUp: -1, Home: -Infinity, End: Infinity}[event.key]
    if (step) {
      const at = items.indexOf(document.activeElement)
      const to = Number.isFinite(step) ? (at + step + items.length) % items.length : step > 0 ? items.length - 1 : 0
      items[to].focus()
    } else if (event.key === 'Escape') {
      close()
      button.focus()
    } else if (event.key === 'Tab') close()
    else return
    if (event.key !== 'Tab') event.preventDefault()
    event.stopPropagation()
  })
  box.append(menu)
  // Near the window's edge it does not lie above the middle of its button.
  const {left, right} = menu.getBoundingClientRect()
  menu.style.translate = `${Math.max(8 - left, Math.min(0, innerWidth - 8 - right))}px`
  label(box)
  button.ariaExpanded = true
  addEventListener('pointerdown', pressed, true)
  ;(items.find(item => item.dataset.tool === chosen) ?? items[0]).focus()
}
