import RelayPrimitives
import RelayWire

/// Retained messages that were accepted and are not told durable, to be sent again after a break. [BL2]
///
/// The relay knows an instance's last `Limits.publishWindowMax` accepted numbers, so numbers do not run further than
/// that ahead of the oldest in here: then each can be asked for again. That bounds what is held, too.
struct UnstoredMessages: Sendable {
    private var messages: [UInt64: OutgoingMessage] = [:]
    /// Numbers in the order of acceptance, those that are gone among them.
    private var order = FIFO<UInt64>()
    private(set) var bytes = 0

    var count: Int { messages.count }
    var isEmpty: Bool { messages.isEmpty }
    /// In order.
    var numbers: [UInt64] { messages.keys.inOrder() }
    var oldest: UInt64? { order.first }

    subscript(number: UInt64) -> OutgoingMessage? { messages[number] }

    mutating func insert(_ number: UInt64, _ message: OutgoingMessage) {
        messages[number] = message
        order.append(number)
        bytes += message.payload.byteCount
    }

    mutating func remove(_ number: UInt64) -> OutgoingMessage? {
        guard let message = messages.removeValue(forKey: number) else { return nil }
        bytes -= message.payload.byteCount
        while let first = order.first, messages[first] == nil { _ = order.removeFirst() }
        return message
    }

    mutating func removeAll() {
        messages = [:]
        order.removeAll()
        bytes = 0
    }
}
