// How fast messages and packets leave.

/**
 * Paces what is answered, so that the relay never refuses one for its rate: at most `limit` are unanswered or were answered
 * less than a second and a bit ago. Why no jitter of the network can break it: the relay accepts number k at the earliest
 * when k was sent, which is a second after one of k − limit … k − 1 was answered, and so accepted.
 */
export class AnswerWindow {
  static spanMs = 1_005
  unanswered = 0
  /** @type {number[]} */
  answeredAt = []

  forget(now) {
    while (this.answeredAt.length > 0 && this.answeredAt[0] + AnswerWindow.spanMs <= now) this.answeredAt.shift()
  }
  isIdle(now) {
    this.forget(now)
    return this.unanswered === 0 && this.answeredAt.length === 0
  }
  /** @returns {number} 0: now; else when, `Infinity`: after an answer */
  permission(limit, now) {
    this.forget(now)
    if (this.unanswered + this.answeredAt.length < limit) return 0
    return this.answeredAt.length > 0 ? this.answeredAt[0] + AnswerWindow.spanMs : Infinity
  }
  answered(now) {
    this.unanswered--
    this.answeredAt.push(now)
  }
  /** Nothing of the old link is accepted from here on. */
  linkRenewed(now) {
    for (; this.unanswered > 0; this.unanswered--) this.answeredAt.push(now)
  }
}

/** Paces packets, which nobody answers: the relay's rate, but half of its bucket, for a network that bunches them. */
export class TokenBucket {
  constructor(rate, now) {
    this.rate = rate
    this.filledAt = now
    this.tokens = this.capacity
  }
  get capacity() {
    return Math.max(1, Math.floor(this.rate / 2))
  }
  refill(rate, now) {
    this.tokens = Math.min(this.capacity, this.tokens + Math.max(0, now - this.filledAt) * this.rate / 1000)
    this.filledAt = Math.max(now, this.filledAt)
    this.rate = rate
    this.tokens = Math.min(this.capacity, this.tokens)
  }
  /** Whether it is as good as new. */
  isFull(now) {
    this.refill(this.rate, now)
    return this.tokens === this.capacity
  }
  /** @returns {number} 0, and a token is taken; or when there will be one */
  take(rate, now) {
    this.refill(rate, now)
    if (this.tokens < 1 - 1e-9) return now + (1 - this.tokens) * 1000 / rate
    this.tokens -= 1
    return 0
  }
}
