// `sorted` takes 3 KB of machine code for each kind of element, and each time the compiler. What is compiled once here sorts places.

extension Sequence where Element: Comparable {
    /// Its elements, the least first.
    @inlinable package func inOrder() -> [Element] {
        // `Array(self)` is more code.
        var elements: [Element] = []
        elements.reserveCapacity(underestimatedCount)
        for element in self { elements.append(element) }
        return elements.inOrder { $0 < $1 }
    }
}

extension Array {
    /// Its elements, the first first; of two that are equal, that which stands first.
    @inlinable @inline(never) package func inOrder(_ isBefore: (Element, Element) -> Bool) -> [Element] {
        count < 2 ? self : placesInOrder(count) { isBefore(self[$0], self[$1]) }.map { self[$0] }
    }
}

extension Dictionary where Key: Comparable {
    /// Its entries, the least key first.
    @inlinable package func inOrder() -> [Element] { keys.inOrder().map { (key: $0, value: self[$0]!) } }
}

@inline(never)
@usableFromInline package func placesInOrder(_ count: Int, _ isBefore: (Int, Int) -> Bool) -> [Int] {
    (0..<count).sorted(by: isBefore)
}
