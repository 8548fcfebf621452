// What becomes of a message that was sent.

/** What becomes of a message that was sent. */
export class Receipt {
  constructor(pending) {
    /**
     * The answer of the relay; `offset` is 0 for a message to one user, whose app has taken it then.
     *
     * Rejected with why it was refused; `outcomeUnknown` when the link broke before the answer. It need not be awaited.
     *
     * @type {Promise<{offset: number}>}
     */
    this.value = pending.promise.then(offset => typeof offset === 'object' ? offset : {offset})
    this.value.catch(() => {})
  }
}

/**
 * What becomes of a message that is kept for good, or of a large drawing. [BL2]
 *
 * Others see it from `accepted` on; a relay that ends before `stored` may have lost it again, and give its offset to another
 * record. So an own record has its place among those of others once it is stored. [BL5]
 *
 * **Who reads the board at the same time** [BL3], from its beginning or anew after `messagesMissed` with `reset`, gets own
 * records among the others. One whose `accepted` or `stored` comes behind the `caughtUp` of such a reading, with an offset that
 * is not above its `head`, was among what was read, or has been superseded or removed since: do not draw it again, and do not
 * put it in place of what was read.
 *
 * A record that another user wrote is replaced or removed only by who has the right `revise`: `notPermitted`. [BL10]
 */
export class StoredReceipt {
  constructor(accepted, stored) {
    /**
     * The offset, once the relay has taken it; of a large drawing that of its last part. Rejected with why it was refused
     * (`notPermitted`, `boardFull`, `quotaReached`, `storageFull`, `busy`, …), `storageFailed` when it was told not durable before it was
     * answered, `outcomeUnknown` when the relay does not know any more.
     *
     * @type {Promise<number>}
     */
    this.accepted = accepted.promise
    /**
     * The offset, once it is durable; of what is not retained the same as `accepted`. After a break it is sent again until it
     * is told, to the same relay started anew, too. Rejected with what `accepted` is; `storageFailed`: it was accepted and is
     * gone, and who received it is told (`messagesMissed` with `reset`); `notAccepted` or `outcomeUnknown`.
     *
     * @type {Promise<number>}
     */
    this.stored = stored.promise
  }
}
