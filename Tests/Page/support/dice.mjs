/** A seeded generator (mulberry32 over both halves of the seed): the same seed, the same run. */
export class Dice {
  constructor(seed) {
    this.state = (seed % 2 ** 32) ^ Math.floor(seed / 2 ** 32)
  }

  /** 0…1. */
  fraction() {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(bound) {
    return Math.floor(this.fraction() * bound)
  }
}
