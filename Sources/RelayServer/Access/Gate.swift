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
            var rotated: [AccessKeys.Kind] = []
            do throws(RelayServerError) {
                for kind in AccessKeys.Kind.allCases where kinds.contains(kind) {
                    try ring.rotate(kind)
                    rotated.append(kind)
                }
            } catch {
                // What was kept before that counts.
                count(ring.keys, rotated, endsSessions: endsSessions, engine)
                throw error
            }
            count(ring.keys, rotated, endsSessions: endsSessions, engine)
            return ring.keys
        }
    }

    /// Lets keys count, and logs it as what moderators do is: which were drawn, and nothing that they say.
    private func count(_ keys: AccessKeys, _ rotated: [AccessKeys.Kind], endsSessions: Bool, _ engine: Engine) {
        engine.setAccessNow(rules(keys), endsSessions: endsSessions)
        guard !rotated.isEmpty else { return }
        let names = rotated.map { "the \($0.rawValue) key" }.joined(separator: " and ")
        engine.auditNow("operator rotated \(names)" + (endsSessions ? ", sessions ended" : ""))
    }

    // MARK: - For the control socket

    func control(_ address: RelayAddress, _ web: RelayServer.Web) -> ControlAnswer {
        guard let keys else { return .refused("this relay has no keys") }
        return .keys(KeysReport(address: address, web: web, role: joinRole, keys: keys))
    }

    func rotate(
        _ kinds: Set<AccessKeys.Kind>, endsSessions: Bool, _ engine: Engine, _ address: RelayAddress, _ web: RelayServer.Web
    ) -> ControlAnswer {
        do throws(RelayServerError) {
            return .keys(KeysReport(address: address, web: web, role: joinRole, keys: try rotate(kinds, endsSessions: endsSessions, engine)))
        } catch {
            return .refused(error.text)
        }
    }

    private var joinRole: Role { if case .keys(let role, _) = access { role } else { .editor } }
}

extension Engine {
    /// Logs what an operator did. Waits for the queue: not to be called on it.
    nonisolated fileprivate func auditNow(_ words: String) {
        executor.queue.sync { assumeIsolated { $0.log(LogLine(audit: words, wallMilliseconds: Self.now().wallMilliseconds)) } }
    }
}
