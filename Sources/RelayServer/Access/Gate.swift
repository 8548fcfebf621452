internal import Dispatch
internal import RelayCore
import RelayIO
internal import RelayRights
import RelaySystem
import RelayWire

/// Who may come in: the keys of a relay, and the rules that the hub goes by.
@available(macOS 15, iOS 18, *)
final class Gate: Sendable {
    /// The mode stays that of the start.
    private let accessRules: Mutex<WhiteboardRelay.Access>
    private var access: WhiteboardRelay.Access { accessRules.withLock { $0 } }
    var mode: String { access.mode }
    /// The keys that count. Held to read or replace them and no longer: whoever logs may ask for them.
    private let current: Mutex<AccessKeys?>
    /// Keys are drawn one after the other: the engine gets the newest last.
    private let turns = DispatchQueue(label: "boardrelay.gate")
    /// Changed on `turns` only.
    private let ring: Mutex<KeyRing?>
    private let changed: @Sendable () -> Void
    private let folder: String?

    /// - Parameters:
    ///   - folder: where keys are kept; `nil`: nowhere.
    ///   - changed: called when keys were drawn anew and count.
    init(_ access: WhiteboardRelay.Access, folder: String?, changed: @escaping @Sendable () -> Void = {}) throws(RelayServerError) {
        accessRules = Mutex(access)
        self.folder = folder
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

    /// Other secrets of tokens hold, another role of the join key, and the keys that stand in the data folder now. Whoever is in stays.
    /// Waits for the engine's queue: not to be called on it.
    ///
    /// - Throws: when the mode is another one, or keys cannot be read; then all is as before.
    func apply(_ access: WhiteboardRelay.Access, _ engine: Engine) throws(RelayServerError) {
        let result = turns.sync { () -> Result<Bool, RelayServerError> in
            do throws(RelayServerError) {
                guard access.mode == self.access.mode else { throw RelayServerError(text: "the mode of access is that of the start") }
                var ring = ring.withLock { $0 }
                if ring != nil, folder != nil { ring = try KeyRing(folder: folder, draws: false) }
                let before = keys
                accessRules.withLock { $0 = access }
                self.ring.withLock { [ring] in $0 = ring }
                let read = AccessKeys.Kind.allCases.filter { before?[$0] != ring?.keys[$0] }
                engine.setAccessNow(rules(ring?.keys), endsSessions: false)
                current.withLock { $0 = ring?.keys }
                let names = read.map { "the \($0.rawValue) key" }.joined(separator: " and ")
                if !read.isEmpty { engine.auditNow("operator replaced \(names)") }
                return .success(!read.isEmpty)
            } catch {
                return .failure(error)
            }
        }
        if try result.get() { changed() }
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
    nonisolated func auditNow(_ words: String) {
        executor.queue.sync { assumeIsolated { $0.log(LogLine(audit: words, wallMilliseconds: Self.now().wallMilliseconds)) } }
    }
}
