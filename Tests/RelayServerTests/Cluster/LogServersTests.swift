import RelayIO
import RelayNATS
import Testing

@testable import RelayServer

@Suite("The servers of a space's log") struct LogServersTests {
    @Test("stand in a list, each with its port or NATS's own, in the clear or by TLS")
    func list() throws {
        let servers = try LogServers("nats://a,tls://b:4333,NATS://[::1]:1,nats://a:04333,nats://[::1]", login: "anna:s:e")
        #expect(servers.addresses.map { "\($0.host) \($0.port)" } == ["a 4222", "b 4333", "::1 1", "a 4333", "::1 4222"])
        #expect(servers.addresses.map { $0.protection == .plain } == [true, false, true, true, true])
        #expect(servers.login == NATSLogin(.password(user: "anna", "s:e")))
        #expect(try LogServers("nats://a", login: "word").login == NATSLogin(.token("word")))
        #expect(try LogServers("nats://a").login == NATSLogin(.none))
    }

    @Test(
        "are refused where they are none, and where a login would be seen",
        arguments: [
            "", "a", "http://a", "nats://", "nats://a,", "nats://a:0", "nats://a:70000", "nats://a/b", "nats://u:p@a", "nats://a#b",
            Array(repeating: "nats://a", count: 17).joined(separator: ","),
        ])
    func refused(text: String) { #expect(throws: RelayServerError.self) { try LogServers(text) } }
}
