// The board's paper on a picture that is saved or printed: squares and ruled lines. Dots are for the screen alone.
import {paperStep} from './canvas.js'

export const lineColor = '#DCDDE2'

/** Where lines lie between two places. */
function places(from, length, step) {
  const first = Math.ceil(from / step)
  return Array.from({length: Math.floor((from + length) / step) - first + 1}, (_, at) => (first + at) * step)
}

/**
 * @param {string} paper @param {{x, y, width, height}} box of the picture, in 1/100 px @param {number} scale of the picture
 * @returns {number[][]} lines as `[fromX, fromY, toX, toY]`, in 1/100 px
 */
export function paperLines(paper, {x, y, width, height}, scale) {
  const step = paperStep(scale) * 100
  const rows = {ruled: 2 * step, squared: step}[paper]
  return [
    ...rows ? places(y, height, rows).map(place => [x, place, x + width, place]) : [],
    ...paper === 'squared' ? places(x, width, step).map(place => [place, y, place, y + height]) : [],
  ]
}
