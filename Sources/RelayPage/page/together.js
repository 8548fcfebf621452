// Being on a board together: following a view, bringing everybody here, raised hands, and authors of what is drawn. It comes
// behind the first drawing. docs/board-format.md has what pages tell each other for it.
import {isPlace, parse} from './format.js'
import {$, icon, make, nameOf, toast} from './ui.js'
import {language, locale, say} from './words/index.js'

/** While somebody follows, views go out at most so often. */
const viewEveryMs = 50
const holdMs = 600
const holdPx = 8

export const handIcon = 'M8 13V6.5a1.3 1.3 0 0 1 2.6 0V11M10.6 11V4.8a1.3 1.3 0 0 1 2.6 0V11M13.2 11V5.8a1.3 1.3 0 0 1 2.6 0V12M15.8 12V8.3'
  + 'a1.3 1.3 0 0 1 2.6 0V14a6.5 6.5 0 0 1-6.5 6.5c-2.4 0-3.9-1-5.2-3.1L4.3 13.6a1.4 1.4 0 0 1 2.3-1.5L8 13.9'
export const eyeIcon = 'M2.8 12s3.4-6 9.2-6 9.2 6 9.2 6-3.4 6-9.2 6-9.2-6-9.2-6zM12 9.4a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2z'

/** A box that is a part of a board. */
export const isView = view => Array.isArray(view) && view.length === 4 && view.every(isPlace) && view[0] < view[2] && view[1] < view[3]

/** Who has a hand up, the first one first: each has a number above those that it saw. @returns {string[]} ids */
export const handsOf = members => [...members].filter(([, {hand}]) => Number(hand) > 0)
    .sort(([user, {hand}], [other, {hand: others}]) => hand - others || (user < other ? -1 : 1)).map(([user]) => user)

/** The users who follow each other in a circle with `user`; without a circle none. @returns {string[]} ids */
export function circleOf(members, user) {
  const circle = [user]
  for (let next = members.get(user)?.follows; next && members.has(next); next = members.get(next).follows) {
    if (next === user) return circle
    if (circle.includes(next)) break
    circle.push(next)
  }
  return []
}

export class Together {
  /** Whom this page follows. */
  leader
  #followers = new Set()

  /** @param {{session, canvas, live, tools, changed: () => void}} parts `changed`: the list of people has changed */
  constructor(parts) {
    Object.assign(this, parts)
    const {session, live, canvas} = this
    live.viewed = (user, view) => this.#viewed(user, view)
    session.heard = message => this.#heard(message)
    const does = {hand: () => this.raise(), bring: () => this.bring(), 'hands-down': () => this.#lower(this.hands)}
    this.rows = Object.fromEntries(Object.entries(does).map(([id, onclick]) => [id, make('button', {id, className: 'row', onclick})]))
    $('people-panel').append(...Object.values(this.rows))
    this.bar = make('div', {id: 'following', className: 'bar', hidden: true}, make('span'),
      make('button', {id: 'unfollow', onclick: () => this.stop()}))
    $('people-panel').before(this.bar)
    this.#listen(canvas.stage)
  }

  get hands() {
    return handsOf(this.session.members)
  }
  get hasHand() {
    return this.hands.includes(this.session.user)
  }
  /** Of somebody who is or was here while this page was. */
  nameOf(user) {
    return this.session.names.get(user) ?? say('who.left', {id: user.slice(0, 8)})
  }

  /** As people come, go, follow and raise their hands. */
  show() {
    const {session: {members, user, mayModerate}, rows, hands} = this
    const followers = [...members].filter(([id, {follows}]) => id !== user && follows === user).map(([id]) => id)
    const more = followers.filter(id => !this.#followers.has(id))
    this.#followers = new Set(followers)
    for (const id of more) toast(say('follow.you', {name: this.nameOf(id)}))
    if (more.length > 0) this.#sendView()
    if (followers.length === 0) this.session.view = undefined
    if (this.leader && !members.has(this.leader)) this.stop()
    // In a circle nobody leads: one of them is out of it.
    if (this.leader && circleOf(members, user).sort()[0] === user) this.stop()
    rows.hand.textContent = say(this.hasHand ? 'hand.lower' : 'hand.raise')
    rows.bring.textContent = say('bring')
    rows['hands-down'].textContent = say('hand.lowerAll')
    rows.bring.hidden = !mayModerate
    rows['hands-down'].hidden = !mayModerate || hands.length === 0
    this.#showBar()
  }

  // MARK: Following

  follow(user) {
    this.leader = user
    this.wanted = undefined
    this.session.tell({follows: user})
    this.#showBar()
    this.changed()
  }
  stop() {
    if (!this.leader) return
    this.leader = this.wanted = undefined
    this.session.tell({follows: ''})
    this.#showBar()
    this.changed()
  }

  #showBar() {
    const {bar, leader} = this
    bar.hidden = !leader
    bar.firstChild.textContent = leader ? say('follow.following', {name: this.nameOf(leader)}) : ''
    bar.lastChild.textContent = say('follow.stop')
  }

  /** Somebody's page tells what it shows. */
  #viewed(user, view) {
    if (user !== this.leader || !isView(view)) return
    this.wanted = view
    this.catchUp()
  }
  /** Goes to where the leader is; not under a hand that draws. */
  catchUp() {
    if (!this.wanted || this.tools.pointers.size > 0) return
    const box = this.wanted
    this.wanted = undefined
    this.#goTo(box)
  }
  #goTo(box) {
    const {canvas} = this
    const {clientWidth, clientHeight} = canvas.stage
    canvas.show(box, Math.min(clientWidth * 100 / (box[2] - box[0]), clientHeight * 100 / (box[3] - box[1])))
    this.led = JSON.stringify(canvas.view)
  }

  /** This page's view has changed: by its own hand that ends following. */
  moved() {
    if (this.leader && this.led && JSON.stringify(this.canvas.view) !== this.led) this.stop()
    if (this.#followers.size > 0) this.timer ??= setTimeout(() => this.#sendView(), viewEveryMs)
  }
  #sendView() {
    clearTimeout(this.timer)
    this.timer = undefined
    if (!document.hidden) this.session.sendView(this.#view())
  }
  #view() {
    return this.canvas.window.map(place => Math.max(-1e9, Math.min(1e9, Math.round(place))))
  }

  // MARK: Everybody here, and hands

  /** Shows everybody what this page shows. */
  bring() {
    this.session.signal('bring', {view: this.#view()})
    toast(say('bring.sent'))
  }
  raise() {
    const {session, hands, hasHand} = this
    const last = hands.length > 0 ? Number(session.members.get(hands.at(-1)).hand) : 0
    session.tell({hand: hasHand ? '' : String(last + 1)})
  }
  /** A host asks pages to lower the hands of some. @param {string[]} users */
  #lower(users) {
    this.session.signal('lowerHands', {users})
    if (users.includes(this.session.user)) this.session.tell({hand: ''})
  }
  lowerOf(user) {
    this.#lower([user])
  }

  #heard({customType, payload, sender}) {
    let said
    try {
      said = parse(payload)
    } catch {
      return
    }
    if (said?.v !== 1) return
    const {session} = this
    if (customType === 'bring' && isView(said.view)) this.#brought(said.view, this.nameOf(sender))
    if (customType !== 'lowerHands' || !Array.isArray(said.users) || !said.users.includes(session.user) || !this.hasHand) return
    session.tell({hand: ''})
    toast(say('hand.lowered', {name: this.nameOf(sender)}))
  }
  /** Whoever draws at this moment goes when they want to. */
  #brought(view, name) {
    const {canvas, tools} = this
    const before = canvas.view
    const go = () => {
      this.stop()
      this.#goTo(view)
    }
    if (tools.pointers.size > 0 || tools.writing?.area) return toast(say('bring.asked', {name}), say('bring.go'), go)
    go()
    return toast(say('bring.done', {name}), say('bring.back'), () => { canvas.view = before })
  }

  // MARK: Who drew this

  /** Whoever wrote some elements last, and when. */
  tellWho(elements) {
    const records = elements.flatMap(({records}) => records)
    if (records.length === 0) return
    const authors = [...new Set(records.map(({author}) => author))]
    const names = authors.slice(0, 3).map(user => user === this.session.user ? say('people.you') : this.nameOf(user))
    const at = Math.max(...records.map(({at = 0}) => at))
    const isToday = new Date(at).toDateString() === new Date().toDateString()
    const time = new Date(at).toLocaleString(locale, isToday ? {timeStyle: 'short'} : {dateStyle: 'medium', timeStyle: 'short'})
    if (authors.length > 3) names.push(say('who.more', {count: authors.length - 3}))
    const list = new Intl.ListFormat(language).format(names)
    toast(at ? say('who.at', {names: list, time}) : say('who', {names: list}))
  }

  /** A long press tells the author of what lies there: with the select tool, and for people who only watch. */
  #listen(stage) {
    let [from, timer] = []
    const end = () => clearTimeout(timer)
    stage.addEventListener('pointerdown', event => {
      end()
      const {tools, session} = this
      from = event
      if (tools.pointers.size > 1 || event.button > 0 || (tools.tool !== 'select' && session.mayDraw)) return
      timer = setTimeout(() => this.tellWho(tools.at(event).slice(0, 1)), holdMs)
    })
    stage.addEventListener('pointermove', ({clientX, clientY}) => {
      if (from && Math.hypot(clientX - from.clientX, clientY - from.clientY) > holdPx) end()
    })
    for (const type of ['pointerup', 'pointercancel', 'pointerleave']) stage.addEventListener(type, end)
  }

  /** What stands beside a name in the list: following, a hand, buttons. @returns {{notes: string[], buttons: HTMLElement[]}} */
  besides(user, name) {
    const {session, hands, leader} = this
    const place = hands.indexOf(user) + 1
    const button = (id, path, word, onclick, properties = {}) =>
      make('button', {className: id, ariaLabel: say(word, {name}), title: say(word, {name}), onclick, ...properties}, icon(path))
    const buttons = []
    if (place > 0) {
      const mark = session.mayModerate ? button('hand', handIcon, 'hand.lowerOf', () => this.lowerOf(user))
        : make('span', {className: 'hand', title: say('hand.up')}, icon(handIcon))
      mark.append(make('b', {textContent: place.toLocaleString(locale)}))
      buttons.push(mark)
    }
    if (user !== session.user) {
      const isLeader = user === leader
      const press = () => isLeader ? this.stop() : this.follow(user)
      buttons.push(button('follow', eyeIcon, isLeader ? 'follow.stopOf' : 'follow.of', press, {ariaPressed: isLeader}))
    }
    return {notes: this.#followers.has(user) ? [say('follow.byThem')] : [], buttons}
  }
}
