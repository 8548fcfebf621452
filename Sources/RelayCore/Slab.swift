/// Elements at small stable indexes, in raw memory, reused after removal.
///
/// Subscripts reach the element in place: no copy, no retain, no uniqueness check. Only the owner's code holds
/// indexes; one that is out of range is a bug and traps. A copy of a slab would share its memory: adding an element
/// to one of two copies traps.
struct Slab<Element> {
    private var base: UnsafeMutablePointer<Element>
    private var memory: Memory
    /// Slots that have been handed out at least once; all of them are initialised.
    private(set) var slots = 0
    private var free: [Int32] = []
    private let vacant: Element

    /// What `base` points to. Its end is the end of the elements.
    private final class Memory {
        let base: UnsafeMutablePointer<Element>
        let capacity: Int
        /// Elements from the front that are initialised.
        var count = 0
        let release: (Element) -> Void

        init(capacity: Int, release: @escaping (Element) -> Void) {
            self.capacity = capacity
            self.release = release
            base = .allocate(capacity: capacity)
        }

        deinit {
            for index in 0..<count { release(base[index]) }
            base.deinitialize(count: count)
            base.deallocate()
        }
    }

    /// - Parameters:
    ///   - vacant: what a free slot holds.
    ///   - release: frees the raw memory that an element owns; called for each slot when the slab ends, and only then.
    init(vacant: Element, release: @escaping (Element) -> Void = { _ in }) {
        self.vacant = vacant
        memory = Memory(capacity: 16, release: release)
        base = memory.base
    }

    /// Elements in use.
    var count: Int { slots - free.count }

    @inline(__always)
    subscript(index: Int32) -> Element {
        _read {
            precondition(UInt32(bitPattern: index) < UInt32(slots))
            yield base[Int(index)]
        }
        _modify {
            precondition(UInt32(bitPattern: index) < UInt32(slots))
            yield &base[Int(index)]
        }
    }

    mutating func insert(_ element: Element) -> Int32 {
        precondition(isKnownUniquelyReferenced(&memory), "a slab was copied")
        if let index = free.popLast() {
            base[Int(index)] = element
            return index
        }
        let index = Int32(slots)
        append(element)
        return index
    }

    /// For indexes that somebody else hands out: makes sure that the slot exists.
    mutating func reserve(_ index: Int32) {
        while slots <= Int(index) { append(vacant) }
    }

    /// Frees a slot that `insert` gave.
    mutating func remove(_ index: Int32) {
        clear(index)
        free.append(index)
    }

    /// Empties a slot that `reserve` made.
    mutating func clear(_ index: Int32) { base[Int(index)] = vacant }

    private mutating func append(_ element: Element) {
        if slots == memory.capacity { grow() }
        (base + slots).initialize(to: element)
        slots += 1
        memory.count = slots
    }

    private mutating func grow() {
        let larger = Memory(capacity: memory.capacity * 2, release: memory.release)
        larger.base.moveInitialize(from: base, count: slots)
        larger.count = slots
        memory.count = 0
        memory = larger
        base = larger.base
    }
}
