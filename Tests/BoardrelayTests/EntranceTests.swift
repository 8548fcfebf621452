import RelayIO
import RelayRights
import RelayServer
import Testing
@testable import boardrelay
@testable import RelayConsole

@Suite struct EntranceTests {
    private let addresses = [RelayAddress(host: "192.168.178.123", port: 17420), RelayAddress(host: "127.0.0.1", port: 17420)]
    private var ways: Ways { Ways(addresses, nil) }

    private func keys() async throws -> AccessKeys {
        let server = try await WhiteboardRelay.start(.init(port: 0, access: .keys()))
        let keys = try #require(server.keys)
        await server.stop()
        return keys
    }

    private func entrance(
        _ access: WhiteboardRelay.Access, _ keys: AccessKeys? = nil, host: String? = nil, isTerminal: Bool = true, columns: Int = 80,
        rows: Int = 24
    ) -> Entrance {
        Entrance(access: access, keys: keys, host: host, isTerminal: isTerminal, columns: columns, rows: rows)
    }

    private func screen(_ lines: [String], columns: Int = 80, rows: Int = 24) -> [String] {
        PseudoTerminal.screen("what stood there\n" + lines.map { $0 + "\n" }.joined(), columns: columns, rows: rows)
    }

    @Test("a terminal of 80 × 24 is shown the join address and all of its code, as the last thing; the host's address comes when asked for")
    func terminal() async throws {
        let keys = try await keys()
        let entrance = entrance(.keys(), keys)
        let lines = entrance.lines(ways)
        let url = "http://192.168.178.123:17420/#key=\(keys.join)"
        #expect(Entrance.code(url, columns: 80, rows: 22) == .lines(Array(lines.dropFirst())), "the longest address of IPv4")
        let screen = screen(lines)
        #expect(screen.count <= 24 && screen.contains("join (editor):  \(url)") && screen.last == "" && screen.count == 1 + lines.count + 1)
        #expect(!lines.contains { $0.contains(keys.host) })
        #expect(entrance.hasCode(ways))
        #expect(entrance.hostLine(ways)?.contains("/#key=\(keys.host)&j=\(keys.join)") == true)
    }

    @Test("a long address takes less error correction where that makes it fit; if it fits no more, that is said, with what it needs")
    func long() async throws {
        let keys = try await keys()
        // 69 bytes: one size more with level M.
        let name = RelayAddress(host: "board-of-class-7b.example", port: 7420)
        let lines = entrance(.keys(), keys).lines(Ways([name], nil))
        #expect(lines.count == 22 && screen(lines).count <= 24)
        let six = RelayAddress(host: "2001:db8:1234:5678:9abc:def0:1234:5678", port: 7420)
        let none = entrance(.keys(), keys).lines(Ways([six], nil))
        #expect(none.first == "A QR code of this address needs a terminal of 45 columns and 26 rows, not 80 and 24.")
        #expect(!entrance(.keys(), keys).hasCode(Ways([six], nil)))
        #expect(none.dropFirst() == ["join (editor):  http://[\(six.host)]:7420/#key=\(keys.join)"])
        let high = entrance(.keys(), keys, rows: 26).lines(Ways([six], nil))
        #expect(screen(high, rows: 26).count <= 26 && high.count == 24)
    }

    @Test("an address that only this machine reaches has no code", arguments: [
        (nil, "This machine has no network"), ("127.0.0.1", "The relay listens on 127.0.0.1"),
    ] as [(String?, String)])
    func alone(host: String?, why: String) async throws {
        let keys = try await keys()
        let entrance = entrance(.keys(), keys, host: host), lines = entrance.lines(Ways([addresses[1]], nil))
        #expect(!entrance.hasCode(Ways([addresses[1]], nil)))
        #expect(lines == ["\(why): only this machine reaches it.", "join (editor):  http://127.0.0.1:17420/#key=\(keys.join)"])
    }

    @Test("what is no terminal is shown no key")
    func service() async throws {
        let keys = try await keys()
        var entrance = entrance(.keys(), keys, isTerminal: false)
        #expect(entrance.lines(ways).isEmpty)
        #expect(!entrance.rule.contains(keys.join) && !entrance.rule.contains(keys.host))
        #expect(entrance.rule.contains("'boardrelay key show'"), "on the port that it asks by itself")
        entrance.service = .folder("/var/lib/boardrelay")
        #expect(entrance.rule.contains("'boardrelay key show --data-dir /var/lib/boardrelay'"))
        entrance.service = .group
        #expect(entrance.rule.contains("'sudo boardrelay key show'"))
    }

    @Test("an open relay shows the code of its address; a terminal that is too narrow shows the address and says so")
    func open() throws {
        let first = [RelayAddress(host: "192.168.1.5", port: 7420)]
        let lines = entrance(.open).lines(Ways(first, nil))
        #expect(lines.first == "Open in a browser:  http://192.168.1.5:7420/" && entrance(.open).hostLine(Ways(first, nil)) == nil)
        // Version 2: 25 modules and a quiet zone of 4 on each side, two rows a line.
        #expect(lines.count == 1 + 17)
        #expect(Entrance.code("http://192.168.1.5:7420/", columns: 33, rows: 17) == .lines(Array(lines.dropFirst())))
        #expect(Entrance.code("http://192.168.1.5:7420/", columns: 32, rows: 17) == .needs(columns: 33, rows: 17))
        #expect(Entrance.code("http://192.168.1.5:7420/", columns: 33, rows: 16) == .needs(columns: 33, rows: 17))
        #expect(Entrance.code(String(repeating: "x", count: 500), columns: 80, rows: 80) == .tooLong)
        let narrow = entrance(.open, columns: 30).lines(Ways(first, nil))
        #expect(narrow.first == "A QR code of this address needs a terminal of 33 columns and 20 rows, not 30 and 24.")
        #expect(narrow.last == lines.first)
        #expect(entrance(.open).lines(Ways([], nil)).isEmpty)
    }

    @Test("with TLS the code is a page's where browsers come in: by the certificate's name, or without TLS; else it is for apps")
    func protected() throws {
        var tls = TLSReport()
        tls.pin = "AbCdEfGhIjKlMnOpQr-_0Q"
        let alone = Ways(addresses, tls)
        let link = "relays://192.168.178.123:17420/#pin=AbCdEfGhIjKlMnOpQr-_0Q"
        #expect(entrance(.open).lines(alone).first == "For apps:  \(link)")
        #expect(alone.links.map { KeyText.link($0) } == [link, "relays://127.0.0.1:17420/#pin=AbCdEfGhIjKlMnOpQr-_0Q"])
        tls.allowsPlain = true
        let both = Ways(addresses, tls)
        #expect(entrance(.open).lines(both).first == "Open in a browser:  http://192.168.178.123:17420/")
        #expect(both.links == alone.links && Ways.note(tls)?.contains("by http") == true)
        tls.names = ["board.example"]
        let named = Ways(addresses, tls)
        #expect(entrance(.open).lines(named).first == "Open in a browser:  https://board.example:17420/")
        #expect(named.links.map { KeyText.link($0) } == ["relays://board.example:17420"] && Ways.note(tls) == nil)
    }
}
