/// What a `Poller` is to tell of a descriptor.
package struct Interest: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bytes, the end or a failure can be read.
    package static let reading = Self(rawValue: 1)
    /// Bytes can be written, or never will be.
    package static let writing = Self(rawValue: 2)
}

/// One descriptor that is ready.
package struct Readied: Sendable, Equatable {
    /// As given to `Poller.add`.
    package var token: UInt32
    /// A peer that hung up is readable, whatever was asked for: reading tells.
    package var isReadable: Bool
    package var isWritable: Bool
}
