#if os(Linux)
    import RelayPrimitives
    import Testing

    @testable import RelayIO

    @Suite struct TLSSessionTests {
        private func session(_ host: String, _ protection: RelayAddress.Protection = .certified) throws -> TLSSession {
            try TLSSession(to: RelayAddress(host: host, protection: protection))
        }

        @Test(
            "a certificate names a host without its last dot, and an address without its zone",
            arguments: [("board.local.", "board.local"), ("fe80::1%eth0", "fe80::1"), ("192.168.1.5", "192.168.1.5")])
        func certified(host: String, name: String) { #expect(RelayAddress(host: host).nameInCertificates == name) }

        @Test("no certificate is asked for where there is no whole name", arguments: ["", ".", ".example", "%eth0", "a\0b"])
        func names(host: String) {
            let failure = #expect(throws: SocketAddress.Failure.self) { try session(host) }
            #expect(failure?.description == "no certificate can be for a host of this name: \"\(host)\"")
        }

        @Test(
            "a session speaks first, and takes an answer that is no TLS for what it is",
            arguments: ["HTTP/1.1 400 No\r\n\r\n", "\0\0\0\u{1}", "\u{1B}[31m"])
        func noTLS(answer: String) throws {
            let session = try session("board.local")
            #expect(try !session.shakeHands())
            #expect(session.output.first == 22 && session.output.count < 2_000)
            let failure = #expect(throws: SocketAddress.Failure.self) {
                try Array(answer.utf8).withUnsafeBytes { try session.receive($0) }
            }
            let told = answer.hasPrefix("HTTP") ? ": it answers \"HTTP/1.1 400 No…\"" : ""
            #expect(failure?.description == "board.local does not speak TLS on this port\(told)")
            #expect(!session.isOpen)
        }

        @Test(
            "what breaks the rules of the handshake ends it with a reason",
            arguments: [[22, 3, 3, 0, 4, 99, 0, 0, 0], [21, 3, 3, 0, 2, 2, 40]] as [[UInt8]])
        func broken(bytes: [UInt8]) throws {
            let session = try session("board.local")
            #expect(try !session.shakeHands())
            try bytes.withUnsafeBytes { try session.receive($0) }
            let failure = #expect(throws: SocketAddress.Failure.self) { try session.shakeHands() }
            #expect(failure?.description.hasPrefix("TLS was not agreed on with board.local: ") == true)
            #expect(!session.isOpen)
        }

        private static func noise(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) } }

        @Test("both agree and hear each other however the bytes come", arguments: [1, 7, 16 * 1024])
        func cut(piece: Int) throws {
            let session = try TLSSession.pinned(), server = try TLSServer()
            try session.agree(with: server, piece: piece)
            var heard: [UInt8] = []
            try session.receive(all: server.send(Self.noise(40_000)), piece: piece) { heard += try session.readAll().bytes }
            #expect(heard == Self.noise(40_000))
            let taken = try Self.noise(40_000).withUnsafeBytes { try session.write($0) }
            #expect(taken == TLSSession.pieceBytesMax)
            #expect(server.receive(session.takeOutput()) == Self.noise(taken))
        }

        @Test("each side hears the other's end, behind what was said before")
        func ends() throws {
            let session = try TLSSession.pinned(), server = try TLSServer()
            try session.agree(with: server)
            try session.receive(all: server.send([1, 2, 3]) + server.end())
            #expect(try session.readAll() == ([1, 2, 3], .end))
            try session.end()
            #expect(server.receive(session.takeOutput()) == [] && server.hasEnded)
        }

        @Test("a record that was changed on the way ends the link with a reason, and nothing of it is given")
        func changed() throws {
            let session = try TLSSession.pinned(), server = try TLSServer()
            try session.agree(with: server)
            _ = try session.readAll()
            var record = server.send([1, 2, 3])
            record[record.count - 1] ^= 1
            try session.receive(all: record)
            let failure = #expect(throws: SocketAddress.Failure.self) { try session.readAll() }
            #expect(failure?.description.hasPrefix("the link of TLS with board.local broke: ") == true)
        }

        @Test("a server that asks on is answered as long as it reads, and left when it does not")
        func flood() throws {
            let session = try TLSSession.pinned(), server = try TLSServer()
            try session.agree(with: server)
            for _ in 0..<4_000 {
                try session.receive(all: server.askForKey())
                #expect(try session.readAll().last == .wantsMore)
                #expect(server.receive(session.takeOutput()) == [])
            }
            let failure = #expect(throws: SocketAddress.Failure.self) {
                for _ in 0..<4_000 {
                    try session.receive(all: server.askForKey())
                    _ = try session.readAll()
                }
            }
            #expect(failure?.description.contains("asks and does not read") == true && session.output.count < 70_000)
        }

        @Test(
            "a machine without OpenSSL 3 says so",
            arguments: [("libssl.so.none", "libcrypto.so.3"), ("libcrypto.so.3", "libcrypto.so.3")])
        func missing(ssl: String, crypto: String) {
            let failure = #expect(throws: SocketAddress.Failure.self) { try OpenSSL(libraries: (ssl, crypto)) }
            #expect(failure?.description.hasPrefix("TLS needs OpenSSL 3, which this machine lacks: ") == true)
        }

        @Test("a plain connection is never made to an address that wants TLS")
        func plain() {
            let failure = #expect(throws: SocketAddress.Failure.self) {
                try Connector.connect(to: RelayAddress(host: "127.0.0.1", port: 1, protection: .certified), timeoutMilliseconds: 300_000)
            }
            #expect(failure?.description == "relays://127.0.0.1:1 wants TLS, which is not spoken here")
        }
    }
#endif
