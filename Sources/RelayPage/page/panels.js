// Menus and panels, and the buttons that open them. They come behind the first drawing.
import {languageChoice} from './language-choice.js'
import {ownColors} from './own-colors.js'
import {hasSingleKeys, keepSingleKeys, singleKeysPlace} from './remembered.js'
import {loadTool} from './tools/index.js'
import {$, make} from './ui.js'
import {label} from './words/index.js'

/** Buttons that show a panel; one at a time, and none after a press elsewhere. */
function open(pairs) {
  const show = wanted => {
    for (const [button, panel] of pairs) {
      $(panel).hidden = panel !== wanted
      $(button).ariaExpanded = panel === wanted
    }
  }
  for (const [button, panel] of pairs) {
    $(button).onclick = event => {
      show($(panel).hidden ? panel : undefined)
      if (event.detail === 0) $(panel).querySelector('button')?.focus()
    }
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

const words = {
  paste: 'menu.paste', 'show-boards': 'menu.boards', 'new-board': 'menu.newBoard', 'type-code': 'menu.code',
  'export-png': 'menu.png', 'export-svg': 'menu.svg', print: 'menu.print', 'replay-board': 'menu.replay',
  'replay-file': 'menu.recording', 'zoom-fit': 'menu.fit',
  clear: 'menu.clear', 'end-board': 'menu.end', leave: 'menu.leave', rename: 'people.rename', 'another-device': 'people.otherDevice',
}

/** Colours of sticky notes, light enough for every ink, by the second half of their words. */
const papers = {yellow: 'FFE680', orange: 'FFC78A', pink: 'FFB8D2', green: 'B0E8AB', blue: 'A6D6FF', violet: 'D2BEFF'}

/** The board's own. */
const boardPapers = {dotted: 'board.dotted', squared: 'board.squared', ruled: 'board.ruled', blank: 'board.blank'}

const looks = new CSSStyleSheet()
looks.replaceSync(`
#papers{display:grid;grid-template-columns:repeat(3,auto);justify-content:space-around;margin-top:.375rem;padding-top:.375rem;
border-top:1px solid var(--line)}
[data-notes=false] #papers{display:none}
#papers i{width:1.6rem;height:1.6rem;border-radius:.25rem}`)
document.adoptedStyleSheets.push(looks)

/** An element whose words are where `label` finds them. */
function worded(tag, properties, words, ...children) {
  const element = make(tag, properties, ...children)
  Object.assign(element.dataset, words)
  return element
}

export class Panels {
  /**
   * @param {{colors, widths, restyle: (change: object) => void, menu: Record<string, () => void>, people: Record<string, () => void>,
   *   translate: (language: string) => Promise<void>, style: {paper: string}, hands: object,
   *   setPaper: (name: string) => Promise<void>}} parts `menu`, `people`: what rows do, by their ids
   */
  constructor({colors, widths, restyle, menu, people, translate, style, hands, setPaper}) {
    const close = open([['people', 'people-panel'], ['more', 'menu'], ['style', 'style-panel']])
    // Who came by keys goes on from the button that opened it.
    const leave = ({detail, target}) => {
      const opener = $(target.closest('#menu') ? 'more' : 'people')
      close()
      if (detail === 0) opener.focus()
    }
    const row = ([id, run]) => worded('button', {id, className: 'row', onclick: event => (leave(event), run())}, {text: words[id]})
    $('menu').append(...Object.entries(menu).map(row))
    $('clear').before(this.#paperRow(setPaper, close))
    $('leave').before(this.#languageRow(translate, close), this.#singleKeysRow())
    $('people-panel').append(...Object.entries(people).map(row))
    const group = (id, word, ...buttons) => {
      const box = worded('div', {id, role: 'group'}, {label: word}, ...buttons)
      $('style-panel').append(box)
    }
    group('colors', 'color', ...Object.entries(colors).map(([name, color]) => {
      const swatch = make('i', {className: 'swatch ink'})
      swatch.style.background = `#${color}`
      return worded('button', {onclick: () => restyle({color})}, {label: `color.${name}`, color: `#${color}FF`}, swatch)
    }), ownColors({palette: Object.values(colors), restyle}))
    group('widths', 'width', ...Object.entries(widths).map(([name, width]) => {
      const dot = make('i')
      dot.style.width = dot.style.height = `${4 + width / 70}px`
      return worded('button', {onclick: () => restyle({width})}, {label: `width.${name}`, width}, dot)
    }))
    group('papers', 'paper', ...Object.entries(papers).map(([name, paper]) => {
      const sheet = make('i', {className: 'ink'})
      sheet.style.background = `#${paper}`
      return worded('button', {onclick: () => this.#repaper(paper, style, hands)}, {label: `paper.${name}`, paper}, sheet)
    }))
    label(document.body)
  }

  /** Of the next sticky note, and of those that are chosen. */
  async #repaper(paper, style, hands) {
    style.paper = paper
    this.restyle(style)
    ;(await loadTool('note')).repaper(hands, paper)
  }

  #languageRow(translate, close) {
    const choice = languageChoice(name => translate(name).then(() => close()))
    return make('label', {className: 'row'}, worded('span', {}, {text: 'menu.language'}), choice)
  }

  #singleKeysRow() {
    const row = worded('button', {id: 'single-keys', className: 'row', role: 'switch'}, {text: 'menu.singleKeys'})
    const show = () => {
      row.ariaChecked = hasSingleKeys()
      // Titles tell the keys.
      label(document.body)
    }
    row.onclick = () => {
      keepSingleKeys(!hasSingleKeys())
      show()
    }
    addEventListener('storage', ({key}) => key === singleKeysPlace && show())
    row.ariaChecked = hasSingleKeys()
    return row
  }

  #paperRow(setPaper, close) {
    const options = Object.entries(boardPapers).map(([value, text]) => worded('option', {value}, {text}))
    const select = make('select', {id: 'paper', onchange: () => setPaper(select.value).then(close)}, ...options)
    return make('label', {className: 'row'}, worded('span', {}, {text: 'menu.paper'}), select)
  }

  /** What somebody may, and the board's paper. */
  show({mayDraw, mayClear, mayModerate, paper}) {
    $('paper').parentElement.hidden = !mayDraw
    $('paper').value = Object.hasOwn(boardPapers, paper) ? paper : 'dotted'
    $('clear').hidden = !mayClear
    $('end-board').hidden = !mayModerate
  }

  /** The colours and the width that are chosen. */
  restyle({color, width, paper}) {
    for (const button of document.querySelectorAll('#style-panel button')) {
      const {dataset} = button
      button.ariaPressed = dataset.color === `#${color}FF` || Number(dataset.width) === width || dataset.paper === paper
    }
  }
}
