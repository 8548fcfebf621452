// Where things are: an index by place. What is asked of a small part of a board does not grow with the board.

/** Each level has cells of twice the side of the one below it, in 1/100 px; the lowest: */
const cellMin = 4_096

const cellKey = (column, row) => column * 2 ** 21 + row

/** An element lies in one cell of the lowest level whose cells are as large as its box, by the box's upper left corner: it reaches into the next cell at most. */
export class Places {
  /** The cells by their size, as sets of elements. */
  #levels = new Map()

  /** @param {(element) => number[]} [boxOf] `[left, top, right, bottom]` in 1/100 px, always the same one */
  constructor(boxOf = ({box}) => box) {
    this.boxOf = boxOf
  }

  add(element) {
    const {size, key} = this.#cellOf(element)
    const cells = this.#levels.get(size) ?? new Map()
    this.#levels.set(size, cells.set(key, (cells.get(key) ?? new Set()).add(element)))
  }

  remove(element) {
    const {size, key} = this.#cellOf(element)
    const cells = this.#levels.get(size)
    const cell = cells?.get(key)
    cell?.delete(element)
    if (cell?.size === 0) cells.delete(key)
    if (cells?.size === 0) this.#levels.delete(size)
  }

  /** The elements whose boxes touch a box, in no order. */
  within(box) {
    const found = []
    const look = cell => {
      for (const element of cell ?? []) if (overlap(this.boxOf(element), box)) found.push(element)
    }
    for (const [size, cells] of this.#levels) {
      const [left, top, right, bottom] = box.map((place, side) => Math.floor(place / size) - (side < 2 ? 1 : 0))
      // Where little is, what is there is fewer than what is asked for.
      if ((right - left + 1) * (bottom - top + 1) > cells.size) cells.forEach(look)
      else for (let column = left; column <= right; column++) {
        for (let row = top; row <= bottom; row++) look(cells.get(cellKey(column, row)))
      }
    }
    return found
  }

  #cellOf(element) {
    const [left, top, right, bottom] = this.boxOf(element)
    let size = cellMin
    while (size < Math.max(right - left, bottom - top)) size *= 2
    return {size, key: cellKey(Math.floor(left / size), Math.floor(top / size))}
  }
}

export const overlap = (one, other) => one[0] <= other[2] && one[1] <= other[3] && one[2] >= other[0] && one[3] >= other[1]
