// For everyone: texts and pictures of the board as a list for who cannot see it, news of what others write, and the board by keys alone.
// It comes behind the first drawing.
import {boxAround} from '../boxes.js'
import {$, make} from '../ui.js'
import {label, say} from '../words/index.js'
import {hearBoardKeys, keepFocus} from './board-keys.js'
import {listed, News} from './news.js'
import {ReadingOrder} from './reading-order.js'
import {TextList} from './text-list.js'
import {nameOf, wordsOf} from './thing-name.js'

const isRead = ({type}) => type === 'text' || type === 'image'
/** A list that somebody goes through is made anew at most so often. */
const shownEveryMs = 300
const restMs = 600

/** An element whose words are where `label` finds them. */
const worded = (element, words) => {
  Object.assign(element.dataset, words)
  return element
}

export class Everyone {
  order = new ReadingOrder()

  /** What the kinds of records are is known. @param {{hands: object, nameOf: (user: string) => string, choose: (tool: string) => void}} parts */
  constructor(parts) {
    Object.assign(this, parts)
    const board = $('board')
    this.said = make('p', {className: 'unseen', role: 'status'})
    this.keys = worded(make('p', {id: 'board-keys', className: 'unseen'}), {text: 'board.keys'})
    this.list = new TextList(id => this.#go(id))
    document.body.prepend(worded(make('button', {id: 'skip', onclick: () => board.focus()}), {text: 'skip'}))
    $('stage').after(this.list.element, this.keys, this.said)
    board.setAttribute('role', 'application')
    board.setAttribute('aria-describedby', this.keys.id)
    board.dataset.label = 'board'
    label(document.body)
    this.news = new News(text => this.say(text))
    hearBoardKeys({...parts, say: text => this.say(text)})
    keepFocus(board)
    this.hands.records.ordered.filter(isRead).forEach(element => this.order.change([], [element]))
    this.#showSoon()
  }

  /** What has changed on the board, as `Records` tells it. */
  change({gone, come}) {
    const [read, others] = [come.filter(isRead), gone.filter(isRead)]
    if (read.length + others.length === 0) return
    this.order.change(others, read)
    this.#showSoon()
    const {session, records} = this.hands
    const before = new Map(others.map(element => [element.id, wordsOf(element)]))
    for (const element of read) {
      const {id, type, text, records: [{author}]} = element
      const words = wordsOf(element)
      const isNews = words && before.get(id) !== words && author !== session.user && !records.isReading
      before.delete(id)
      if (isNews) this.news.add({id, text: type === 'image' ? nameOf(element) : text, name: this.nameOf(author)})
    }
    for (const id of before.keys()) this.news.drop(id)
  }

  /** A sentence for who hears the page. */
  say(text) {
    this.said.textContent = text
  }

  /** How large things are that keys resize, when the keys rest. */
  tellSize(elements) {
    clearTimeout(this.sizeTimer)
    this.sizeTimer = setTimeout(() => {
      const now = elements.map(({id}) => this.hands.records.elements.get(id)).filter(Boolean)
      const [left, top, right, bottom] = boxAround(now.map(({box}) => box))
      const [width, height] = [right - left, bottom - top].map(length => Math.round(length / 100))
      if (now.length > 0) this.say(say('thing.size', {what: listed(now.map(element => nameOf(element))), width, height}))
    }, restMs)
  }

  #showSoon() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      this.list.show(this.order)
    }, shownEveryMs)
  }

  /** Chooses a text of the list, shows where it is, and gives the board the keys. */
  #go(id) {
    const {hands, choose} = this
    const element = hands.records.elements.get(id)
    if (!element) return
    const {canvas, session} = hands
    const [left, top, right, bottom] = canvas.window
    const {box} = element
    const isSeen = box[0] >= left && box[1] >= top && box[2] <= right && box[3] <= bottom
    if (!isSeen) canvas.show(box, Math.min(canvas.view.scale, canvas.scaleOf(box)))
    if (session.mayDraw) choose('select')
    if (session.mayChange(element)) hands.choose([element])
    $('board').focus()
    this.say(say('thing.selected', {what: nameOf(element), number: 1, count: 1}))
  }
}
