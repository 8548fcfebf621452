/// Puts the bytes of a relay queue into messages, without touching or holding one of them, and control frames between
/// messages. [WS7, WS9]
///
/// The shell asks `plan` what stands before the queue's bytes and how many of these may follow, writes as much as the
/// socket takes, and tells `wrote`. **What a head has announced must be sent as it was announced**: until
/// `announcedBytes` are written the queue may shed nothing among them.
package struct WebSocketOutlet: Sendable {
    /// Heads and control frames, perhaps written in part.
    package private(set) var front: [UInt8] = []
    /// Bytes of the queue that stand in a message whose head is written, or is in `front`.
    package private(set) var announcedBytes = 0

    // What waits for the end of the message. Of more pings than are kept the last ones are answered. [RFC 6455 §5.5.3]
    private var pongs: [[UInt8]] = []
    private var close: [UInt8]?
    private var isClosed = false

    package init() {}

    /// Whether there is something to send that is not in the queue.
    package var hasFront: Bool { !front.isEmpty || !isClosed && (!pongs.isEmpty || close != nil) }

    /// The close frame is written: nothing may follow.
    package var isEnded: Bool { isClosed && front.isEmpty && announcedBytes == 0 }

    /// Most pongs that wait. A peer that pings on and on still gets an answer.
    package static let pongsMax = 16

    package mutating func enqueuePong(_ frame: [UInt8]) {
        if pongs.count == Self.pongsMax { pongs.removeFirst() }
        pongs.append(frame)
    }

    /// The last frame. What the queue has goes before it only where it was announced or `plan` is asked with it before.
    package mutating func enqueueClose(_ frame: [UInt8]) {
        if close == nil, !isClosed { close = frame }
    }

    /// The bytes to write next: all of `front`, then at most so many bytes of the queue.
    ///
    /// - Parameter queuedBytes: bytes at the front of the queue that are whole frames and go into one message, at most 64 KiB
    ///   or one larger frame; not asked for while a message is not written to its end.
    package mutating func plan(queuedBytes: Int) -> Int {
        if announcedBytes == 0 {
            if !isClosed, front.isEmpty {
                front = pongs.flatMap(\.self)
                pongs = []
            }
            if !isClosed, queuedBytes > 0 {
                front += WebSocketFrame.head(.binary, payloadBytes: queuedBytes)
                announcedBytes = queuedBytes
            } else if let close {
                front += close
                self.close = nil
                isClosed = true
            }
        }
        return announcedBytes
    }

    /// Takes off what the socket has taken.
    ///
    /// - Returns: how many of these bytes were the queue's.
    package mutating func wrote(_ bytes: Int) -> Int {
        let ofFront = min(bytes, front.count)
        front.removeFirst(ofFront)
        let ofQueue = bytes - ofFront
        precondition(ofQueue <= announcedBytes, "\(ofQueue) bytes were written of a message that had \(announcedBytes)")
        announcedBytes -= ofQueue
        return ofQueue
    }
}
