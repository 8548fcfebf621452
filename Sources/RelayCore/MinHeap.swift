/// A binary heap: the least element first.
struct MinHeap<Element: Comparable> {
    private var elements: [Element]

    init(_ elements: [Element] = []) {
        self.elements = elements
        order()
    }

    var count: Int { elements.count }
    var first: Element? { elements.first }
    /// In no order.
    var all: [Element] { elements }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    /// - Parameter other: takes the place of the first one, if it is not `nil`.
    mutating func removeFirst(insert other: Element? = nil) {
        if let other {
            elements[0] = other
        } else {
            elements.swapAt(0, elements.count - 1)
            elements.removeLast()
        }
        siftDown(0)
    }

    mutating func changeAll(_ change: (inout Element) -> Void) {
        for index in elements.indices { change(&elements[index]) }
        order()
    }

    private mutating func order() {
        for index in stride(from: elements.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < elements.count && elements[child] < elements[smallest] {
                smallest = child
            }
            guard smallest != parent else { return }
            elements.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
