internal import Dispatch
internal import RelayAccess
internal import RelayCore
import RelayIO

/// Who may come in: the keys of a relay, and the rules that the hub goes by.
final class Gate: Sendable {
    private let access: RelayServer.Access
    private let ring: Lock<KeyRing?>

    /// - Parameter folder: where keys are kept; `nil`: nowhere.
    init(_ access: RelayServer.Access, folder: String?) throws(RelayServerError) {
        self.access = access
        if case .keys = access {
            ring = Lock(try KeyRing(folder: folder))
        } else {
            ring = Lock(nil)
        }
    }

    var keys: AccessKeys? { ring.withLock { $0?.keys } }

    var rules: AccessRules { rules(keys) }

    private func rules(_ keys: AccessKeys?) -> AccessRules {
        switch access {
        case .open: .open
        case .tokens(let rules): AccessRules(keys: [], tokens: rules)
        case .keys(let role, let tokens): AccessRules(keys: [.init(keys!.join, role), .init(keys!.host, .moderator)], tokens: tokens)
        }
    }

    /// Draws keys, keeps them, then lets them count. Waits for the engine's queue: not to be called on it.
    func rotate(_ kinds: Set<AccessKeys.Kind>, endsSessions: Bool, _ engine: Engine) throws(RelayServerError) -> AccessKeys {
        // One after the other: the engine gets the newest keys last.
        try ring.withLock { (kept) throws(RelayServerError) in
            guard var ring = kept else { throw RelayServerError(text: "this relay has no keys") }
            defer { kept = ring }
            do throws(RelayServerError) {
                for kind in AccessKeys.Kind.allCases where kinds.contains(kind) { try ring.rotate(kind) }
            } catch {
                // What was kept before that counts.
                engine.setAccessNow(rules(ring.keys), endsSessions: endsSessions)
                throw error
            }
            engine.setAccessNow(rules(ring.keys), endsSessions: endsSessions)
            return ring.keys
        }
    }

    // MARK: - For the control socket

    func control(_ address: RelayAddress) -> ControlAnswer {
        guard let keys else { return .refused("this relay has no keys") }
        return .keys(KeysReport(address: address, role: joinRole, keys: keys))
    }

    func rotate(_ kinds: Set<AccessKeys.Kind>, endsSessions: Bool, _ engine: Engine, _ address: RelayAddress) -> ControlAnswer {
        do throws(RelayServerError) {
            return .keys(KeysReport(address: address, role: joinRole, keys: try rotate(kinds, endsSessions: endsSessions, engine)))
        } catch {
            return .refused(error.text)
        }
    }

    private var joinRole: Role { if case .keys(let role, _) = access { role } else { .editor } }
}
