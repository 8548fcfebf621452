// What somebody waits for.

/** What somebody waits for. The promise never counts as unhandled: receipts need not be awaited. */
export class Pending {
  /** @type {{value?: any, error?: RelayError}|undefined} */
  result
  /**
   * @param {(result: {value?: any, error?: RelayError}) => void} [settled] called at once, in the one order of what happens
   * @param {() => void} [began] called when a resumption has done what is asked, before the answer
   */
  constructor(settled = () => {}, began = () => {}) {
    this.settled = settled
    this.began = began
    this.promise = new Promise((resolve, reject) => {
      this.settle = result => {
        if (this.result) return
        this.result = result
        this.settled(result)
        if (result.error) reject(result.error)
        else resolve(result.value)
      }
    })
    this.promise.catch(() => {})
  }
}
