// Bodies about locks. [LK1–LK9]

/// `setLock`.
package struct SetLockRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind = .message
    package internal(set) var channel = Name.unread
    package internal(set) var lock = Name.unread
    package internal(set) var ttlMs: Int?

    package init() {}

    package init(id: UInt32, kind: ChannelKind, channel: Name, lock: Name, ttlMs: Int? = nil) {
        (self.id, self.kind, self.channel, self.lock, self.ttlMs) = (id, kind, channel, lock, ttlMs)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("kind", &kind)
        json("lock", &lock)
        json("ttlMs", &ttlMs)
    }
}

/// `acquireLock`.
package struct AcquireLockRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind = .message
    package internal(set) var channel = Name.unread
    package internal(set) var lock = Name.unread
    /// How long to wait for it; refused at once if absent.
    package internal(set) var waitMs: Int?

    package init() {}

    package init(id: UInt32, kind: ChannelKind, channel: Name, lock: Name, waitMs: Int? = nil) {
        (self.id, self.kind, self.channel, self.lock, self.waitMs) = (id, kind, channel, lock, waitMs)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("kind", &kind)
        json("lock", &lock)
        json("waitMs", &waitMs)
    }
}

/// `releaseLock` and `removeLock`; `revokeLock` with the `owner` it is taken from.
package struct LockRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind = .message
    package internal(set) var channel = Name.unread
    package internal(set) var lock = Name.unread
    package internal(set) var owner: Name?
    /// Absent: whichever of its devices has it.
    package internal(set) var ownerDevice: String?

    package init() {}

    package init(id: UInt32, kind: ChannelKind, channel: Name, lock: Name, owner: Name? = nil, ownerDevice: String? = nil) {
        (self.id, self.kind, self.channel, self.lock, self.owner) = (id, kind, channel, lock, owner)
        self.ownerDevice = ownerDevice
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("kind", &kind)
        json("lock", &lock)
        json("owner", &owner)
        json("ownerDevice", &ownerDevice)
    }
}

/// `getLocks`.
package struct GetLocksRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var kind: ChannelKind = .message
    package internal(set) var channel = Name.unread

    package init() {}

    package init(id: UInt32, kind: ChannelKind, channel: Name) { (self.id, self.kind, self.channel) = (id, kind, channel) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("kind", &kind)
    }
}

/// Answer to `acquireLock`.
package struct FencingAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var fencing: UInt64 = 0

    package init() {}

    package init(id: UInt32, fencing: UInt64) { (self.id, self.fencing) = (id, fencing) }

    package mutating func fields(_ json: inout JSONFields) {
        json("fencing", &fencing)
        json("id", &id)
    }
}

package struct LocksAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var locks: [LockDetail] = []

    package init() {}

    package init(id: UInt32, locks: [LockDetail]) { (self.id, self.locks) = (id, locks) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("locks", &locks)
    }
}

/// A lock of a channel.
public struct LockDetail: JSONObject, Equatable, Sendable {
    /// Its name.
    public var lock = ""
    /// How long it outlives its owner's last connection.
    public var ttl = Duration.zero
    /// Id of the user who holds it; `nil`: it is free.
    public var owner: String?
    /// Which of the owner's devices: 16 hexadecimal digits.
    public var ownerDevice: String?
    /// Of the acquisition by `owner`; only grows.
    public var fencing: UInt64?

    package init() {}

    /// Free unless there is an owner.
    package init(
        lock: String, ttl: Duration = .seconds(10), owner: String? = nil, ownerDevice: String? = nil, fencing: UInt64? = nil
    ) {
        (self.lock, self.ttl, self.owner, self.ownerDevice, self.fencing) = (lock, ttl, owner, ownerDevice, fencing)
    }

    /// As it was read.
    package var name: Name { Name(unchecked: lock) }

    package mutating func fields(_ json: inout JSONFields) {
        json("fencing", &fencing)
        json.name("lock", &lock)
        json.name("owner", &owner)
        json("ownerDevice", &ownerDevice)
        json.milliseconds("ttlMs", &ttl)
    }
}

/// `locks`.
package struct LocksEvent: JSONObject {
    package enum Event: String, JSONElement, CaseIterable {
        case snapshot, set, acquired, released, revoked, expired, removed
    }

    package internal(set) var channel: UInt32 = 0
    package internal(set) var event: Event = .snapshot
    /// As they are after the event; of `removed` as it was.
    package internal(set) var locks: [LockDetail] = []
    /// Who held it until now: `released`, `revoked`, `expired`.
    package internal(set) var user: Name?
    package internal(set) var device: String?

    package init() {}

    package init(channel: UInt32, event: Event, locks: [LockDetail], user: Name? = nil, device: String? = nil) {
        (self.channel, self.event, self.locks, self.user, self.device) = (channel, event, locks, user, device)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("device", &device)
        json("event", &event)
        json("locks", &locks)
        json("user", &user)
    }
}
