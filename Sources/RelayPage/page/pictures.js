// Decoded pictures, within a bound: as large as they are shown, and the least recently drawn go. One is decoded at a time.

/** Of pixels and files together: a picture of 2,048 × 2,048 takes 16 MiB. */
const bytesMax = 128 * 2 ** 20

export class Pictures {
  /** By their data, the least recently drawn first: `{bitmap?, width, bytes, isBroken?}`. */
  #kept = new Map()
  #bytes = 0
  /** By data: `{wanted, elements, done}`; they wait for their turn. */
  #coming = new Map()
  #line = Promise.resolve()
  /** What was decoded since the view changed. Where more is seen than is kept, a picture that has gone waits for the next view. */
  #decoded = new Set()
  #turn = 0

  /** @param {{decode: (element, width, height) => Promise<ImageBitmap>, changed: (element) => void, most?: number}} parts */
  constructor({decode, changed, most = bytesMax}) {
    Object.assign(this, {decode, changed, most})
  }

  /**
   * What there is of a picture; what lacks is decoded, and the element told `changed`.
   *
   * @param {number} shown its width, in pixels @param {number} turn another one for each view
   * @returns {{bitmap?: ImageBitmap, isBroken?: boolean}}
   */
  of(element, shown, turn = 0) {
    if (turn !== this.#turn) this.#decoded.clear()
    this.#turn = turn
    const {data} = element
    const found = this.#kept.get(data)
    if (found) {
      this.#kept.delete(data)
      this.#kept.set(data, found)
    }
    const isEnough = found && (found.isBroken || found.width >= widthFor(element, shown))
    if (!isEnough && !this.#decoded.has(data)) this.#ask(element, shown)
    return found ?? {}
  }

  /** @returns {Promise<void>} when there is all of a picture, or it turned out to be broken */
  async load(element, shown) {
    const found = this.#kept.get(element.data)
    if (!found?.isBroken && !(found?.width >= widthFor(element, shown))) await this.#ask(element, shown)
  }

  #ask(element, shown) {
    const {data} = element
    const coming = this.#coming.get(data) ?? {shown: 0, elements: new Set()}
    coming.shown = Math.max(coming.shown, shown)
    coming.elements.add(element)
    if (!this.#coming.has(data)) {
      this.#coming.set(data, coming)
      coming.done = this.#line = this.#line.then(() => this.#decode(element, coming))
    }
    return coming.done
  }

  async #decode(element, {shown, elements}) {
    const {data, pixelWidth, pixelHeight} = element
    const width = widthFor(element, shown)
    const height = Math.max(1, Math.round(pixelHeight * width / pixelWidth))
    const found = await this.decode(element, width, height)
        .then(bitmap => ({bitmap, width, bytes: 4 * width * height + data.length}), () => ({isBroken: true, width, bytes: data.length}))
    this.#coming.delete(data)
    this.#decoded.add(data)
    this.#drop(data)
    this.#kept.set(data, found)
    this.#bytes += found.bytes
    for (const [other] of this.#kept) if (this.#bytes > this.most && other !== data) this.#drop(other)
    for (const element of elements) this.changed(element)
  }

  #drop(data) {
    const found = this.#kept.get(data)
    if (!found) return
    this.#bytes -= found.bytes
    this.#kept.delete(data)
    found.bitmap?.close()
  }
}

/** Of what is decoded: all of it, or a half, a quarter, … that is enough for what is shown. */
function widthFor({pixelWidth}, shown) {
  let width = pixelWidth
  while (width >= 2 * Math.max(32, shown)) width = Math.ceil(width / 2)
  return width
}
