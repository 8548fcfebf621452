import RelaySystem
import Testing

@testable import RelayIO

@Suite("Which address of a host is tried when") struct AddressRaceTests {
    /// What happens, and what is to be done then: an address begins, `wait MOMENT`, or `over`. Names that begin alike are of one family.
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var addresses: [String]
        /// Milliseconds, and how many of the addresses that began have failed by then.
        var events: [(moment: UInt64, failed: Int, does: [String])]
    }

    static let rows = [
        Row(testDescription: "both families have their turns", addresses: ["6a", "6b", "6c", "4a", "4b"], events: [
            (0, 0, ["6a", "wait 250"]), (250, 0, ["4a", "wait 500"]), (500, 0, ["6b", "wait 750"]), (750, 0, ["4b", "wait 1000"]),
            (1000, 0, ["6c", "wait 10000"]), (10000, 0, ["over"]),
        ]),
        Row(testDescription: "the next one begins when one has failed, not at its time", addresses: ["6a", "4a", "4b"], events: [
            (0, 0, ["6a", "wait 250"]), (3, 1, ["4a", "wait 253"]), (200, 0, ["wait 253"]), (253, 0, ["4b", "wait 10000"]),
        ]),
        Row(testDescription: "the one that began early may fail while a later one runs", addresses: ["6a", "4a", "6b"], events: [
            (0, 0, ["6a", "wait 250"]), (250, 0, ["4a", "wait 500"]), (260, 1, ["6b", "wait 10000"]), (270, 1, ["wait 10000"]),
            (280, 1, ["over"]),
        ]),
        Row(testDescription: "all that fail are over at once", addresses: ["6a", "4a"], events: [
            (0, 0, ["6a", "wait 250"]), (1, 1, ["4a", "wait 10000"]), (2, 1, ["over"]),
        ]),
        Row(testDescription: "the time is one for all", addresses: ["6a", "4a"], events: [(10000, 0, ["over"])]),
        Row(testDescription: "a host without an address", addresses: [], events: [(0, 0, ["over"])]),
    ]

    @Test("addresses begin in turn, after 250 ms or a failure, within one time for all", arguments: rows)
    func turns(row: Row) {
        var race = AddressRace(row.addresses, end: 10_000 * 1_000_000) { $0.first == $1.first }
        for event in row.events {
            for _ in 0..<event.failed { race.failed() }
            var done: [String] = []
            steps: while true {
                switch race.step(at: event.moment * 1_000_000) {
                case .begin(let address): done.append(address)
                case .wait(let moment):
                    done.append("wait \(moment / 1_000_000)")
                    break steps
                case .over:
                    done.append("over")
                    break steps
                }
            }
            #expect(done == event.does, "at \(event.moment)")
        }
    }
}

@Suite("Connecting to a host of several addresses", .timeLimit(.minutes(5))) struct ConnectorTests {
    /// What an address of this machine does with those who connect.
    enum Port: Sendable {
        case answers, refuses
        /// Its line is full: the system passes over who else comes.
        case isSilent
    }

    /// A listening socket of one address, or the place of one that is gone.
    private final class Place {
        let address: SocketAddress
        private var descriptors: [Int32] = []

        init(_ host: String, _ port: Port) throws {
            let any = try SocketAddress.resolve(host: host, port: 0)[0]
            let listener = socket(any.family, SocketConstants.stream, 0)
            descriptors.append(listener)
            guard any.withPointer({ bind(listener, $0, $1) }) == 0 else { throw SocketAddress.Failure("bind \(host)", code: errno) }
            address = SocketAddress { _ = getsockname(listener, $0, &$1) }
            // Without `listen` the port is taken, and whoever connects is refused.
            guard port != .refuses else { return }
            try #require(listen(listener, port == .isSilent ? 0 : 16) == 0)
            guard port == .isSilent else { return }
            for _ in 0..<8 {
                let filler = socket(any.family, SocketConstants.stream, 0)
                descriptors.append(filler)
                keepFromBlocking(filler)
                _ = address.withPointer { connect(filler, $0, $1) }
            }
        }

        deinit { for descriptor in descriptors { systemClose(descriptor) } }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var ports: [(host: String, port: Port)]
        /// Which of them the connection leads to.
        var winner: Int?
        var timeoutMilliseconds = 300_000
    }

    static let rows = [
        Row(testDescription: "one that answers", ports: [("127.0.0.1", .answers)], winner: 0),
        Row(testDescription: "::1 is silent, 127.0.0.1 answers", ports: [("::1", .isSilent), ("127.0.0.1", .answers)], winner: 1),
        Row(testDescription: "::1 refuses, 127.0.0.1 answers", ports: [("::1", .refuses), ("127.0.0.1", .answers)], winner: 1),
        Row(
            testDescription: "two are silent, the third answers",
            ports: [("::1", .isSilent), ("127.0.0.1", .isSilent), ("127.0.0.2", .answers)], winner: 2),
        Row(testDescription: "all refuse", ports: [("::1", .refuses), ("127.0.0.1", .refuses)]),
        Row(
            testDescription: "one is silent and one refuses", ports: [("::1", .isSilent), ("127.0.0.1", .refuses)],
            timeoutMilliseconds: 300),
        Row(testDescription: "no time at all", ports: [("127.0.0.1", .answers), ("::1", .answers)], timeoutMilliseconds: 0),
    ]

    /// Whoever gives the first address all the time fails after five minutes.
    @Test("the first address that connects wins, and a failure names each address", arguments: rows)
    func wins(row: Row) throws {
        let places = try row.ports.map { try Place($0.host, $0.port) }
        do throws(SocketAddress.Failure) {
            let descriptor = try Connector.connect(toFirstOf: places.map(\.address), timeoutMilliseconds: row.timeoutMilliseconds)
            defer { systemClose(descriptor) }
            let peer = SocketAddress { _ = getpeername(descriptor, $0, &$1) }
            #expect(peer.description == row.winner.map { places[$0].address.description })
        } catch {
            #expect(row.winner == nil, "\(error)")
            guard row.timeoutMilliseconds > 0 else {
                #expect(error.description == "addresses without a turn within 0 ms: 2")
                return
            }
            for (place, port) in zip(places, row.ports) {
                let reason = SystemError.text(port.port == .refuses ? ECONNREFUSED : ETIMEDOUT)
                #expect(error.description.contains("cannot connect to \(place.address): \(reason)"), "\(error)")
            }
        }
    }

    @Test("an attempt that is cancelled ends before its time")
    func cancelled() throws {
        let place = try Place("127.0.0.1", .isSilent)
        var asked = 0
        let failure = #expect(throws: SocketAddress.Failure.self) {
            try Connector.connect(toFirstOf: [place.address], timeoutMilliseconds: 300_000) {
                asked += 1
                return asked > 3
            }
        }
        #expect(failure?.code == ECANCELED)
    }
}
