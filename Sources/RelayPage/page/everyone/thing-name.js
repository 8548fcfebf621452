// What a thing of the board is called, for who hears the page.
import {tools} from '../tools/index.js'
import {say} from '../words/index.js'
import {shortened} from './news.js'

/** What people wrote about it, or on it. @returns {string|undefined} */
export const wordsOf = ({text, description}) => text ?? description

export function nameOf(element, lettersMax = 300) {
  const {type, paper, parts} = element
  const text = shortened(wordsOf(element) ?? '', lettersMax)
  if (type === 'image') return text ? say('texts.picture', {text}) : say('tool.image')
  if (type === 'text') return paper ? say('texts.note', {text}) : text
  const shape = parts?.[0]?.shape
  return say(shape ? tools[shape].label : 'thing.line')
}
