import RelayWire

public struct Hub: ~Copyable {
    public private(set) var nextDeadline: Instant?
    public init(configuration: Configuration, start: UInt32) {}
    public mutating func handle(_ event: Event, at now: Now, into effects: inout [Effect]) {}
    public mutating func receive(_ bytes: UnsafeRawBufferPointer, from connection: ConnectionID, at now: Now, into effects: inout [Effect]) {}
    public mutating func nextDirty() -> ConnectionID? { nil }
    public mutating func gather(_ connection: ConnectionID, into vectors: UnsafeMutableBufferPointer<IOVector>, limit: Int, at now: Now) -> Int { 0 }
    public mutating func wrote(_ connection: ConnectionID, bytes: Int, at now: Now) -> Bool { false }
    public func census() -> Census { Census() }
}
