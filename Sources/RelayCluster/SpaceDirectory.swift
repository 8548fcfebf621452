import RelayJournal
import RelayPrimitives
import RelayWire

/// Which spaces there are, which nodes, and which of them serves what: what a bucket tells, and what this node does about it. Pure.
///
/// Each node follows each space, and may so take over each. Who owns a space is decided in its log, not here. The directory tells how long
/// which node waits before it takes a space that is free (`hesitate`), and who gives one away.
///
///     space.NAME  {"id", "isRemoved"}                                   written by whoever adds or removes it
///     node.ID     {"address", "spacesMax", "owns", "ready", "drained"}  each node's own; ends by itself
///
/// A node counts as there for `silence` after it was last heard, by the own clock: no clock is compared with another's.
package struct SpaceDirectory: Sendable {
    /// What a node says of itself.
    package struct Node: JSONObject, Equatable, Sendable {
        /// Where clients reach it; `nil`: it does not say.
        package var address: String?
        /// So many spaces it owns at most.
        package var spacesMax = 0
        package var owns: [String] = []
        /// Spaces that it follows, and has all of.
        package var ready: [String] = []
        /// Those that its operator has moved away: others come first.
        package var drained: [String] = []

        package init() {}

        package mutating func fields(_ json: inout JSONFields) {
            json("address", &address)
            json("drained", &drained)
            json("owns", &owns)
            json("ready", &ready)
            json("spacesMax", &spacesMax)
        }
    }

    /// What the directory has of a space.
    package struct Space: JSONObject, Equatable, Sendable {
        /// Another one each time that a space of this name is added: letters and digits.
        package var id = ""
        package var isRemoved = false

        package init() {}

        package init(id: String, isRemoved: Bool = false) { (self.id, self.isRemoved) = (id, isRemoved) }

        package mutating func fields(_ json: inout JSONFields) {
            json("id", &id)
            json("isRemoved", &isRemoved)
        }
    }

    package enum Effect: Equatable, Sendable {
        /// This node follows the space from now on.
        case follow(SpaceName, id: String)
        /// The space is removed: this node follows it no more, and keeps nothing of it.
        case erase(SpaceName, id: String)
        case hesitate(SpaceName, Duration?)
        /// Another node shall own it.
        case giveAway(SpaceName)
        /// The own value, which ends by itself after `entrySeconds`.
        case tell(key: String, [UInt8])
    }

    private struct Heard {
        var address: String?
        var spacesMax: Int
        var owns: Set<String>
        var ready: Set<String>
        var drained: Set<String>
        var revision: UInt64
        var heard: Instant

        init(_ node: Node, _ revision: UInt64, _ now: Instant) {
            (address, spacesMax, owns, ready) = (node.address, node.spacesMax, Set(node.owns), Set(node.ready))
            drained = Set(node.drained)
            (self.revision, heard) = (revision, now)
        }

        var hasRoom: Bool { owns.count < spacesMax }

        /// Whether it takes a space that is free before it is asked to.
        func comesFirst(for space: String) -> Bool { hasRoom && ready.contains(space) && !drained.contains(space) }
    }

    /// A node follows each: files, a queue and a connection to the log.
    package static let spacesMax = 256
    /// Those that were removed counted.
    package static let namesMax = 4096
    package static let idBytesMax = 16
    package static let nodesMax = 64
    /// A node tells of itself at least so often, and at most so often of what it only follows.
    static let tellEvery = Duration.seconds(5), tellRest = Duration.seconds(1)
    package static let entrySeconds = 60
    static let silence = Duration.seconds(15)
    /// Between two places in the order of those that may take a space.
    static let hesitationStep = Duration.milliseconds(150)
    private static let stepsMax = 8
    /// Of a node that has just given the space away.
    private static let drainedHesitation = Duration.milliseconds(600)
    private static let drainedFor = Duration.seconds(600)
    /// Between two spaces that a node gives away by itself.
    static let spreadEvery = Duration.seconds(5)

    private let id: String
    /// Of this node.
    package private(set) var own = Node()
    private var nodes: [String: Heard] = [:]
    private var known: [SpaceName: (space: Space, revision: UInt64)] = [:]
    private var followed: Set<SpaceName> = []
    /// Those that were removed since the last step, also if there is one of that name again.
    private var erasing: [(space: SpaceName, id: String)] = []
    private var hesitations: [SpaceName: Duration?] = [:]
    /// This node could not serve them, and does not try to for now.
    private var unfit: Set<SpaceName> = []
    /// Until when others come first.
    private var drained: [SpaceName: Instant] = [:]
    /// All that the bucket had was told once.
    package private(set) var isComplete = false
    private var told: (node: Node, at: Instant)?
    private var spreadAt: Instant

    /// - Parameters:
    ///   - id: of this process: letters and digits.
    ///   - spacesMax: so many spaces it owns at most.
    package init(id: String, address: String?, spacesMax: Int, at now: Instant) {
        // Who was told of first may be gone.
        (self.id, spreadAt) = (id, now + Self.silence)
        (own.address, own.spacesMax) = (address, spacesMax)
    }

    // MARK: - What the bucket tells

    /// For who adds a space, or removes it.
    package static func entry(of name: SpaceName, _ space: Space) -> (key: String, value: [UInt8]) {
        ("space.\(name)", JSONBody.encode(space))
    }

    /// What the bucket has of a space, and its revision; 0: nothing.
    package func entry(of space: SpaceName) -> (space: Space, revision: UInt64) { known[space] ?? (Space(), 0) }

    /// Whoever may write to the bucket is trusted with spaces, and not with this node's memory.
    ///
    /// - Returns: what cannot be used, as a sentence for the log.
    package mutating func heard(_ key: String, _ value: [UInt8], revision: UInt64, at now: Instant) -> String? {
        let words = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch words[0] {
        case "space" where words.count == 2:
            guard let name = try? SpaceName(words[1]), let space = Self.decode(Space.self, value), Self.isID(space.id) else {
                return "the directory's entry \(key.prefix(64)) cannot be read"
            }
            let old = known[name]
            // A replica that is behind may tell what was before.
            guard old.map({ $0.revision < revision }) ?? true else { return nil }
            guard old != nil || known.count < Self.namesMax else {
                return "space \(name) is not followed: a directory has at most \(Self.namesMax) names, those that were removed counted"
            }
            guard space.isRemoved || has(name) || spaces.count < Self.spacesMax else {
                return "space \(name) is not followed: a directory has at most \(Self.spacesMax) spaces"
            }
            known[name] = (space, revision)
            // What is there no more, or is another one of that name by now.
            guard space.isRemoved || old.map({ $0.space.id != space.id && !$0.space.isRemoved }) ?? false else { return nil }
            erasing.append((name, space.isRemoved ? space.id : old!.space.id))
            (hesitations[name], drained[name]) = (nil, nil)
            followed.remove(name)
        case "node" where words.count == 2:
            guard words[1] != id else { return nil }
            guard let node = Self.decode(Node.self, value) else {
                return "the directory's entry \(key.prefix(64)) cannot be read"
            }
            guard max(node.owns.count, node.ready.count, node.drained.count) <= Self.spacesMax else {
                return "a node is not heard: it tells of more than \(Self.spacesMax) spaces"
            }
            nodes = nodes.filter { $0.value.heard + Self.silence * 4 > now }
            guard nodes[words[1]] != nil || nodes.count < Self.nodesMax else {
                return "a node is not heard: a directory has at most \(Self.nodesMax)"
            }
            // Over a new link the bucket tells again what it told before.
            guard nodes[words[1]].map({ $0.revision < revision }) ?? true else { return nil }
            nodes[words[1]] = Heard(node, revision, now)
        default: return "the directory has an unknown key: \(key.prefix(64))"
        }
        return nil
    }

    /// It stands in the name of a stream.
    private static func isID(_ text: String) -> Bool {
        1...idBytesMax ~= text.utf8.count && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 }
    }

    /// Of a later version there may be more.
    private static func decode<Body: JSONObject>(_ type: Body.Type, _ value: [UInt8]) -> Body? {
        value.withUnsafeBytes { try? JSONBody.decode(type, from: $0, anyKeys: true) }
    }

    package mutating func complete() { isComplete = true }

    // MARK: - What this node tells

    /// - Parameters:
    ///   - owns: spaces that this node owns, or is about to.
    ///   - ready: those that it follows, and has all of.
    ///   - unfit: those that it could not serve a moment ago.
    package mutating func update(owns: Set<SpaceName>, ready: Set<SpaceName>, unfit: Set<SpaceName> = [], at now: Instant) {
        drained = drained.filter { $0.value > now }
        self.unfit = unfit
        own.owns = owns.map(\.text).sorted()
        own.ready = ready.subtracting(unfit).map(\.text).sorted()
        own.drained = drained.keys.map(\.text).sorted()
    }

    /// This node gives a space away because its operator wants that.
    package mutating func drain(_ space: SpaceName, at now: Instant) { drained[space] = now + Self.drainedFor }

    // MARK: - What follows

    /// Those that were heard of late, this node not among them.
    private func others(at now: Instant) -> [(id: String, node: Heard)] {
        nodes.filter { $0.value.heard + Self.silence > now }.map { ($0.key, $0.value) }
    }

    /// Spaces that the directory has, in order of name.
    package var spaces: [SpaceName] { known.filter { !$0.value.space.isRemoved }.keys.sorted() }

    private func has(_ space: SpaceName) -> Bool { known[space].map { !$0.space.isRemoved } ?? false }

    /// The address of who says that it owns a space, of those that were heard of late; `nil`: nobody does, within: it does not say where.
    package func owner(of space: SpaceName, at now: Instant) -> String?? {
        others(at: now).first { $0.node.owns.contains(space.text) }.map(\.node.address)
    }

    /// Whether another node follows a space, or owns it.
    package func isUsed(_ space: SpaceName, at now: Instant) -> Bool {
        others(at: now).contains { $0.node.owns.contains(space.text) || $0.node.ready.contains(space.text) }
    }

    /// Addresses of those that were heard of late.
    package func addresses(at now: Instant) -> Set<String> { Set(others(at: now).compactMap(\.node.address)) }

    /// Whether another name may be added.
    package func canAdd(_ space: SpaceName) -> Bool {
        spaces.count < Self.spacesMax && (known[space] != nil || known.count < Self.namesMax)
    }

    /// Whether another node could own a space in a moment.
    package func canGiveAway(_ space: SpaceName, at now: Instant) -> Bool {
        others(at: now).contains { $0.node.hasRoom && $0.node.ready.contains(space.text) }
    }

    /// How long this node waits now before it takes a space over.
    package func hesitation(of space: SpaceName, at now: Instant) -> Duration? { hesitation(space, others(at: now)) }

    /// What this node tells when it ends: nobody counts on it.
    package var farewell: (key: String, value: [UInt8]) { ("node.\(id)", JSONBody.encode(Node())) }

    /// What is to be done now. Asked after each change, and each second.
    package mutating func step(at now: Instant) -> [Effect] {
        guard isComplete else { return [] }
        var effects: [Effect] = []
        effects += erasing.map { .erase($0.space, id: $0.id) }
        erasing = []
        for space in spaces where followed.insert(space).inserted { effects.append(.follow(space, id: known[space]!.space.id)) }
        let others = others(at: now)
        for space in spaces {
            let hesitation = hesitation(space, others)
            guard hesitations[space] != .some(hesitation) else { continue }
            hesitations[space] = .some(hesitation)
            effects.append(.hesitate(space, hesitation))
        }
        if let space = spare(others, now) {
            spreadAt = now + Self.spreadEvery
            effects.append(.giveAway(space))
        }
        let rest = told.map { $0.node == own ? Self.tellEvery : $0.node.owns == own.owns ? Self.tellRest : .zero } ?? .zero
        if told.map({ $0.at + rest <= now }) ?? true {
            told = (own, now)
            effects.append(.tell(key: "node.\(id)", JSONBody.encode(own)))
        }
        return effects
    }

    /// The own value was not taken, or the link is new: it is told again.
    package mutating func tellAgain() { told = nil }

    /// Nodes that own fewer spaces come first.
    private func hesitation(_ space: SpaceName, _ others: [(id: String, node: Heard)]) -> Duration? {
        guard own.owns.count < own.spacesMax || own.owns.contains(space.text), !unfit.contains(space) else { return nil }
        if drained[space] != nil { return Self.drainedHesitation }
        let before = others.count {
            // Of equals another one for each space: many may be free at once.
            $0.node.comesFirst(for: space.text)
                && ($0.node.owns.count, Self.lot($0.id, space), $0.id) < (own.owns.count, Self.lot(id, space), id)
        }
        return Self.hesitationStep * min(before, Self.stepsMax)
    }

    private static func lot(_ id: String, _ space: SpaceName) -> UInt32 {
        Array("\(id) \(space)".utf8).withUnsafeBytes { CRC32C.of($0) }
    }

    /// A space that this node gives away because another one that takes it owns at least two fewer. One node gives at a time: of those that
    /// have such a space the one that owns most, as each of them finds out for itself.
    private func spare(_ others: [(id: String, node: Heard)], _ now: Instant) -> SpaceName? {
        guard spreadAt <= now else { return nil }
        let all = (others + [(id, Heard(own, 0, now))]).sorted { ($0.node.owns.count, $0.id) < ($1.node.owns.count, $1.id) }
        for giver in all.reversed() {
            for taker in all where taker.node.owns.count + 2 <= giver.node.owns.count {
                guard let space = giver.node.owns.sorted().first(where: taker.node.comesFirst) else { continue }
                return giver.id == id ? try? SpaceName(space) : nil
            }
        }
        return nil
    }
}
