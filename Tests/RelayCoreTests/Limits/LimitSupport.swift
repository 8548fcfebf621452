import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

// Both sides of every limit: at it, it passes; one over is refused with code, limit and the value that was found, and
// nothing has changed.

extension HubDriver {
    /// A hub that lets a test ask as often as it likes.
    static func patient(_ change: (inout Configuration) -> Void = { _ in }) -> HubDriver {
        var configuration = Configuration()
        configuration.limits.requestsPerSecond = 100_000
        configuration.requestsBurst = 100_000
        change(&configuration)
        return HubDriver(configuration: configuration)
    }
}

func name(_ text: String) -> Name { try! Name(text) }

func passes(_ outcome: TestClient.Outcome) -> Bool {
    if case .frame(.answer, _) = outcome { true } else { false }
}

func refused(
    _ outcome: TestClient.Outcome, _ code: ErrorCode, limit: Int, actual: Int, _ what: String = "",
    at place: SourceLocation = #_sourceLocation
) {
    guard case .error(let error) = outcome else {
        Issue.record("\(what) not refused: \(outcome)", sourceLocation: place)
        return
    }
    refused(error, code, limit: limit, actual: actual, what, at: place)
}

func refused(
    _ error: ErrorBody?, _ code: ErrorCode, limit: Int, actual: Int, _ what: String = "", at place: SourceLocation = #_sourceLocation
) {
    let found = error.map { "\(what) \($0)" } ?? "\(what) not refused"
    #expect(error?.code == code && error?.limit == UInt64(limit) && error?.actual == UInt64(actual), "\(found)", sourceLocation: place)
}

extension TestClient {
    @discardableResult
    func setStates(_ states: [String: String], _ channel: String = "lesson", kind: ChannelKind = .message) -> Outcome {
        request(.setStates) { SetStatesRequest(id: $0, kind: kind, channel: name(channel), states: states) }
    }

    func states(of user: String, _ channel: String = "lesson", kind: ChannelKind = .message) -> [String: String]? {
        let outcome = request(.getStates) { GetStatesRequest(id: $0, kind: kind, channel: name(channel), user: name(user)) }
        return answer(StatesAnswer.self, outcome)?.states
    }

    @discardableResult
    func leave(_ channel: String, _ type: FrameType = .unsubscribe) -> Outcome {
        request(type) { ChannelRequest(id: $0, channel: name(channel)) }
    }

    /// Presence events that have come and were not looked at.
    func presence() -> [PresenceEvent] { takeOthers(.presence).map { Self.decode(PresenceEvent.self, $0.body) } }

    /// A sign of life.
    func ping() { driver.send(Frame(.ping), from: id) }
}
