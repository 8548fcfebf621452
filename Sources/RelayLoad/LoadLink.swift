import RelayIO
import RelaySystem
import RelayWire

/// One connection of a load generator.
struct LoadLink {
    enum State: Equatable {
        /// So many answers are still to come.
        case entering(Int)
        case ready
        /// By the relay with this code; without one the reason is unknown.
        case closed(UInt16?)
    }

    let socket: PolledSocket
    /// Its place among the members of the load.
    let member: Int
    var state: State
    /// What the relay said before it closed.
    var farewell: UInt16?
    /// Nothing is read.
    var isStalled = false
    /// The socket takes nothing, or is not connected yet: the poller tells.
    var isBlocked = true
    /// Not written yet, from `written` on.
    private(set) var out: [UInt8] = []
    private var written = 0
    /// The front of a frame whose rest is still to come.
    var rest: [UInt8] = []

    // What a session has to be resumed by.
    var resumeToken: String?
    var messageChannel: SubscribeAnswer?
    var lastOffset: UInt64 = 0

    init(_ socket: PolledSocket, member: Int, answers: Int) {
        self.socket = socket
        self.member = member
        state = .entering(answers)
    }

    var isClosed: Bool { if case .closed = state { true } else { false } }
    var unwritten: Int { out.count - written }

    mutating func append(_ bytes: [UInt8]) { out.append(contentsOf: bytes) }
    mutating func append(_ bytes: UnsafeRawBufferPointer) { out.append(contentsOf: bytes) }

    enum Flushed { case all, blocked, failed }

    /// Writes what the socket takes.
    mutating func flush() -> Flushed {
        while written < out.count {
            switch out.withUnsafeBytes({ socket.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }) {
            case .wrote(let count): written += count
            case .wouldBlock: return .blocked
            case .failed: return .failed
            }
        }
        out.removeAll(keepingCapacity: true)
        written = 0
        return .all
    }
}
