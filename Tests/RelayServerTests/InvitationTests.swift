import Foundation
import RelayClient
import RelayServer
import Testing

/// What lets a newcomer in, as a text: of a relay, of its QR code, of a link to a board.
@Suite(.timeLimit(.minutes(10))) struct InvitationTests {
    private static let home = RelayAddress(host: "192.168.1.5")
    private static let pin = "AbCdEfGhIjKlMnOpQr-_0Q"

    private static func pinned(_ host: String, _ port: UInt16 = 443) -> RelayAddress {
        RelayAddress(host: host, port: port, protection: .pinned(KeyPin(pin)!))
    }

    @Test(
        "an invitation is read as a relay prints it, and as the page's links have it; what it does not know is ignored",
        arguments: [
            ("http://192.168.1.5:7420/#key=abc", Invitation(Self.home, credential: .key("abc"))),
            ("http://192.168.1.5:7420/#key=abc&j=def", Invitation(Self.home, credential: .key("abc"))),
            ("http://192.168.1.5:7420/#/b/lesson%20A?k=abc", Invitation(Self.home, credential: .key("abc"), channel: "lesson A")),
            ("http://192.168.1.5:7420/#/b/lesson", Invitation(Self.home, channel: "lesson")),
            ("http://192.168.1.5:7420/#/b/?k=abc", Invitation(Self.home, credential: .key("abc"))),
            ("192.168.1.5#t=a.b.c", Invitation(Self.home, credential: .token("a.b.c"))),
            ("relay://192.168.1.5#token=&key=a=b", Invitation(Self.home, credential: .key("a=b"))),
            ("192.168.1.5#KEY=abc&nonce&=&key=", Invitation(Self.home)),
            ("192.168.1.5/?key=abc", Invitation(Self.home)), ("192.168.1.5#", Invitation(Self.home)),
            ("192.168.1.5#key=%61%2G", Invitation(Self.home, credential: .key("%61%2G"))),
            ("192.168.1.5#key=%FF", Invitation(Self.home, credential: .key("%FF"))),
            ("192.168.1.5#key=%+1", Invitation(Self.home, credential: .key("%+1"))),
            (
                "192.168.1.5#also=board.local:80&also=ftp://x&also=%5B::1%5D&relay=0a&newer=1",
                Invitation(home, or: [RelayAddress(host: "board.local", port: 80), RelayAddress(host: "::1")], relayID: "0a")
            ),
            ("http://192.168.1.5:7420/school-a#key=abc", Invitation(Self.home, credential: .key("abc"), space: "school-a")),
            ("192.168.1.5/b2/?x=1#/b/lesson", Invitation(Self.home, channel: "lesson", space: "b2")),
            ("192.168.1.5/status#key=abc", Invitation(Self.home, credential: .key("abc"))), ("192.168.1.5/A", Invitation(Self.home)),
            (
                "https://board.example/#k=abc&also=relays://192.168.1.5",
                Invitation(
                    RelayAddress(host: "board.example", port: 443, protection: .certified),
                    or: [RelayAddress(host: "192.168.1.5", protection: .certified)], credential: .key("abc"))
            ),
            (
                "https://board.example/#pin=\(pin)&k=abc&also=wss://192.168.1.5:1&also=ftp://x",
                Invitation(Self.pinned("board.example"), or: [Self.pinned("192.168.1.5", 1)], credential: .key("abc"))
            ),
        ] as [(String, Invitation)])
    func reads(text: String, invitation: Invitation) throws { #expect(try Invitation(text) == invitation) }

    @Test(
        "an invitation's text is read as the same invitation",
        arguments: [
            Invitation(Self.home), Invitation(Self.home, credential: .key("a-b_c.d")),
            Invitation(Self.home, credential: .token("a.b.c"), channel: "x?y#z &%"),
            Invitation(
                RelayAddress(host: "::1", port: 9), or: [Self.home], credential: .key("k"), channel: "lesson", relayID: "0a",
                space: "school-a"),
            Invitation(Self.pinned("::1", 9), or: [Self.pinned("board.local")], credential: .key("k")),
            Invitation(RelayAddress(host: "board.local", protection: .certified), channel: "lesson"),
        ])
    func writes(invitation: Invitation) throws {
        #expect(try Invitation(invitation.text) == invitation, "\(invitation.text)")
        #expect(invitation.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }

    @Test("a pin is told of an invitation whose addresses have it")
    func pinOfInvitation() throws {
        #expect(try Invitation("relays://x#pin=\(Self.pin)").pin == KeyPin(Self.pin) && Invitation("relays://x").pin == nil)
    }

    @Test(
        "a text without a relay is refused, and what stands behind # is not repeated",
        arguments: [
            ("", "no address"), ("#key=SECRETISH", "no address"), ("ftp://x#key=SECRETISH", "no address"),
            ("https://x#key=SECRETISH&also=y", "relays://x:443 and relay://y:7420 are not protected in the same way"),
            ("relay://x#key=SECRETISH&also=relays://y", "relay://x:7420 and relays://y:7420 are not protected in the same way"),
            ("x#key=SECRETISH&pin=\(pin)", "a pin is for TLS, and relay://x:7420 is without"),
            ("relays://x#key=SECRETISH&pin=\(pin)&also=y", "a pin is for TLS, and relay://y:7420 is without"),
            ("relays://x#pin=SECRETISH", "22 letters of base64url, here are 9"), ("relays://x#pin=", "22 letters of base64url, here are 0"),
            ("relays://x#key=SECRETISH&pin=\(pin.dropLast())R", "22 letters of base64url, these are no such letters"),
            ("relays://x#key=SECRETISH&pin=\(pin)&pin=\(pin)", "one pin, here are 2"),
        ])
    func refuses(text: String, words: String) {
        let error = #expect(throws: RelayError.self) { try Invitation(text) }
        #expect(error?.code == .badRequest && error?.text.contains(words) == true && error?.text.contains("SECRETISH") == false)
    }

    @Test("neither a description nor a dump of an invitation has its credential; an address with one is no address")
    func silent() throws {
        let invitation = Invitation(Self.home, credential: .key("SECRETISH"), channel: "lesson")
        var dumped = ""
        dump(invitation, to: &dumped)
        #expect(!"\(invitation)\(dumped)\(String(reflecting: invitation))".contains("SECRETISH"))
        #expect("\(invitation)" == "relay://192.168.1.5:7420, lesson" && RelayAddress(invitation.text) == nil)
        #expect("\(Invitation(Self.home, space: "b2"))" == "relay://192.168.1.5:7420/b2")
    }

    @Test("a client comes in by an invitation: at the first address where its relay answers, with its credential unless there is another")
    func connects() async throws {
        let gone = try await WhiteboardRelay.start(.init(port: 0))
        await gone.stop()
        let other = try await WhiteboardRelay.start(.init(port: 0))
        let server = try await WhiteboardRelay.start(.init(port: 0, access: .keys()))
        let keys = try #require(server.keys)
        var options = ClientOptions()
        (options.secret, options.device) = (.digits(String(repeating: "a", count: 32)), .inMemory)
        func connect(_ invitation: Invitation) async throws -> WhiteboardClient {
            try await WhiteboardClient.connect(to: invitation, as: "ann", options: options)
        }
        let first = try await connect(Invitation("127.0.0.1:\(server.address.port)#key=\(keys.join)"))
        let relay = try #require(first.relayID)
        #expect(first.access?.role == .editor)
        await first.close()

        let far = try await connect(
            Invitation(gone.address, or: [other.address, server.address], credential: .key(keys.join), relayID: relay))
        #expect(far.relayID == relay)
        await far.close()

        options.credential = .key(keys.host)
        let host = try await connect(Invitation(server.address, credential: .key(keys.join)))
        #expect(host.access?.role == .moderator)
        await host.close()

        options.credential = nil
        let wrong = await #expect(throws: RelayError.self) { try await connect(Invitation(server.address, or: [other.address])) }
        #expect(wrong?.code == .credentialRequired, "a relay that answers no is not passed over")
        let stranger = await #expect(throws: RelayError.self) { try await connect(Invitation(other.address, relayID: relay)) }
        #expect(stranger?.code == .otherRelay && stranger?.text.contains("another relay") == true)
        var nowhere = Invitation(other.address)
        nowhere.addresses = []
        let unreachable = await #expect(throws: RelayError.self) { try await connect(nowhere) }
        #expect(unreachable?.code == .badRequest)
        let cut = Self.pinned("127.0.0.1", gone.address.port)
        let unprotected = await #expect(throws: RelayError.self) { try await connect(Invitation(cut, or: [other.address])) }
        #expect(unprotected?.code == .badRequest && unprotected?.text.contains("protected in the same way") == true)
        await server.stop()
        await other.stop()
    }
}
