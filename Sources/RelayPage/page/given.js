// What is pasted, or dropped anywhere on the page. It is heard from the first moment on, and waits for the module that takes it.
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
