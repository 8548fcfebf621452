// Who is here, as a list. It comes behind the first drawing.
import {initials} from './names.js'
import {handIcon} from './together.js'
import {$, icon, make, nameOf, tinted} from './ui.js'
import {say} from './words/index.js'

/** One device says that it is away, and another may say that the person is here. */
const isAway = ({away}) => Boolean(away)

/**
 * The people of a board, oneself first, absent ones last; for a host with their ids, by which the relay's status names them, and for a
 * moderator with a button that decides about one.
 *
 * @param {((user: string, name: string) => void)|false} manage `name`: with the id where two have the same
 * @param {Together} together
 */
export function showPeople(members, self, isHost, manage, together) {
  const rank = ([user, states]) => user === self ? 0 : isAway(states) ? 2 : 1
  const people = [...members].sort((one, other) => rank(one) - rank(other) || nameOf(one[1]).localeCompare(nameOf(other[1])))
  const names = people.map(([, states]) => nameOf(states))
  const badge = ([user, states]) => tinted(user, make('span',
      {className: isAway(states) ? 'badge away' : 'badge', textContent: initials(nameOf(states))}))
  const hands = together.hands.length
  const raised = hands ? [make('span', {className: 'hands'}, icon(handIcon), make('b', {textContent: hands}))] : []
  $('people').replaceChildren(...people.slice(0, 4).map(badge), make('span', {textContent: people.length}), ...raised)
  $('people').ariaLabel = [say('people.here', {count: people.length}), ...hands ? [say('hand.count', {count: hands})] : []].join(', ')
  // Whoever is at a button of somebody's row stays there.
  const focused = document.activeElement?.closest?.('#people-list button')
  const row = focused?.closest('li')
  const place = row && [row.dataset.user, [...row.querySelectorAll('button')].indexOf(focused)]
  $('people-list').replaceChildren(...people.slice(0, 200).map(person => {
    const [user, states] = person
    const isGone = user !== self && isAway(states)
    const note = user === self ? say('people.you') : isGone ? say('people.away') : ''
    // Of two with one name only their ids tell which is which.
    const id = isHost && names.indexOf(nameOf(states)) !== names.lastIndexOf(nameOf(states)) ? user : ''
    const label = say('people.decide', {name: nameOf(states)})
    const name = id ? `${nameOf(states)} (${id})` : nameOf(states)
    const button = manage && user !== self ? [make('button', {ariaLabel: label, title: label, onclick: () => manage(user, name)},
        $('more').firstChild.cloneNode(true))] : []
    const {notes, buttons} = together.besides(user, nameOf(states))
    return tinted(user, make('li', {className: isGone ? 'away' : '', title: isHost ? user : ''}, badge(person),
      make('b', {textContent: nameOf(states)}),
      make('small', {textContent: [note, ...notes, id].filter(Boolean).join(' · ')}), ...buttons, ...button))
  }))
  if (!place) return
  const kept = [...$('people-list').children].find(({dataset}) => dataset.user === place[0])
  ;(kept?.querySelectorAll('button')[place[1]] ?? $('people')).focus()
}
