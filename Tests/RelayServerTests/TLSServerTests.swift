#if os(Linux)
    import Foundation
    import RelayClient
    import RelayIO
    import RelaySystem
    import RelayWire
    import Testing

    @testable import RelayServer

    /// TLS that a relay speaks itself. Other people's clients of it: Tests/TLS/check.py.
    @Suite("a relay with a certificate", .serialized, .timeLimit(.minutes(10)))
    struct TLSServerTests {
        /// A key and a certificate in a folder of their own.
        private struct Files {
            let folder = FileManager.default.temporaryDirectory.appending(path: "boardrelay-tls-\(UInt64.random(in: 0 ... .max))").path
            var tls: WhiteboardRelay.TLS { .init(certificatePath: "\(folder)/certificate.pem", keyPath: "\(folder)/key.pem") }

            init() throws { try renew(key: CertificateMaker().key()) }

            func renew(key: [UInt8], days: Int = 2) throws {
                let names = [CertificateName("localhost", isAddress: false)!, CertificateName("127.0.0.1", isAddress: true)!]
                let certificate = try CertificateMaker().certificate(key: key, names: names, days: days, serial: 1)
                try PrivateFile.replace(tls.keyPath, content: key)
                try PrivateFile.replace(tls.certificatePath, content: certificate)
            }

            func key() throws -> [UInt8] { try #require(try PrivateFile.read(tls.keyPath, bytesMax: 10_000)) }
            func remove() { try? FileManager.default.removeItem(atPath: folder) }
        }

        private func withRelay(
            allowsPlain: Bool = false, _ body: (WhiteboardRelay, Files, WhiteboardRelay.Options) async throws -> Void
        ) async throws {
            let files = try Files()
            defer { files.remove() }
            var options = WhiteboardRelay.Options(port: 0)
            options.tls = files.tls
            options.tls!.allowsPlain = allowsPlain
            let server = try await WhiteboardRelay.start(options)
            let result: Result<Void, any Error>
            do { result = .success(try await body(server, files, options)) } catch { result = .failure(error) }
            await server.stop()
            try result.get()
        }

        private func client(_ user: String, _ address: RelayAddress) async throws -> WhiteboardClient {
            var options = ClientOptions()
            (options.secret, options.device) = (.digits(String(repeating: user == "ann" ? "a" : "b", count: 32)), .inMemory)
            return try await WhiteboardClient.connect(to: address, as: user, options: options)
        }

        private func plain(_ server: WhiteboardRelay) -> RelayAddress { RelayAddress(host: "127.0.0.1", port: server.address.port) }

        @Test("[SE16, TL1] spaces stand behind the certificate of their door: clients with the pin come to the one that they name")
        func spaces() async throws {
            let files = try Files()
            defer { files.remove() }
            var door = WhiteboardRelay.Options(port: 0)
            door.tls = files.tls
            let names = [try SpaceName("a"), try SpaceName("b")]
            let shared = try await SharedRelay.start(
                door, spaces: { (names, []) }, optionsOf: { @Sendable _, _ in WhiteboardRelay.Options(port: 0) })
            for space in names {
                let client = try await WhiteboardClient.connect(to: Invitation(shared.address, space: space.text), as: "ann")
                try await client.subscribe("lesson")
                #expect(try await client.sendLarge(.bytes([UInt8](repeating: 7, count: 1 << 20)), to: "lesson").stored > 0)
                await client.close()
                #expect(await shared[space]?.census().counters.sessionsOpened == 1)
            }
            await shared.stop()
        }

        @Test("[TL1, TL4] clients with the pin come in; a drawing of 3 MiB goes through whole, both ways at once")
        func large() async throws {
            try await withRelay { server, _, _ in
                let clients = (try await client("ann", server.address), try await client("ben", server.address))
                for client in [clients.0, clients.1] { try await client.subscribe("lesson") }
                let image = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
                async let first = clients.0.sendLarge(.bytes(image), to: "lesson").stored
                async let second = clients.1.sendLarge(.bytes(image), to: "lesson").stored
                _ = try await (first, second)
                for client in [clients.0, clients.1] {
                    for await case .message(let message) in client.told {
                        #expect(message.payload == .bytes(image))
                        break
                    }
                    await client.close()
                }
            }
        }

        @Test("[TL4] a client with another pin stays away")
        func wrongPin() async throws {
            try await withRelay { server, _, _ in
                let other = RelayAddress(
                    host: "127.0.0.1", port: server.address.port, protection: .pinned(KeyPin("AbCdEfGhIjKlMnOpQr-_0Q")!))
                let error = await #expect(throws: RelayError.self) { try await client("ann", other) }
                #expect(error?.text.contains("another key than the pin says") == true, "\(error?.text ?? "")")
            }
        }

        @Test("[TL2] without TLS frames are refused before a login is read, and requests are sent to https")
        func inTheClear() async throws {
            try await withRelay { server, _, _ in
                let link = try RawLink(plain(server))
                try link.send(raw: [0])
                let frames = try link.framesUntilEnd()
                #expect(frames.count == 1 && frames[0].type == FrameType.closing.rawValue)
                #expect(String(decoding: frames[0].body, as: UTF8.self).contains("\"code\":311"))
                let browser = try RawLink(plain(server))
                try browser.send(raw: Array("GET /status?a=%20b HTTP/1.1\r\nHost: LOCALHOST:\(server.address.port)\r\n\r\n".utf8))
                let answer = String(decoding: try browser.bytesUntilEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 308 "))
                #expect(answer.contains("\r\nLocation: https://LOCALHOST:\(server.address.port)/status?a=%20b\r\n"))
                let stranger = try RawLink(plain(server))
                try stranger.send(raw: Array("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n".utf8))
                #expect(String(decoding: try stranger.bytesUntilEnd(), as: UTF8.self).hasPrefix("HTTP/1.1 421 "))
            }
        }

        @Test("[TL2] where it is allowed both come in, and hear each other")
        func allowed() async throws {
            try await withRelay(allowsPlain: true) { server, _, _ in
                let ann = try await client("ann", plain(server)), ben = try await client("ben", server.address)
                try await ben.subscribe("lesson")
                _ = try await ann.send("hello", to: "lesson").accepted
                for await case .message(let message) in ben.told {
                    #expect(message.payload == .text("hello"))
                    break
                }
                for client in [ann, ben] { await client.close() }
            }
        }

        @Test("[TL3] TLS 1.2 with ECDHE and AEAD, and 1.3; no ticket, and no new handshake within a connection", arguments: [
            (["-tls1_1"], false), (["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"], false),
            (["-tls1_2", "-cipher", "AES128-GCM-SHA256"], false),
            (["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"], true), (["-tls1_3"], true),
        ] as [([String], Bool)])
        func kinds(words: [String], isSpoken: Bool) async throws {
            try await withRelay { server, _, _ in
                let process = Process(), input = Pipe(), output = Pipe()
                process.executableURL = URL(filePath: "/usr/bin/env")
                process.arguments = ["openssl", "s_client", "-connect", "127.0.0.1:\(server.address.port)"] + words
                (process.standardInput, process.standardOutput, process.standardError) = (input, output, output)
                try process.run()
                // The letter alone on a line asks TLS 1.2 for another handshake, 1.3 for nothing.
                try input.fileHandleForWriting.write(contentsOf: Data("R\n".utf8))
                if words[0] == "-tls1_3" { try input.fileHandleForWriting.close() }
                let told = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
                process.waitUntilExit()
                #expect(told.contains("Verification error: self-signed certificate") == isSpoken, "\(told)")
                #expect(told.contains("no renegotiation") == (isSpoken && words[0] == "-tls1_2"), "\(told)")
                #expect(!told.contains("session ticket"), "\(told)")
            }
        }

        @Test("[TL5] of 1,000 connections that say nothing 200 stay, and a client comes in beside them")
        func silent() async throws {
            try await withRelay { server, _, _ in
                var links: [RawLink] = []
                for number in 0..<1_000 {
                    links.append(try RawLink(plain(server)))
                    // The first byte of a handshake is half of one.
                    if number.isMultiple(of: 2) { try links[number].send(raw: [0x16]) }
                }
                let ann = try await client("ann", server.address)
                for link in links[..<700] { #expect(try link.bytesUntilEnd() == []) }
                #expect(await server.census().connections == 1)
                #expect(try #require(await server.engine.tlsCounters?.handshakes["crowded"]) >= 800)
                await ann.close()
            }
        }

        @Test("[TL5] a handshake that does not end within 65,536 bytes is cut off")
        func endless() async throws {
            try await withRelay { server, _, _ in
                let link = try RawLink(plain(server))
                // Records of a ClientHello that announces 130,000 bytes. [RFC 8446 §5.1]
                let record: [UInt8] = [0x16, 3, 1, 0x40, 0] + [UInt8](repeating: 7, count: 0x4000)
                try link.send(raw: [0x16, 3, 1, 0, 4, 1, 1, 0xFB, 0xD0])
                for _ in 0..<5 { try? link.send(raw: record) }
                // What was under way when it was cut off may reset it.
                do { _ = try link.bytesUntilEnd() } catch let error as SocketAddress.Failure { #expect(error.code == ECONNRESET) }
                let ann = try await client("ann", server.address)
                await ann.close()
            }
        }

        @Test("with other settings new links see another certificate; with the same key the pin stays; whoever is in stays")
        func renewed() async throws {
            try await withRelay { server, files, options in
                let ann = try await client("ann", server.address)
                let pin = server.tls?.pin
                try files.renew(key: files.key())
                try server.apply(options)
                #expect(server.tls?.pin == pin && pin != nil)
                try files.renew(key: CertificateMaker().key())
                try server.apply(options)
                #expect(server.tls?.pin != pin)
                await #expect(throws: RelayError.self) { try await client("ben", server.address) }
                let other = RelayAddress(host: "127.0.0.1", port: server.address.port, protection: server.tls!.protection)
                let ben = try await client("ben", other)
                _ = try await ann.send("still here", to: "lesson").accepted
                for client in [ann, ben] { await client.close() }
            }
        }

        @Test("[SE17, TL4] a client that has pinned a key goes where it is sent, and does not come in at a server without that key")
        func moved() async throws {
            try await withRelay { server, files, options in
                let stranger = try Files()
                defer { stranger.remove() }
                var other = options
                other.tls = stranger.tls
                let strange = try await WhiteboardRelay.start(other)
                for (target, comesIn) in [(server, true), (strange, false)] {
                    let door = try await WhiteboardRelay.start(
                        options, permit: { _ in }, as: .door(to: [], elsewhere: ["main": .at(target.address.description)]))
                    if comesIn {
                        await (try client("ann", door.address)).close()
                    } else {
                        await #expect(throws: RelayError.self) { try await client("ann", door.address) }
                        #expect(await strange.census().counters.sessionsOpened == 0)
                    }
                    await door.stop()
                }
                await strange.stop()
            }
        }

        @Test("a certificate that ends within two weeks is told in the log, at the start and by what reads it again")
        func ending() async throws {
            let files = try Files(), lines = Mutex<[String]>([])
            defer { files.remove() }
            var options = WhiteboardRelay.Options(port: 0)
            options.tls = files.tls
            options.log = { line in if line.level == .warning { lines.withLock { $0.append(line.text) } } }
            let server = try await WhiteboardRelay.start(options)
            func told() -> Int { lines.withLock { $0.count { $0.hasPrefix("TLS: the certificate is valid until ") } } }
            #expect(told() == 1)
            try files.renew(key: files.key(), days: 30)
            try server.apply(options)
            #expect(told() == 1)
            try files.renew(key: files.key())
            try server.apply(options)
            #expect(told() == 2)
            await server.stop()
        }

        @Test("files that cannot be used are named, and what is served stays")
        func unusable() async throws {
            try await withRelay { server, files, options in
                let pin = server.tls?.pin
                func refusal(_ change: (inout WhiteboardRelay.Options) throws -> Void) throws -> String {
                    var changed = options
                    try change(&changed)
                    return #expect(throws: RelayServerError.self) { try server.apply(changed) }?.text ?? ""
                }
                #expect(try refusal { $0.tls!.keyPath += "x" }.contains("cannot read \(files.folder)/key.pemx"))
                #expect(try refusal { $0.tls!.certificatePath = $0.tls!.keyPath }.contains("has no certificate in PEM"))
                #expect(try refusal { $0.tls = nil }.contains("speaks TLS from its start on"))
                #expect(
                    try refusal { _ in try PrivateFile.replace(files.tls.keyPath, content: CertificateMaker().key()) }
                        .contains("key.pem is not the certificate's key"))
                #expect(server.tls?.pin == pin)
                let ann = try await client("ann", server.address)
                await ann.close()
            }
        }

        @Test("[SE13] at its end every client is told, and the port is free again")
        func farewell() async throws {
            let files = try Files()
            defer { files.remove() }
            var options = WhiteboardRelay.Options(port: 0)
            options.tls = files.tls
            let server = try await WhiteboardRelay.start(options)
            let ann = try await client("ann", server.address)
            await server.stop()
            for await case .link(.waiting(_, let why)) in ann.told {
                #expect(why.code == .shuttingDown)
                break
            }
            options.port = server.address.port
            let again = try await WhiteboardRelay.start(options)
            for await case .link(.connected) in ann.told { break }
            await ann.close()
            await again.stop()
        }
    }
#endif
