// Colours beside the eight: any that the browser lets one pick, and those that were picked last, which this browser keeps.
import {open, read, write} from './identity.js'
import {make} from './ui.js'

const place = 'whiteboard.colors'
export const colorsMax = 3

/** `RRGGBB`, the last first. */
export function keptColors() {
  const found = read(open('localStorage'), place)
  return Array.isArray(found) ? found.filter(color => /^[\dA-F]{6}$/.test(color)).slice(0, colorsMax) : []
}

/** @param {string} color @param {string[]} palette what needs not be kept @returns {string[]} those that are kept now */
export function keepColor(color, palette) {
  const all = [color, ...keptColors().filter(other => other !== color)]
  if (!palette.includes(color)) write(open('localStorage'), place, all.slice(0, colorsMax))
  return keptColors()
}

/** @param {{palette: string[], restyle: (change: {color: string}) => void}} parts @returns {HTMLElement} what stands beside the palette */
export function ownColors({palette, restyle}) {
  const input = make('input', {type: 'color', id: 'own-color'})
  input.dataset.label = input.dataset.title = 'color.own'
  const box = make('div', {id: 'own-colors'})
  const show = colors => box.replaceChildren(input, ...colors.map(color => {
    const swatch = make('i', {className: 'swatch ink'})
    swatch.style.background = `#${color}`
    const button = make('button', {ariaLabel: `#${color}`, title: `#${color}`, onclick: () => restyle({color})}, swatch)
    button.dataset.color = `#${color}FF`
    return button
  }))
  // Not while one looks for it: each colour would be a step back of what is selected.
  input.onchange = () => {
    const color = input.value.slice(1).toUpperCase()
    const isByKeys = input.matches(':focus-visible')
    show(keepColor(color, palette))
    restyle({color})
    // After a pointer has chosen, keys work on the board again.
    if (isByKeys) input.focus()
    else input.blur()
  }
  show(keptColors())
  return box
}
