// The order in which what lies on a board is read: from top to bottom, and what lies beside each other from left to right.

/** Of two elements, as `sort` takes it: by their tops. */
export const before = (one, other) =>
  one.box[1] - other.box[1] || one.box[0] - other.box[0] || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
const beside = (one, other) => one.box[0] - other.box[0] || before(one, other)

/** Elements that are in the order of their tops: what begins above the middle of its row's first one lies beside it. */
export function inRows(elements) {
  const rows = []
  for (const element of elements) {
    const {box: [, top, , bottom]} = element
    if (top < rows.at(-1)?.middle) rows.at(-1).elements.push(element)
    else rows.push({middle: (top + bottom) / 2, elements: [element]})
  }
  return rows.flatMap(({elements}) => elements.sort(beside))
}

export class ReadingOrder {
  /** By their tops. */
  list = []

  constructor(compare = before) {
    this.compare = compare
  }

  /** Each is compared with as many as it takes to find its place. */
  change(gone, come) {
    for (const element of gone) this.list.splice(this.#placeOf(element), 1)
    for (const element of come) this.list.splice(this.#placeOf(element), 0, element)
  }
  #placeOf(element) {
    let [from, to] = [0, this.list.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.compare(this.list[middle], element) < 0) from = middle + 1
      else to = middle
    }
    return from
  }

  /** The first so many, as they are read. */
  first(count) {
    return inRows(this.list.slice(0, count))
  }
}
