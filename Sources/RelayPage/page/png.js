// A board's picture as pixels. It comes when a page is to save it.
import {pictureBox} from './boxes.js'
import {drawElement, kindOf} from './kinds/index.js'
import {lineColor, paperLines} from './paper.js'
import {prepared} from './surface.js'
import {save} from './ui.js'

/** The whole picture on white, at twice its size unless that were too large. @returns {Promise<HTMLCanvasElement>} */
export async function picture(elements, paper) {
  const box = pictureBox(elements.map(({box}) => box))
  const {x, y, width, height} = box
  const scale = Math.min(2, 8_192 / Math.max(width, height) * 100)
  const canvas = Object.assign(document.createElement('canvas'),
      {width: Math.ceil(width / 100 * scale), height: Math.ceil(height / 100 * scale)})
  const context = prepared(canvas)
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.setTransform(scale, 0, 0, scale, -x / 100 * scale, -y / 100 * scale)
  Object.assign(context, {strokeStyle: lineColor, lineWidth: Math.max(1, 1 / scale)})
  context.beginPath()
  for (const [fromX, fromY, toX, toY] of paperLines(paper, box, scale)) {
    context.moveTo(fromX / 100, fromY / 100)
    context.lineTo(toX / 100, toY / 100)
  }
  context.stroke()
  for (const element of elements) {
    await kindOf(element.type).ready?.(element, scale)
    drawElement(context, element)
  }
  return canvas
}

export const savePNG = async (elements, name, paper) => (await picture(elements, paper)).toBlob(blob => save(blob, name))
