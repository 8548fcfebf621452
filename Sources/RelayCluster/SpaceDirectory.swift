import RelayPrimitives
import RelayWire

/// Which spaces there are, which nodes, and which of them serves what: what a bucket tells, and what this node does about it. Pure.
///
/// Each node follows each space, and may so take over each. The directory decides nothing about ownership: the log of a space does. It tells
/// which node waits for how long before it takes a space that is free (`hesitate`), and who gives one away.
///
///     space.NAME  {"isRemoved": false}                      written by whoever adds or removes it
///     node.ID     {"address", "spacesMax", "owns", "ready"}  each node's own; ends by itself
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

        package init() {}

        package mutating func fields(_ json: inout JSONFields) {
            json("address", &address)
            json("owns", &owns)
            json("ready", &ready)
            json("spacesMax", &spacesMax)
        }
    }

    struct Space: JSONObject {
        var isRemoved = false

        init() {}

        mutating func fields(_ json: inout JSONFields) { json("isRemoved", &isRemoved) }
    }

    package enum Effect: Equatable, Sendable {
        /// This node follows the space from now on.
        case follow(SpaceName)
        /// The space is removed: this node follows it no more, and keeps nothing of it.
        case erase(SpaceName)
        case hesitate(SpaceName, Duration?)
        /// Another node shall own it.
        case giveAway(SpaceName)
        /// The own value, which ends by itself after `entrySeconds`.
        case tell(key: String, [UInt8])
    }

    private struct Known {
        var node: Node
        var heard: Instant
    }

    /// A node follows each: files, a queue and a connection to the log.
    package static let spacesMax = 256
    package static let nodesMax = 64
    /// A node tells of itself at least so often.
    static let tellEvery = Duration.seconds(5)
    package static let entrySeconds = 60
    static let silence = Duration.seconds(15)
    /// Between two places in the order of those that may take a space.
    static let hesitationStep = Duration.milliseconds(150)
    private static let stepsMax = 8
    /// Of a node that has just given the space away.
    private static let drainedHesitation = Duration.seconds(3)
    private static let drainedFor = Duration.seconds(600)
    /// Between two spaces that a node gives away by itself.
    static let spreadEvery = Duration.seconds(5)

    private let id: String
    /// Of this node.
    package private(set) var own = Node()
    private var nodes: [String: Known] = [:]
    private var present: [SpaceName: UInt64] = [:]
    private var removed: [SpaceName: UInt64] = [:]
    private var followed: Set<SpaceName> = []
    private var erased: [SpaceName: UInt64] = [:]
    private var hesitations: [SpaceName: Duration?] = [:]
    /// Until when others come first.
    private var drained: [SpaceName: Instant] = [:]
    private var isComplete = false
    private var told: (node: Node, at: Instant)?
    private var spreadAt: Instant

    /// - Parameters:
    ///   - id: of this process: letters and digits.
    ///   - spacesMax: so many spaces it owns at most.
    package init(id: String, address: String?, spacesMax: Int, at now: Instant) {
        (self.id, spreadAt) = (id, now + Self.spreadEvery)
        (own.address, own.spacesMax) = (address, spacesMax)
    }

    // MARK: - What the bucket tells

    static func key(of space: SpaceName) -> String { "space.\(space)" }

    /// For who adds a space, or removes it.
    package static func entry(of space: SpaceName, isRemoved: Bool) -> (key: String, value: [UInt8]) {
        var body = Space()
        body.isRemoved = isRemoved
        return (key(of: space), JSONBody.encode(body))
    }

    /// The revision that the bucket has for a space; 0: none.
    package func revision(of space: SpaceName) -> UInt64 { present[space] ?? removed[space] ?? 0 }

    /// Whoever may write to the bucket is trusted with spaces, and not with this node's memory.
    ///
    /// - Returns: what cannot be used, as a sentence for the log.
    package mutating func heard(_ key: String, _ value: [UInt8], revision: UInt64, at now: Instant) -> String? {
        let words = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 2 else { return "the directory has a key that is none of its: \(key.prefix(64))" }
        switch words[0] {
        case "space":
            guard let name = try? SpaceName(words[1]), let space = value.withUnsafeBytes({ try? JSONBody.decode(Space.self, from: $0, anyKeys: true) }) else {
                return "the directory's entry \(key.prefix(64)) cannot be read"
            }
            guard space.isRemoved || present[name] != nil || present.count < Self.spacesMax else {
                return "space \(name) is not followed: a directory has at most \(Self.spacesMax) spaces"
            }
            present[name] = space.isRemoved ? nil : revision
            removed[name] = space.isRemoved ? revision : nil
        case "node":
            guard words[1] != id else { return nil }
            guard let node = value.withUnsafeBytes({ try? JSONBody.decode(Node.self, from: $0, anyKeys: true) }) else {
                return "the directory's entry \(key.prefix(64)) cannot be read"
            }
            nodes = nodes.filter { $0.value.heard + Self.silence * 4 > now }
            guard nodes[words[1]] != nil || nodes.count < Self.nodesMax else {
                return "a node is not heard: a directory has at most \(Self.nodesMax)"
            }
            nodes[words[1]] = Known(node: node, heard: now)
        default: return "the directory has a key that is none of its: \(key.prefix(64))"
        }
        return nil
    }

    /// All that the bucket had was told.
    package mutating func complete() { isComplete = true }

    // MARK: - What this node tells

    /// - Parameters:
    ///   - owns: spaces that this node owns, or is about to.
    ///   - ready: those that it follows, and has all of.
    package mutating func update(owns: Set<SpaceName>, ready: Set<SpaceName>, at now: Instant) {
        drained = drained.filter { $0.value > now }
        own.owns = owns.map(\.text).sorted()
        // Nobody gives it back at once.
        own.ready = ready.filter { drained[$0] == nil }.map(\.text).sorted()
    }

    /// This node gives a space away because its operator wants that.
    package mutating func drain(_ space: SpaceName, at now: Instant) { drained[space] = now + Self.drainedFor }

    // MARK: - What follows

    /// Those that were heard of late, this node not among them.
    private func others(at now: Instant) -> [(id: String, node: Node)] {
        nodes.filter { $0.value.heard + Self.silence > now }.map { ($0.key, $0.value.node) }
    }

    /// Spaces that the directory has, in order of name.
    package var spaces: [SpaceName] { present.keys.sorted() }

    package func has(_ space: SpaceName) -> Bool { present[space] != nil }

    /// Who says that it owns a space, of those that were heard of late.
    package func owner(of space: SpaceName, at now: Instant) -> Node? { others(at: now).map(\.node).first { $0.owns.contains(space.text) } }

    /// Whether another node could own a space in a moment.
    package func canGiveAway(_ space: SpaceName, at now: Instant) -> Bool {
        others(at: now).contains { $0.node.owns.count < $0.node.spacesMax && $0.node.ready.contains(space.text) }
    }

    /// What is to be done now. Asked after each change, and each second.
    package mutating func step(at now: Instant) -> [Effect] {
        guard isComplete else { return [] }
        var effects: [Effect] = []
        for space in spaces where followed.insert(space).inserted { effects.append(.follow(space)) }
        for (space, revision) in removed.sorted(by: { $0.key < $1.key }) where erased[space] != revision {
            erased[space] = revision
            followed.remove(space)
            hesitations[space] = nil
            effects.append(.erase(space))
        }
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
        if told.map({ $0.node != own || $0.at + Self.tellEvery <= now }) ?? true {
            told = (own, now)
            effects.append(.tell(key: "node.\(id)", JSONBody.encode(own)))
        }
        return effects
    }

    /// The own value was not taken, or the link is new: it is told again.
    package mutating func tellAgain() { told = nil }

    /// Nodes that own fewer spaces come first, then those of lower ids.
    private func hesitation(_ space: SpaceName, _ others: [(id: String, node: Node)]) -> Duration? {
        guard own.owns.count < own.spacesMax || own.owns.contains(space.text) else { return nil }
        if drained[space] != nil { return Self.drainedHesitation }
        let before = others.count {
            $0.node.owns.count < $0.node.spacesMax && $0.node.ready.contains(space.text)
                && ($0.node.owns.count, $0.id) < (own.owns.count, id)
        }
        return Self.hesitationStep * min(before, Self.stepsMax)
    }

    /// A space that this node gives away because another one owns at least two fewer. Only the one that owns most gives.
    private func spare(_ others: [(id: String, node: Node)], _ now: Instant) -> SpaceName? {
        guard spreadAt <= now, others.allSatisfy({ ($0.node.owns.count, $0.id) < (own.owns.count, id) }) else { return nil }
        let takers = others.filter { $0.node.owns.count < $0.node.spacesMax && $0.node.owns.count + 2 <= own.owns.count }
        guard let least = takers.min(by: { ($0.node.owns.count, $0.id) < ($1.node.owns.count, $1.id) }) else { return nil }
        return own.owns.first { least.node.ready.contains($0) }.flatMap { try? SpaceName($0) }
    }
}
