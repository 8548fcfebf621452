/** As `localStorage`, for a test. */
export class MemoryStorage {
  items = new Map()
  get length() { return this.items.size }
  key(at) { return [...this.items.keys()][at] ?? null }
  getItem(key) { return this.items.get(key) ?? null }
  setItem(key, value) { this.items.set(key, String(value)) }
  removeItem(key) { this.items.delete(key) }
}
