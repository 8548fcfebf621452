import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// A lesson with everything in it that a request can name, its moderator, and somebody who wants something.
private struct Lesson {
    let driver = HubDriver(access: TestAccess.rules)
    let host: TestClient
    let anna: TestClient

    init(_ credential: Credential) {
        host = TestClient(driver, "host", secret: TestAccess.secret(of: "host"), key: TestAccess.hostKey)
        host.subscribe("lesson", features: ["messages", "presence", "metadata", "locks"])
        host.join("lesson")
        _ = host.joinTopic("lesson", "points")
        host.publish("lesson", [1])
        host.retain("lesson", "title", [2])
        for owner in ["lesson", "stream:lesson", "user:host"] { host.set(owner, [("title", "Geometry")]) }
        for lock in ["free", "held"] { host.setLock("lesson", lock) }
        host.acquire("lesson", "held")
        anna = TestClient(
            driver, "anna", secret: TestAccess.secret(of: "anna"),
            token: driver.token("anna", role: credential.access.role, grants: credential.access.grants.words))
        _ = (host.frames(), host.others = [])
        _ = (anna.frames(), anna.others = [])
    }

    /// Everything that came, as it came.
    func answers(to probe: Probe, _ named: Named = .there) -> [Frame] {
        driver.send(probe.make(named), from: anna.id)
        return anna.frames()
    }
}

private func refusal(_ frames: [Frame]) -> ErrorBody? {
    frames.first { $0.type == FrameType.error.rawValue }.map { TestClient.decode(ErrorBody.self, $0.body) }
}

@Suite struct AccessMatrixTests {
    @Test("[AC6] the table of requests and rights is that of the document")
    func documented() throws {
        let table = try AccessRow.documented()
        #expect(table == AccessRow.all.map { [$0.request, $0.right] })
        for row in AccessRow.all {
            let named = Set(row.request.matches(of: /`([a-zA-Z]+)`/).map { String($0.output.1) }).subtracting(["presence"])
            let probed = Set(row.probes.map(\.type.name))
            #expect(named.subtracting(probed).subtracting(["releaseLock"]) == [], "requests of a row without a probe: \(row.request)")
        }
    }

    @Test("[AC6] every frame that a client sends is in the table, but for login")
    func complete() {
        let sent = Set(FrameType.allCases.filter { $0.sender != .relay })
        #expect(sent.subtracting(AccessRow.all.flatMap(\.probes).map(\.type)) == [.login])
    }

    @Test(
        "[AC5, AC6] of all requests exactly those pass that the table names for a role or right, and a refused one is seen by nobody",
        arguments: Credential.all)
    func matrix(credential: Credential) {
        var lesson = Lesson(credential)
        for row in AccessRow.all {
            for probe in row.probes {
                let frames = lesson.answers(to: probe)
                let error = refusal(frames)
                if row.allows(credential.access, probe, on: "lesson") {
                    #expect(error.map { probe.others.contains($0.code) } ?? true, "\(probe.name) with \(credential): \(error!.text)")
                    if row.need != .nothing || [.renew, .logout].contains(probe.type) { lesson = Lesson(credential) }
                } else {
                    #expect(error?.code == .notPermitted, "\(probe.name) with \(credential)")
                    #expect(frames.count == 1, "\(probe.name) with \(credential)")
                    #expect(error?.id == Probe.id || error?.number == UInt64(Probe.id))
                    #expect(lesson.host.frames().isEmpty, "\(probe.name) with \(credential) was seen")
                }
            }
        }
    }

    @Test("[SE1, AC5] without a login everything but login, ping and pong is loginRequired, whatever it names")
    func stranger() {
        for probe in AccessRow.all.flatMap(\.probes) where probe.type != .ping && probe.type != .pong {
            let lesson = Lesson(Credential(.reader))
            let stranger = lesson.driver.open()
            lesson.driver.send(probe.make(.there), from: stranger)
            let there = lesson.driver.received(stranger)
            #expect(there.count == 1 && refusal(there)?.code == .loginRequired, "\(probe.name)")
            lesson.driver.send(probe.make(.nowhere), from: stranger)
            #expect(lesson.driver.received(stranger) == there, "\(probe.name)")
            #expect(lesson.host.frames().isEmpty)
        }
    }

    @Test(
        "[AC5] a refusal is the same byte for byte, whether channel, board, lock, item and user are there or not",
        arguments: [
            Credential(.reader), Credential(["other": ["subscribe", "presence", "publish", "stream", "metadata", "lock", "clear"]]),
            Credential(["*": ["direct"]]),
        ])
    func identical(credential: Credential) {
        let lesson = Lesson(credential)
        var compared = 0
        for row in AccessRow.all where row.need != .nothing {
            for probe in row.probes where !row.allows(credential.access, probe, on: "lesson") {
                let there = lesson.answers(to: probe)
                #expect(refusal(there)?.code == .notPermitted)
                #expect(lesson.answers(to: probe, .nowhere) == there, "\(probe.name) with \(credential)")
                // Somebody else's, and one's own where one has none.
                var own = Named.there
                (own.user, own.lock, own.held) = ("ghost", "held", "free")
                #expect(lesson.answers(to: probe, own) == there, "\(probe.name) with \(credential)")
                compared += 1
            }
        }
        #expect(compared >= 20)
    }

    @Test("[AC5] over a rate the refusal for want of a right stays what it was: it is no way to see what is there")
    func rates() {
        let lesson = Lesson(Credential(.reader))
        let probe = AccessRow.all.flatMap(\.probes).first { $0.name == "publish" }!
        let first = lesson.answers(to: probe)
        for _ in 0..<200 { #expect(lesson.answers(to: probe) == first) }
        let write = AccessRow.all.flatMap(\.probes).first { $0.name == "setMetadata" }!
        let refused = lesson.answers(to: write)
        for _ in 0..<50 { #expect(lesson.answers(to: write) == refused) }
        #expect(lesson.answers(to: write, .nowhere) == refused)
    }

    @Test("[AC6] where and boards tell of the channels in which one has presence and subscribe, and of no others")
    func filtered() throws {
        let driver = HubDriver(access: TestAccess.rules)
        let host = TestClient(driver, "host", secret: TestAccess.secret(of: "host"), key: TestAccess.hostKey)
        for channel in ["board-1", "board-2", "secret"] {
            host.subscribe(channel)
            host.join(channel)
            host.retain(channel, "a", [1])
        }
        let anna = TestClient(
            driver, "anna", token: driver.token("anna", grants: ["board-1": ["subscribe"], "board-2": ["presence"], "board-*": ["clear"]]))
        let places = anna.answer(WhereAnswer.self, anna.request(.whereIs) { WhereRequest(id: $0, user: try! Name("host")) })
        #expect(try #require(places).channels.map(\.description) == ["message:board-2", "stream:board-2"])
        let boards = anna.answer(BoardsAnswer.self, anna.request(.boards) { PageRequest(id: $0) })
        #expect(try #require(boards).boards.map(\.channel) == ["board-1"])
    }

    @Test("[AC6] one's own lock may be given back without a right, another's is refused as one that is not there")
    func ownLock() {
        let lesson = Lesson(Credential(["lesson": ["lock"]]))
        lesson.anna.acquire("lesson", "free")
        lesson.anna.renew(token: lesson.driver.token("anna", grants: ["other": ["lock"]]))
        let held = lesson.anna.lock(.releaseLock, "lesson", "held"), missing = lesson.anna.lock(.releaseLock, "lesson", "none")
        #expect(TestClient.code(held) == .notPermitted && TestClient.code(missing) == .notPermitted)
        guard case .frame(.answer, _) = lesson.anna.lock(.releaseLock, "lesson", "free") else {
            return #expect(Bool(false), "not released")
        }
        #expect(TestClient.code(lesson.anna.lock(.releaseLock, "lesson", "free")) == .notPermitted)
    }
}
