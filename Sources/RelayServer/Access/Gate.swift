internal import RelayAccess
internal import RelayCore
import RelayIO

/// Who may come in: the keys of a relay, and the rules that the hub goes by.
actor Gate {
    private let access: RelayServer.Access
    private var ring: KeyRing?

    /// - Parameter folder: where keys are kept; `nil`: nowhere.
    init(_ access: RelayServer.Access, folder: String?) throws(RelayServerError) {
        self.access = access
        if case .keys = access { ring = try KeyRing(folder: folder) }
    }

    var keys: AccessKeys? { ring?.keys }

    var rules: AccessRules {
        switch access {
        case .open: .open
        case .tokens(let rules): AccessRules(keys: [], tokens: rules)
        case .keys(let role, let tokens):
            AccessRules(keys: [.init(ring!.keys.join, role), .init(ring!.keys.host, .moderator)], tokens: tokens)
        }
    }

    func rotate(_ kinds: Set<AccessKeys.Kind>, endsSessions: Bool, _ engine: Engine) async throws(RelayServerError) -> AccessKeys {
        guard var ring else { throw RelayServerError(text: "this relay has no keys") }
        for kind in AccessKeys.Kind.allCases where kinds.contains(kind) {
            try ring.rotate(kind)
            self.ring = ring
        }
        let rules = rules
        await engine.setAccess(rules, endsSessions: endsSessions)
        return ring.keys
    }

    // MARK: - For the control socket

    func control(_ address: RelayAddress) -> ControlAnswer {
        guard let keys else { return .refused("this relay has no keys") }
        return .keys(KeysReport(address: address, role: joinRole, keys: keys))
    }

    func rotate(_ kinds: Set<AccessKeys.Kind>, endsSessions: Bool, _ engine: Engine, _ address: RelayAddress) async -> ControlAnswer {
        do throws(RelayServerError) {
            return .keys(KeysReport(address: address, role: joinRole, keys: try await rotate(kinds, endsSessions: endsSessions, engine)))
        } catch {
            return .refused(error.text)
        }
    }

    private var joinRole: Role { if case .keys(let role, _) = access { role } else { .editor } }
}
