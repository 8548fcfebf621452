import RelayPrimitives
internal import RelayRights
internal import RelayStorage
import RelayWire

// What the hub stores, as keys and values of the journal. A key begins with what it is:
//
//     M owner              a set of metadata: version u8 (1) · major revision u64
//     I owner 0 key        an item: version u8 (1) · revision u64 · flags u8 (1 author, 2 time) · [n u8, author] · [time u64] · value
//     L channel 0 lock     a lock: version u8 (1) · ttl u32 ms · fencing u64 (0: never acquired) · n u8, owner (empty: free) ·
//                          [device u64 of an owner]
//     S                    version u8 (1) · start number u32 of the relay that wrote it
//     P                    the relay's public id: version u8 (1) · 16 bytes
//     W instance place user  a retained publish of a client object (u64), in one of 256 places (u8): version u8 (1) · number u64 ·
//                          offset u64 · id of the board u64
//
//     U user               who a user id belongs to: version u8 (1) · flags u8 (1 digest) · [digest, 16 bytes] · last seen u64 ms
//     A user               the role that moderators have set: version u8 (1) · role u8 (1 reader, 2 editor, 3 coeditor)
//     F channel            a frozen channel, of both kinds: version u8 (1)
//     O channel            a channel that is open for editing, of both kinds: version u8 (1)
//     E sequence u64       what that change has removed is still to be erased: version u8 (1; 2 with a board) · n u8, user whose
//                          records go, too · n u8, by (empty: nobody) · [id u64 of the one board that they go from]
//     N board u64          how that board began: version u8 (1) · begun u64 ms · n u8, owner (empty: nobody)
//     D board u64          when it was last used: version u8 (1) · day u32, since 1970
//     X user               a ban: version u8 (1) · flags u8 (1 digest, 2 end) · [digest, 16 bytes] · [end u64 ms] · made u64 ms · n u8, by
//
// R, B and Q are of boards (`BoardForm`).
//
// An owner is `m` or `s` and a channel's name, or `u` and a user id. Names hold no 0.

/// A stored key and value as the hub reads them.
enum StoredEntry {
    case metadata(MetadataOwner, majorRevision: UInt64)
    case item(MetadataOwner, Name, MetadataSetItem)
    case lock(ChannelID, Name, LockState)
    case start(UInt32)
    case relay(Entropy)
    case claim(Name, UserClaim)
    case role(Name, Role)
    case mode(Name, ChannelMode)
    case ban(Name, Ban)
    case erasure(ErasureMark)
    case beginning(board: UInt64, BoardBeginning)
    case use(board: UInt64, day: UInt32)
    case publish(Name, instance: UInt64, PublishWindow.Remembered)

    /// - Returns: `nil` for an entry that this version does not write.
    init?(key: [UInt8], value: [UInt8]) {
        let read = key.withUnsafeBytes { key in value.withUnsafeBytes { value in Self.read(key, value) } }
        guard let read else { return nil }
        self = read
    }

    private static func read(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> StoredEntry? {
        var value = ByteReader(value)
        guard let first = key.first, let version = value.integer(UInt8.self) else { return nil }
        if first == UInt8(ascii: "E") { return erasure(key, &value, version) }
        guard version == StoredForm.version else { return nil }
        if first == UInt8(ascii: "W") { return publish(key, &value) }
        if first == UInt8(ascii: "N") || first == UInt8(ascii: "D") { return board(key, &value) }
        let names = key.dropFirst().split(separator: 0, omittingEmptySubsequences: false).map { UnsafeRawBufferPointer(rebasing: $0) }
        switch first {
        case UInt8(ascii: "M"):
            guard names.count == 1, let owner = owner(names[0]), let revision = value.integer(UInt64.self) else { return nil }
            return .metadata(owner, majorRevision: revision)
        case UInt8(ascii: "I"):
            guard names.count == 2, let owner = owner(names[0]), let key = try? Name(bytes: names[1]), let item = item(&value) else {
                return nil
            }
            return .item(owner, key, item)
        case UInt8(ascii: "L"):
            guard names.count == 2, case .channel(let channel)? = owner(names[0]), let lock = try? Name(bytes: names[1]),
                let ttl = value.integer(UInt32.self), let fencing = value.integer(UInt64.self), let bytes = value.shortBytes()
            else { return nil }
            var owner: LockOwner?
            if !bytes.isEmpty {
                guard let user = try? Name(bytes: bytes), let device = value.integer(UInt64.self) else { return nil }
                owner = LockOwner(user: user, device: device)
            }
            return .lock(channel, lock, LockState(ttl: .milliseconds(Int64(ttl)), owner: owner, fencing: fencing))
        case UInt8(ascii: "U"):
            guard names.count == 1, let user = try? Name(bytes: names[0]), let claim = claim(&value) else { return nil }
            return .claim(user, claim)
        case UInt8(ascii: "A"):
            guard names.count == 1, let user = try? Name(bytes: names[0]), let role = value.integer(UInt8.self).flatMap(StoredForm.role)
            else { return nil }
            return .role(user, role)
        case UInt8(ascii: "F"), UInt8(ascii: "O"):
            guard names.count == 1, let channel = try? Name(bytes: names[0]) else { return nil }
            return .mode(channel, first == UInt8(ascii: "F") ? .frozen : .openEditing)
        case UInt8(ascii: "X"):
            guard names.count == 1, let user = try? Name(bytes: names[0]), let ban = ban(&value) else { return nil }
            return .ban(user, ban)
        case UInt8(ascii: "S"):
            return value.integer(UInt32.self).map(StoredEntry.start)
        case UInt8(ascii: "P"):
            guard let high = value.integer(UInt64.self), let low = value.integer(UInt64.self) else { return nil }
            return .relay(Entropy(high: high, low: low))
        default: return nil
        }
    }

    private static func publish(_ key: UnsafeRawBufferPointer, _ value: inout ByteReader) -> StoredEntry? {
        var key = ByteReader(UnsafeRawBufferPointer(rebasing: key.dropFirst()))
        guard let instance = key.integer(UInt64.self), let place = key.integer(UInt8.self), let user = try? Name(bytes: key.rest),
            let number = value.integer(UInt64.self), let offset = value.integer(UInt64.self), let board = value.integer(UInt64.self)
        else { return nil }
        let accepted = PublishWindow.Accepted(number: number, offset: offset, board: board)
        return .publish(user, instance: instance, PublishWindow.Remembered(place: place, accepted: accepted))
    }

    private static func board(_ key: UnsafeRawBufferPointer, _ value: inout ByteReader) -> StoredEntry? {
        var id = ByteReader(UnsafeRawBufferPointer(rebasing: key.dropFirst()))
        guard let board = id.integer(UInt64.self), id.rest.isEmpty else { return nil }
        if key.first == UInt8(ascii: "D") { return value.integer(UInt32.self).map { .use(board: board, day: $0) } }
        guard let begun = value.integer(UInt64.self), let owner = value.shortBytes() else { return nil }
        return .beginning(board: board, BoardBeginning(wallMilliseconds: begun, owner: try? Name(bytes: owner)))
    }

    private static func erasure(_ key: UnsafeRawBufferPointer, _ value: inout ByteReader, _ version: UInt8) -> StoredEntry? {
        var key = ByteReader(UnsafeRawBufferPointer(rebasing: key.dropFirst()))
        guard let sequence = key.integer(UInt64.self), let user = value.shortBytes(), let by = value.shortBytes() else { return nil }
        var mark = ErasureMark(sequence: sequence, user: try? Name(bytes: user), by: try? Name(bytes: by))
        switch version {
        case StoredForm.version: break
        case StoredForm.versionOfBoardErasure:
            guard let board = value.integer(UInt64.self) else { return nil }
            mark.board = board
        default: return nil
        }
        return .erasure(mark)
    }

    private static func claim(_ value: inout ByteReader) -> UserClaim? {
        guard let flags = value.integer(UInt8.self) else { return nil }
        var digest: Entropy?
        if flags & 1 != 0 {
            guard let high = value.integer(UInt64.self), let low = value.integer(UInt64.self) else { return nil }
            digest = Entropy(high: high, low: low)
        }
        guard let lastSeen = value.integer(UInt64.self) else { return nil }
        return UserClaim(digest: digest, lastSeen: lastSeen, stored: lastSeen)
    }

    private static func ban(_ value: inout ByteReader) -> Ban? {
        guard let flags = value.integer(UInt8.self) else { return nil }
        var digest: Entropy?
        if flags & 1 != 0 {
            guard let high = value.integer(UInt64.self), let low = value.integer(UInt64.self) else { return nil }
            digest = Entropy(high: high, low: low)
        }
        var until: UInt64?
        if flags & 2 != 0 {
            guard let end = value.integer(UInt64.self) else { return nil }
            until = end
        }
        guard let time = value.integer(UInt64.self), let by = value.shortBytes().flatMap({ try? Name(bytes: $0) }) else { return nil }
        return Ban(digest: digest, until: until, by: by, time: time)
    }

    private static func owner(_ bytes: UnsafeRawBufferPointer) -> MetadataOwner? {
        guard let first = bytes.first, let name = try? Name(bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst())) else { return nil }
        switch first {
        case UInt8(ascii: "m"): return .channel(ChannelID(kind: .message, channel: name))
        case UInt8(ascii: "s"): return .channel(ChannelID(kind: .stream, channel: name))
        case UInt8(ascii: "u"): return .user(name)
        default: return nil
        }
    }

    private static func item(_ value: inout ByteReader) -> MetadataSetItem? {
        guard let revision = value.integer(UInt64.self), let flags = value.integer(UInt8.self) else { return nil }
        var item = MetadataSetItem(value: [], revision: revision)
        if flags & 1 != 0 {
            guard let author = value.shortBytes().flatMap({ try? Name(bytes: $0) }) else { return nil }
            item.author = author
        }
        if flags & 2 != 0 {
            guard let time = value.integer(UInt64.self) else { return nil }
            item.time = time
        }
        item.value = Array(value.rest)
        return item
    }
}

enum StoredForm {
    static let version: UInt8 = 1
    /// A relay that does not know of the board must not take the records from all of them.
    static let versionOfBoardErasure: UInt8 = 2

    /// The entries of a change: the set's own, and one for each item.
    static func entries(_ owner: MetadataOwner, _ change: MetadataSetChange) -> [JournalEntry] {
        var entries = [head(owner, change.majorRevision)]
        for key in change.items.keys.inOrder() { entries.append(JournalEntry(key: itemKey(owner, key), value: value(change.items[key]!))) }
        for key in change.removed.inOrder() { entries.append(JournalEntry(key: itemKey(owner, key), value: nil)) }
        return entries
    }

    /// A set's own entry.
    static func head(_ owner: MetadataOwner, _ majorRevision: UInt64) -> JournalEntry {
        var value: [UInt8] = [version]
        value.append(bigEndian: majorRevision)
        return JournalEntry(key: setKey(owner), value: value)
    }

    /// A set that is forgotten altogether, with all that a change removes.
    static func forgetting(_ owner: MetadataOwner, _ change: MetadataSetChange? = nil) -> [JournalEntry] {
        let items = change?.removed.inOrder() ?? []
        return items.map { JournalEntry(key: itemKey(owner, $0), value: nil) } + [JournalEntry(key: setKey(owner), value: nil)]
    }

    /// - Parameter state: `nil` when the lock is removed.
    static func entry(_ channel: ChannelID, _ lock: Name, _ state: LockState?) -> JournalEntry {
        JournalEntry(key: [UInt8(ascii: "L")] + bytes(.channel(channel)) + [0] + Array(lock.text.utf8), value: state.map(value))
    }

    static func start(_ start: UInt32) -> JournalEntry {
        var value: [UInt8] = [version]
        value.append(bigEndian: start)
        return JournalEntry(key: [UInt8(ascii: "S")], value: value)
    }

    static func relay(_ id: Entropy) -> JournalEntry {
        var value: [UInt8] = [version]
        value.append(bigEndian: id.high)
        value.append(bigEndian: id.low)
        return JournalEntry(key: [UInt8(ascii: "P")], value: value)
    }

    /// - Parameter claim: `nil`: forgotten.
    static func claim(_ user: Name, _ claim: UserClaim?) -> JournalEntry {
        let key = [UInt8(ascii: "U")] + Array(user.text.utf8)
        guard let claim else { return JournalEntry(key: key, value: nil) }
        var value: [UInt8] = [version, claim.digest == nil ? 0 : 1]
        if let digest = claim.digest {
            value.append(bigEndian: digest.high)
            value.append(bigEndian: digest.low)
        }
        value.append(bigEndian: claim.lastSeen)
        return JournalEntry(key: key, value: value)
    }

    /// - Parameter role: `nil`: what the credential gives.
    static func role(_ user: Name, _ role: Role?) -> JournalEntry {
        JournalEntry(key: [UInt8(ascii: "A")] + Array(user.text.utf8), value: role.map { [version, number($0)] })
    }

    private static func number(_ role: Role) -> UInt8 {
        switch role {
        case .reader: 1
        case .editor: 2
        case .coeditor: 3
        case .moderator: preconditionFailure("the role moderator is not set")
        }
    }

    fileprivate static func role(_ number: UInt8) -> Role? {
        switch number {
        case 1: .reader
        case 2: .editor
        case 3: .coeditor
        default: nil
        }
    }

    static func mode(_ channel: Name, _ mode: ChannelMode, _ isOn: Bool) -> JournalEntry {
        let kind = UInt8(ascii: mode == .frozen ? "F" : "O")
        return JournalEntry(key: [kind] + Array(channel.text.utf8), value: isOn ? [version] : nil)
    }

    /// - Parameter ban: `nil`: it is over.
    static func ban(_ user: Name, _ ban: Ban?) -> JournalEntry {
        let key = [UInt8(ascii: "X")] + Array(user.text.utf8)
        guard let ban else { return JournalEntry(key: key, value: nil) }
        var value: [UInt8] = [version, (ban.digest == nil ? 0 : 1) | (ban.until == nil ? 0 : 2)]
        if let digest = ban.digest {
            value.append(bigEndian: digest.high)
            value.append(bigEndian: digest.low)
        }
        if let until = ban.until { value.append(bigEndian: until) }
        value.append(bigEndian: ban.time)
        value.append(short: ban.by.text)
        return JournalEntry(key: key, value: value)
    }

    static func erasureKey(_ sequence: UInt64) -> [UInt8] {
        var key = [UInt8(ascii: "E")]
        key.append(bigEndian: sequence)
        return key
    }

    static func erasure(_ mark: ErasureMark) -> JournalEntry {
        var value: [UInt8] = [mark.board == nil ? version : versionOfBoardErasure]
        value.append(short: mark.user?.text ?? "")
        value.append(short: mark.by?.text ?? "")
        if let board = mark.board { value.append(bigEndian: board) }
        return JournalEntry(key: erasureKey(mark.sequence), value: value)
    }

    /// - Parameter beginning: `nil`: the board is gone.
    static func beginning(_ board: UInt64, _ beginning: BoardBeginning?) -> JournalEntry {
        var key = [UInt8(ascii: "N")]
        key.append(bigEndian: board)
        guard let beginning else { return JournalEntry(key: key, value: nil) }
        var value: [UInt8] = [version]
        value.append(bigEndian: beginning.wallMilliseconds)
        value.append(short: beginning.owner?.text ?? "")
        return JournalEntry(key: key, value: value)
    }

    /// - Parameter day: `nil`: the board is gone.
    static func use(_ board: UInt64, _ day: UInt32?) -> JournalEntry {
        var key = [UInt8(ascii: "D")]
        key.append(bigEndian: board)
        guard let day else { return JournalEntry(key: key, value: nil) }
        var value: [UInt8] = [version]
        value.append(bigEndian: day)
        return JournalEntry(key: key, value: value)
    }

    static func publish(_ user: Name, _ instance: UInt64, _ place: UInt8, number: UInt64, offset: UInt64, board: UInt64) -> JournalEntry {
        var value: [UInt8] = [version]
        for word in [number, offset, board] { value.append(bigEndian: word) }
        return JournalEntry(key: publishKey(user, instance, place), value: value)
    }

    static func forgetPublish(_ user: Name, _ instance: UInt64, _ place: UInt8) -> JournalEntry {
        JournalEntry(key: publishKey(user, instance, place), value: nil)
    }

    private static func publishKey(_ user: Name, _ instance: UInt64, _ place: UInt8) -> [UInt8] {
        var key: [UInt8] = [UInt8(ascii: "W")]
        key.append(bigEndian: instance)
        key.append(place)
        return key + Array(user.text.utf8)
    }

    private static func value(_ item: MetadataSetItem) -> [UInt8] {
        var value: [UInt8] = [version]
        value.append(bigEndian: item.revision)
        value.append((item.author == nil ? 0 : 1) | (item.time == nil ? 0 : 2))
        if let author = item.author { value.append(short: author.text) }
        if let time = item.time { value.append(bigEndian: time) }
        return value + item.value
    }

    private static func value(_ state: LockState) -> [UInt8] {
        var value: [UInt8] = [version]
        value.append(bigEndian: UInt32(clamping: state.ttl.milliseconds))
        value.append(bigEndian: state.fencing)
        value.append(short: state.owner?.user.text ?? "")
        if let owner = state.owner { value.append(bigEndian: owner.device) }
        return value
    }

    private static func setKey(_ owner: MetadataOwner) -> [UInt8] { [UInt8(ascii: "M")] + bytes(owner) }
    private static func itemKey(_ owner: MetadataOwner, _ key: Name) -> [UInt8] {
        [UInt8(ascii: "I")] + bytes(owner) + [0] + Array(key.text.utf8)
    }

    private static func bytes(_ owner: MetadataOwner) -> [UInt8] {
        switch owner {
        case .channel(let id): [UInt8(ascii: id.kind == .message ? "m" : "s")] + Array(id.channel.text.utf8)
        case .user(let user): [UInt8(ascii: "u")] + Array(user.text.utf8)
        }
    }
}
