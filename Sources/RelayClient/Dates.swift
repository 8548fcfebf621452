#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
import RelayClientCore

// The machine counts milliseconds, as the wire does: it knows no calendar. Apps get dates.

extension Date {
    init(wallMilliseconds: UInt64) { self.init(timeIntervalSince1970: Double(wallMilliseconds) / 1_000) }

    /// Since 1970; what lies outside of what the wire has is its nearest value.
    var wallMilliseconds: UInt64 { UInt64(min(max(0, (timeIntervalSince1970 * 1_000).rounded()), 0x1p53)) }
}

extension Message {
    /// The relay's wall clock at acceptance: to be shown, never to order by. `nil` of an own record, whose time the relay does not tell.
    public var date: Date? { receipt == nil || wallMilliseconds > 0 ? Date(wallMilliseconds: wallMilliseconds) : nil }
}

extension DirectMessage {
    /// The relay's wall clock at acceptance.
    public var date: Date { Date(wallMilliseconds: wallMilliseconds) }
}

extension BoardCleared {
    /// The relay's wall clock.
    public var date: Date { Date(wallMilliseconds: wallMilliseconds) }
}

extension MetadataItem {
    /// The relay's wall clock when it was written, if that was to be recorded.
    public var date: Date? { wallMilliseconds.map { Date(wallMilliseconds: $0) } }
}

extension BanInfo {
    /// When it was made, on the relay's wall clock.
    public var date: Date { Date(wallMilliseconds: wallMilliseconds) }

    /// When it is over; `nil`: when a moderator says so.
    public var end: Date? { endMilliseconds.map { Date(wallMilliseconds: $0) } }
}

extension BoardInfo {
    /// When it was last changed, on the relay's wall clock.
    public var changed: Date { Date(wallMilliseconds: changedMilliseconds) }

    /// When it was begun, likewise; `nil`: the relay does not know.
    public var created: Date? { createdMilliseconds.map { Date(wallMilliseconds: $0) } }

    /// When it was last changed, or the beginning of the last day (UTC) on which somebody was seen in its channel; now while somebody is.
    public var used: Date { Date(wallMilliseconds: usedMilliseconds) }
}

extension BoardRecord {
    /// The relay's wall clock at acceptance; `nil` of an own one that is on its way.
    public var date: Date? { wallMilliseconds.map { Date(wallMilliseconds: $0) } }

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
