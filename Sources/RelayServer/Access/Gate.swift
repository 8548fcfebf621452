internal import Dispatch
internal import RelayCore
import RelayIO
internal import RelayRights
import RelaySystem
import RelayWire

/// Who may come in: the keys of a relay, and the rules that the hub goes by.
@available(macOS 15, iOS 18, *)
final class Gate: Sendable {
    private let access: WhiteboardRelay.Access
    /// The keys that count. Held to read or replace them and no longer: whoever logs may ask for them.
    private let current: Mutex<AccessKeys?>
    /// Keys are drawn one after the other: the engine gets the newest last.
    private let turns = DispatchQueue(label: "boardrelay.gate")
    /// Changed on `turns` only.
    private let ring: Mutex<KeyRing?>
    private let changed: @Sendable () -> Void

    /// - Parameters:
    ///   - folder: where keys are kept; `nil`: nowhere.
    ///   - changed: called when keys were drawn anew and count.
    init(_ access: WhiteboardRelay.Access, folder: String?, changed: @escaping @Sendable () -> Void = {}) throws(RelayServerError) {
        self.access = access
        var ring: KeyRing?
        if case .keys = access { ring = try KeyRing(folder: folder) }
        self.ring = Mutex(ring)
        current = Mutex(ring?.keys)
        self.changed = changed
    }

    var keys: AccessKeys? { current.withLock { $0 } }

    var rules: AccessRules { rules(keys) }

    private func rules(_ keys: AccessKeys?) -> AccessRules {
        switch access {
        case .open: .open
        case .tokens(let rules): AccessRules(keys: [], tokens: rules)
        case .keys(let role, let tokens):
            AccessRules(keys: [.init(keys!.join, role), .init(keys!.host, .moderator)], tokens: tokens, joinKey: keys!.join)
        }
    }

    /// Draws keys, keeps them, lets them count, then tells `changed`. Waits for the engine's queue: not to be called on it.
    ///
    /// - Throws: when the relay has no keys, or one cannot be kept; those that were kept before that count.
    func rotate(_ kinds: Set<AccessKeys.Kind>, endsSessions: Bool, _ engine: Engine) throws(RelayServerError) -> AccessKeys {
        let result = turns.sync { () -> Result<AccessKeys, RelayServerError> in
            guard var ring = ring.withLock({ $0 }) else { return .failure(RelayServerError(text: "this relay has no keys")) }
            var rotated: [AccessKeys.Kind] = [], failure: RelayServerError?
            do throws(RelayServerError) {
                for kind in AccessKeys.Kind.allCases where kinds.contains(kind) {
                    try ring.rotate(kind)
                    rotated.append(kind)
                }
            } catch {
                failure = error
            }
            self.ring.withLock { [ring] in $0 = ring }
            count(ring.keys, rotated, endsSessions: endsSessions, engine)
            return failure.map { .failure($0) } ?? .success(ring.keys)
        }
        changed()
        return try result.get()
    }

    /// Lets keys count, and logs it as what moderators do is: which were drawn, and nothing that they say.
    private func count(_ keys: AccessKeys, _ rotated: [AccessKeys.Kind], endsSessions: Bool, _ engine: Engine) {
        engine.setAccessNow(rules(keys), endsSessions: endsSessions)
        current.withLock { $0 = keys }
        guard !rotated.isEmpty else { return }
        let names = rotated.map { "the \($0.rawValue) key" }.joined(separator: " and ")
        engine.auditNow("operator rotated \(names)" + (endsSessions ? ", sessions ended" : ""))
    }

    // MARK: - For the control socket

    func control(_ address: RelayAddress, _ web: WhiteboardRelay.Web) -> any JSONObject {
        guard let keys else { return ControlRefusal("this relay has no keys") }
        return KeysReport(address: address, web: web, role: joinRole, keys: keys)
    }

    func rotate(
        _ kinds: Set<AccessKeys.Kind>, endsSessions: Bool, _ engine: Engine, _ address: RelayAddress, _ web: WhiteboardRelay.Web
    ) -> any JSONObject {
        do throws(RelayServerError) {
            return KeysReport(address: address, web: web, role: joinRole, keys: try rotate(kinds, endsSessions: endsSessions, engine))
        } catch {
            return ControlRefusal(error.text)
        }
    }

    private var joinRole: Role { if case .keys(let role, _) = access { role } else { .editor } }
}

@available(macOS 15, iOS 18, *)
extension Engine {
    /// Logs what an operator did. Waits for the queue: not to be called on it.
    nonisolated fileprivate func auditNow(_ words: String) {
        executor.queue.sync { assumeIsolated { $0.log(LogLine(audit: words, wallMilliseconds: Self.now().wallMilliseconds)) } }
    }
}
