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
