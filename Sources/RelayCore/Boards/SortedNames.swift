import RelayWire

/// Names in their order, to be listed page by page.
struct SortedNames {
    private(set) var all: [Name] = []

    /// The first that is not below `name`.
    private func position(of name: Name) -> Int {
        var low = 0
        var high = all.count
        while low < high {
            let middle = (low + high) / 2
            if all[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// A name that is not there.
    mutating func insert(_ name: Name) { all.insert(name, at: position(of: name)) }

    /// A name that is there.
    mutating func remove(_ name: Name) { all.remove(at: position(of: name)) }

    /// Those that come behind `name`; `nil`: all.
    func behind(_ name: Name?) -> ArraySlice<Name> {
        guard let name else { return all[...] }
        let position = position(of: name)
        return all[(position < all.count && all[position] == name ? position + 1 : position)...]
    }
}
