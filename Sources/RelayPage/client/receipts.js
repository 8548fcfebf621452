// What becomes of what was sent.

/** What becomes of a message. Where nobody has asked for its promise when it fails, the failure is among `problems()`. */
export class Receipt {
  /** Whether somebody has asked how it ends. */
  asked = {accepted: false, stored: false}

  /** @param {number} id @param {Promise<any>} accepted @param {Promise<number>} [stored] */
  constructor(id, accepted, stored) {
    /** Tells this client's receipts apart: own records come back with it. */
    this.id = id
    Object.defineProperty(this, 'promises', {value: {accepted, stored}})
  }

  /**
   * The offset, once the relay has taken it: of a large record that of its last part, of a batch that of its last change; of a message to
   * one user `undefined`, once that user's app has acknowledged it. Rejected with why it was refused.
   *
   * @type {Promise<number>}
   */
  get accepted() {
    this.asked.accepted = true
    return this.promises.accepted
  }
}

/**
 * What becomes of a record, or of a batch. Others see it from `accepted` on; a relay that ends before `stored` may have lost it again,
 * and give its offset to another record. [BL2]
 */
export class StoredReceipt extends Receipt {
  /**
   * The offset, once it is durable. Rejected like `accepted`; `storageFailed`: it was accepted and is gone, and each receiver is
   * told (`reset`); `notAccepted` or `outcomeUnknown`.
   *
   * @type {Promise<number>}
   */
  get stored() {
    this.asked.stored = true
    return this.promises.stored
  }
}
