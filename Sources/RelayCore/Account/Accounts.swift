import RelayPrimitives
import RelayWire

/// What is charged to addresses.
struct Accounts {
    /// Connections that have logged in, and sessions. [SE5]
    var live = Places()
    var sessions = Places()
    private var messageChannels = Places()
    private var streamChannels = Places()
    /// Wrong credentials. [AC2]
    var guesses: AddressBuckets
    /// What comes to be. [RT9]
    var newChannels: AddressBuckets
    var newIDs: AddressBuckets

    /// What sessions hold. [SE15]
    var memory: MemoryAccount
    /// Metadata as accepted, each item charged to the address that wrote it last. [MD4]
    var metadata: MemoryAccount
    /// Frames that wait. [DL12]
    var heldFrames: MemoryAccount
    /// Frames that have not come whole. [FR2]
    var unfinished: MemoryAccount
    /// Parts that wait for the last of their change set. [BL11]
    var staged: MemoryAccount
    /// Changes that wait for the disk, and answers behind them. [SG3]
    var unjournaled: MemoryAccount
    /// Whom that is charged to which is done now.
    var payer = AddressKey.local

    init(_ configuration: Configuration) {
        memory = MemoryAccount(max: configuration.sessionMemoryMax)
        metadata = MemoryAccount(max: configuration.metadataBytesTotalMax)
        heldFrames = MemoryAccount(max: configuration.heldBytesMax)
        unfinished = MemoryAccount(max: configuration.unfinishedBytesMax)
        staged = MemoryAccount(max: configuration.stagedBytesMax)
        unjournaled = MemoryAccount(max: configuration.unjournaledBytesMax)
        guesses = AddressBuckets(rate: configuration.guessesPerSecond, capacity: configuration.guessesBurst)
        newChannels = AddressBuckets(
            rate: configuration.newChannelsOfAddressPerSecond, capacity: configuration.newChannelsOfAddressBurst)
        newIDs = AddressBuckets(rate: configuration.newIDsPerSecond, capacity: configuration.newIDsBurst)
    }

    /// Other bounds of memory hold.
    mutating func configure(_ configuration: Configuration) {
        memory.max = configuration.sessionMemoryMax
        metadata.max = configuration.metadataBytesTotalMax
        heldFrames.max = configuration.heldBytesMax
        unfinished.max = configuration.unfinishedBytesMax
        staged.max = configuration.stagedBytesMax
        unjournaled.max = configuration.unjournaledBytesMax
    }

    /// Memory by the address that it is charged to, in bytes. [AC16]
    var heldByAddress: [AddressKey: Int] {
        [memory, metadata, heldFrames, unfinished, staged, unjournaled].reduce(into: [:]) { $0.merge($1.byAddress, uniquingKeysWith: +) }
    }

    /// [CH8]
    subscript(channels kind: ChannelKind) -> Places {
        get { kind == .message ? messageChannels : streamChannels }
        _modify {
            switch kind {
            case .message: yield &messageChannels
            case .stream: yield &streamChannels
            }
        }
    }
}

/// A token bucket for each address. This machine itself has none. [AC2]
struct AddressBuckets {
    let rate: Int
    private let capacity: Int
    private var buckets = [AddressKey: TokenBucket]()
    /// Of all addresses beyond the bound.
    private var others = TokenBucket()
    private var prunedAt = Instant(nanoseconds: 0)

    static let addressesMax = 10_000

    init(rate: Int, capacity: Int) {
        self.rate = rate
        self.capacity = capacity
    }

    /// - Returns: `nil` when there was a token, else the nanoseconds until there is one.
    mutating func take(_ address: AddressKey, at now: Instant) -> UInt64? {
        guard address != .local else { return nil }
        if buckets[address] == nil, buckets.count >= Self.addressesMax { prune(at: now) }
        guard buckets[address] != nil || buckets.count < Self.addressesMax else {
            return others.take(rate: rate, capacity: capacity, at: now)
        }
        return buckets[address, default: TokenBucket()].take(rate: rate, capacity: capacity, at: now)
    }

    /// Whether there is no token.
    mutating func isEmpty(_ address: AddressKey, at now: Instant) -> Bool {
        guard address != .local else { return false }
        guard buckets[address] != nil else {
            return buckets.count >= Self.addressesMax && others.tokens(rate: rate, capacity: capacity, at: now) == 0
        }
        return buckets[address]!.tokens(rate: rate, capacity: capacity, at: now) == 0
    }

    /// Forgets those that are as good as new, at most once a second.
    private mutating func prune(at now: Instant) {
        guard now - prunedAt >= .seconds(1) else { return }
        prunedAt = now
        for address in buckets.keys where buckets[address]!.isFull(rate: rate, at: now) { buckets[address] = nil }
    }
}

/// The other end of a connection: parsed once, by the engine.
package struct Peer: Equatable, Sendable, CustomStringConvertible {
    /// For logs and moderators: with its port, and with the proxy that it came by.
    package var text: String
    /// Whom its places, rates and guesses are charged to.
    package var address: AddressKey

    package init(text: String, address: AddressKey) {
        self.text = text
        self.address = address
    }

    package var description: String { text }
}

/// A range that counts as one address: a user of a part of it can use all of it.
package enum AddressKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// This machine itself: loopback, without a word of a proxy.
    case local
    case ipv4(UInt32)
    /// The first 64 bits of an address.
    case ipv6(UInt64)

    package var description: String {
        switch self {
        case .local: "this machine"
        case .ipv4(let address): [24, 16, 8, 0].map { String(address >> $0 & 0xff) }.joined(separator: ".")
        case .ipv6(let prefix): [48, 32, 16, 0].map { String(prefix >> $0 & 0xffff, radix: 16) }.joined(separator: ":") + "::/64"
        }
    }
}
