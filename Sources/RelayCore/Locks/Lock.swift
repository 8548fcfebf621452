import RelayPrimitives
import RelayWire

/// Whose a lock is: a device of a user. [LK1]
struct LockOwner: Hashable {
    var user: Name
    var device: UInt64
}

/// A lock as changes make it: once as applied, once as stored. [LK1–LK3]
struct LockState: Equatable {
    /// How long it outlives its owner's last connection.
    var ttl: Duration
    var owner: LockOwner?
    /// Of the last acquisition; 0 before the first.
    var fencing: UInt64 = 0
}

/// A named lease in a channel, as the hub holds it.
struct Lock {
    var name: Name?
    var channel: ChannelID?
    /// Address of the user who made the lock; `nil`: it was stored.
    var address: AddressKey?
    var generation: UInt32 = 0
    /// With every accepted change; `nil`: the lock does not exist (yet, or it was removed).
    var applied: LockState?
    /// What is durable, and all that anybody is shown. [SG1]
    var revealed: LockState?
    /// Changes between the two.
    var unrevealed = 0
    /// First come, first served. [LK4]
    var waiters: [LockWaiter] = []
    /// Tells the deadline of this absence of the owner from those of earlier ones.
    var absence: UInt32 = 0

    /// A free lock goes to the user who asks. Its owner gets it again, under a new fencing number. Other users wait or are refused.
    enum AcquireAction: Equatable { case grant, enqueue, refuse(owner: LockOwner) }

    func acquire(by asking: LockOwner, waits: Bool) -> AcquireAction {
        guard let owner = applied?.owner, owner != asking else { return .grant }
        return waits ? .enqueue : .refuse(owner: owner)
    }

    func detail(_ state: LockState) -> LockDetail {
        LockDetail(
            lock: name!.text, ttl: .milliseconds(state.ttl.milliseconds), owner: state.owner?.user.text,
            ownerDevice: state.owner?.device.hex, fencing: state.owner == nil ? nil : state.fencing)
    }
}

struct LockWaiter {
    var owner: LockOwner
    var requester: Requester
    /// Tells its deadline from others'.
    var ticket: UInt32
    var until: Instant
}

/// A change of a lock, from its acceptance to the moment it is shown.
struct LockTransition {
    var event: LocksEvent.Event
    /// After it; of `removed` as it was.
    var state: LockState
    /// Who held it until then.
    var holder: LockOwner?
    /// For `removed`: the users who waited, and learn of the removal when it is revealed.
    var waiters: [LockWaiter] = []
}

/// All locks, and which of them each device holds.
struct LockTable {
    private var locks = Slab<Lock>(vacant: Lock())
    private var byOwner = [LockOwner: Set<Lock.Index>]()

    private(set) var places = Places()

    var count: Int { locks.count }
    var indices: some Sequence<Lock.Index> { locks.indices }

    @inline(__always)
    subscript(index: Lock.Index) -> Lock {
        unsafeAddress { UnsafePointer(locks.address(index)) }
        unsafeMutableAddress { locks.address(index) }
    }

    /// The locks that a device holds, in the order of their places.
    subscript(of owner: LockOwner) -> [Lock.Index] { byOwner[owner, default: []].inOrder() }

    mutating func insert(_ lock: Lock) -> Lock.Index {
        places.take(lock.address)
        return locks.insert(lock)
    }

    mutating func remove(_ index: Lock.Index) {
        places.giveBack(locks[index].address)
        locks.remove(index)
    }

    /// Takes over a state.
    mutating func hold(_ state: LockState?, _ index: Lock.Index) {
        let before = locks[index].applied?.owner
        locks[index].applied = state
        guard before != state?.owner else { return }
        if let before {
            byOwner[before]?.remove(index)
            if byOwner[before]?.isEmpty == true { byOwner[before] = nil }
        }
        if let owner = state?.owner { byOwner[owner, default: []].insert(index) }
    }
}
