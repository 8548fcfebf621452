// What a picture shows, for people who cannot see it: asks for the words, and writes them.
import {change} from './editing.js'
import {described} from './kinds/edits.js'
import {descriptionBytesMax} from './kinds/image.js'
import {ask, make, toast} from './ui.js'
import {say} from './words/index.js'

/** The one picture that is chosen and may be changed. @returns {object|undefined} */
export function pictureToDescribe(hands) {
  const [element, ...others] = hands.chosen
  return others.length === 0 && element?.type === 'image' && hands.mayEdit(element) ? element : undefined
}

/** Asks until the words fit, or until somebody closes the dialog. */
export async function describe(hands, {id, description = ''}) {
  const area = make('textarea', {value: description, rows: 4, dir: 'auto', ariaLabel: say('describe.label'), enterKeyHint: 'done'})
  // Its words are one paragraph.
  area.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || event.isComposing) return
    event.preventDefault()
    area.form.querySelector('.primary').click()
  })
  const choices = [['describe-no', say('close')], ['describe-yes', say('done')]]
  let words
  for (let text = say('describe.text'); text;) {
    if (await ask('describe', say('describe.title'), text, choices, [area]) !== 'describe-yes') return
    words = area.value.trim().replace(/\s+/g, ' ')
    const size = new TextEncoder().encode(words).length
    text = size > descriptionBytesMax ? say('describe.tooLong', {size, limit: descriptionBytesMax}) : undefined
  }
  // As others have left it meanwhile.
  const now = hands.records.elements.get(id)
  if (now && hands.mayEdit(now)) change(hands, [now], record => described(record, words))
  else toast(say('describe.gone'))
}
