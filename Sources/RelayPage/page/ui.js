// The page's furniture: panels, dialogs, notices, who is here, cursors.
import {initials, tint} from './names.js'

export const $ = id => document.getElementById(id)

/** An element with properties, and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

/** Buttons that show a panel; one at a time, and none after a press elsewhere. */
export function panels(pairs) {
  const show = wanted => {
    for (const [button, panel] of pairs) {
      $(panel).hidden = panel !== wanted
      $(button).ariaExpanded = panel === wanted
    }
  }
  for (const [button, panel] of pairs) {
    $(button).addEventListener('click', event => {
      show($(panel).hidden ? panel : undefined)
      if (event.detail === 0) $(panel).querySelector('button')?.focus()
    })
    addEventListener('keydown', ({key}) => {
      if (key !== 'Escape' || $(panel).hidden) return
      show()
      $(button).focus()
    })
  }
  addEventListener('pointerdown', ({target}) => pairs.flat().some(id => $(id).contains(target)) || show(), true)
  show()
  return show
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
  setTimeout(notice.onclick, action ? 12_000 : 6_000)
}

const nameOf = states => states?.name?.trim() || 'Someone'
/** One device says that it is away, and another may say that the person is here. */
const isAway = ({away}) => Boolean(away)

function tinted(user, element) {
  element.dataset.user = user
  element.style.setProperty('--tint', tint(user))
  return element
}

/**
 * The people of a board, oneself first, who is away last; for a host with their ids, by which the relay's status names them, and for a
 * moderator with a button that decides about one.
 *
 * @param {((user: string, name: string) => void)|false} [manage] `name`: with the id where two have the same
 */
export function showPeople(members, self, isHost, manage) {
  const rank = ([user, states]) => user === self ? 0 : isAway(states) ? 2 : 1
  const people = [...members].sort((one, other) => rank(one) - rank(other) || nameOf(one[1]).localeCompare(nameOf(other[1])))
  const names = people.map(([, states]) => nameOf(states))
  const badge = ([user, states]) => tinted(user, make('span',
      {className: isAway(states) ? 'badge away' : 'badge', textContent: initials(nameOf(states))}))
  $('people').replaceChildren(...people.slice(0, 4).map(badge), make('span', {textContent: people.length}))
  $('people').ariaLabel = `Who is here: ${people.length}`
  $('people-list').replaceChildren(...people.slice(0, 200).map(person => {
    const [user, states] = person
    const note = user === self ? 'you' : isAway(states) ? 'away' : ''
    // Of two with one name only their ids tell which is which.
    const id = isHost && names.indexOf(nameOf(states)) !== names.lastIndexOf(nameOf(states)) ? user : ''
    const label = `Decide about ${nameOf(states)}`
    const name = id ? `${nameOf(states)} (${id})` : nameOf(states)
    const button = manage && user !== self ? [make('button', {ariaLabel: label, title: label, onclick: () => manage(user, name)},
        $('more').firstChild.cloneNode(true))] : []
    return tinted(user, make('li', {className: note, title: isHost ? user : ''}, badge(person), make('b', {textContent: nameOf(states)}),
      make('small', {textContent: [note, id].filter(Boolean).join(' · ')}), ...button))
  }))
}

/** Where others' pens are, with their names; those that rest are dots. */
export function showCursors(cursors, members, canvas) {
  const kept = new Map([...$('cursors').children].map(element => [element.dataset.key, element]))
  for (const [key, {user, x, y, at}] of cursors) {
    const element = kept.get(key) ?? tinted(user, make('div', {className: 'cursor'}, make('i'), make('b')))
    element.dataset.key = key
    if (!kept.delete(key)) $('cursors').append(element)
    element.lastChild.textContent = nameOf(members.get(user))
    element.classList.toggle('rests', performance.now() - at > 2_000)
    const place = canvas.toScreen(x, y)
    element.style.transform = `translate(${place.x}px, ${place.y}px)`
  }
  for (const element of kept.values()) element.remove()
}

/** Hands a file to whoever asked for it. */
export function save(blob, download) {
  make('a', {href: URL.createObjectURL(blob), download}).click()
}
