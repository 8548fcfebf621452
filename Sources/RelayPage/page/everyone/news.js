// What others write, for who hears it: a sentence at a time, and at most one in some seconds, however much is written.
import {language, say} from '../words/index.js'

export const newsEveryMs = 5_000
/** What is written at once is told together. */
const gatherMs = 1_000
export const newsLettersMax = 200
const namesMax = 3

/** A text on one line, as far as it may go. */
export function shortened(text, lettersMax) {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > lettersMax ? `${line.slice(0, lettersMax)}…` : line
}

/** The first names, each once. */
export function listed(all) {
  const names = [...new Set(all)]
  const shown = names.length > namesMax ? [...names.slice(0, namesMax), say('news.others')] : names
  return new Intl.ListFormat(language).format(shown)
}

export class News {
  /** By the texts' ids: `{name, text}`. */
  #waiting = new Map()
  #lastAt = -Infinity

  /** @param {(text: string) => void} tell */
  constructor(tell) {
    this.tell = tell
  }

  add({id, name, text}) {
    this.#waiting.set(id, {name, text})
    this.timer ??= setTimeout(() => this.#tell(), Math.max(gatherMs, this.#lastAt + newsEveryMs - Date.now()))
  }
  /** It is gone again. */
  drop(id) {
    this.#waiting.delete(id)
  }

  #tell() {
    const all = [...this.#waiting.values()]
    this.#waiting.clear()
    this.timer = undefined
    if (all.length === 0) return
    this.#lastAt = Date.now()
    if (all.length === 1) return this.tell(say('news.wrote', {name: all[0].name, text: shortened(all[0].text, newsLettersMax)}))
    this.tell(say('news.many', {count: all.length, names: listed(all.map(({name}) => name))}))
  }
}
