import RelayPrimitives
import Testing

@Suite("in order")
struct InOrderTests {
    @Test("as the standard library sorts, whatever the number; what is equal stays as it stood")
    func sorted() {
        var random = SplitMix64(seed: 7)
        for count in [0, 1, 2, 3, 31, 32, 33, 64, 65, 500] {
            let numbers = (0..<count).map { _ in Int(random.next() % 50) }
            #expect(numbers.inOrder() == numbers.sorted())
            #expect(Set(numbers).inOrder() == Set(numbers).sorted())
            let places = numbers.enumerated().map { (place: $0.offset, number: $0.element) }
            let ordered = places.inOrder { $0.number < $1.number }
            #expect(ordered.map(\.number) == numbers.sorted())
            #expect(zip(ordered, ordered.dropFirst()).allSatisfy { $0.number < $1.number || $0.place < $1.place })
            let entries = Dictionary(zip(numbers, 0...)) { first, _ in first }
            #expect(entries.inOrder().map(\.key) == entries.keys.sorted() && entries.inOrder().allSatisfy { entries[$0.key] == $0.value })
        }
    }
}
