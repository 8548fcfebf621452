package import RelayCore
package import RelayWire
package import RelayTesting

/// One connection to a `HubDriver` as a test writes it down: requests out, frames in.
package final class TestClient {
    package let driver: HubDriver
    package let id: ConnectionID
    package let user: String
    private var lastRequest: UInt32 = 0
    package var number: UInt64 = 0
    package private(set) var welcome: Welcome?

    /// Connects and logs in.
    ///
    /// - Parameter code: in place of `user`.
    package init(
        _ driver: HubDriver, _ user: String, instance: String = "00000000000000aa", device: String? = nil,
        onlyDevice: Bool? = nil, lastNumber: UInt64? = nil, resume: String? = nil,
        presenceTimeoutMs: Int? = nil, secret: String? = nil, code: String? = nil, key: String? = nil, token: String? = nil,
        joinCode: String? = nil, goesOn: Bool = false, readerLimits: ReaderLimits? = nil, asWebSocket: Bool = false,
        from address: AddressKey = .local
    ) {
        self.driver = driver
        self.user = user
        id = driver.open(asWebSocket: asWebSocket, from: address)
        login(
            instance: instance, device: device, onlyDevice: onlyDevice, lastNumber: lastNumber, resume: resume,
            presenceTimeoutMs: presenceTimeoutMs, secret: secret, code: code, key: key, token: token, joinCode: joinCode,
            goesOn: goesOn, readerLimits: readerLimits)
    }

    /// Sends a login, the first one or one after a refusal. What comes before and behind `welcome` is in `others`.
    ///
    /// - Returns: the request's id.
    @discardableResult
    package func login(
        instance: String = "00000000000000aa", device: String? = nil, onlyDevice: Bool? = nil,
        lastNumber: UInt64? = nil, resume: String? = nil, presenceTimeoutMs: Int? = nil,
        secret: String? = nil, code: String? = nil, key: String? = nil, token: String? = nil, joinCode: String? = nil,
        goesOn: Bool = false, readerLimits: ReaderLimits? = nil
    ) -> UInt32 {
        let request = LoginRequest(
            id: nextRequest(), capabilities: goesOn ? ["later", "goOn"] : nil,
            user: code == nil ? try! Name(user) : nil, secret: secret, code: code, key: key, token: token, joinCode: joinCode,
            instance: instance, device: device, onlyDevice: onlyDevice, lastNumber: lastNumber, presenceTimeoutMs: presenceTimeoutMs,
            readerLimits: readerLimits,
            resume: resume.map { ResumeRequest(token: $0) })
        driver.send(.json(.login, request), from: id)
        others += frames()
        if let index = others.firstIndex(where: { $0.type == FrameType.welcome.rawValue }) {
            welcome = Self.decode(Welcome.self, others.remove(at: index).body)
        }
        return request.id
    }

    package enum Outcome: Equatable {
        case frame(FrameType, [UInt8])
        case error(ErrorBody)
        case nothing
    }

    /// All frames that wait.
    package func frames() -> [Frame] { driver.received(id) }

    package func frames(_ type: FrameType) -> [Frame] { frames().filter { $0.type == type.rawValue } }

    /// Sends a request and gives its answer or error; other frames that came are in `others`.
    @discardableResult
    package func request(_ type: FrameType, _ make: (UInt32) -> some JSONObject) -> Outcome {
        let wanted = nextRequest()
        driver.send(.json(type, make(wanted)), from: id)
        return outcome(wanted)
    }

    package func nextRequest() -> UInt32 {
        lastRequest += 1
        return lastRequest
    }

    /// The answer or error to a request that was sent; `nothing` if there is none yet.
    package func outcome(_ wanted: UInt32) -> Outcome {
        var outcome = Outcome.nothing
        let waiting = others + frames()
        others = []
        for frame in waiting {
            switch FrameType(rawValue: frame.type) {
            case .answer? where Self.decode(RequestID.self, frame.body).id == wanted: outcome = .frame(.answer, frame.body)
            case .error?:
                let body = Self.decode(ErrorBody.self, frame.body)
                if body.id == wanted { outcome = .error(body) } else { others.append(frame) }
            default: others.append(frame)
            }
        }
        return outcome
    }

    package var others: [Frame] = []

    package func takeOthers(_ type: FrameType) -> [Frame] {
        others += frames()
        defer { others = [] }
        return others.filter { $0.type == type.rawValue }
    }

    package func answer<T: JSONObject>(_ type: T.Type, _ outcome: Outcome) -> T? {
        guard case .frame(.answer, let body) = outcome else { return nil }
        return Self.decode(type, body)
    }

    package static func decode<T: JSONObject>(_ type: T.Type, _ body: [UInt8]) -> T {
        do {
            return try body.withUnsafeBytes { bytes throws(WireError) in
                try JSONBody.decode(type, from: bytes, bytesMax: Limits.frameBodyBytesMax)
            }
        } catch {
            preconditionFailure("the hub wrote what is no \(type): \(error)")
        }
    }

    // MARK: - Shorthands

    @discardableResult
    package func subscribe(_ channel: String, features: [String]? = nil, quiet: Bool? = nil, since: Since? = nil) -> Outcome {
        request(.subscribe) { SubscribeRequest(id: $0, channel: try! Name(channel), features: features, quiet: quiet, since: since) }
    }

    @discardableResult
    package func join(_ channel: String, features: [String]? = nil, quiet: Bool? = nil, token: String? = nil) -> Outcome {
        request(.join) { JoinRequest(id: $0, channel: try! Name(channel), features: features, quiet: quiet, token: token) }
    }

    @discardableResult
    package func renew(key: String? = nil, token: String? = nil) -> Outcome {
        request(.renew) { RenewRequest(id: $0, key: key, token: token) }
    }

    @discardableResult
    package func joinTopic(_ channel: String, _ topic: String, priority: TopicPriority? = nil, lifetimeMs: Int? = nil) -> UInt32 {
        let outcome = request(.joinTopic) {
            JoinTopicRequest(id: $0, channel: try! Name(channel), topic: try! Name(topic), priority: priority, lifetimeMs: lifetimeMs)
        }
        return answer(JoinTopicAnswer.self, outcome)?.flow ?? 0
    }

    @discardableResult
    package func subscribeTopic(_ channel: String, _ topic: String, users: [String]? = nil) -> Outcome {
        request(.subscribeTopic) { TopicUsersRequest(id: $0, channel: try! Name(channel), topic: try! Name(topic), users: users) }
    }

    @discardableResult
    package func setReaderLimits(_ limits: ReaderLimits) -> Outcome {
        request(.setReaderLimits) { SetReaderLimitsRequest(id: $0, limits: limits) }
    }

    /// Publishes under the next number, without reading what comes.
    package func publish(_ channel: String, _ payload: [UInt8], customType: String? = nil, flags: FrameFlags = []) {
        number += 1
        driver.send(.publish(number: number, channel: channel, customType: customType, flags: flags, payload: payload), from: id)
    }

    package func packet(_ flow: UInt32, _ payload: [UInt8], slot: UInt32? = nil, flags: FrameFlags = []) {
        driver.send(.publishPacket(flow: flow, slot: slot, flags: flags, payload: payload), from: id)
    }

    package func errors() -> [ErrorBody] { frames(.error).map { Self.decode(ErrorBody.self, $0.body) } }

    /// The code of the refusal, if it is one.
    package static func code(_ outcome: Outcome) -> ErrorCode? {
        guard case .error(let error) = outcome else { return nil }
        return error.code
    }

    package func closing() -> CloseNotice? { frames(.closing).first.map { Self.decode(CloseNotice.self, $0.body) } }
}
