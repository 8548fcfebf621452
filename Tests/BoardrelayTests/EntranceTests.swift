@testable import boardrelay
import RelayAccess
import RelayIO
import RelayServer
import Testing

@Suite struct EntranceTests {
    private let addresses = [RelayAddress(host: "192.168.1.5", port: 7420), RelayAddress(host: "127.0.0.1", port: 7420)]

    private func keys() async throws -> AccessKeys {
        let server = try await RelayServer.start(.init(port: 0, access: .keys()))
        let keys = try #require(server.keys)
        await server.stop()
        return keys
    }

    @Test("a terminal is shown the join address with its code, and the host's without one")
    func terminal() async throws {
        let keys = try await keys()
        let lines = Entrance(access: .keys(), keys: keys, isTerminal: true, columns: 80).lines(addresses)
        let url = "http://192.168.1.5:7420/#key=\(keys.join)"
        #expect(lines.first == "join (editor):  \(url)")
        #expect(lines.last?.contains("http://192.168.1.5:7420/#key=\(keys.host)") == true)
        #expect(Array(lines.dropFirst(2).dropLast(2)) == Entrance.code(url, columns: 80))
        #expect(lines.count > 15)
    }

    @Test("what is no terminal is shown no key")
    func service() async throws {
        let keys = try await keys()
        let entrance = Entrance(access: .keys(), keys: keys, isTerminal: false, columns: 80)
        #expect(entrance.lines(addresses).isEmpty)
        #expect(!entrance.rule.contains(keys.join) && !entrance.rule.contains(keys.host))
        #expect(entrance.rule.contains("'boardrelay key show'"), "on the port that it asks by itself")
    }

    @Test("an open relay shows the code of its address; a terminal that is too narrow shows the address alone")
    func open() throws {
        let open = Entrance(access: .open, keys: nil, isTerminal: true, columns: 80).lines(addresses)
        #expect(open.first == "Open in a browser:  http://192.168.1.5:7420/")
        let code = try #require(Entrance.code("http://192.168.1.5:7420/", columns: 80))
        // Version 2: 25 modules and a quiet zone of 4 on each side, two rows a line.
        #expect(code.count == 17)
        #expect(Entrance.code("http://192.168.1.5:7420/", columns: 33) == code)
        #expect(Entrance.code("http://192.168.1.5:7420/", columns: 32) == nil)
        #expect(Entrance(access: .open, keys: nil, isTerminal: true, columns: 20).lines(addresses) == ["Open in a browser:  http://192.168.1.5:7420/"])
        #expect(Entrance(access: .open, keys: nil, isTerminal: true, columns: 80).lines([]).isEmpty)
    }
}
