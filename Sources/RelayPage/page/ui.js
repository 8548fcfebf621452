// The page's furniture: dialogs, notices, cursors.
import {tint} from './names.js'
import {say} from './words/index.js'

export const nameOf = states => states?.name?.trim() || say('people.someone')

export const $ = id => document.getElementById(id)

/** An element with properties, and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

/** Lines in a square of 24. */
export function icon(path) {
  const [svg, line] = ['svg', 'path'].map(tag => document.createElementNS('http://www.w3.org/2000/svg', tag))
  svg.setAttribute('viewBox', '0 0 24 24')
  line.setAttribute('d', path)
  svg.append(line)
  return svg
}

/**
 * Shows a dialog. A button answers with its id, Escape with `''`, unless an answer `isNeeded`; it is offered again then.
 *
 * @param {string} id @param {string} title @param {string} text @param {[string, string][]} buttons ids and labels; the last is the one
 * that Enter presses
 * @returns {Promise<string>}
 */
export function ask(id, title, text, buttons, parts = [], isNeeded = false) {
  return new Promise(resolve => {
    const choices = buttons.map(([id, label], at) =>
        make('button', {id, value: id, textContent: label, className: at === buttons.length - 1 ? 'primary' : ''}))
    const dialog = make('dialog', {id, ariaLabel: title},
        make('form', {method: 'dialog'}, make('h2', {textContent: title}), make('p', {textContent: text}), ...parts,
        make('div', {className: 'choices'}, ...choices)))
    dialog.onclose = () => {
      dialog.remove()
      if (isNeeded && !dialog.returnValue) resolve(ask(id, title, text, buttons, parts, isNeeded))
      else resolve(dialog.returnValue)
    }
    // The first button that submits is what Enter presses.
    dialog.addEventListener('keydown', event => {
      if (event.key !== 'Enter' || event.target.tagName !== 'INPUT') return
      event.preventDefault()
      choices.at(-1).click()
    })
    if (!parts.some(({readOnly}) => readOnly === false)) choices.at(-1).autofocus = true
    document.body.append(dialog)
    dialog.showModal()
  })
}

export const field = properties => make('input', {required: true, autocomplete: 'off', spellcheck: false, ...properties})

/** A notice for some seconds; the same one is not shown twice. */
export function toast(text, action, run) {
  const box = $('toasts')
  for (const other of [...box.children].slice(-2)) if (other.firstChild.textContent === text) other.remove()
  if (box.children.length > 2) box.firstChild.remove()
  const notice = make('div', {className: 'toast'}, make('span', {textContent: text}))
  notice.onclick = () => notice.remove()
  if (action) notice.append(make('button', {textContent: action, onclick: run}))
  box.append(notice)
  // Not while keys are in it.
  const end = () => notice.matches?.(':focus-within') ? setTimeout(end, 6_000) : notice.remove()
  setTimeout(end, action ? 12_000 : 6_000)
}

export function tinted(user, element) {
  element.dataset.user = user
  element.style.setProperty('--tint', tint(user))
  return element
}

/** Where others' pens are, with their names; those that rest are dots. */
export function showCursors(cursors, members, canvas, box = $('cursors')) {
  const kept = new Map([...box.children].map(element => [element.dataset.key, element]))
  for (const [key, {user, x, y, at}] of cursors) {
    const element = kept.get(key) ?? tinted(user, make('div', {className: 'cursor'}, make('i'), make('b', {dir: 'auto'})))
    if (!kept.delete(key)) {
      element.dataset.key = key
      box.append(element)
    }
    // The same words again would be laid out anew in each frame.
    const name = nameOf(members.get(user))
    if (element.lastChild.textContent !== name) element.lastChild.textContent = name
    element.classList.toggle('rests', performance.now() - at > 2_000)
    const place = canvas.toScreen(x, y)
    element.style.transform = `translate(${place.x}px, ${place.y}px)`
  }
  for (const element of kept.values()) element.remove()
}

/** Hears the field of the board's title. @param {() => string} title as it is @param {(text: string) => void} change */
export function hearTitle(title, change) {
  const field = $('title')
  field.onkeydown = ({key}) => {
    if (key === 'Escape') field.value = title()
    if (key === 'Enter' || key === 'Escape') field.blur()
  }
  field.onchange = () => change(field.value.trim())
}

/** Hands a file to whoever asked for it. */
export function save(blob, download) {
  make('a', {href: URL.createObjectURL(blob), download}).click()
}
