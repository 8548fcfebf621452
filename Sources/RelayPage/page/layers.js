// What lies above what: a list from the lowest layer to the highest, kept in order as things come and go.

/** Of two elements, as `sort` takes it: by their layers, then by their ids. */
export const order = (one, other) => one.z - other.z || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)

export class Layers {
  list = []

  /** Each that comes is compared with as many as it takes to find its place. */
  change(gone, come) {
    const away = new Set(gone)
    if (away.size) this.list = this.list.filter(element => !away.has(element))
    const {list} = this
    const added = [...come].sort(order)
    let end = list.length
    for (const element of added) list.push(element)
    // From above: what lies above one that comes makes room for it and for those that come below it.
    for (let at = added.length - 1; at >= 0; at--) {
      let [from, to] = [0, end]
      while (from < to) {
        const middle = (from + to) >> 1
        if (order(list[middle], added[at]) < 0) from = middle + 1
        else to = middle
      }
      list.copyWithin(from + at + 1, from, end)
      list[from + at] = added[at]
      end = from
    }
  }
}
