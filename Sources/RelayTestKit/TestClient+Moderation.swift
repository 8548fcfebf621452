internal import RelayCore
import RelayMonitoring
package import RelayWire
package import RelayTesting

// Moderation as a test writes it down. [AC10–AC16]

extension TestClient {
    /// Of a user with the secret that goes with the id, by a key of `TestAccess`.
    package convenience init(_ driver: HubDriver, _ user: String, by key: String, resume: String? = nil, presenceTimeoutMs: Int? = 300_000)
    {
        self.init(driver, user, resume: resume, presenceTimeoutMs: presenceTimeoutMs, secret: TestAccess.secret(of: user), key: key)
    }

    @discardableResult
    package func setRole(_ user: String, _ role: String?) -> Outcome {
        request(.setRole) { SetRoleRequest(id: $0, user: try! Name(user), role: role) }
    }

    @discardableResult
    package func freeze(_ channel: String, _ frozen: Bool = true) -> Outcome {
        setMode(channel, .frozen, frozen)
    }

    @discardableResult
    package func setMode(_ channel: String, _ mode: ChannelMode, _ isOn: Bool) -> Outcome {
        request(.setMode) { SetModeRequest(id: $0, channel: try! Name(channel), mode: mode, on: isOn) }
    }

    @discardableResult
    package func end(_ user: String, reason: String? = nil) -> Outcome {
        request(.endSession) { EndSessionRequest(id: $0, user: try! Name(user), reason: reason) }
    }

    @discardableResult
    package func ban(_ user: String, forMs: Int? = nil) -> Outcome {
        request(.banUser) { BanUserRequest(id: $0, user: try! Name(user), forMs: forMs) }
    }

    @discardableResult
    package func unban(_ user: String) -> Outcome { request(.unbanUser) { UserRequest(id: $0, user: try! Name(user)) } }

    @discardableResult
    package func forget(_ user: String, withRecords: Bool? = nil) -> Outcome {
        request(.forgetUser) { ForgetUserRequest(id: $0, user: try! Name(user), withRecords: withRecords) }
    }

    /// All pages of so many.
    package func bans(limit: Int? = nil) -> [BanInfo] {
        var found: [BanInfo] = []
        var after: Name?
        repeat {
            guard let page = answer(BansAnswer.self, request(.getBans) { PageRequest(id: $0, after: after, limit: limit) }) else { break }
            found += page.bans
            after = page.next
        } while after != nil
        return found
    }

    /// One page, or why not.
    package func status(
        after user: String? = nil, limit: Int? = nil, asking asked: String? = nil, joinKey: Bool? = nil, hour: Bool? = nil
    ) -> Outcome {
        request(.status) {
            StatusRequest(
                id: $0, after: user.map { try! Name($0) }, limit: limit, user: asked.map { try! Name($0) }, joinKey: joinKey, hour: hour)
        }
    }

    /// What was told, and the users of all pages of so many.
    package func statusOfAll(limit: Int? = nil) -> (first: RelayStatus, users: [RelayStatus.User])? {
        var first: RelayStatus?
        var users: [RelayStatus.User] = []
        var after: String?
        repeat {
            guard let page = answer(StatusAnswer.self, status(after: after, limit: limit))?.status else { return nil }
            first = first ?? page
            users += page.users
            after = page.next
        } while after != nil
        return first.map { ($0, users) }
    }

    /// What it was told that it may, in order.
    package func accessChanges() -> [AccessChanged] { takeOthers(.accessChanged).map { Self.decode(AccessChanged.self, $0.body) } }

    /// What it was told of modes of channels, in order.
    package func modeChanges() -> [ModeChanged] { takeOthers(.modeChanged).map { Self.decode(ModeChanged.self, $0.body) } }

    /// Nothing that came counts.
    package func ignore() { _ = (frames(), others = []) }
}

extension HubDriver {
    /// What the log says of moderators.
    package var audit: [String] { log.filter { $0.auditedAt != nil }.map(\.text) }
}
