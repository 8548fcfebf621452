import RelayPrimitives
import Testing

@Suite("A line that is served in rounds")
struct FairLineTests {
    @Test("[DL12] the first of each key comes before the second of any, in the order in which they came")
    func rounds() {
        var line = FairLine<Character, Int>()
        let came: [(Character, Int)] = [("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6)]
        for (key, element) in came { line.append(element, of: key) }
        #expect(line.count == 6)
        #expect((0..<3).compactMap { _ in line.next() } == [1, 4, 5])
        // Of a key that was served in this round, and of one that was not.
        line.append(7, of: "c")
        line.append(8, of: "d")
        line.append(9, of: "d")
        #expect((0..<6).compactMap { _ in line.next() } == [8, 2, 6, 7, 9, 3])
        #expect(line.isEmpty && line.next() == nil)
    }

    @Test("A key that comes again and again does not keep those in line waiting")
    func again() {
        var line = FairLine<Character, Int>(), served: [Int] = []
        for element in 1...3 { line.append(element, of: "a") }
        line.append(4, of: "b")
        for element in 10..<14 {
            line.append(element, of: "c")
            served.append(line.next()!)
        }
        #expect(served == [1, 4, 10, 2])
    }

    @Test("[DL12] a key that may not go is passed over, and keeps what it has in line in its order")
    func passedOver() {
        var line = FairLine<Character, Int>()
        for (key, element) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] as [(Character, Int)] { line.append(element, of: key) }
        #expect((0..<3).map { _ in line.next { $0 != "a" } } == [2, 4, nil])
        #expect(line.count == 2 && line.next { _ in false } == nil)
        #expect((0..<3).map { _ in line.next() } == [1, 3, nil])
    }

    @Test("One that is put back is the first of its key, whether others of its key are in line or not")
    func putBack() {
        var line = FairLine<Character, Int>()
        for (key, element) in [("a", 1), ("a", 2), ("b", 3)] as [(Character, Int)] { line.append(element, of: key) }
        #expect(line.next() == 1)
        line.putBack(1, of: "a")
        #expect((0..<3).map { _ in line.next() } == [3, 1, 2])
        line.putBack(2, of: "a")
        line.append(4, of: "a")
        #expect((0..<3).map { _ in line.next() } == [2, 4, nil])
    }

    @Test("Thousands that come and go keep their order")
    func long() {
        var line = FairLine<Int, Int>(), served: [Int] = []
        for element in 0..<5_000 {
            line.append(element, of: 0)
            if element % 3 == 0, let next = line.next() { served.append(next) }
        }
        while let next = line.next() { served.append(next) }
        #expect(served == Array(0..<5_000))
    }
}
