import Testing

@testable import RelayServer

@Suite("Places for spaces that a process owns") struct OwnedPlacesTests {
    @Test("are no more than it may own; one that has a place keeps it, and gives it back once") func bounded() {
        let places = OwnedPlaces(max: 2)
        #expect(places.take("a") && places.take("b") && places.take("a"))
        #expect(!places.take("c"))
        places.giveBack("a")
        places.giveBack("a")
        #expect(places.take("c") && !places.take("d"))
    }
}
