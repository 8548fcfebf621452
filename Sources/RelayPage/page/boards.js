// The list of boards, and going from one to the next. It comes behind the first drawing.
import {copyBoard, CopyFault} from './board-copy.js'
import {boxAround} from './boxes.js'
import {explain} from './explain.js'
import {linkTo} from './identity.js'
import {drawElement} from './kinds/index.js'
import {beside, keepBoard, keptBoards, nextTitle, pictureLettersMax} from './kept-boards.js'
import {titleOf} from './names.js'
import {nameOf, newBoard} from './new-names.js'
import {prepared} from './surface.js'
import {$, ask, field, icon, make, toast} from './ui.js'
import {locale, say} from './words/index.js'

/** A picture's size, in px, and how many things are drawn in it: of more, some. */
const [pictureWidth, pictureHeight, drawnMax] = [240, 150, 1_500]
/** Of boards that others have begun a host sees so many. */
const othersMax = 100

const icons = {
  previous: 'M14.5 5.5L8 12l6.5 6.5', next: 'M9.5 5.5L16 12l-6.5 6.5', add: 'M12 5.5v13M5.5 12h13',
  copy: 'M9 9h10.5v10.5H9zM5.5 15H4.5V4.5H15v1',
}

const go = name => { location.hash = linkTo('', name) }

/** All of a board as a small picture on white, as far as that is small enough to be kept. */
export function thumbnail(elements) {
  if (elements.length === 0) return undefined
  const box = boxAround(elements.map(({box}) => box))
  const canvas = make('canvas', {width: pictureWidth, height: pictureHeight})
  const context = prepared(canvas)
  context.fillStyle = '#fff'
  context.fillRect(0, 0, pictureWidth, pictureHeight)
  const scale = Math.min((pictureWidth - 16) / Math.max(1, box[2] - box[0]), (pictureHeight - 16) / Math.max(1, box[3] - box[1]), 0.01)
  context.setTransform(scale * 100, 0, 0, scale * 100, (pictureWidth - (box[0] + box[2]) * scale) / 2,
    (pictureHeight - (box[1] + box[3]) * scale) / 2)
  const every = Math.ceil(elements.length / drawnMax)
  for (const [at, element] of elements.entries()) if (at % every === 0) drawElement(context, element)
  return ['image/png', 'image/webp'].map(type => canvas.toDataURL(type, 0.6))
      .find(url => url.length <= pictureLettersMax && /^data:image\/(png|webp)/.test(url))
}

export class Boards {
  #drawnAt

  /** @param {{session, records, title: () => string}} parts */
  constructor(parts) {
    Object.assign(this, parts)
    addEventListener('keydown', event => this.#key(event))
  }

  get list() {
    return keptBoards(this.session.client.relayID)
  }

  /** What the list has of this board is as it is now. `isPictured`: with a picture, which takes a moment. */
  keep(isPictured = false) {
    const {session, records} = this
    const state = `${session.board} ${records.offset} ${records.own.length}`
    const isNew = isPictured && !records.isReading && state !== this.#drawnAt
    if (isNew) this.#drawnAt = state
    const elements = records.ordered
    keepBoard(session.client.relayID, {name: session.board, title: this.title(), at: Date.now(),
      ...isNew ? {picture: thumbnail(elements), hasImages: elements.some(({type}) => type === 'image')} : {}})
  }

  #key({key, target, repeat, shiftKey, ctrlKey, metaKey, altKey, defaultPrevented}) {
    const step = {PageUp: -1, PageDown: 1}[key]
    const isElsewhere = target.closest?.('input, textarea, select, dialog, .panel') || document.querySelector('dialog[open]')
    if (step && !(repeat || shiftKey || ctrlKey || metaKey || altKey || defaultPrevented || isElsewhere)) this.turn(step)
  }

  /** To the next page, or the one before. */
  turn(step) {
    const name = beside(this.list, this.session.board, step)
    if (name) go(name)
    else toast(say(step > 0 ? 'boards.last' : 'boards.first'))
  }

  // MARK: The list

  show() {
    this.keep(true)
    const stopping = new AbortController()
    const closing = run => () => {
      dialog.close()
      run()
    }
    const button = (id, path, text, onclick, properties = {}) =>
      make('button', {id, type: 'button', onclick, ...properties}, icon(path), make('span', {textContent: text}))
    const isEnd = step => beside(this.list, this.session.board, step) === undefined
    const list = make('ul', {id: 'boards-list'}, ...this.list.map(board => this.#card(board, closing, stopping.signal)))
    const dialog = make('dialog', {id: 'boards', ariaLabel: say('boards')},
      make('div', {id: 'boards-head'}, make('h2', {textContent: say('boards')}),
        make('button', {id: 'boards-close', type: 'button', textContent: say('close'), onclick: () => dialog.close()})),
      make('div', {className: 'choices'},
        button('previous-board', icons.previous, say('boards.previous'), closing(() => this.turn(-1)), {disabled: isEnd(-1)}),
        button('next-board', icons.next, say('boards.next'), closing(() => this.turn(1)), {disabled: isEnd(1)}),
        button('begin-board', icons.add, say('boards.new'), closing(() => this.begin()))),
      make('progress', {id: 'copying', max: 1, value: 0, hidden: true, ariaLabel: say('boards.copying')}), list)
    dialog.onclose = () => {
      stopping.abort()
      dialog.remove()
    }
    document.body.append(dialog)
    dialog.showModal()
    const current = dialog.querySelector('[aria-current]')
    current?.focus()
    current?.scrollIntoView({block: 'nearest'})
    if (this.session.mayModerate) this.#showOthers(dialog, closing, stopping.signal)
  }

  /** What others have begun on the relay. */
  async #showOthers(dialog, closing, signal) {
    const known = this.list.map(({name}) => name)
    const all = await this.session.client.boards().catch(() => [])
    const others = all.filter(({channel}) => !known.includes(channel)).sort((one, other) => other.changed - one.changed)
    if (others.length === 0 || !dialog.open) return
    const cards = others.slice(0, othersMax).map(({channel: name, changed: at}) =>
      this.#card({name, title: titleOf(name), at}, closing, signal))
    dialog.append(make('h3', {textContent: say('boards.others')}), make('ul', {id: 'other-boards'}, ...cards))
    if (others.length > othersMax) dialog.append(make('p', {textContent: say('boards.more', {count: others.length - othersMax})}))
  }

  #card(board, closing, signal) {
    const {name, title, at, picture, hasImages} = board
    const isToday = new Date(at).toDateString() === new Date().toDateString()
    const time = new Date(at).toLocaleString(locale, isToday ? {timeStyle: 'short'} : {dateStyle: 'medium'})
    const isHere = name === this.session.board
    const shown = picture ? make('img', {src: picture, alt: '', className: hasImages ? '' : 'ink'}) : make('i')
    const card = make('button', {type: 'button', className: 'card', title: name, onclick: closing(() => isHere || go(name))}, shown,
      make('b', {textContent: title}), make('small', {textContent: isHere ? say('boards.here') : time}))
    card.dataset.board = name
    if (isHere) card.setAttribute('aria-current', 'page')
    const copy = make('button', {type: 'button', className: 'copy', ariaLabel: say('boards.copyOf', {title}),
      title: say('boards.copyOf', {title}), onclick: () => this.#copy(board, signal)}, icon(icons.copy))
    return make('li', {}, card, copy)
  }

  // MARK: New boards

  /** Asks for the name of a new board, and goes there. */
  async begin() {
    const proposal = await newBoard()
    const input = field({id: 'board-name', value: proposal.title, maxLength: 60, ariaLabel: say('boards.name'),
      onfocus: () => input.select()})
    const answer = await ask('new-board-dialog', say('boards.new'), say('boards.newText'),
      [['board-no', say('boards.no')], ['board-yes', say('boards.begin')]], [input])
    const title = input.value.trim()
    if (answer !== 'board-yes' || !title) return
    this.#goToNew(title === proposal.title ? proposal : {name: nameOf(title), title})
  }
  /** A new board under the proposed name. */
  async beginProposed() {
    this.#goToNew(await newBoard())
  }
  #goToNew({name, title}) {
    this.#name(name, title)
    go(name)
  }

  /** A title that the name does not tell; a board that has one keeps it. */
  #name(name, title) {
    if (titleOf(name) === title) return
    this.session.client.channel(name).metadata.set({title}, {revisions: {title: 0}}).catch(() => {})
  }

  /** Asks for the name of a copy, makes it, and goes there. Who closes the list stops it. */
  async #copy({name: from, title: before, picture, hasImages}, signal) {
    const input = field({id: 'board-name', value: nextTitle(before, this.list), maxLength: 60,
      ariaLabel: say('boards.name'), onfocus: () => input.select()})
    const answer = await ask('copy-dialog', say('boards.copyOf', {title: before}), say('boards.copyText'),
      [['copy-no', say('boards.no')], ['copy-template', say('boards.template')], ['copy-yes', say('boards.duplicate')]], [input])
    const title = input.value.trim()
    if (!['copy-template', 'copy-yes'].includes(answer) || !title) return
    const {session} = this
    const to = nameOf(title)
    const progress = done => Object.assign($('copying') ?? {}, {hidden: false, value: done})
    try {
      progress(0)
      await copyBoard({session, from, to, isTemplate: answer === 'copy-template', progress, signal})
      this.#name(to, title)
      keepBoard(session.client.relayID, {name: to, title, at: Date.now(), picture, hasImages}, from)
      $('boards')?.close()
      go(to)
    } catch (error) {
      toast(error instanceof CopyFault ? say(error.word, {title}) : explain(error))
      if ($('copying')) $('copying').hidden = true
    }
  }
}
