// What a page finds again when it is loaded anew: the tool with its colour and width, where one looked on each board, and whether keys
// that write something are shortcuts.
import {keep, open, read, write} from './identity.js'

const local = open('localStorage')
const [handPlace, viewsPlace] = ['whiteboard.hand', 'whiteboard.views']
export const singleKeysPlace = 'whiteboard.singleKeys'
const boardsMax = 50

/** @returns {{tool?: string, color?: string, width?: number}} unchecked */
export const keptHand = () => read(local, handPlace) ?? {}
export const keepHand = hand => write(local, handPlace, hand)

/** @returns {{x, y, scale}|undefined} */
export function keptView(board) {
  const found = Object.entries(read(local, viewsPlace) ?? {}).find(([name]) => name === board)?.[1] ?? []
  const [x, y, scale] = found
  return [x, y, scale].every(Number.isFinite) && scale > 0 ? {x, y, scale} : undefined
}
export function keepView(board, {x, y, scale}) {
  const others = Object.entries(read(local, viewsPlace) ?? {}).filter(([name]) => name !== board)
  write(local, viewsPlace, Object.fromEntries([...others, [board, [x, y, scale]]].slice(-boardsMax)))
}

/** Whether a letter, a number or a sign alone is a shortcut. Who speaks to a machine, or trembles, can do without. [WCAG 2.1.4] */
export const hasSingleKeys = () => local.getItem(singleKeysPlace) !== 'off'
export const keepSingleKeys = isOn => keep(local, singleKeysPlace, isOn ? 'on' : 'off')
/** Whether a press is a shortcut that is switched off. */
export const isSwitchedOff = ({key, ctrlKey, metaKey, altKey}) =>
  [...key].length === 1 && key !== ' ' && !(ctrlKey || metaKey || altKey) && !hasSingleKeys()
