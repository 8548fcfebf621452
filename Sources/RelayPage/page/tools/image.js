// Pictures come to the board from files and from a camera; ../given.js takes those that are pasted or dropped.
import {hundredths} from '../format.js'
import {newID} from '../ink.js'
import {writeImage} from '../kinds/image.js'
import {loadKind} from '../kinds/index.js'
import {fileBytesMax, NoPicture, pictureOf} from '../picture-files.js'
import {loadTool} from './index.js'
import {make, toast} from '../ui.js'
import {say} from '../words/index.js'

/** A tablet that is asked for these makes them of what its photos are. */
const accept = 'image/png,image/jpeg,image/webp'
/** At most so much of the window's sides is a new picture. */
const windowShare = 0.6
/** Several lie so far beside each other, in px of the screen. */
const besidePx = 24
const filesMax = 20

/** Asks for files, or opens the camera. */
export function act(hands, tool) {
  const input = make('input', {type: 'file', accept: tool === 'camera' ? accept : `${accept},application/pdf`})
  if (tool === 'camera') input.setAttribute('capture', 'environment')
  else input.multiple = true
  input.id = 'picture-file'
  input.hidden = true
  document.getElementById('picture-file')?.remove()
  document.body.append(input)
  input.onchange = () => {
    insert([...input.files], hands)
    input.remove()
  }
  input.click()
}

/** @param {File[]} files @param {{x, y}} [middle] in px of the board; else that of the window */
export async function insert(files, hands, middle = middleOf(hands.canvas)) {
  if (!hands.session.mayDraw) return
  if (files.length > filesMax) toast(say('image.tooMany', {count: files.length, limit: filesMax}))
  await loadKind('image')
  const chosen = []
  for (const [at, file] of files.slice(0, filesMax).entries()) {
    try {
      const picture = await pictureOf(await drawable(file))
      const off = at * besidePx / hands.canvas.view.scale
      chosen.push(put(picture, hands, {x: middle.x + off, y: middle.y + off}))
    } catch (error) {
      if (!(error instanceof NoPicture)) throw error
      toast(say(error.word, error.values))
    }
  }
  if (chosen.length === 0) return
  hands.chooseTool('select')
  hands.choose(chosen.map(id => ({id})))
  // The frame around it, where nothing was chosen before.
  ;(await loadTool('select')).show(hands)
}

function middleOf({window: [left, top, right, bottom]}) {
  return {x: (left + right) / 200, y: (top + bottom) / 200}
}

/** @returns {string} its id */
function put(picture, {canvas, session, records, undo}, {x, y}) {
  const {pixelWidth, pixelHeight} = picture
  const [left, top, right, bottom] = canvas.window
  const factor = Math.min(100, windowShare * (right - left) / pixelWidth, windowShare * (bottom - top) / pixelHeight)
  const [width, height] = [pixelWidth, pixelHeight].map(side => Math.max(100, Math.min(1e7, Math.round(side * factor))))
  const id = newID()
  const place = {x: hundredths(x - width / 200), y: hundredths(y - height / 200), width, height}
  const after = {customType: 'image', payload: writeImage({...picture, ...place, id, z: records.nextLayer})}
  session.write(id, after)
  undo.add([{key: id, after}])
  return id
}

/** A PDF's first page, where the browser draws it in a picture: of all of them Safari does, and has no way to the other pages. */
async function drawable(file) {
  const head = new TextDecoder().decode(await file.slice(0, 5).arrayBuffer())
  if (head !== '%PDF-' || file.size > fileBytesMax) return file
  const page = make('img', {src: URL.createObjectURL(new Blob([file], {type: 'application/pdf'}))})
  try {
    await page.decode()
    const {naturalWidth, naturalHeight} = page
    const scale = 2_048 / Math.max(naturalWidth, naturalHeight)
    const canvas = make('canvas', {width: Math.round(naturalWidth * scale), height: Math.round(naturalHeight * scale)})
    const context = canvas.getContext('2d')
    context.fillStyle = '#fff'
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.drawImage(page, 0, 0, canvas.width, canvas.height)
    const picture = await new Promise(resolve => canvas.toBlob(resolve, 'image/png'))
    toast(say('image.pdfPage'))
    return picture
  } catch {
    throw new NoPicture('image.pdf')
  } finally {
    URL.revokeObjectURL(page.src)
  }
}
