// `sorted` is compiled anew for each kind of collection, and takes 3 KB each time. These are compiled once for each kind of element.

extension Sequence where Element: Comparable {
    /// Its elements, the least first.
    @inlinable package func inOrder() -> [Element] {
        var elements = Array(self)
        elements.sort()
        return elements
    }
}

extension Dictionary where Key: Comparable {
    /// Its entries, the least key first.
    @inlinable package func inOrder() -> [Element] { keys.inOrder().map { (key: $0, value: self[$0]!) } }
}
