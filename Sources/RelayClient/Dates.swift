public import Foundation
import RelayClientCore

// The machine counts milliseconds, as the wire does: it knows no calendar. Apps get dates.

extension Date {
    init(wallMilliseconds: UInt64) { self.init(timeIntervalSince1970: Double(wallMilliseconds) / 1_000) }

    /// Since 1970; what lies outside of what the wire has is its nearest value.
    var wallMilliseconds: UInt64 { UInt64(min(max(0, (timeIntervalSince1970 * 1_000).rounded()), 0x1p53)) }
}

extension Message {
    /// The relay's wall clock at acceptance: to be shown, never to order by.
    public var date: Date {
        get { Date(wallMilliseconds: wallMilliseconds) }
        set { wallMilliseconds = newValue.wallMilliseconds }
    }

    /// As a test or a preview makes one.
    public init(
        channel: String, sender: String, payload: Payload, offset: UInt64 = 0, epoch: Epoch? = nil,
        date: Date = Date(timeIntervalSince1970: 0), customType: String? = nil, key: String? = nil, isRetained: Bool = false,
        part: MessagePart? = nil
    ) {
        self.init(
            channel: channel, sender: sender, offset: offset, epoch: epoch, wallMilliseconds: date.wallMilliseconds,
            customType: customType, key: key, isRetained: isRetained, payload: payload, part: part)
    }
}

extension DirectMessage {
    /// The relay's wall clock at acceptance.
    public var date: Date {
        get { Date(wallMilliseconds: wallMilliseconds) }
        set { wallMilliseconds = newValue.wallMilliseconds }
    }

    /// As a test or a preview makes one.
    public init(sender: String, payload: Payload, date: Date = Date(timeIntervalSince1970: 0), customType: String? = nil) {
        self.init(sender: sender, wallMilliseconds: date.wallMilliseconds, customType: customType, payload: payload)
    }
}

extension BoardCleared {
    /// The relay's wall clock.
    public var date: Date {
        get { Date(wallMilliseconds: wallMilliseconds) }
        set { wallMilliseconds = newValue.wallMilliseconds }
    }

    /// As a test or a preview makes one.
    public init(channel: String, offset: UInt64, user: String, date: Date = Date(timeIntervalSince1970: 0)) {
        self.init(channel: channel, offset: offset, user: user, wallMilliseconds: date.wallMilliseconds)
    }
}

extension MetadataItem {
    /// The relay's wall clock when it was written, if that was to be recorded.
    public var date: Date? {
        get { wallMilliseconds.map { Date(wallMilliseconds: $0) } }
        set { wallMilliseconds = newValue?.wallMilliseconds }
    }

    /// As a test or a preview makes one.
    public init(key: String, value: String, revision: UInt64 = 1, author: String? = nil, date: Date? = nil) {
        self.init(key: key, value: value, revision: revision, author: author, wallMilliseconds: date?.wallMilliseconds)
    }
}

extension BanInfo {
    /// When it was made, on the relay's wall clock.
    public var date: Date { Date(wallMilliseconds: wallMilliseconds) }

    /// When it is over; `nil`: when a moderator says so.
    public var end: Date? { endMilliseconds.map { Date(wallMilliseconds: $0) } }

    /// As a test or a preview makes one.
    public init(user: String, by: String, date: Date = Date(timeIntervalSince1970: 0), end: Date? = nil) {
        self.init(user: user, by: by, wallMilliseconds: date.wallMilliseconds, endMilliseconds: end?.wallMilliseconds)
    }
}

extension BoardInfo {
    /// When it was last changed, on the relay's wall clock.
    public var changed: Date { Date(wallMilliseconds: changedMilliseconds) }

    /// As a test or a preview makes one.
    public init(channel: String, records: Int = 0, bytes: Int = 0, changed: Date = Date(timeIntervalSince1970: 0)) {
        self.init(channel: channel, records: records, bytes: bytes, changedMilliseconds: changed.wallMilliseconds)
    }
}

extension BoardRecord {
    /// The relay's wall clock at acceptance; `nil` of an own one that is on its way.
    public var date: Date? {
        get { wallMilliseconds.map { Date(wallMilliseconds: $0) } }
        set { wallMilliseconds = newValue?.wallMilliseconds }
    }

    /// As a test or a preview makes one.
    public init(
        key: String, payload: Payload?, customType: String? = nil, author: String, offset: UInt64? = nil, date: Date? = nil,
        isPending: Bool = false
    ) {
        self.init(
            key: key, payload: payload, customType: customType, author: author, offset: offset, wallMilliseconds: date?.wallMilliseconds,
            isPending: isPending)
    }
}
