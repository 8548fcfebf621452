import RelayWire

/// A user with a session, or the memory of one: its rates outlive its sessions. [RT3]
struct Person {
    var user: Name?
    /// Its sessions, lingering ones too, from the oldest to the newest.
    var sessions: [Session.Index] = []
    /// Token buckets, by what they count; and that of requests. [RT1]
    var buckets = [BucketKey: TokenBucket.Index]()
    @Packed var requestsBucket: TokenBucket.Index?
    /// At this number the relay drops buckets that are full again.
    var bucketsMany = Self.bucketsKept

    static let bucketsKept = 64
    /// What it sent has waited. [DL12]
    var unserved = Unserved()
}

/// All persons, by user id, and which of them are present.
struct People {
    private var persons = Shelf<Person, Name>(vacant: Person())
    var roster = Roster()

    var count: Int { persons.count }

    @inline(__always)
    subscript(index: Person.Index) -> Person {
        unsafeAddress { UnsafePointer(persons.address(index)) }
        unsafeMutableAddress { persons.address(index) }
    }

    subscript(named user: Name) -> Person.Index? { persons[named: user] }

    /// The sessions of a user, lingering ones too.
    func sessions(of user: Name) -> [Session.Index] { persons[named: user].map { persons[$0].sessions } ?? [] }

    /// A session of a user begins; with its first one there is a person.
    mutating func add(_ session: Session.Index, of user: Name) -> Person.Index {
        let person = persons[named: user] ?? persons.insert(Person(user: user), named: user)
        persons[person].sessions.append(session)
        return person
    }

    /// - Returns: the person, forgotten, if this was its last session.
    mutating func remove(_ session: Session.Index, of index: Person.Index) -> Person? {
        persons[index].sessions.removeFirst(of: session)
        guard persons[index].sessions.isEmpty else { return nil }
        let person = persons[index]
        persons.remove(index, named: person.user!)
        return person
    }
}

extension Hub {
    /// A session, and a person if it is its first one.
    mutating func makeSession(of user: Name, device: UInt64, from address: AddressKey) -> Session.Index {
        let session = sessions.insert(Session(user: user, handle: newHandle()))
        (sessions[session].device, sessions[session].address) = (device, address)
        sessions[session].person = people.add(session, of: user)
        recount(session)
        accounts.sessions.take(address)
        return session
    }

    /// With its last session a person goes, and what was counted of it.
    mutating func removeSession(_ session: Session.Index) {
        if let person = people.remove(session, of: sessions[session].person) {
            for bucket in person.buckets.values { buckets.remove(bucket) }
            if let bucket = person.requestsBucket { buckets.remove(bucket) }
        }
        uncount(session)
        accounts.sessions.giveBack(sessions[session].address)
        sessions.remove(session)
    }

    /// The sessions of a user that others may see, with a connection or away.
    func liveSessions(of user: Name) -> [Session.Index] { people.sessions(of: user).filter { sessions[$0].state.isThere } }

    /// Whether it has such a session.
    func isHere(_ user: Name) -> Bool { people.sessions(of: user).contains { sessions[$0].state.isThere } }

    /// The session of a client object of a user.
    func session(of user: Name, instance: UInt64) -> Session.Index? {
        people.sessions(of: user).first { sessions[$0].instance == instance }
    }
}

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
