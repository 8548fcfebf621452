internal import RelayRights
import RelayWire

/// Who may not come in, for how long, and by whose word. [AC13]
struct Ban: Equatable {
    /// Of the secret of the client that was banned with the user id, as in `UserClaim`; `nil` if none was known.
    var digest: Entropy?
    /// By the wall clock, in milliseconds since 1970; `nil`: until it is taken back.
    var until: UInt64?
    var by: Name
    /// When it was made, by the wall clock.
    var time: UInt64

    func holds(at wallMilliseconds: UInt64) -> Bool { until.map { wallMilliseconds < $0 } ?? true }
}

/// What moderators have decided, as far as it holds until somebody decides otherwise. A value: what was accepted and what is
/// durable are two of them. [AC10–AC15]
struct ModerationBook {
    /// None is moderator, by user id. [AC10]
    private(set) var roles = [Name: Role]()
    /// By the name of channels of both kinds, if any is on. [AC11]
    private(set) var modes = [Name: Set<ChannelMode>]()
    private(set) var bans = [Name: Ban]()
    /// Users with a ban, to be listed page by page.
    private(set) var bannedNames = SortedNames()
    /// Users whose ban has a secret, by its digest.
    private var bannedSecrets = [Entropy: Set<Name>]()

    mutating func apply(_ change: ModerationChange) {
        switch change {
        case .role(let user, let role): roles[user] = role
        case .mode(let channel, let mode, let isOn): set(mode, isOn, channel)
        case .ban(let user, let ban): set(ban, user)
        case .forget(let user, _): roles[user] = nil
        case .removeRecords, .endChannel: break
        }
    }

    private mutating func set(_ mode: ChannelMode, _ isOn: Bool, _ channel: Name) {
        var modes = modes[channel, default: []]
        if isOn { modes.insert(mode) } else { modes.remove(mode) }
        self.modes[channel] = modes.isEmpty ? nil : modes
    }

    private mutating func set(_ ban: Ban?, _ user: Name) {
        if let before = bans[user] {
            if let digest = before.digest {
                bannedSecrets[digest]?.remove(user)
                if bannedSecrets[digest]?.isEmpty == true { bannedSecrets[digest] = nil }
            }
            if ban == nil { bannedNames.remove(user) }
        } else if ban != nil {
            bannedNames.insert(user)
        }
        bans[user] = ban
        if let digest = ban?.digest { bannedSecrets[digest, default: []].insert(user) }
    }

    /// The ban that keeps a client out, by its user id or by its secret.
    func ban(on user: Name, digest: Entropy?, at wallMilliseconds: UInt64) -> (user: Name, ban: Ban)? {
        if let ban = bans[user], ban.holds(at: wallMilliseconds) { return (user, ban) }
        guard let digest, let users = bannedSecrets[digest] else { return nil }
        let holding = users.filter { bans[$0]!.holds(at: wallMilliseconds) }
        return holding.min().map { ($0, bans[$0]!) }
    }
}

/// One decision.
enum ModerationChange: Equatable {
    /// `nil`: what the credential gives.
    case role(Name, Role?)
    /// Whether it is on.
    case mode(Name, ChannelMode, Bool)
    /// `nil`: it is over, or taken back.
    case ban(Name, Ban?)
    /// Forgets what the relay keeps of a user except its ban: metadata, the claim to the id, and on request its records.
    /// [AC14]
    case forget(Name, withRecords: Bool)
    /// What a user has on one board. [AC18]
    case removeRecords(of: Name, from: Name)
    /// Both channels of a name. [AC19]
    case endChannel(Name, reason: String)
}

/// A decision on its way to the disk.
struct Decision {
    var change: ModerationChange
    /// Who, as those concerned and the log are told; `nil`: nobody, a ban's time is over.
    var by: (user: Name, name: String)?
}

/// What was accepted, by which changes are judged, and what is durable, which holds.
struct ModerationState {
    var applied = ModerationBook()
    var revealed = ModerationBook()
    /// Whether a `banSweep` deadline is set.
    var sweepIsSet = false
}
