// Bodies about locks. [LK1–LK9]

/// `setLock`.
package struct SetLockRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var lock: Name
    package var ttlMs: Int?

    package init(id: UInt32, kind: ChannelKind, channel: Name, lock: Name, ttlMs: Int? = nil) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.lock = lock
        self.ttlMs = ttlMs
    }
}

/// `acquireLock`.
package struct AcquireLockRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var lock: Name
    /// How long to wait for it; refused at once if absent.
    package var waitMs: Int?

    package init(id: UInt32, kind: ChannelKind, channel: Name, lock: Name, waitMs: Int? = nil) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.lock = lock
        self.waitMs = waitMs
    }
}

/// `releaseLock` and `removeLock`; `revokeLock` with the `owner` it is taken from.
package struct LockRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var lock: Name
    package var owner: Name?

    package init(id: UInt32, kind: ChannelKind, channel: Name, lock: Name, owner: Name? = nil) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.lock = lock
        self.owner = owner
    }
}

/// `getLocks`.
package struct GetLocksRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name

    package init(id: UInt32, kind: ChannelKind, channel: Name) {
        self.id = id
        self.kind = kind
        self.channel = channel
    }
}

/// Answer to `acquireLock`.
package struct FencingAnswer: Codable, Equatable {
    package var id: UInt32
    package var fencing: UInt64

    package init(id: UInt32, fencing: UInt64) {
        self.id = id
        self.fencing = fencing
    }
}

package struct LocksAnswer: Codable, Equatable {
    package var id: UInt32
    package var locks: [LockDetail]

    package init(id: UInt32, locks: [LockDetail]) {
        self.id = id
        self.locks = locks
    }
}

/// A lock of a channel.
public struct LockDetail: Codable, Hashable, Sendable {
    /// Its name.
    public var lock: Name
    /// How long it outlives its owner's last connection, in milliseconds.
    public var ttlMs: Int
    /// Absent: it is free.
    public var owner: Name?
    /// Of the acquisition by `owner`; only grows.
    public var fencing: UInt64?

    /// Free unless there is an owner.
    public init(lock: Name, ttlMs: Int, owner: Name? = nil, fencing: UInt64? = nil) {
        self.lock = lock
        self.ttlMs = ttlMs
        self.owner = owner
        self.fencing = fencing
    }
}

/// `locks`.
package struct LocksEvent: Codable, Equatable {
    package enum Event: String, Codable, CaseIterable {
        case snapshot, set, acquired, released, revoked, expired, removed
    }

    package var channel: UInt32
    package var event: Event
    /// As they are after the event; of `removed` as it was.
    package var locks: [LockDetail]
    /// Who held it until now: `released`, `revoked`, `expired`.
    package var user: Name?

    package init(channel: UInt32, event: Event, locks: [LockDetail], user: Name? = nil) {
        self.channel = channel
        self.event = event
        self.locks = locks
        self.user = user
    }
}
