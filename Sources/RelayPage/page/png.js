// A board's picture as pixels. It comes when a page is to save it.
import {pictureBox} from './boxes.js'
import {drawElement, kindOf} from './kinds/index.js'
import {prepared} from './surface.js'
import {save} from './ui.js'

/** The whole picture on white, at twice its size unless that were too large. @returns {Promise<HTMLCanvasElement>} */
export async function picture(elements) {
  const {x, y, width, height} = pictureBox(elements.map(({box}) => box))
  const scale = Math.min(2, 8_192 / Math.max(width, height) * 100)
  const canvas = Object.assign(document.createElement('canvas'),
      {width: Math.ceil(width / 100 * scale), height: Math.ceil(height / 100 * scale)})
  const context = prepared(canvas)
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.setTransform(scale, 0, 0, scale, -x / 100 * scale, -y / 100 * scale)
  for (const element of elements) {
    await kindOf(element.type).ready?.(element, scale)
    drawElement(context, element)
  }
  return canvas
}

export const savePNG = async (elements, name) => (await picture(elements)).toBlob(blob => save(blob, name))
