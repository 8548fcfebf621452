// How words stand in lines: docs/board-format.md, "Wrapping".

/** The largest number up to `count` that fits, where all that are smaller fit; what is asked of it grows with what fits, not with `count`. */
function most(count, fits) {
  let [low, high] = [0, 1]
  while (high <= count && fits(high)) [low, high] = [high, 2 * high]
  high = Math.min(high, count + 1)
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (fits(middle)) low = middle
    else high = middle
  }
  return low
}

/** What of a word is not broken: a letter with what joins it. */
const pieces = /.(?:[\u0300-\u036f\u200d\ufe00-\ufe0f\u{1f3fb}-\u{1f3ff}]|(?<=\u200d).)*/gsu

/** @param {(text: string) => boolean} fits whether a text is no wider than a line may be */
function wrapLine(line, fits) {
  const words = [...line.matchAll(/[^ ]+/g)].map(({0: word, index}) => ({from: index, to: index + word.length}))
  const lines = []
  let [start, end, next] = [0, 0, 0]
  while (next < words.length) {
    const taken = most(words.length - next, count => fits(line.slice(start, words[next + count - 1].to)))
    next += taken
    if (taken > 0) end = words[next - 1].to
    if (next === words.length) break
    const {from, to} = words[next]
    if (from > start) {
      lines.push(line.slice(start, end))
      start = end = from
    } else {
      // The word is alone, and too wide.
      const ends = [...line.slice(from, to).matchAll(pieces)].map(({0: piece, index}) => from + index + piece.length)
      for (let done = 0; ;) {
        done += most(ends.length - done, count => fits(line.slice(start, ends[done + count - 1]))) || 1
        if (done === ends.length) break
        lines.push(line.slice(start, ends[done - 1]))
        start = ends[done - 1]
      }
      end = to
      next++
    }
  }
  return [...lines, line.slice(start)]
}

/** @param {{text: string, width?: number}} element @param {(text: string) => number} widthOf in the unit of `width` */
export function linesOf({text, width}, widthOf) {
  const lines = text.split('\n')
  return width === undefined ? lines : lines.flatMap(line => wrapLine(line, part => widthOf(part) <= width))
}
