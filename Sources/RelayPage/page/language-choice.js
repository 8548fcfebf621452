// The choice of a language: all that there are, each named in itself.
import {make} from './ui.js'
import {language, languages} from './words/index.js'

/** @param {(language: string) => Promise<void>} translate where it fails, the choice is what it was */
export function languageChoice(translate) {
  const options = Object.entries(languages).map(([name, {name: text}]) => make('option', {value: name, lang: name, textContent: text}))
  const select = make('select', {id: 'language'}, ...options)
  select.value = language
  select.onchange = () => translate(select.value).catch(() => { select.value = language })
  return select
}
