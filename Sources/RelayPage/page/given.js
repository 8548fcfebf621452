// What is pasted, dropped or pressed anywhere. It is heard from the first moment on, and waits for the module that takes it.
import {loadTool} from './tools/index.js'

const isElsewhere = target => Boolean(target?.closest?.('input, textarea, select, dialog'))

/** @param hands the page's tools @param {(words: string) => void} paste @param {() => void} failed what takes pictures did not come */
export function hearGiven(hands, paste, failed) {
  const insert = (files, middle) => void loadTool('image').then(({insert}) => insert(files, hands, middle), failed)
  document.addEventListener('paste', event => {
    const {target, clipboardData} = event
    if (isElsewhere(target) || isElsewhere(document.activeElement)) return
    event.preventDefault()
    const files = [...clipboardData?.files ?? []]
    if (files.length > 0) insert(files)
    else paste(clipboardData?.getData('text/plain') ?? '')
  })
  document.addEventListener('dragover', event => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    event.dataTransfer.dropEffect = hands.session.mayDraw ? 'copy' : 'none'
  })
  document.addEventListener('drop', event => {
    const files = [...event.dataTransfer?.files ?? []]
    if (files.length === 0) return
    // Else the browser leaves the board and shows the file.
    event.preventDefault()
    insert(files, hands.canvas.toBoard(event))
  })
}

/** Whether a press is for what edits the board, or goes through it. */
const isLate = ({key, ctrlKey, metaKey, altKey, shiftKey}) =>
  (ctrlKey || metaKey ? /^(Arrow|[adl]$)/i : altKey ? /^Page/ : shiftKey ? /^(Arrow|Page)/ : /^(Arrow|Enter$|[.,]$)/).test(key)

/** @param {() => boolean} isThere whether who hears them has come @param {() => Promise<void>} bring @param {() => void} failed */
export function hearEarlyKeys(isThere, bring, failed) {
  let waiting
  addEventListener('keydown', event => {
    const {target} = event
    if ((isThere() && !waiting) || !isLate(event) || !(target === document.body || target.id === 'board')) return
    event.preventDefault()
    event.stopImmediatePropagation()
    if (waiting) return void waiting.push(event)
    waiting = [event]
    bring().catch(failed).then(() => {
      const played = waiting
      waiting = undefined
      if (isThere()) for (const one of played) one.target.dispatchEvent(new KeyboardEvent('keydown', one))
    })
  }, true)
}
