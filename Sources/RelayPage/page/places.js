// Where things are: what is asked of a small part of a board does not grow with the board.

/** The side of the smallest cells, in 1/100 px; each level's are twice as large as those below it. */
const cellMin = 4_096

export const overlap = (one, other) => one[0] <= other[2] && one[1] <= other[3] && one[2] >= other[0] && one[3] >= other[1]

/** An element lies in the cell of its box's upper left corner, of the lowest level where it reaches no farther than into the next one. */
export class Places {
  /** Sets of elements by cell, by the cells' side. */
  #levels = new Map()

  /** @param {(element) => number[]} [boxOf] `[left, top, right, bottom]` in 1/100 px, always the same */
  constructor(boxOf = ({box}) => box) {
    this.boxOf = boxOf
  }

  add(element) {
    const {cells, key} = this.#cellOf(element)
    cells.set(key, (cells.get(key) ?? new Set()).add(element))
  }

  remove(element) {
    const {cells, key} = this.#cellOf(element)
    cells.get(key)?.delete(element)
    if (!cells.get(key)?.size) cells.delete(key)
  }

  /** The elements whose boxes touch a box, in no order. */
  within(box) {
    return [...this.#touching(box)]
  }
  /** Whether any element's box touches a box. */
  hasWithin(box) {
    return !this.#touching(box).next().done
  }

  * #touching(box) {
    for (const [side, cells] of this.#levels) {
      for (const cell of this.#cellsAt(box, side, cells)) for (const element of cell) if (overlap(this.boxOf(element), box)) yield element
    }
  }

  * #cellsAt(box, side, cells) {
    const [left, top, right, bottom] = box.map((place, at) => Math.floor(place / side) - (at < 2 ? 1 : 0))
    // Where little is, that is fewer than the cells one asks for.
    if ((right - left + 1) * (bottom - top + 1) > cells.size) yield* cells.values()
    else for (let x = left; x <= right; x++) for (let y = top; y <= bottom; y++) yield cells.get(`${x} ${y}`) ?? []
  }

  #cellOf(element) {
    const [left, top, right, bottom] = this.boxOf(element)
    let side = cellMin
    while (side < Math.max(right - left, bottom - top)) side *= 2
    const cells = this.#levels.get(side) ?? new Map()
    this.#levels.set(side, cells)
    return {cells, key: `${Math.floor(left / side)} ${Math.floor(top / side)}`}
  }
}
