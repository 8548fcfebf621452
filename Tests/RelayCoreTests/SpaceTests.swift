import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Several hubs behind one port. [SE16]
@Suite("spaces: whose logins a hub takes") struct SpaceTests {
    private func driver(_ part: RelayPart) -> HubDriver {
        var configuration = Configuration()
        configuration.part = part
        return HubDriver(configuration: configuration)
    }

    private func login(_ space: String?, user: String = "ann") throws -> Frame {
        .json(.login, LoginRequest(id: 1, user: try Name(user), instance: "00000000000000aa", space: space))
    }

    private func closing(_ driver: HubDriver, _ id: ConnectionID) -> CloseNotice? {
        driver.received(id).last { $0.type == FrameType.closing.rawValue }.map { TestClient.decode(CloseNotice.self, $0.body) }
    }

    @Test(
        "[SE16] a login comes in where no other space is meant, and is refused where one is",
        arguments: [
            (.whole, nil, true), (.whole, "a", false), (.space("a"), nil, true), (.space("a"), "a", true), (.space("a"), "b", false),
            (.space("a"), "", false),
        ] as [(RelayPart, String?, Bool)])
    func comesIn(part: RelayPart, space: String?, comesIn: Bool) throws {
        let driver = driver(part)
        let id = driver.open()
        driver.send(try login(space), from: id)
        if comesIn {
            #expect(driver.received(id).first?.type == FrameType.welcome.rawValue)
        } else {
            let notice = closing(driver, id)
            #expect(notice?.code == .spaceUnknown && ErrorCode.spaceUnknown.clientReconnects == false)
        }
        #expect(driver.onTheirWay.isEmpty)
    }

    @Test(
        "[SE16] a door hands over a login with all that follows it; the only space there is need not be named",
        arguments: [(["a", "b"], "b", "b"), (["a"], nil, "a"), (["a"], "a", "a")] as [(Set<String>, String?, String)])
    func handsOver(spaces: Set<String>, named: String?, expected: String) throws {
        let door = driver(.door(to: spaces))
        let address = AddressKey.ipv4(7)
        let id = door.open(from: address)
        let behind = Frame.json(.subscribe, SubscribeRequest(id: 2, channel: try Name("lesson"), features: ["messages"]))
        let large = Frame.publish(number: 1, channel: "lesson", flags: .echo, payload: [UInt8](repeating: 7, count: 32_000))
        // A part of a frame, too.
        let bytes = try login(named).bytes + behind.bytes + large.bytes.dropLast(5)
        driver(ping: door, id)
        let cut = try login(named).bytes.count + 4
        door.send(Array(bytes[..<cut]), from: id)
        door.send(Array(bytes[cut...]), from: id)
        #expect(door.onTheirWay.map(\.space) == [expected] && door.onTheirWay[0].id == id)
        #expect(door.received(id).map(\.type) == [FrameType.pong.rawValue], "what came before the login is answered at the door")
        let taken = door.hub.handOver(id, at: door.now)
        let handed = try #require(taken)
        #expect(handed.bytes == bytes && handed.peer.address == address)
        let again = door.hub.handOver(id, at: door.now)
        #expect(again == nil)
        #expect(door.hub.census().connections == 0, "the door keeps nothing of it")

        let space = driver(.space(expected))
        let there = space.open(from: handed.peer.address)
        space.send(handed.bytes + large.bytes.suffix(5), from: there)
        let types = space.received(there).map(\.type)
        #expect(types.prefix(2) == [FrameType.welcome.rawValue, FrameType.answer.rawValue])
        #expect(types.contains(FrameType.accepted.rawValue), "nothing is lost at the door")
    }

    @Test("[SE16, FR5] what comes behind a login that is held, and is the first of a connection, may begin with any byte")
    func anyByte() throws {
        let door = driver(.door(to: ["a"])), id = door.open()
        let behind = Frame.json(.subscribe, SubscribeRequest(id: 2, channel: try Name("lesson"), features: ["messages"]))
        let bytes = try login("a").bytes + behind.bytes
        let cut = try login("a").bytes.count + 4
        #expect(bytes[cut] != 0)
        door.send(Array(bytes[..<cut]), from: id)
        door.send(Array(bytes[cut...]), from: id)
        let handed = door.hub.handOver(id, at: door.now)
        #expect(handed?.bytes == bytes)
    }

    private func driver(ping door: HubDriver, _ id: ConnectionID) { door.send(Frame(.ping, body: [1]), from: id) }

    @Test("[SE16] a door lets nobody in: not without a name where there are several, nor by another name, nor while there is none")
    func refuses() throws {
        for (spaces, named, words) in [
            (["a", "b"], nil, "this relay has several spaces: the name of one belongs behind its address, as in /school-a"),
            (["a"], "b", "this relay has no such space"), ([], nil, "this relay has no space yet"),
            ([], "a", "this relay has no space yet"),
        ] as [(Set<String>, String?, String)] {
            let door = driver(.door(to: spaces))
            let id = door.open()
            door.send(try login(named), from: id)
            let notice = closing(door, id)
            #expect(notice?.code == .spaceUnknown && notice?.text == words)
            #expect(door.onTheirWay.isEmpty && door.hub.census().sessionsPresent == 0)
        }
    }

    @Test("[SE16] spaces come and go at a door while other settings change")
    func changes() throws {
        let door = driver(.door(to: []))
        door.handle(.spacesChanged(["a"]))
        var configuration = Configuration()
        configuration.connectionsMax = 7
        door.handle(.configurationChanged(configuration))
        let id = door.open()
        door.send(try login("a"), from: id)
        #expect(door.onTheirWay.map(\.space) == ["a"])
        door.handle(.spacesChanged([]))
        let other = door.open()
        door.send(try login("a"), from: other)
        #expect(closing(door, other)?.code == .spaceUnknown)
    }

    @Test("[SE16] a connection that cannot be handed over is told why, once; one that is not on its way goes on")
    func notHandedOver() throws {
        let door = driver(.door(to: ["a"]))
        let (waits, stays) = (door.open(), door.open())
        door.send(try login("a"), from: waits)
        for id in [waits, stays, waits] { door.handle(.notHandedOver(id, .tooManyConnections, "later")) }
        #expect(closing(door, waits)?.code == .tooManyConnections && door.hub.census().counters.closes["tooManyConnections"] == 1)
        let handed = door.hub.handOver(waits, at: door.now)
        #expect(handed == nil && closing(door, stays) == nil && door.isOpen(stays))
    }

    @Test(
        "[SE17] a door says where another relay serves, sends nobody away for good, is not ready, and leads where it is told later",
        arguments: [.unknown, .at("relay://192.0.2.7:7420")] as [Whereabouts])
    func standsBy(where whereabouts: Whereabouts) throws {
        let door = driver(.door(to: [], elsewhere: ["a": whereabouts]))
        for space in [nil, "a"] {
            let id = door.open()
            door.send(try login(space), from: id)
            let notice = closing(door, id)
            #expect(notice?.code == (whereabouts == .unknown ? .shuttingDown : .moved) && notice?.code.clientReconnects == true)
            #expect(notice?.address == (whereabouts == .unknown ? nil : "relay://192.0.2.7:7420"))
        }
        #expect(door.hub.hindrance == "standby" && door.onTheirWay.isEmpty)
        let stranger = door.open()
        door.send(try login("b"), from: stranger)
        #expect(closing(door, stranger)?.code == .spaceUnknown)
        door.handle(.spacesChanged(["a"]))
        #expect(door.hub.hindrance == nil)
        let id = door.open()
        door.send(try login(nil), from: id)
        #expect(door.onTheirWay.map(\.space) == ["a"])
        door.handle(.spacesChanged(["a"], elsewhere: ["b": whereabouts]))
        let unnamed = door.open()
        door.send(try login(nil), from: unnamed)
        #expect(closing(door, unnamed)?.code == .spaceUnknown && door.hub.hindrance == nil, "there are two")
        door.handle(.spacesChanged([], elsewhere: ["a": whereabouts]))
        #expect(door.hub.hindrance == "standby")
    }

    @Test("[SE17] a door that does not know all spaces yet sends nobody away for good, and is not ready")
    func knowsNotAll() throws {
        let door = driver(.door(to: [], knowsAll: false))
        for space in [nil, "a"] {
            let id = door.open()
            door.send(try login(space), from: id)
            #expect(closing(door, id)?.code == .shuttingDown)
        }
        #expect(door.hub.hindrance == "standby")
        door.handle(.spacesChanged(["b"], knowsAll: false))
        let id = door.open()
        door.send(try login(nil), from: id)
        #expect(closing(door, id)?.code == .shuttingDown && door.onTheirWay.isEmpty, "it may be another one")
        door.handle(.spacesChanged([]))
        #expect(door.hub.hindrance == nil)
    }

    @Test("[SE16] a connection that does not take what the door has for it is not handed over")
    func blocked() throws {
        let door = driver(.door(to: ["a"]))
        door.offers = false
        let id = door.open()
        driver(ping: door, id)
        door.send(try login("a"), from: id)
        let early = door.hub.handOver(id, at: door.now)
        #expect(early == nil)
        #expect(door.flush(id) > 0)
        let handed = door.hub.handOver(id, at: door.now)
        #expect(handed != nil)
    }
}
