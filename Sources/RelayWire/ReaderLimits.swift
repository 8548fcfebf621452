/// What a reader says that it can take of packets; `nil` is no limit. Messages are never held back.
public struct ReaderLimits: JSONObject, Equatable, Sendable {  // [DL11]
    /// Packets a second, 1…10,000.
    public var packetsPerSecond: Int?
    /// Bytes of packet frames a second, 1,024…1,000,000,000.
    public var bytesPerSecond: Int?
    /// Bytes of packets that may wait at the relay, 16,384…262,144.
    public var waitingBytes: Int?

    package init() {}

    /// What is left out is not limited.
    public init(packetsPerSecond: Int? = nil, bytesPerSecond: Int? = nil, waitingBytes: Int? = nil) {
        self.packetsPerSecond = packetsPerSecond
        self.bytesPerSecond = bytesPerSecond
        self.waitingBytes = waitingBytes
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("bytesPerSecond", &bytesPerSecond)
        json("packetsPerSecond", &packetsPerSecond)
        json("waitingBytes", &waitingBytes)
    }

    /// - Parameter prefix: of the fields' names, for people.
    /// - Throws: `badRequest` with the limit that was passed.
    package func check(_ prefix: String = "") throws(WireError) {
        try Self.check("\(prefix)packetsPerSecond", packetsPerSecond, Limits.readerPacketsPerSecond)
        try Self.check("\(prefix)bytesPerSecond", bytesPerSecond, Limits.readerBytesPerSecond)
        try Self.check("\(prefix)waitingBytes", waitingBytes, Limits.readerWaitingBytes)
    }

    private static func check(_ field: String, _ value: Int?, _ allowed: ClosedRange<Int>) throws(WireError) {
        if let value, !allowed.contains(value) { throw .outside(field, allowed, value) }
    }
}

package struct SetReaderLimitsRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var limits = ReaderLimits()

    package init() {}

    package init(id: UInt32, limits: ReaderLimits) { (self.id, self.limits) = (id, limits) }

    package mutating func fields(_ json: inout JSONFields) {
        json("bytesPerSecond", &limits.bytesPerSecond)
        json("id", &id)
        json("packetsPerSecond", &limits.packetsPerSecond)
        json("waitingBytes", &limits.waitingBytes)
    }
}
