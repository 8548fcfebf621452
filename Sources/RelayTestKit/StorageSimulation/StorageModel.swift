internal import RelayCore
import RelayPrimitives
internal import RelayWire

/// All metadata, locks and decisions of moderators at one moment, as they must be. Names are those of `TestClient`: `lesson` and
/// `stream:lesson`
/// are channels, `user:anna` is a user; `lesson/pen` is a lock.
struct StorageModel: Equatable {
    var sets: [String: MetadataModel] = [:]
    var locks: [String: LockModel] = [:]
    var decisions = DecisionsModel()

    /// The locks of one channel, by their own names.
    func locks(of channel: String) -> [String: LockModel] {
        var found: [String: LockModel] = [:]
        for (name, lock) in locks where LockName(name).channel == channel { found[LockName(name).lock] = lock }
        return found
    }
}

struct LockName {
    var channel: String
    var lock: String

    init(_ text: String) {
        let parts = text.split(separator: "/")
        (channel, lock) = (String(parts[0]), String(parts[1]))
    }
}

struct ItemModel: Equatable, CustomStringConvertible {
    var value: String
    var revision: UInt64
    var author: String?
    var time: UInt64?

    var description: String { "\(revision): \(value.prefix(12))… \(value.utf8.count) B \(author ?? "-") \(time ?? 0)" }
}

struct MetadataModel: Equatable {
    var majorRevision: UInt64 = 0
    var items: [String: ItemModel] = [:]

    var byteCount: Int { items.reduce(0) { $0 + $1.key.utf8.count + $1.value.value.utf8.count } }
}

struct LockModel: Equatable {
    var ttlMs: Int
    /// Which device of a user: `StorageUser.name`.
    var owner: String?
    /// The place of the change that gave it to its owner, among all that were accepted.
    var grant = 0
}

/// One frame that somebody must be shown.
enum Told: Equatable {
    enum Answer: Equatable {
        case empty
        case majorRevision(UInt64)
        /// Of the acquisition at this place.
        case fencing(Int)
    }

    case answer(UInt32, Answer)
    /// One of these codes: which condition is looked at first is not promised.
    case refused(UInt32, Set<ErrorCode>, limit: Int? = nil, actual: Int? = nil)
    case metadata(String, isSnapshot: Bool, majorRevision: UInt64, items: [String: ItemModel], removed: Set<String> = [])
    case locks(String, LocksEvent.Event, [String: LockModel], user: String? = nil)
}

/// A change that was accepted and is not known to be durable, or an answer that waits behind such.
struct AcceptedChange {
    var after: StorageModel
    /// A record of the journal; no record: only an answer that must not overtake.
    var isRecord = true
    var told: Told?
    var asker: Asker?
    /// What the asker is told instead of its answer.
    var refusal: Told?
    var lock: String?
    /// Users who waited for a lock that is removed.
    var waiters: [Waiter] = []
}

/// Who asked, on which connection.
struct Asker {
    var user: StorageUser
    var client: TestClient
    var id: UInt32
    var answer = Told.Answer.empty
    /// It is answered when the disk has nothing of it any more. [AC14]
    var waitsForErasure = false

    /// Whether it is still there to be answered.
    var isThere: Bool { user.client === client }
}

/// Something that is due at a moment; of the same moment in the order in which they were set.
struct Timer {
    var at: Instant
    var order: Int
}

struct Waiter {
    var asker: Asker
    var timer: Timer
}

/// Who waits for a lock, and when it leaves an owner who is not there.
struct LockLine {
    var waiters: [Waiter] = []
    var expiry: Timer?
}

/// A device of a user, its connection if it has one, and what it must be told on it.
final class StorageUser {
    /// `user-3`, or `user-3 b` for one more device of that user.
    let name: String
    let user: String
    /// `nil`: the one without a name.
    let device: String?
    let presenceTimeoutMs: Int
    var client: TestClient?
    var token: String?
    var expected: [Told] = []
    /// Owners of locks as this connection has been told.
    var owners: [String: String] = [:]

    init(_ user: String, device: String? = nil, presenceTimeoutMs: Int) {
        self.user = user
        self.device = device.map { String(repeating: $0, count: 16) }
        name = Self.name(of: user, self.device)
        self.presenceTimeoutMs = presenceTimeoutMs
    }

    static func name(of user: String, _ device: String?) -> String {
        guard let device, device != String(repeating: "0", count: 16) else { return user }
        return "\(user) \(device.prefix(1))"
    }
}
