// What becomes of what was sent.

/**
 * What becomes of a message. It need not be awaited: where nobody has asked for its promise when it fails, the failure is among
 * `problems()`.
 */
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
   * The message's offset, once the relay has taken it; of a message to one user `undefined`, once that user's app has acknowledged it.
   *
   * Rejected with why it was refused; `outcomeUnknown` when the link broke before the answer.
   *
   * @type {Promise<number>}
   */
  get accepted() {
    this.asked.accepted = true
    return this.promises.accepted
  }
}

/**
 * What becomes of a record, or of a set of them. [BL2]
 *
 * Others see it from `accepted` on; a relay that ends before `stored` may have lost it again, and give its offset to another record.
 * A record that another user wrote is replaced or removed only by who has the right `revise`: `notPermitted`. [BL10]
 */
export class StoredReceipt extends Receipt {
  /**
   * The offset, once the relay has taken it; of a large record that of its last part, of a set that of its last change. Rejected with why
   * it was refused (`notPermitted`, `boardFull`, `quotaReached`, `storageFull`, `busy`, …), `storageFailed` when it was told not durable
   * before it was answered, `outcomeUnknown` when the relay does not know any more.
   *
   * @type {Promise<number>}
   */
  get accepted() {
    return super.accepted
  }

  /**
   * The offset, once it is durable. After a break it is sent again until it is told, to the same relay started anew, too. Rejected with
   * what `accepted` is; `storageFailed`: it was accepted and is gone, and who received it is told (a change of the type `reset`);
   * `notAccepted` or `outcomeUnknown`.
   *
   * @type {Promise<number>}
   */
  get stored() {
    this.asked.stored = true
    return this.promises.stored
  }
}
