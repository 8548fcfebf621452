import RelayCluster
import RelayIO

/// What `serve --log` says.
package struct SpaceLogOptions: Sendable {
    package var space: String
    package var servers: LogServers
    /// Seals the relay's keys in the log: the same at all nodes. `nil`: the relay has no keys.
    package var secret: [UInt8]?
    /// Where clients reach this relay; `nil`: nobody is sent there.
    package var address: RelayAddress?
    /// Whether it goes on while it cannot reach the log. [SG5]
    package var goesOnAlone = false
    /// The stream that is the log; of one of many it names the id of the space, too.
    var stream: String
    /// Whether this node makes the stream if the servers have none.
    var makesStream = true
    /// Others of this process use the same servers.
    var isOneOfMany = false
    /// So many spaces this process owns at once; `nil`: this one alone.
    var places: OwnedPlaces?
    var settings: ClusterSettings {
        var settings = ClusterSettings()
        settings.orphan = goesOnAlone ? .serve : .stop
        return settings
    }

    package init(space: String, servers: LogServers) {
        (self.space, self.servers, stream) = (space, servers, "space-\(space)")
    }
}

/// The spaces that a process owns, or is about to: no more than it may. From any thread.
final class OwnedPlaces: Sendable {
    private let taken = Mutex<Set<String>>([])
    private let max: Int

    init(max: Int) { self.max = max }

    /// - Returns: whether this space has a place.
    func take(_ space: String) -> Bool {
        taken.withLock { taken in
            guard !taken.contains(space) else { return true }
            guard taken.count < max else { return false }
            taken.insert(space)
            return true
        }
    }

    func giveBack(_ space: String) { taken.withLock { _ = $0.remove(space) } }
}
