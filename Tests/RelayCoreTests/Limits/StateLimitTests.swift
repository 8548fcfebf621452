import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct StateLimitTests {
    @Test(
        "[PR8] 32 states of a user in a channel; what a call replaces is counted once, one over changes nothing", arguments: [false, true])
    func count(isInside: Bool) {
        let driver = HubDriver.patient()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        bob.subscribe("lesson")
        if isInside { alice.subscribe("lesson") }
        _ = bob.presence()
        let states = Dictionary(uniqueKeysWithValues: (0..<31).map { ("k\($0)", "v") })
        #expect(passes(alice.setStates(states)))
        refused(alice.setStates(["k0": "new", "a": "", "b": ""]), .limitReached, limit: 32, actual: 33)
        #expect(alice.states(of: "alice") == states, "nor is what could have been replaced")
        #expect(bob.presence().count == (isInside ? 1 : 0))
        #expect(passes(alice.setStates(["k0": "new", "a": ""])))
        refused(alice.setStates(["b": ""]), .limitReached, limit: 32, actual: 33)
        #expect(passes(alice.setStates(["k1": "new"])))
        alice.request(.removeStates) { RemoveStatesRequest(id: $0, kind: .message, channel: name("lesson"), keys: [name("k2")]) }
        #expect(passes(alice.setStates(["b": ""])))
    }

    @Test("[PR8] 2,048 bytes of keys and values; what a call replaces makes place for what it sets, one byte over changes nothing")
    func bytes() {
        let alice = TestClient(HubDriver.patient(), "alice")
        #expect(passes(alice.setStates(["big": String(repeating: "x", count: 1_000), "k": String(repeating: "é", count: 522)])))
        refused(alice.setStates(["b": ""]), .tooLarge, limit: 2_048, actual: 2_049)
        refused(alice.setStates(["big": String(repeating: "x", count: 1_001)]), .tooLarge, limit: 2_048, actual: 2_049)
        refused(
            alice.setStates(["big": "", "k": String(repeating: "é", count: 522), "c": String(repeating: "y", count: 1_000)]), .tooLarge,
            limit: 2_048, actual: 2_049)
        #expect(alice.states(of: "alice")?["big"]?.count == 1_000 && alice.states(of: "alice")?.count == 2)
        #expect(passes(alice.setStates(["big": String(repeating: "y", count: 1_000)])))
        #expect(passes(alice.setStates(["big": "", "c": String(repeating: "y", count: 999)])))
    }

    @Test("[PR8] 150 channels of a session hold states, whether it is in them or not; those it has left or emptied do not")
    func channels() {
        let driver = HubDriver.patient()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        for index in 0..<150 {
            if index < 40 { alice.subscribe("c\(index)") }
            #expect(passes(alice.setStates(["k": "v"], "c\(index)", kind: index < 100 ? .message : .stream)))
        }
        refused(alice.setStates(["k": "v"], "one more"), .limitReached, limit: 150, actual: 151)
        refused(alice.setStates(["k": "v"], "c0", kind: .stream), .limitReached, limit: 150, actual: 151)
        #expect(alice.states(of: "alice", "one more") == [:])
        #expect(passes(alice.setStates(["k": "other", "l": "v"], "c0")), "one that holds some is no more")
        #expect(passes(bob.setStates(["k": "v"], "one more")), "the count is a session's own")
        // Coming in changes nothing: what was set before goes along.
        #expect(passes(alice.subscribe("c99")) && alice.states(of: "alice", "c99") == ["k": "v"])
        refused(alice.setStates(["k": "v"], "one more"), .limitReached, limit: 150, actual: 151)
        alice.request(.removeStates) { RemoveStatesRequest(id: $0, kind: .message, channel: name("c50")) }
        alice.leave("c99")
        #expect(passes(alice.setStates(["k": "v"], "one more")) && passes(alice.setStates(["k": "v"], "another")))
        refused(alice.setStates(["k": "v"], "c99"), .limitReached, limit: 150, actual: 151)
    }
}
