import RelayClient
import RelayClientCore
import RelayServer
import Testing

/// Events to a delegate on the main actor.
@MainActor @Suite struct ClientDelegateTests {
    private final class Board: RelayClientDelegate {
        var texts: [String] = []
        var links: [LinkState] = []
        var onText: (String) -> Void = { _ in }

        func relayClient(_ client: RelayClient, received message: Message) {
            guard case .text(let text) = message.payload else { return }
            texts.append(text)
            onText(text)
        }

        func relayClient(_ client: RelayClient, linkChanged state: LinkState) { links.append(state) }
    }

    private final class Everything: RelayClientDelegate {
        var events: [RelayEvent] = []
        func relayClient(_ client: RelayClient, received event: RelayEvent) { events.append(event) }
    }

    private func pair() async throws -> (server: RelayServer, alice: RelayClient, bob: RelayClient) {
        let server = try await RelayServer.start(.init(port: 0))
        let alice = try await RelayClient.connect(to: server.address, as: "alice")
        let bob = try await RelayClient.connect(to: server.address, as: "bob")
        try await bob.subscribe("lesson", features: [.messages])
        return (server, alice, bob)
    }

    @Test("a delegate is told every event in order, the ones from before it was set included; close ends with the last")
    func inOrder() async throws {
        let (server, alice, bob) = try await pair()
        let board = Board()
        for number in 0..<20 { try alice.send(.text("\(number)"), to: "lesson") }
        bob.delegate = board
        for number in 20..<40 { try alice.send(.text("\(number)"), to: "lesson") }
        _ = try await alice.send(.text("last"), to: "lesson").value
        while board.texts.last != "last" { await Task.yield() }
        #expect(board.texts == (0..<40).map { "\($0)" } + ["last"])
        #expect(board.links == [.connecting, .connected(resumed: false)] && bob.linkState.isConnected)
        await bob.close()
        while board.links.count < 3 { await Task.yield() }
        #expect(board.links.last == .closed(reason: .closedByApp) && bob.linkState == .closed(reason: .closedByApp))
        await alice.close()
        await server.stop()
    }

    @Test("a delegate that is replaced in the middle of an event loses nothing: the next one gets the next event")
    func replaced() async throws {
        let (server, alice, bob) = try await pair()
        let first = Board(), second = Board()
        first.onText = { text in
            if text == "9" { bob.delegate = nil }
            if text == "19" { bob.delegate = second }
        }
        bob.delegate = first
        for number in 0..<10 { try alice.send(.text("\(number)"), to: "lesson") }
        while first.texts.count < 10 { await Task.yield() }
        // Nobody is there: what comes waits.
        for number in 10..<19 { _ = try await alice.send(.text("\(number)"), to: "lesson").value }
        bob.delegate = first
        for number in 19..<30 { try alice.send(.text("\(number)"), to: "lesson") }
        while second.texts.last != "29" { await Task.yield() }
        #expect(first.texts == (0..<20).map { "\($0)" })
        #expect(second.texts == (20..<30).map { "\($0)" })
        await alice.close()
        await bob.close()
        await server.stop()
    }

    @Test("who implements the method for all events gets all; a delegate does not keep the client, nor the client it")
    func everythingAndOwnership() async throws {
        let (server, alice, bob) = try await pair()
        var delegate: Everything? = Everything()
        bob.delegate = delegate
        _ = try await alice.send(.text("x"), to: "lesson").value
        while delegate!.events.count < 3 { await Task.yield() }
        guard case .message(let message) = delegate!.events[2] else { throw Unexpected() }
        #expect(message.payload == .text("x"))
        weak let gone = delegate
        delegate = nil
        #expect(gone == nil && bob.delegate == nil)

        var carol: RelayClient? = try await RelayClient.connect(to: server.address, as: "carol")
        let listener = Everything()
        carol!.delegate = listener
        while listener.events.count < 2 { await Task.yield() }
        weak let client = carol
        carol = nil
        while client != nil { await Task.yield() }
        await alice.close()
        await bob.close()
        await server.stop()
    }

    private struct Unexpected: Error {}
}
