import RelayClientCore
import RelayIO
import RelayWire
import Testing

@testable import RelayClient
@testable import RelayDiscovery

/// What an app is given of relays near by. How they are found: `FinderTests`, `Tests/Discovery`.
@Suite struct NearbyTests {
    private static func service(_ name: String, _ addresses: [String] = ["10.0.0.9"]) -> FoundService {
        FoundService(name: name, host: "b.local", port: 7421, text: [], addresses: addresses)
    }

    @Test("a name can be shown, whatever somebody claims; addresses are for a client, the host's name where there are none")
    func relay() {
        let relay = NearbyRelay(Self.service("a\u{202E}b\u{1B}[2J\u{200B} é", ["fe80::9%2", "10.0.0.9"]))
        #expect(relay.name == "a\u{FFFD}b\u{FFFD}[2J\u{FFFD} é")
        #expect(relay.addresses.map(\.description) == ["relay://10.0.0.9:7421", "relay://[fe80::9%2]:7421"])
        #expect(relay.addresses.allSatisfy { RelayAddress($0.description) == $0 })
        #expect(NearbyRelay(Self.service("b", [])).addresses.map(\.description) == ["relay://b.local:7421"])
    }

    @Test("a relay that says that it wants TLS is reached by it, and shown by its address for apps")
    func protected() {
        var service = Self.service("b")
        #expect(service.place == "http://b.local:7421/")
        service.text = ["version=0.1.0", "tls=required"]
        #expect(NearbyRelay(service).addresses == [RelayAddress(host: "10.0.0.9", port: 7421, protection: .certified)])
        #expect(service.place == "relays://b.local:7421")
    }

    @Test("a search begins with none, gives the newest, and skips older ones")
    func newest() async throws {
        let search = NearbySearch()
        #expect(try await search.news() == [])
        for name in ["a", "b"] { search.tell(.success([Self.service(name)])) }
        #expect(try await search.news()?.map(\.name) == ["b"])
        async let next = search.news()
        search.tell(.success([]))
        #expect(try await next == [])
    }

    @Test("a search that may not look throws why, each time")
    func refused() async throws {
        let search = NearbySearch()
        for (code, expected) in [(EACCES, ErrorCode.notPermitted), (EADDRINUSE, .notSupported)] {
            search.tell(.failure(SocketAddress.Failure("no network for you", code: code)))
            for _ in 0..<2 {
                let error = await #expect(throws: RelayError.self) { try await search.news() }
                #expect(error?.code == expected && error?.text.hasPrefix("no network for you") == true)
            }
        }
    }

    @Test("a cancelled task ends it without an error", arguments: [false, true])
    func cancelled(isWaiting: Bool) async throws {
        let search = NearbySearch()
        _ = try await search.news()
        let task = Task { try await search.news() }
        if isWaiting { await Task.yield() }
        task.cancel()
        #expect(try await task.value == nil)
    }
}
