import RelayWire

/// Who has a session, in order and counted, so that one page of it costs no look at all the others. [AC16]
struct Roster {
    private(set) var names = SortedNames()
    private(set) var present = 0
    private(set) var away = 0

    /// A session goes from one state to another.
    mutating func move(_ user: Name, from old: Session.State, to new: Session.State) {
        if !old.isThere, new.isThere { names.insert(user) }
        if old.isThere, !new.isThere { names.remove(user) }
        count(old, -1)
        count(new, 1)
    }

    private mutating func count(_ state: Session.State, _ by: Int) {
        switch state {
        case .present: present += by
        case .away: away += by
        case .vacant, .lingering: break
        }
    }
}

extension Session.State {
    /// Whether others may see it.
    var isThere: Bool {
        switch self {
        case .present, .away: true
        case .vacant, .lingering: false
        }
    }
}

extension Hub {
    /// The only way from one state to another.
    mutating func setState(_ session: Session.Index, _ state: Session.State) {
        people.roster.move(sessions[session].user!, from: sessions[session].state, to: state)
        if !sessions[session].state.isThere, state.isThere { sessions[session].since = now.instant }
        sessions[session].state = state
        sessions[session].generation = ordinals.generation()
    }
}
