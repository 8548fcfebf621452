import RelayCore
import RelayWire
import Testing

@Suite struct TablesTests {
    @Test("the table of frame types is that of the code: value, name, who sends it")
    func frameTypes() throws {
        let rows = try Document.protocol().table("Frame types").map { "\($0[0]) \(Document.plain($0[1])) \($0[2])" }
        let types = FrameType.allCases.sorted { $0.rawValue < $1.rawValue }.map { type in
            let sender =
                switch type.sender {
                case .client: "C"
                case .relay: "R"
                case .either: "C, R"
                }
            let digits = String(type.rawValue, radix: 16, uppercase: true)
            return "0x\(digits.count == 1 ? "0" : "")\(digits) \(type.name) \(sender)"
        }
        #expect(rows == types, "\(rows.difference(from: types))")
    }

    @Test("the table of codes is that of the code, in its order")
    func codes() throws {
        let rows = try Document.protocol().table("Codes")
        let found = rows.map { "\($0[0]) \(Document.plain($0[1]))" }
        let expected = ErrorCode.all.map { "\($0.code.rawValue) \($0.name)" }
        #expect(found == expected, "\(found.difference(from: expected))")
        for row in rows { #expect(row.count == 3 && !row[2].isEmpty, "\(row)") }
    }

    @Test("the table of limits has the numbers of the code")
    func limits() throws {
        let rows = try Document.protocol().table("Limits")
        #expect(rows.count >= 30, "only \(rows.count) rows found: the document is not read rightly")
        #expect(Set(rows.map { $0[0] }).count == rows.count, "a limit stands twice")
        for row in rows {
            guard let expected = Self.values[row[0]] else {
                Issue.record("row \"\(row[0])\" belongs to no constant: name it in `values`")
                continue
            }
            #expect(Document.numbers(in: row[1]) == expected, "\(row[0])")
        }
    }

    @Test("a limit is bold exactly when it is a default that an operator may change")
    func bold() throws {
        for row in try Document.protocol().table("Limits") {
            #expect(row[1].contains("**") == Self.tunable.keys.contains(row[0]), "\(row[0])")
        }
    }

    @Test("codes that the table of limits names are codes")
    func limitCodes() throws {
        let names = Set(ErrorCode.all.map(\.name) + FrameType.allCases.map(\.name))
        for row in try Document.protocol().table("Limits") {
            let marked = row[2].matches(of: /`([A-Za-z]+)`/).map { String($0.output.1) }
            for word in marked where word != "failed" { #expect(names.contains(word), "\(row[0]): \(word)") }
        }
    }

    /// Each row's numbers by its name in the document.
    static var values: [String: [UInt64]] { fixed.merging(tunable) { _, second in second } }

    /// What the protocol fixes.
    static var fixed: [String: [UInt64]] {
        let presence = Limits.presenceTimeoutMilliseconds, lifetime = Limits.packetLifetimeMilliseconds
        return [
            "frame body": [UInt64(Limits.frameBodyBytesMax)],
            "JSON body from a client": [UInt64(Limits.jsonBodyBytesMax)],
            "JSON depth": [UInt64(Limits.jsonDepthMax)],
            "integers, numbers, offsets": [Limits.integerMax],
            "bytes before login": [UInt64(Limits.bytesBeforeLoginMax)],
            "name": [UInt64(Limits.nameBytesMax)],
            "custom type": [UInt64(Limits.customTypeBytesMax)],
            "topic meta": [UInt64(Limits.topicMetaBytesMax)],
            "client description": [UInt64(Limits.clientDescriptionBytesMax)],
            "presence timeout": [UInt64(presence.lowerBound), UInt64(presence.upperBound)],
            "packet lifetime": [UInt64(lifetime.lowerBound), UInt64(lifetime.upperBound)],
            "listed users per topic selection": [UInt64(Limits.listedUsersMax)],
            "users named in one topic request": [UInt64(Limits.usersPerRequestMax)],
            "states, keys and values": [UInt64(Limits.statesBytesMax)],
            "members per snapshot or page": [UInt64(Limits.membersPerPageMax)],
            "ranges per `lost`": [UInt64(Limits.lostRangesPerFrameMax)],
            "ping": [UInt64(Limits.pingBytesMax)],
            "metadata of a set, keys and values": [UInt64(Limits.metadataBytesMax)],
            "items of a set of metadata": [UInt64(Limits.metadataItemsMax)],
            "ttl of a lock": [UInt64(Limits.lockTTLMilliseconds.lowerBound), UInt64(Limits.lockTTLMilliseconds.upperBound)],
            "remembered numbers per instance": [UInt64(Limits.publishWindowMax)],
            "a part after the one before": [UInt64(Limits.partTimeoutMilliseconds)],
            "undoing a `clear`": [UInt64(Limits.undoMilliseconds)],
            "removals remembered of a board": [UInt64(Limits.boardMarkersMax), UInt64(Limits.boardMarkerDays)],
            "epochs remembered of a board": [UInt64(Limits.boardEpochsMax)],
            "time of a ban": [UInt64(Limits.banMilliseconds.lowerBound), UInt64(Limits.banMilliseconds.upperBound)],
            "reason of an `endSession`": [UInt64(Limits.endReasonBytesMax)],
            "wait for a lock": [UInt64(Limits.lockWaitMilliseconds.lowerBound), UInt64(Limits.lockWaitMilliseconds.upperBound)],
        ]
    }

    /// Defaults that an operator may change.
    static var tunable: [String: [UInt64]] {
        let defaults = Configuration()
        let limits = defaults.limits
        let rows: [String: [Int]] = [
            "message payload + custom type": [limits.messageBytesMax],
            "packet payload": [limits.packetBytesMax],
            "messages per user and channel": [limits.messagesPerSecond],
            "packets per user and topic": [limits.packetsPerSecond],
            "direct messages per user": [limits.directMessagesPerSecond],
            "requests per user": [limits.requestsPerSecond, defaults.requestsBurst],
            "subscribed message channels per session": [limits.subscribedChannelsMax],
            "joined stream channels per session": [limits.joinedChannelsMax],
            "published topics per user and channel": [limits.publishedTopicsMax],
            "subscribed topics per channel and session": [limits.subscribedTopicsMax],
            "users per stream channel": [defaults.streamChannelUsersMax],
            "states per user and channel": [defaults.statesPerUserMax],
            "channels with states per session": [defaults.channelsWithStatesMax],
            "direct messages waiting for confirmation": [defaults.directPendingMax],
            "channels of a kind per relay": [defaults.channelsMax],
            "connections per relay": [defaults.connectionsMax],
            "connections without login per relay": [defaults.greetingsMax],
            "sessions per relay": [defaults.sessionsMax],
            "users with a role set by a moderator": [defaults.setRolesMax],
            "frozen channels": [defaults.frozenChannelsMax],
            "bans": [defaults.bansMax],
            "erasures under way": [defaults.erasuresMax],
            "packets queued for a reader": [defaults.packetBacklogBytesMax],
            "other frames queued for a reader": [defaults.reliableBacklogBytesHard],
            "metadata of a relay": [defaults.metadataBytesTotalMax],
            "users with metadata per relay": [defaults.userMetadataMax],
            "users' metadata subscribed per session": [defaults.subscribedUserMetadataMax],
            "metadata calls per user, of channels and of users": [defaults.metadataCallsPerSecond, defaults.metadataCallsBurst],
            "locks per channel": [defaults.locksPerChannelMax],
            "waiting for one lock": [defaults.lockWaitersMax],
            "changes waiting to be stored": [defaults.unjournaledBytesMax],
            "what waits behind publishes whose record's author is read": [
                defaults.heldBytesMax, Int(defaults.boardAuthorTimeout.components.seconds),
            ],
            "a board": [defaults.boardBytesMax],
            "boards of a relay": [defaults.boardBytesTotalMax],
            "new boards of a user": [defaults.newBoardsPerHour],
            "parts of a drawing together": [limits.largeMessageBytesMax],
            "drawings under way in parts, per instance": [defaults.draftsMax],
            "kept messages per channel": [defaults.historyMessagesMax, Int(defaults.historyAge.components.seconds) / 60],
            "kept bytes per channel": [defaults.historyBytesMax],
            "kept bytes per relay": [defaults.historyBytesTotalMax],
            "messages per page of history": [defaults.historyPageMessagesMax, defaults.historyPageBytesMax],
        ]
        return rows.mapValues { $0.map { UInt64($0) } }
    }
}
