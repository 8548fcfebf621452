import RelayCluster
import RelayPrimitives
import RelayStorage

/// A node of the simulation: a machine, a disk, a hub that knows only changes, and a link.
final class SimulatedNode {
    struct Stored: Equatable {
        var records: [JournalRecord]
        var place: LogPlace
    }

    /// What the machine has told to serve, and what became of the changes of its users.
    struct Hub {
        var start: UInt32
        var sequence: UInt64
        var isAlone = false
        /// Accepted and not yet submitted.
        var intake: [UInt64] = []
        /// Submitted and not shown.
        var pending: [(sequence: UInt64, change: UInt64)] = []
    }

    let name: Int
    /// Of its clock, in millionths.
    private let rate: UInt64, offset: UInt64
    var pausedUntil: UInt64 = 0
    var isCut = false
    /// Calls arrive, and answers do not.
    var isMuteUntil: UInt64?
    var isAlive = true
    /// Whatever was under way in an earlier life, or over an earlier link, is lost.
    var life: UInt64 = 0, link: UInt64 = 0
    var machine: SpaceMachine!
    var disk: [Stored] = []
    var writing: [Stored] = []
    var isDiskBroken = false
    var hub: Hub?
    var hasStopped = false
    /// The number of what it follows, and when the newest entry of it comes.
    var follows: UInt64?
    var newestComesAt: UInt64 = 0
    var armed: Instant?
    /// What happens when its pause is over.
    var backlog: [(ClusterSimulation) -> Void] = []

    init(name: Int, dice: inout SplitMix64) {
        self.name = name
        // Two in a hundred too slow, or too fast.
        rate = 980_000 + dice.below(40_001)
        offset = dice.below(1_000_000_000_000)
    }

    func clock(_ time: UInt64) -> Instant { Instant(nanoseconds: time / 1_000 * rate / 1_000 + offset) }

    /// When its clock shows that.
    func time(of moment: Instant) -> UInt64 {
        moment.nanoseconds <= offset ? 0 : (moment.nanoseconds - offset).multipliedFullWidth(by: 1_000_000).low / rate + 2_000
    }

    func boot(settings: ClusterSettings, seed: UInt64, time: UInt64) {
        machine = SpaceMachine(
            disk: disk.last?.place ?? LogPlace(), life: UInt64(name) << 32 | life, seed: seed, settings: settings, at: clock(time))
        (hub, hasStopped, follows, newestComesAt, armed) = (nil, false, nil, 0, nil)
    }
}
