import RelayCluster
import RelayPrimitives
import RelayWire
import Testing

/// Nodes of one directory, whose bucket tells everybody everything at once, and whose logs give each free space to who hesitates least.
private final class Nodes {
    var directories: [String: SpaceDirectory] = [:]
    var bucket: [String: (value: [UInt8], revision: UInt64)] = [:]
    var owners: [SpaceName: String] = [:]
    var now = Instant(nanoseconds: 1_000_000_000_000)
    /// Each space that a node has given away by itself.
    var given: [(space: SpaceName, from: String)] = []
    private var revision: UInt64 = 0
    private var hesitations: [String: [SpaceName: Duration?]] = [:], followed: [String: Set<SpaceName>] = [:]

    func add(_ id: String, spacesMax: Int = 16) {
        var directory = SpaceDirectory(id: id, address: "relay://\(id).example:7420", spacesMax: spacesMax, at: now)
        for (key, entry) in bucket { #expect(directory.heard(key, entry.value, revision: entry.revision, at: now) == nil) }
        directory.complete()
        directories[id] = directory
    }

    func remove(_ id: String) {
        directories[id] = nil
        owners = owners.filter { $0.value != id }
    }

    func put(_ key: String, _ value: [UInt8]) {
        revision += 1
        bucket[key] = (value, revision)
        for id in directories.keys.sorted() { #expect(directories[id]!.heard(key, value, revision: revision, at: now) == nil) }
    }

    func space(_ name: String, id: String = "1", isRemoved: Bool = false) throws {
        let entry = SpaceDirectory.entry(of: try SpaceName(name), SpaceDirectory.Space(id: id, isRemoved: isRemoved))
        put(entry.key, entry.value)
    }

    /// So many seconds.
    func pass(_ seconds: Int) {
        for _ in 0..<seconds {
            now = now + .seconds(1)
            for id in directories.keys.sorted() { step(id) }
            for space in Set(followed.values.joined()).sorted() where owners[space] == nil {
                let takers = directories.keys.sorted().filter { followed[$0]?.contains(space) == true }
                    .compactMap { id in (hesitations[id]?[space] ?? .zero).map { (id, $0) } }
                owners[space] = takers.min { $0.1 < $1.1 }?.0
                // Whoever gets it says so before another space is taken.
                if let owner = owners[space] { step(owner) }
            }
        }
    }

    private func step(_ id: String) {
        let owns = Set(owners.filter { $0.value == id }.keys)
        directories[id]!.update(owns: owns, ready: (followed[id] ?? []).subtracting(owns), at: now)
        for effect in directories[id]!.step(at: now) {
            switch effect {
            case .follow(let space, _): followed[id, default: []].insert(space)
            case .erase(let space, _):
                followed[id]?.remove(space)
                if owners[space] == id { owners[space] = nil }
            case .hesitate(let space, let duration): hesitations[id, default: [:]][space] = .some(duration)
            case .giveAway(let space):
                owners[space] = nil
                given.append((space, id))
            case .tell(let key, let value): put(key, value)
            }
        }
    }

    func counts() -> [String: Int] { Dictionary(grouping: owners.values, by: \.self).mapValues(\.count) }
}

@Suite("The directory of many spaces") struct SpaceDirectoryTests {
    private static func nodes(_ ids: [String], spaces: Int, spacesMax: Int = 16) throws -> Nodes {
        let nodes = Nodes()
        for id in ids { nodes.add(id, spacesMax: spacesMax) }
        for number in 0..<spaces { try nodes.space("school-\(number)") }
        nodes.pass(60)
        return nodes
    }

    @Test("each space has an owner, and none has two more than another; each node tells who it is") func taken() throws {
        let nodes = try Self.nodes(["a", "b", "c"], spaces: 10)
        #expect(nodes.counts().values.sorted() == [3, 3, 4])
        let space = try SpaceName("school-0"), owner = try #require(nodes.owners[space])
        for (id, directory) in nodes.directories where id != owner {
            #expect(directory.owner(of: space, at: nodes.now) == "relay://\(owner).example:7420")
        }
    }

    @Test("a node that comes gets its share, one space of each node in 5 s, and nothing goes to and fro") func joined() throws {
        let nodes = try Self.nodes(["a", "b"], spaces: 9)
        let before = nodes.given.count
        nodes.add("c")
        nodes.pass(4)
        #expect(nodes.given.count <= before + 2)
        nodes.pass(40)
        #expect(nodes.counts().values.sorted() == [3, 3, 3] && nodes.given.count == before + 3)
        nodes.pass(60)
        #expect(nodes.given.count == before + 3)
    }

    @Test("what a node owned that dies is shared by the others") func died() throws {
        let nodes = try Self.nodes(["a", "b", "c"], spaces: 9)
        nodes.remove("b")
        nodes.pass(20)
        #expect(nodes.counts().values.sorted().reduce(0, +) == 9 && nodes.counts().count == 2)
        nodes.pass(60)
        #expect(nodes.counts().values.sorted() == [4, 5])
    }

    @Test("no node takes more than it may: what is left has no owner until another node comes") func full() throws {
        let nodes = try Self.nodes(["a", "b"], spaces: 7, spacesMax: 3)
        let given = nodes.given.count
        nodes.pass(60)
        #expect(nodes.counts() == ["a": 3, "b": 3] && nodes.given.count == given)
        nodes.add("c", spacesMax: 3)
        nodes.pass(60)
        #expect(nodes.counts().values.sorted() == [2, 2, 3])
    }

    @Test("what an operator has moved away does not come back by itself for ten minutes, but where nobody else takes it")
    func drained() throws {
        let nodes = try Self.nodes(["a", "b"], spaces: 2)
        let space = try #require(nodes.owners.first { $0.value == "a" }?.key)
        #expect(nodes.directories["a"]!.canGiveAway(space, at: nodes.now))
        nodes.directories["a"]!.drain(space, at: nodes.now)
        nodes.owners[space] = nil
        nodes.pass(500)
        // The other space may have come instead of it.
        #expect(nodes.owners[space] == "b")
        nodes.remove("b")
        nodes.pass(20)
        #expect(nodes.owners[space] == "a")
        #expect(!nodes.directories["a"]!.canGiveAway(space, at: nodes.now))
    }

    @Test("a space that is removed is nobody's, with what was kept of it, also at a node that was away; it can be added again")
    func removed() throws {
        let nodes = try Self.nodes(["a", "b"], spaces: 3)
        let space = try SpaceName("school-1")
        try nodes.space("school-1", isRemoved: true)
        nodes.pass(2)
        #expect(nodes.owners[space] == nil && nodes.owners.count == 2)
        nodes.add("late")
        #expect(nodes.directories["late"]!.step(at: nodes.now).contains(.erase(space, id: "1")))
        try nodes.space("school-1", id: "2")
        nodes.pass(2)
        #expect(nodes.owners[space] != nil)
        // What a replica tells that is behind is of no interest.
        let old = SpaceDirectory.entry(of: space, SpaceDirectory.Space(id: "1", isRemoved: true))
        #expect(nodes.directories["a"]!.heard(old.key, old.value, revision: 1, at: nodes.now) == nil)
        #expect(nodes.directories["a"]!.spaces.contains(space))
        // Whoever hears of both at once keeps nothing of the first one; nor whoever misses that it was removed.
        try nodes.space("school-1", id: "2", isRemoved: true)
        try nodes.space("school-1", id: "3")
        let effects = nodes.directories["a"]!.step(at: nodes.now)
        let erased = try #require(effects.firstIndex(of: .erase(space, id: "2")))
        let followed = try #require(effects.firstIndex(of: .follow(space, id: "3")))
        #expect(erased < followed)
        try nodes.space("school-1", id: "4")
        let missed = nodes.directories["a"]!.step(at: nodes.now)
        #expect(Array(missed.prefix(2)) == [.erase(space, id: "3"), .follow(space, id: "4")])
    }

    @Test("where the node that owns most has nothing that anybody takes, the next one gives") func nextGives() throws {
        let nodes = try Self.nodes(["a", "b"], spaces: 4)
        nodes.add("c")
        // All that `b` has was moved away from `c` a moment ago.
        for (space, owner) in nodes.owners where owner == "b" { nodes.directories["c"]!.drain(space, at: nodes.now) }
        nodes.pass(60)
        #expect(nodes.counts() == ["a": 1, "b": 2, "c": 1])
    }

    @Test("what a node could not serve it does not take, nor is it given to it") func unfit() throws {
        let nodes = try Self.nodes(["a", "b"], spaces: 3)
        let space = try SpaceName("school-0")
        var directory = nodes.directories["a"]!
        directory.update(owns: [], ready: [space], unfit: [space], at: nodes.now)
        #expect(directory.hesitation(of: space, at: nodes.now) == nil && directory.own.ready == [])
    }

    @Test("who says farewell is not counted on, and what a new link tells again is no sign of life") func farewell() throws {
        let nodes = try Self.nodes(["a", "b"], spaces: 4)
        let space = try #require(nodes.owners.first { $0.value == "a" }?.key)
        #expect(nodes.directories["a"]!.canGiveAway(space, at: nodes.now))
        let word = nodes.directories["b"]!.farewell, last = try #require(nodes.bucket[word.key])
        nodes.remove("b")
        var again = nodes.directories["a"]!
        #expect(again.heard(word.key, last.value, revision: last.revision, at: nodes.now + .seconds(14)) == nil)
        #expect(!again.canGiveAway(space, at: nodes.now + .seconds(16)))
        nodes.put(word.key, word.value)
        #expect(!nodes.directories["a"]!.canGiveAway(space, at: nodes.now))
    }

    @Test("before the bucket has told all, nothing is done; a value that cannot be read is said and left out") func hostile() throws {
        let now = Instant(nanoseconds: 0)
        var directory = SpaceDirectory(id: "a", address: nil, spacesMax: 1, at: now)
        let space = try SpaceName("school"), entry = SpaceDirectory.entry(of: space, SpaceDirectory.Space(id: "9"))
        #expect(directory.heard(entry.key, entry.value, revision: 3, at: now) == nil)
        #expect(directory.step(at: now) == [])
        let wrong = [
            ("space.UP", "{}"), ("space.x", "no"), ("node.b", "[]"), ("other.b", "{}"), ("space", "{}"), ("space.a.b", "{}"),
            ("space.a", #"{"id":"a.b"}"#), ("space.a", #"{"id":""}"#), ("space.a", #"{"id":"12345678901234567"}"#),
        ]
        for (key, value) in wrong {
            #expect(directory.heard(key, Array(value.utf8), revision: 4, at: now) != nil, "\(key)")
        }
        directory.complete()
        let effects = directory.step(at: now)
        #expect(effects.first == .follow(space, id: "9") && effects.contains(.hesitate(space, .zero)) && directory.spaces == [space])
        #expect(directory.entry(of: space).revision == 3)
    }

    @Test("a directory has at most 256 spaces and 64 nodes; whoever writes more is not heard") func bounds() throws {
        let now = Instant(nanoseconds: 0)
        var directory = SpaceDirectory(id: "a", address: nil, spacesMax: 1, at: now)
        for number in 0..<256 {
            let entry = SpaceDirectory.entry(of: try SpaceName("s\(number)"), SpaceDirectory.Space(id: "1"))
            #expect(directory.heard(entry.key, entry.value, revision: 1, at: now) == nil)
        }
        let more = SpaceDirectory.entry(of: try SpaceName("more"), SpaceDirectory.Space(id: "1"))
        #expect(directory.heard(more.key, more.value, revision: 1, at: now)?.contains("at most 256") == true)
        let node = JSONBody.encode(SpaceDirectory.Node())
        for number in 0..<64 { #expect(directory.heard("node.n\(number)", node, revision: 1, at: now) == nil) }
        #expect(directory.heard("node.more", node, revision: 1, at: now)?.contains("at most 64") == true)
        // Those that were silent for long are forgotten.
        #expect(directory.heard("node.more", node, revision: 1, at: now + .seconds(61)) == nil)
    }
}
