import RelayWire

/// What a session may do, and until when: its role on every channel, and grants for some.
public struct Access: Equatable, Sendable {
    /// What it is everywhere; `nil` if only the grants count.
    public let role: Role?
    /// What it may do besides.
    package let grants: Grants
    /// The first millisecond since 1970, on the relay's wall clock, at which this access has ended; `nil`: it never ends.
    package let endMilliseconds: UInt64?

    package init(role: Role?, grants: Grants = Grants(), endMilliseconds: UInt64?) {
        (self.role, self.grants, self.endMilliseconds) = (role, grants, endMilliseconds)
    }

    /// One without an end.
    package init(role: Role?, grants: Grants = Grants()) { self.init(role: role, grants: grants, endMilliseconds: nil) }

    /// No more than a role gives, on any channel.
    package func limited(to most: Role) -> Access {
        Access(role: role.map { min($0, most) }, grants: grants.limited(to: most.rights), endMilliseconds: endMilliseconds)
    }

    /// A role at least, with the grants that there are.
    package func raised(to least: Role) -> Access {
        Access(role: role.map { max($0, least) } ?? least, grants: grants, endMilliseconds: endMilliseconds)
    }

    /// O(grants).
    package func rights(on channel: Name) -> Rights { (role?.rights ?? []).union(grants.rights(on: channel)) }

    /// What may be done on a channel, of either kind: nothing on what no channel can be called.
    public func rights(on channel: String) -> Rights { (try? Name(channel)).map { rights(on: $0) } ?? [] }

    /// What may be done on every channel, and what belongs to none (`direct`).
    package var everywhere: Rights { (role?.rights ?? []).union(grants.everywhere) }

    /// Whether locks may be revoked, channels frozen, users banned, sessions ended and other users' metadata changed. No grant
    /// gives that.
    public var isModerator: Bool { role == .moderator }
}
