/// Elements at small stable indexes, in raw memory, reused after removal.
///
/// Subscripts reach the element in place: no copy, no retain, no uniqueness check. Only the owner's code holds
/// indexes; one that is out of range is a bug and traps.
struct Slab<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    /// Slots that have been handed out at least once; all of them are initialised.
    private(set) var slots = 0
    private var free: [Int32] = []
    private let vacant: Element

    /// - Parameter vacant: what a free slot holds.
    init(vacant: Element) {
        self.vacant = vacant
        capacity = 16
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: slots)
        base.deallocate()
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
        if let index = free.popLast() {
            base[Int(index)] = element
            return index
        }
        let index = Int32(slots)
        grow(toHold: slots + 1)
        (base + slots).initialize(to: element)
        slots += 1
        return index
    }

    /// For indexes that somebody else hands out: makes sure that the slot exists.
    mutating func reserve(_ index: Int32) {
        grow(toHold: Int(index) + 1)
        while slots <= Int(index) {
            (base + slots).initialize(to: vacant)
            slots += 1
        }
    }

    /// Frees a slot that `insert` gave.
    mutating func remove(_ index: Int32) {
        clear(index)
        free.append(index)
    }

    /// Empties a slot that `reserve` made.
    mutating func clear(_ index: Int32) { base[Int(index)] = vacant }

    private mutating func grow(toHold count: Int) {
        guard count > capacity else { return }
        let larger = max(capacity * 2, count)
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: larger)
        moved.moveInitialize(from: base, count: slots)
        base.deallocate()
        base = moved
        capacity = larger
    }
}
