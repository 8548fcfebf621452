import RelayWire
import Testing

@Suite("names of spaces") struct SpaceNameTests {
    @Test("[SE16] 1…32 small letters, digits, and hyphens between them; words of the relay's own paths are none")
    func grammar() {
        for name in ["a", "0", "school-a", "a--b", String(repeating: "x", count: 32)] {
            #expect((try? SpaceName(name))?.text == name)
        }
        for name in ["-a", "a-", "A", "ä", "a b", "a/b", "a.b", "status", "ws", "metrics", "healthz", "readyz"] {
            let error = #expect(throws: WireError.self) { try SpaceName(name) }
            #expect(error?.code == .badName && error?.limit == nil, "\(name)")
        }
        for (name, count) in [("", 0), (String(repeating: "x", count: 33), 33)] {
            let error = #expect(throws: WireError.self) { try SpaceName(name) }
            #expect(error?.limit == 32 && error?.actual == UInt64(count))
        }
    }
}
