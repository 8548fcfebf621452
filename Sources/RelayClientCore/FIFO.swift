/// First in, first out, in one array: taking from the front costs nothing but a step of an index.
struct FIFO<Element: Sendable>: Sendable {
    private var storage: [Element] = []
    private var start = 0

    init(_ elements: [Element] = []) { storage = elements }

    var count: Int { storage.count - start }
    var isEmpty: Bool { start == storage.count }
    var first: Element? { isEmpty ? nil : storage[start] }
    /// Those that wait, oldest first.
    var elements: ArraySlice<Element> { storage[start...] }

    mutating func append(_ element: Element) { storage.append(element) }

    mutating func prepend(_ elements: [Element]) {
        guard !elements.isEmpty else { return }
        storage.replaceSubrange(..<start, with: elements)
        start = 0
    }

    mutating func removeFirst() -> Element {
        let element = storage[start]
        start += 1
        if start == storage.count {
            storage.removeAll(keepingCapacity: storage.count <= 1_024)
            start = 0
        } else if start >= 1_024, start > storage.count / 2 {
            // What was taken is given back once it is the larger half, so the cost per element stays constant.
            storage.removeFirst(start)
            start = 0
        }
        return element
    }

    mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }

    mutating func removeAll() {
        storage = []
        start = 0
    }

    /// Takes out what matches, keeping the order of the rest.
    mutating func removeAll(where matches: (Element) -> Bool) {
        storage.removeFirst(start)
        start = 0
        storage.removeAll(where: matches)
    }
}

/// The newest numbers that were put in, at most `limit` of them.
struct RecentSet: Sendable {
    private let limit: Int
    private var order = FIFO<UInt32>()
    private var members: Set<UInt32> = []

    init(limit: Int) { self.limit = limit }

    func contains(_ number: UInt32) -> Bool { members.contains(number) }

    mutating func insert(_ number: UInt32) {
        guard members.insert(number).inserted else { return }
        order.append(number)
        if order.count > limit { members.remove(order.removeFirst()) }
    }

    mutating func removeAll() {
        order.removeAll()
        members = []
    }
}
