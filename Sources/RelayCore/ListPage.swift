import RelayWire

/// As much of a list as one answer holds, at least one element if there is one. [FR3]
struct ListPage<Element> {
    let elements: [Element]
    /// Whether elements behind these did not fit.
    let goesOn: Bool

    /// - Parameter bytes: what an element takes, before escaping, which makes six bytes of one at most.
    init(of list: [Element], bytes: (Element) -> Int) {
        var sum = 0
        let fitting = list.prefix { element in
            sum += bytes(element)
            return sum <= Limits.jsonPageBytes
        }
        elements = Array(list.prefix(max(1, fitting.count)))
        goesOn = elements.count < list.count
    }
}

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
