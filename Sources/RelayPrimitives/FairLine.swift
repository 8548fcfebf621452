/// Who waits for a turn, in rounds: the first of each key in the order in which they came, then the second of each. Whoever has many in
/// line is not served before others for that, and a key that comes in the middle of a round is served next.
///
/// It allocates only to become longer than it ever was.
package struct FairLine<Key: Hashable, Element> {
    private struct Place {
        var element: Element
        /// The one behind it of the same key, or the next free place; −1: none.
        var next: Int32
    }

    /// Places of one key; −1: nobody is in line.
    private struct Ends {
        var first: Int32 = -1
        var last: Int32 = -1
    }

    /// Keys in order.
    private struct Keys {
        private var keys: [Key] = []
        private var head = 0

        var isEmpty: Bool { head == keys.count }
        var count: Int { keys.count - head }

        mutating func append(_ key: Key) { keys.append(key) }

        /// There is one.
        mutating func next() -> Key {
            let key = keys[head]
            head += 1
            if head >= 64, head * 2 >= keys.count {
                keys.removeFirst(head)
                head = 0
            }
            return key
        }

        mutating func removeAll() {
            keys.removeAll(keepingCapacity: true)
            head = 0
        }
    }

    private var places: [Place] = []
    private var free: Int32 = -1
    private var ends: [Key: Ends] = [:]
    /// Keys that came since the round began, which come first: as in fq_codel (RFC 8290, section 4.2).
    private var newcomers = Keys()
    /// Keys that were served in this round, or before. One with nobody in line stays until the round comes to it: it is no newcomer before.
    private var round = Keys()
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ element: Element, of key: Key) {
        if count == 0 { begin() }
        let place = take(element)
        count += 1
        guard var line = ends[key] else {
            newcomers.append(key)
            ends[key] = Ends(first: place, last: place)
            return
        }
        if line.first < 0 { line.first = place } else { places[Int(line.last)].next = place }
        line.last = place
        ends[key] = line
    }

    /// One that had its turn and could not use it: it is the first of its key again.
    package mutating func putBack(_ element: Element, of key: Key) {
        guard let line = ends[key], line.first >= 0 else { return append(element, of: key) }
        let place = take(element)
        count += 1
        places[Int(place)].next = line.first
        ends[key] = Ends(first: place, last: line.last)
    }

    package mutating func next() -> Element? { next { _ in true } }

    /// - Parameter mayGo: whether a key is served now: one that is not keeps its order.
    /// - Returns: `nil`: the line is empty, or nobody in it may go.
    package mutating func next(_ mayGo: (Key) -> Bool) -> Element? {
        var tries = newcomers.count + round.count
        while count > 0, tries > 0 {
            tries -= 1
            let key = newcomers.isEmpty ? round.next() : newcomers.next()
            guard var line = ends[key], line.first >= 0 else {
                ends[key] = nil
                continue
            }
            guard mayGo(key) else {
                round.append(key)
                continue
            }
            let place = line.first
            line.first = places[Int(place)].next
            ends[key] = line
            round.append(key)
            count -= 1
            places[Int(place)].next = free
            free = place
            return places[Int(place)].element
        }
        return nil
    }

    /// Nobody is in line: no key has been served before.
    private mutating func begin() {
        ends.removeAll(keepingCapacity: true)
        newcomers.removeAll()
        round.removeAll()
    }

    private mutating func take(_ element: Element) -> Int32 {
        guard free >= 0 else {
            places.append(Place(element: element, next: -1))
            return Int32(places.count - 1)
        }
        let place = free
        free = places[Int(place)].next
        places[Int(place)] = Place(element: element, next: -1)
        return place
    }
}
