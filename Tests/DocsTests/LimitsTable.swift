import RelayCore
import RelayWire

/// The rows of the table of limits in `docs/protocol.md`, with the constants and settings that they state.
enum LimitsTable {
    /// One that the protocol fixes: the names of its constants in `Limits`, and its numbers.
    struct Fixed {
        let constants: [String]
        let numbers: [UInt64]

        init(_ constant: String, _ number: some BinaryInteger) {
            constants = [constant]
            numbers = [UInt64(number)]
        }

        init(_ constant: String, _ range: ClosedRange<some BinaryInteger>) {
            constants = [constant]
            numbers = [UInt64(range.lowerBound), UInt64(range.upperBound)]
        }

        init(_ first: Fixed, _ second: Fixed) {
            constants = first.constants + second.constants
            numbers = first.numbers + second.numbers
        }
    }

    /// A default that an operator may change.
    struct Setting: Sendable {
        let path: PartialKeyPath<Configuration> & Sendable
        /// In which a time is told.
        let unit: Duration

        init(_ path: PartialKeyPath<Configuration> & Sendable, unit: Duration = .seconds(1)) {
            self.path = path
            self.unit = unit
        }

        /// As the properties of `Configuration` are called.
        var name: String { "\(path)".replacing("\\Configuration.", with: "") }

        var number: UInt64 {
            switch Configuration()[keyPath: path] {
            case let count as Int: UInt64(count)
            case let time as Duration: UInt64(time / unit)
            case let other: preconditionFailure("\(name) is \(other): neither a count nor a time")
            }
        }
    }

    /// Each row's numbers by its name in the document.
    static var numbers: [String: [UInt64]] {
        fixed.mapValues(\.numbers).merging(tunable.mapValues { $0.map(\.number) }) { _, second in second }
    }

    static var fixed: [String: Fixed] {
        [
            "frame body": .init("frameBodyBytesMax", Limits.frameBodyBytesMax),
            "extensions of a frame": .init("extensionBytesMax", Limits.extensionBytesMax),
            "JSON body from a client": .init("jsonBodyBytesMax", Limits.jsonBodyBytesMax),
            "JSON depth": .init("jsonDepthMax", Limits.jsonDepthMax),
            "integers, numbers, offsets": .init("integerMax", Limits.integerMax),
            "bytes before login": .init("bytesBeforeLoginMax", Limits.bytesBeforeLoginMax),
            "name": .init("nameBytesMax", Limits.nameBytesMax),
            "custom type": .init("customTypeBytesMax", Limits.customTypeBytesMax),
            "topic meta": .init("topicMetaBytesMax", Limits.topicMetaBytesMax),
            "client description": .init("clientDescriptionBytesMax", Limits.clientDescriptionBytesMax),
            "presence timeout": .init("presenceTimeoutMilliseconds", Limits.presenceTimeoutMilliseconds),
            "packet lifetime": .init("packetLifetimeMilliseconds", Limits.packetLifetimeMilliseconds),
            "packets a second that a reader takes": .init("readerPacketsPerSecond", Limits.readerPacketsPerSecond),
            "bytes of packet frames a second that a reader takes": .init("readerBytesPerSecond", Limits.readerBytesPerSecond),
            "bytes of packets that wait for a reader by its choice": .init("readerWaitingBytes", Limits.readerWaitingBytes),
            "listed users per topic selection": .init("listedUsersMax", Limits.listedUsersMax),
            "users named in one topic request": .init("usersPerRequestMax", Limits.usersPerRequestMax),
            "states, keys and values": .init("statesBytesMax", Limits.statesBytesMax),
            "members per snapshot or page": .init("membersPerPageMax", Limits.membersPerPageMax),
            "addresses in an answer to `status`": .init("addressesPerStatusMax", Limits.addressesPerStatusMax),
            "ranges per `lost`": .init("lostRangesPerFrameMax", Limits.lostRangesPerFrameMax),
            "ping": .init("pingBytesMax", Limits.pingBytesMax),
            "metadata of a set, keys and values": .init("metadataBytesMax", Limits.metadataBytesMax),
            "an item in the sum of a relay's metadata, besides key and value": .init(
                "metadataItemOverheadBytes", Limits.metadataItemOverheadBytes),
            "items of a set of metadata": .init("metadataItemsMax", Limits.metadataItemsMax),
            "ttl of a lock": .init("lockTTLMilliseconds", Limits.lockTTLMilliseconds),
            "remembered numbers per instance": .init("publishWindowMax", Limits.publishWindowMax),
            "barriers of a connection that wait": .init("barriersMax", Limits.barriersMax),
            "channels held up of an instance": .init("refusedChannelsMax", Limits.refusedChannelsMax),
            "a credit that has grown": .init("creditIntervalMilliseconds", Limits.creditIntervalMilliseconds),
            "a part after the one before": .init("partTimeoutMilliseconds", Limits.partTimeoutMilliseconds),
            "changes in a part, and in a change set": .init(
                .init("changesPerPartMax", Limits.changesPerPartMax), .init("changesMax", Limits.changesMax)),
            "undoing a `clear`": .init("undoMilliseconds", Limits.undoMilliseconds),
            "removals remembered of a board": .init(
                .init("boardMarkersMax", Limits.boardMarkersMax), .init("boardMarkerDays", Limits.boardMarkerDays)),
            "epochs remembered of a board": .init("boardEpochsMax", Limits.boardEpochsMax),
            "time of a ban": .init("banMilliseconds", Limits.banMilliseconds),
            "reason of an `endSession` or `endChannel`": .init("endReasonBytesMax", Limits.endReasonBytesMax),
            "wait for a lock": .init("lockWaitMilliseconds", Limits.lockWaitMilliseconds),
        ]
    }

    /// Rules that state defaults which have a row.
    static let inRules: [(rule: String, settings: [Setting])] = [
        ("CH8", [.init(\.channelsMax)]), ("MS2", [.init(\.limits.messageBytesMax)]),
        ("HI6", [.init(\.historyPageMessagesMax), .init(\.historyPageBytesMax)]),
        ("ST2", [.init(\.streamChannelUsersMax), .init(\.publisherBytesPerChannelMax)]),
        ("DL4", [.init(\.packetBacklogBytesMax)]), ("DL8", [.init(\.reliableBacklogBytesHard)]), ("SG3", [.init(\.unjournaledBytesMax)]),
        ("DM5", [.init(\.directPendingMax)]), ("RT1", [.init(\.limits.messagesPerSecond), .init(\.limits.packetsPerSecond)]),
        ("RT6", [.init(\.limits.requestsPerSecond), .init(\.requestsBurst)]),
        ("RT7", [.init(\.metadataCallsPerSecond), .init(\.metadataCallsBurst)]),
    ]

    static var tunable: [String: [Setting]] {
        [
            "remembered instances per device": [.init(\.publishWindowsPerDeviceMax)],
            "code for another device": [.init(\.deviceCodeValid, unit: .seconds(60))],
            "join code": [.init(\.joinCodeValid, unit: .seconds(60)), .init(\.wrongJoinCodesPerCodeMax)],
            "join codes of a relay": [.init(\.joinCodesMax)],
            "wrong join codes in a minute of an address": [.init(\.wrongJoinCodesOfAddressMax)],
            "wrong join codes in a minute of a relay": [.init(\.wrongJoinCodesMax)],
            "devices of a user with a session": [.init(\.devicesPerUserMax)],
            "message payload + custom type": [.init(\.limits.messageBytesMax)],
            "packet payload": [.init(\.limits.packetBytesMax)],
            "messages per user and channel": [.init(\.limits.messagesPerSecond)],
            "packets per user and topic": [.init(\.limits.packetsPerSecond)],
            "direct messages per user": [.init(\.limits.directMessagesPerSecond)],
            "requests per user": [.init(\.limits.requestsPerSecond), .init(\.requestsBurst)],
            "new channels of a user": [.init(\.newChannelsPerSecond), .init(\.newChannelsBurst)],
            "new channels of an address": [.init(\.newChannelsOfAddressPerSecond), .init(\.newChannelsOfAddressBurst)],
            "new user ids of an address": [.init(\.newIDsPerSecond), .init(\.newIDsBurst)],
            "subscribed message channels per session": [.init(\.limits.subscribedChannelsMax)],
            "joined stream channels per session": [.init(\.limits.joinedChannelsMax)],
            "published topics per device and channel": [.init(\.limits.publishedTopicsMax)],
            "subscribed topics per channel and session": [.init(\.limits.subscribedTopicsMax)],
            "devices per stream channel": [.init(\.streamChannelUsersMax)],
            "entries of publishers in the `topics` of a channel": [.init(\.publisherBytesPerChannelMax)],
            "states per user and channel": [.init(\.statesPerUserMax)],
            "channels with states per session": [.init(\.channelsWithStatesMax)],
            "direct messages waiting for confirmation": [.init(\.directPendingMax)],
            "channels of a kind per relay": [.init(\.channelsMax)],
            "connections per relay": [.init(\.connectionsMax)],
            "connections without login per relay": [.init(\.greetingsMax)],
            "places that an address has in any case": [.init(\.addressPlacesMin)],
            "sessions per relay": [.init(\.sessionsMax)],
            "users with a role set by a moderator": [.init(\.setRolesMax)],
            "channels with a mode": [.init(\.channelModesMax)],
            "bans": [.init(\.bansMax)],
            "erasures under way": [.init(\.erasuresMax)],
            "packets queued for a reader": [.init(\.packetBacklogBytesMax)],
            "other frames queued for a reader": [.init(\.reliableBacklogBytesHard)],
            "metadata of a relay": [.init(\.metadataBytesTotalMax)],
            "memory of all sessions": [.init(\.sessionMemoryMax)],
            "frames that have not come whole": [.init(\.unfinishedBytesMax)],
            "locks of a relay": [.init(\.locksTotalMax)],
            "users with metadata per relay": [.init(\.userMetadataMax)],
            "users' metadata subscribed per session": [.init(\.subscribedUserMetadataMax)],
            "metadata calls per user, of channels and of users": [.init(\.metadataCallsPerSecond), .init(\.metadataCallsBurst)],
            "locks per channel": [.init(\.locksPerChannelMax)],
            "waiting for one lock": [.init(\.lockWaitersMax)],
            "changes waiting to be stored": [.init(\.unjournaledBytesMax)],
            "frames that wait for a turn, or for a file": [.init(\.heldBytesMax)],
            "reading whose record it is": [.init(\.boardAuthorTimeout)],
            "a board": [.init(\.boardBytesMax)],
            "records of a board": [.init(\.boardRecordsMax)],
            "boards of a relay": [.init(\.boardBytesTotalMax)],
            "new boards of a user": [.init(\.newBoardsPerHour)],
            "parts of a drawing together": [.init(\.limits.largeMessageBytesMax)],
            "drawings under way in parts, per instance": [.init(\.draftsMax)],
            "parts that wait for the last of their change set": [.init(\.stagedBytesMax)],
            "kept messages per channel": [.init(\.historyMessagesMax), .init(\.historyAge, unit: .seconds(60))],
            "kept bytes per channel": [.init(\.historyBytesMax)],
            "kept bytes per relay": [.init(\.historyBytesTotalMax)],
            "messages per page of history": [.init(\.historyPageMessagesMax), .init(\.historyPageBytesMax)],
        ]
    }
}
