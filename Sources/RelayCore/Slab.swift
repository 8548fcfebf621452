/// Elements at small stable places, in raw memory, reused after removal.
///
/// Subscripts reach the element in place: no copy, no retain, no uniqueness check. Only the owner's code holds
/// indexes; one that is out of range is a bug and traps. A copy of a slab would share its memory: adding an element
/// to one of two copies traps.
struct Slab<Element> {
    /// The place of an element: 4 bytes. An index of one kind of element is no index of another.
    struct Index: Hashable, Comparable {
        fileprivate let place: Int32

        fileprivate init(_ place: Int32) { self.place = place }

        /// A place that somebody else hands out, for `reserve`. Not negative.
        init(givenOut place: Int32) {
            precondition(place >= 0, "place \(place) is negative")
            self.place = place
        }

        static func < (left: Self, right: Self) -> Bool { left.place < right.place }
    }

    private var base: UnsafeMutablePointer<Element>
    private var memory: Memory
    /// Slots that have been handed out at least once; all of them are initialised.
    private(set) var slots = 0
    private var free: [Int32] = []

    /// What `base` points to, and what is rarely needed. Its end is the end of the elements.
    private final class Memory {
        let base: UnsafeMutablePointer<Element>
        let capacity: Int
        /// Elements from the front that are initialised.
        var count = 0
        let vacant: Element
        let release: (Element) -> Void

        init(capacity: Int, vacant: Element, release: @escaping (Element) -> Void) {
            self.capacity = capacity
            self.vacant = vacant
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
        memory = Memory(capacity: 16, vacant: vacant, release: release)
        base = memory.base
    }

    /// Elements in use.
    var count: Int { slots - free.count }

    /// All slots, those that are vacant too.
    var indices: some Sequence<Index> { (0..<Int32(slots)).lazy.map { Index($0) } }

    /// In place: an accessor that yields would be a coroutine, which allocates wherever it is not inlined.
    @inline(__always)
    subscript(index: Index) -> Element {
        unsafeAddress { UnsafePointer(address(index)) }
        unsafeMutableAddress { address(index) }
    }

    /// What stands beside an element of another slab, at the same place.
    @inline(__always)
    subscript<Other>(beside index: Slab<Other>.Index) -> Element {
        unsafeAddress { UnsafePointer(address(Index(index.place))) }
        unsafeMutableAddress { address(Index(index.place)) }
    }

    /// Valid until an element is added.
    @inline(__always)
    func address(_ index: Index) -> UnsafeMutablePointer<Element> {
        precondition(UInt32(bitPattern: index.place) < UInt32(truncatingIfNeeded: slots))
        return base + Int(index.place)
    }

    @inline(__always)
    func address<Other>(beside index: Slab<Other>.Index) -> UnsafeMutablePointer<Element> { address(Index(index.place)) }

    /// Whether the slot exists, vacant or not.
    func has(_ index: Index) -> Bool { Int(index.place) < slots }

    mutating func insert(_ element: Element) -> Index {
        precondition(isKnownUniquelyReferenced(&memory), "a slab was copied")
        if let place = free.popLast() {
            base[Int(place)] = element
            return Index(place)
        }
        let place = Int32(slots)
        append(element)
        return Index(place)
    }

    /// For places that somebody else hands out: makes sure that the slot exists.
    mutating func reserve<Other>(_ index: Slab<Other>.Index) {
        while slots <= Int(index.place) { append(memory.vacant) }
    }

    /// Frees a slot that `insert` gave.
    mutating func remove(_ index: Index) {
        clear(index)
        free.append(index.place)
    }

    /// Empties a slot that `reserve` made.
    mutating func clear<Other>(_ index: Slab<Other>.Index) { base[Int(index.place)] = memory.vacant }

    private mutating func append(_ element: Element) {
        if slots == memory.capacity { grow() }
        (base + slots).initialize(to: element)
        slots += 1
        memory.count = slots
    }

    private mutating func grow() {
        let larger = Memory(capacity: memory.capacity * 2, vacant: memory.vacant, release: memory.release)
        larger.base.moveInitialize(from: base, count: slots)
        larger.count = slots
        memory.count = 0
        memory = larger
        base = larger.base
    }
}

/// An index that may be missing, in 4 bytes: "none" is a place that no slab has.
@propertyWrapper
struct Packed<Element> {
    private var place: Int32

    @inline(__always)
    init(wrappedValue index: Slab<Element>.Index?) { place = index?.place ?? -1 }

    @inline(__always)
    var wrappedValue: Slab<Element>.Index? {
        get { place < 0 ? nil : Slab<Element>.Index(place) }
        set { place = newValue?.place ?? -1 }
    }
}

/// An index that each element in use has. That of a vacant one is of no slot: its use traps.
@propertyWrapper
struct Placed<Element> {
    var wrappedValue: Slab<Element>.Index

    init(_ index: Slab<Element>.Index) { wrappedValue = index }

    init() { wrappedValue = Slab<Element>.Index(-1) }
}

/// Elements that are found by a name of theirs, too.
struct Shelf<Element, Key: Hashable> {
    private var elements: Slab<Element>
    private var indexes = [Key: Slab<Element>.Index]()

    init(vacant: Element) { elements = Slab(vacant: vacant) }

    var count: Int { elements.count }
    var indices: some Sequence<Slab<Element>.Index> { elements.indices }
    /// In no order.
    var names: Dictionary<Key, Slab<Element>.Index>.Keys { indexes.keys }

    @inline(__always)
    subscript(index: Slab<Element>.Index) -> Element {
        unsafeAddress { UnsafePointer(elements.address(index)) }
        unsafeMutableAddress { elements.address(index) }
    }

    @inline(__always)
    func address(_ index: Slab<Element>.Index) -> UnsafeMutablePointer<Element> { elements.address(index) }

    subscript(named name: Key) -> Slab<Element>.Index? { indexes[name] }

    mutating func insert(_ element: Element, named name: Key) -> Slab<Element>.Index {
        precondition(indexes[name] == nil, "\(name) is there already")
        let index = elements.insert(element)
        indexes[name] = index
        return index
    }

    mutating func remove(_ index: Slab<Element>.Index, named name: Key) {
        precondition(indexes[name] == index, "\(name) is another one's name")
        indexes[name] = nil
        elements.remove(index)
    }
}

/// A value that is rarely there, in memory of its own: 8 bytes where it is not.
@propertyWrapper
struct OutOfLine<Value> {
    private final class Box {
        var value: Value?
        init(_ value: Value?) { self.value = value }
    }

    private var box: Box?

    init(wrappedValue: Value?) { box = wrappedValue.map(Box.init) }

    var wrappedValue: Value? {
        get { box?.value }
        _modify {
            if box == nil {
                var value: Value?
                defer { if value != nil { box = Box(value) } }
                yield &value
            } else {
                // Copies of what holds it do not see the change.
                if !isKnownUniquelyReferenced(&box) { box = Box(box.unsafelyUnwrapped.value) }
                defer { if box.unsafelyUnwrapped.value == nil { box = nil } }
                yield &box.unsafelyUnwrapped.value
            }
        }
    }
}

// The places of what the hub holds, each of a type of its own: a swapped pair does not compile.

extension Connection { typealias Index = Slab<Connection>.Index }
extension Person { typealias Index = Slab<Person>.Index }
extension Session { typealias Index = Slab<Session>.Index }
extension Channel { typealias Index = Slab<Channel>.Index }
extension Membership { typealias Index = Slab<Membership>.Index }
extension CatchUp { typealias Index = Slab<CatchUp>.Index }
extension Room { typealias Index = Slab<Room>.Index }
extension Flow { typealias Index = Slab<Flow>.Index }
extension Feed { typealias Index = Slab<Feed>.Index }
extension Chunk { typealias Index = Slab<Chunk>.Index }
extension TokenBucket { typealias Index = Slab<TokenBucket>.Index }
extension MetadataBook { typealias Index = Slab<MetadataBook>.Index }
extension Lock { typealias Index = Slab<Lock>.Index }
extension ShelvedBoard { typealias Index = Slab<ShelvedBoard>.Index }

extension ConnectionID {
    /// Where the hub has it: the engine hands out these places.
    var place: Connection.Index { Connection.Index(givenOut: index) }
}
