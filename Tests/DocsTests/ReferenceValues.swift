import Foundation
import RelayCore
import RelayWire

/// Limits and settings with their values, as the reference writes them.
enum ReferenceValues {
    /// Swift tells no names of static constants: a row for each.
    static var limits: [String: String] {
        [
            "protocolVersion": "\(Limits.protocolVersion)",
            "defaultPort": "\(Limits.defaultPort)",
            "frameHeadBytes": written(Limits.frameHeadBytes),
            "frameBodyBytesMax": written(Limits.frameBodyBytesMax),
            "extensionBytesMax": written(Limits.extensionBytesMax),
            "jsonBodyBytesMax": written(Limits.jsonBodyBytesMax),
            "jsonDepthMax": written(Limits.jsonDepthMax),
            "integerMax": written(Int(Limits.integerMax)),
            "bytesBeforeLoginMax": written(Limits.bytesBeforeLoginMax),
            "keyBytesMax": written(Limits.keyBytesMax),
            "deviceCodeCharacters": written(Limits.deviceCodeCharacters),
            "joinCodeLetters": written(Limits.joinCodeLetters),
            "wrongCredentialsMax": written(Limits.wrongCredentialsMax),
            "accessNoticeMilliseconds": written(Int(Limits.accessNoticeMilliseconds)),
            "endReasonBytesMax": written(Limits.endReasonBytesMax),
            "banMilliseconds": range(Limits.banMilliseconds),
            "nameBytesMax": written(Limits.nameBytesMax),
            "publishMemoryMilliseconds": written(Int(Limits.publishMemoryMilliseconds)),
            "publishWindowMax": written(Limits.publishWindowMax),
            "boardEpochsMax": written(Limits.boardEpochsMax),
            "boardMarkersMax": written(Limits.boardMarkersMax),
            "boardMarkerDays": written(Limits.boardMarkerDays),
            "undoMilliseconds": written(Int(Limits.undoMilliseconds)),
            "creditIntervalMilliseconds": written(Limits.creditIntervalMilliseconds),
            "refusedChannelsMax": written(Limits.refusedChannelsMax),
            "barriersMax": written(Limits.barriersMax),
            "partTimeoutMilliseconds": written(Int(Limits.partTimeoutMilliseconds)),
            "changesPerPartMax": written(Limits.changesPerPartMax),
            "changesMax": written(Limits.changesMax),
            "customTypeBytesMax": written(Limits.customTypeBytesMax),
            "topicMetaBytesMax": written(Limits.topicMetaBytesMax),
            "packetLifetimeMilliseconds": range(Limits.packetLifetimeMilliseconds),
            "statesBytesMax": written(Limits.statesBytesMax),
            "metadataBytesMax": written(Limits.metadataBytesMax),
            "metadataItemsMax": written(Limits.metadataItemsMax),
            "metadataItemOverheadBytes": written(Limits.metadataItemOverheadBytes),
            "metadataPageBytes": written(Limits.metadataPageBytes),
            "lockTTLMilliseconds": range(Limits.lockTTLMilliseconds),
            "lockTTLMillisecondsDefault": written(Int(Limits.lockTTLMillisecondsDefault)),
            "lockWaitMilliseconds": range(Limits.lockWaitMilliseconds),
            "addressesPerStatusMax": written(Limits.addressesPerStatusMax),
            "membersPerPageMax": written(Limits.membersPerPageMax),
            "listedUsersMax": written(Limits.listedUsersMax),
            "usersPerRequestMax": written(Limits.usersPerRequestMax),
            "jsonPageBytes": written(Limits.jsonPageBytes),
            "presenceTimeoutMilliseconds": range(Limits.presenceTimeoutMilliseconds),
            "readerPacketsPerSecond": range(Limits.readerPacketsPerSecond),
            "readerBytesPerSecond": range(Limits.readerBytesPerSecond),
            "readerWaitingBytes": range(Limits.readerWaitingBytes),
            "clientDescriptionBytesMax": written(Limits.clientDescriptionBytesMax),
            "tokenBytesMax": written(Limits.tokenBytesMax),
            "tokenGrantsMax": written(Limits.tokenGrantsMax),
            "tokenSecretBytes": range(Limits.tokenSecretBytes),
            "lostRangesPerFrameMax": written(Limits.lostRangesPerFrameMax),
            "pingBytesMax": written(Limits.pingBytesMax),
        ]
    }

    /// Every setting with its default, in the order of the source; those that clients are told begin with `limits.`.
    static func settings() -> [(name: String, value: String)] {
        let defaults = Configuration()
        var rows: [(String, String)] = []
        for child in Mirror(reflecting: defaults).children where child.label != "isJournaled" {
            if child.label == "limits" {
                for limit in Mirror(reflecting: child.value).children {
                    rows.append(("limits.\(limit.label!)", written(limit.value)))
                }
            } else {
                rows.append((child.label!, written(child.value)))
            }
        }
        return rows
    }

    static func range<Bound: BinaryInteger>(_ range: ClosedRange<Bound>) -> String {
        "\(written(Int(range.lowerBound)))…\(written(Int(range.upperBound)))"
    }

    /// A number with commas, a time with its unit; from 1 MiB on bytes as MiB or GiB where nothing is lost.
    static func written(_ value: Any) -> String {
        switch value {
        case let time as Duration:
            let milliseconds = Int(time / .milliseconds(1))
            if milliseconds % 3_600_000 == 0 { return "\(milliseconds / 3_600_000) h" }
            if milliseconds % 60_000 == 0 { return "\(milliseconds / 60_000) min" }
            return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
        case let number as Int:
            for (unit, bytes) in [("GiB", 1 << 30), ("MiB", 1 << 20)] where number >= bytes && number % bytes == 0 {
                return "\(number / bytes) \(unit)"
            }
            return grouped(number)
        default: return "none"
        }
    }

    static func grouped(_ number: Int) -> String {
        number < 1_000 ? "\(number)" : grouped(number / 1_000) + "," + String("\(number % 1_000 + 1_000)".dropFirst())
    }
}
