import RelayWire

/// One link, TCP or WebSocket, as the shell numbers it: `index` is small and reused, `generation` tells its users apart.
public struct ConnectionID: Hashable, Sendable, CustomStringConvertible {
    public var index: Int32
    public var generation: UInt32

    @inlinable public init(index: Int32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    public var description: String { "connection \(index).\(generation)" }
}

/// How a link ended, seen from the shell.
public enum CloseCause: Sendable, Hashable {
    /// The peer closed (FIN).
    case peerClosed
    /// Reset, or an error of the socket.
    case failed(errno: Int32)
    /// The hub's own `close` effect was carried out.
    case byHub
}

/// Sixteen bytes from the system's generator: the hub keeps them as the connection's resume token and never draws
/// a secret itself.
public struct Entropy: Hashable, Sendable {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// What happens to the hub, but for bytes that arrive (`Hub.receive`) and bytes that leave (`Hub.gather`, `Hub.wrote`).
public enum Event: Sendable {
    /// A link is there. `peer` is for logs and the census only.
    case opened(ConnectionID, entropy: Entropy, peer: String)
    /// A link is gone; nothing more may be asked of this id. Answers a `close` effect, too.
    case closed(ConnectionID, CloseCause)
    /// `nextDeadline` has come.
    case deadlineReached
    /// The relay is to end: clients are told, and no new session is let in.
    case shutdown
}

/// What the shell carries out for the hub.
public enum Effect: Sendable, Hashable {
    /// Write what the hub still has for this link (the farewell among it), as far as the peer takes it at once or
    /// within `lingerMilliseconds`, then close it and report `closed(_, .byHub)`.
    case close(ConnectionID, lingerMilliseconds: Int)
    /// One line for the log.
    case log(LogLine)
}

/// Who, what, limit and actual value, for the operator's log.
public struct LogLine: Sendable, Hashable {
    public enum Level: String, Sendable, Comparable, CaseIterable {
        case debug, info, warning, error

        public static func < (left: Self, right: Self) -> Bool {
            allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
        }
    }

    public var level: Level
    public var text: String

    public init(_ level: Level, _ text: String) {
        self.level = level
        self.text = text
    }
}

/// A piece of memory to write, laid out as `struct iovec` is on 64-bit platforms; valid until the next `wrote`,
/// `receive` or `handle`.
public struct IOVector {
    public var base: UnsafeRawPointer
    public var count: Int

    @inlinable public init(base: UnsafeRawPointer, count: Int) {
        self.base = base
        self.count = count
    }
}
