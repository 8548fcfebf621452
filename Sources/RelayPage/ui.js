// The page's furniture: panels, dialogs, notices, who is here, cursors.
import {initials, tint} from './names.js'

export const $ = id => document.getElementById(id)

/** An element with properties, and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

/** Buttons that show a panel beside them; one at a time, and none after a press elsewhere. */
export function panels(pairs) {
  const show = (wanted, isKeyboard) => {
    for (const [button, panel] of pairs) {
      $(panel).hidden = panel !== wanted
      $(button).setAttribute('aria-expanded', panel === wanted)
    }
    if (wanted && isKeyboard) $(wanted).querySelector('button, [tabindex]')?.focus()
  }
  for (const [button, panel] of pairs) $(button).addEventListener('click', event => show($(panel).hidden ? panel : undefined, event.detail === 0))
  document.addEventListener('pointerdown', event => {
    if (!pairs.some(pair => pair.some(id => $(id).contains(event.target)))) show()
  }, true)
  document.addEventListener('keydown', event => {
    const open = pairs.find(([, panel]) => !$(panel).hidden)
    if (event.key !== 'Escape' || !open) return
    show()
    $(open[0]).focus()
  })
  return show
}

/** Shows a dialog; what its form was sent with, `''` for Escape. @returns {Promise<string>} */
export function ask(id, {isNeeded = false} = {}) {
  const dialog = $(id)
  if (!dialog.open) dialog.showModal()
  return new Promise(resolve => {
    dialog.oncancel = event => isNeeded && event.preventDefault()
    dialog.onclose = () => {
      const {returnValue} = dialog
      dialog.returnValue = ''
      // Chromium closes it at the second Escape whatever one says.
      if (isNeeded && returnValue === '') return resolve(ask(id, {isNeeded}))
      resolve(returnValue)
    }
  })
}

/** A notice for some seconds; the same one is not shown twice. */
export function toast(text, action, run) {
  const box = $('toasts')
  for (const other of box.children) if (other.firstChild.textContent === text) other.remove()
  if (box.children.length > 2) box.firstChild.remove()
  const notice = make('div', {className: 'toast'}, make('span', {textContent: text}))
  if (action) {
    notice.append(make('button', {type: 'button', textContent: action, onclick: () => {
      notice.remove()
      run()
    }}))
  }
  box.append(notice)
  setTimeout(() => notice.remove(), action ? 12_000 : 6_000)
}

const nameOf = states => states?.name?.trim() || 'Someone'

function badge(user, states) {
  const element = make('span', {className: states.away ? 'badge away' : 'badge', textContent: initials(nameOf(states))})
  element.style.setProperty('--tint', tint(user))
  return element
}

/** The people of a board, oneself first, then by name. */
export function showPeople(members, self) {
  const people = [...members].sort(([one, its], [other, others]) => (other === self) - (one === self) || !its.away * -1 + !others.away || nameOf(its).localeCompare(nameOf(others)))
  $('people').replaceChildren(...people.slice(0, 4).map(([user, states]) => badge(user, states)), make('span', {textContent: people.length > 1 ? people.length : ''}))
  $('people').setAttribute('aria-label', `Who is here: ${people.length}`)
  $('people-list').replaceChildren(...people.slice(0, 200).map(([user, states]) => {
    const item = make('li', {className: states.away ? 'away' : ''}, badge(user, states), make('span', {textContent: nameOf(states)}),
      make('small', {textContent: user === self ? 'you' : states.away ? 'away' : ''}))
    item.dataset.user = user
    return item
  }))
}

/** Where others' pens are, with their names. */
export function showCursors(cursors, members, canvas) {
  const box = $('cursors')
  const kept = new Map([...box.children].map(element => [element.dataset.user, element]))
  for (const [user, {x, y}] of cursors) {
    let element = kept.get(user)
    kept.delete(user)
    if (!element) {
      element = make('div', {className: 'cursor'}, make('i'), make('b'))
      element.dataset.user = user
      element.style.setProperty('--tint', tint(user))
      box.append(element)
    }
    const name = nameOf(members.get(user))
    if (element.lastChild.textContent !== name) element.lastChild.textContent = name
    const place = canvas.toScreen(x, y)
    element.style.transform = `translate(${place.x}px, ${place.y}px)`
  }
  for (const element of kept.values()) element.remove()
}

/** Hands a file to whoever asked for it. */
export function save(blob, name) {
  const link = make('a', {href: URL.createObjectURL(blob), download: name})
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** Without a secure context there is no clipboard to write to, but what is selected can be copied. @returns {boolean} */
export function copyFrom(input) {
  input.focus()
  input.select()
  navigator.clipboard?.writeText(input.value).catch(() => {})
  return document.execCommand('copy')
}
