import Foundation
import RelayCore
import RelayServer
import RelayWire

/// Where pages and `--help` state limits and defaults, with the words that the code's numbers make.
enum StatedLimits {
    /// `docs/x.md`, or `help pub` for the help of a command, and words that stand there.
    static var statements: [(place: String, words: String)] { ofCommands + ofPages }

    private static var ofCommands: [(place: String, words: String)] {
        let defaults = Configuration(), limits = defaults.limits
        let bans = Limits.banMilliseconds, locks = Limits.lockTTLMilliseconds
        return [
            ("help serve", "takes a free one. Default: \(Limits.defaultPort)."),
            ("help serve", "Connections at once. Default: \(defaults.connectionsMax)."),
            ("help serve", "Channels of each kind at once. Default: \(defaults.channelsMax)."),
            ("help serve", "0 keeps none. Default: \(defaults.historyMessagesMax)."),
            ("help serve", "at most \(minutes(defaults.channelLinger))m. Default: \(minutes(defaults.historyAge))m."),
            ("help serve", "in one channel. Default: \(limits.messagesPerSecond)."),
            ("help serve", "in one topic. Default: \(limits.packetsPerSecond)."),
            ("help serve", "count apart. Default: \(defaults.metadataCallsPerSecond)."),
            ("help serve", "such as 64MB. Default: \(defaults.boardBytesMax >> 20)MiB."),
            ("help serve", "Default: \(defaults.boardBytesTotalMax >> 30)GiB."),
            ("help serve", "Users in one stream channel. Default: \(defaults.streamChannelUsersMax)."),
            ("help serve", "signs tokens: \(Limits.tokenSecretBytes.lowerBound)…\(Limits.tokenSecretBytes.upperBound) bytes"),
            ("help token", "signs tokens: \(Limits.tokenSecretBytes.lowerBound)…\(Limits.tokenSecretBytes.upperBound) bytes"),
            ("help pub", "at most \(grouped(limits.messageBytesMax)) bytes with its custom type"),
            ("help pub", "a packet \(grouped(limits.packetBytesMax))."),
            ("help pub", "may have \(grouped(limits.largeMessageBytesMax)) bytes"),
            ("help sub", "of packets, \(Limits.readerBytesPerSecond.lowerBound) or more"),
            ("help replay", "over \(grouped(limits.messageBytesMax)) bytes"),
            ("help replay", "exceed \(grouped(Limits.metadataBytesMax)) bytes"),
            ("help meta", "at most \(grouped(Limits.metadataBytesMax)) bytes of keys and values"),
            ("help meta", "and \(grouped(Limits.metadataItemsMax)) items"),
            ("help history", "\(minutes(defaults.historyAge)) minutes, at most \(grouped(defaults.historyMessagesMax)) and"),
            ("help history", "and \(defaults.historyBytesMax >> 20) MiB"),
            ("help lock", "\(locks.lowerBound / 1_000)s to \(locks.upperBound / 60_000)m."),
            ("help lock", "Default: \(Limits.lockTTLMillisecondsDefault / 1_000)s."),
            ("help lock", "in line, at most \(Limits.lockWaitMilliseconds.upperBound / 60_000)m."),
            ("help board", "undone for \(Limits.undoMilliseconds / 60_000) minutes"),
            ("help backup", "more than \(BackupLimits.heldBytesMax >> 30) GiB waits for it"),
            ("help user", "at most \(Limits.endReasonBytesMax) bytes"),
            ("help user", "how long, \(bans.lowerBound / 1_000)s to \(bans.upperBound / 86_400_000)d."),
        ]
    }

    private static var ofPages: [(place: String, words: String)] {
        let defaults = Configuration(), limits = defaults.limits
        let hours = defaults.claimTime.components.seconds / 3_600
        return [
            ("docs/command-line.md", "a user id of 1…\(Limits.nameBytesMax) ASCII bytes"),
            ("docs/command-line.md", "on this machine, port \(Limits.defaultPort)."),
            ("docs/board-format.md", "together have at most **\(grouped(limits.messageBytesMax)) bytes**"),
            ("docs/board-format.md", "Above \(grouped(limits.messageBytesMax)) bytes"),
            ("docs/board-format.md", "At most **\(grouped(limits.packetBytesMax)) bytes**"),
            ("docs/board-format.md", "at most **\(grouped(limits.largeMessageBytesMax)) bytes** with its custom type"),
            ("docs/board-format.md", "more than \(grouped(limits.largeMessageBytesMax)) bytes"),
            ("docs/board-format.md", "Metadata has at most \(grouped(Limits.metadataBytesMax)) bytes"),
            ("docs/board-format.md", "takes back for \(Limits.undoMilliseconds / 60_000) minutes"),
            ("docs/operations.md", "holds \(grouped(defaults.connectionsMax)) connections"),
            ("docs/operations.md", "\(grouped(defaults.sessionsMax)) sessions"),
            (
                "docs/operations.md",
                "left \(defaults.reliableBacklogBytesHard >> 20) MiB unread, or \(defaults.reliableBacklogBytesSoft >> 20) MiB "
                    + "for \(defaults.slowConsumerAfter.components.seconds) s."
            ),
            ("docs/operations.md", "fails when \(BackupLimits.heldBytesMax >> 30) GiB waits for it"),
            ("docs/operations.md", "owns the id for \(hours) hours"),
            ("docs/operations.md", "TCP port \(Limits.defaultPort)"),
            ("docs/security.md", "for \(hours) hours after"),
            ("docs/security.md", "wait \(hours) hours"),
        ]
    }

    // MARK: - Numbers that any page may state

    /// Bytes that a size on a page may mean; KB is taken for KiB, MB for MiB.
    static var sizes: Set<Int> {
        let defaults = Configuration(), limits = defaults.limits
        return [
            limits.messageBytesMax, limits.packetBytesMax, limits.largeMessageBytesMax, Limits.metadataBytesMax, Limits.statesBytesMax,
            Limits.tokenBytesMax, Limits.topicMetaBytesMax, Limits.endReasonBytesMax, Limits.nameBytesMax, Limits.customTypeBytesMax,
            Limits.clientDescriptionBytesMax, defaults.historyBytesMax, defaults.reliableBacklogBytesHard,
            defaults.reliableBacklogBytesSoft, defaults.packetBacklogBytesMax, defaults.pinnedBytesPerSessionMax,
            defaults.boardBytesMax, defaults.boardBytesTotalMax, BackupLimits.heldBytesMax,
        ]
    }

    /// What a number before such a word may be.
    static var counts: [String: Set<Int>] {
        let defaults = Configuration(), limits = defaults.limits
        return [
            "a second": [limits.messagesPerSecond, limits.packetsPerSecond, defaults.metadataCallsPerSecond],
            "messages": [limits.messagesPerSecond, defaults.historyMessagesMax, defaults.historyPageMessagesMax],
            "packets": [limits.packetsPerSecond],
            "items": [Limits.metadataItemsMax],
            "members": [Limits.membersPerPageMax, defaults.presenceIntervalAbove],
            "metadata calls": [defaults.metadataCallsPerSecond],
        ]
    }

    /// Numbers with such words that are no limits of a relay, by place: loads, lengths of examples, limits of others.
    static let others: [String: Set<String>] = [
        "docs/architecture.md": ["4 MiB", "22 bytes", "60 bytes", "64 KiB", "64 MiB", "128 KiB"],
        "docs/board-format.md": ["4 bytes", "106 bytes"],
        "docs/client-interface.md": ["4 MiB", "16 MiB"],
        "docs/command-line.md": ["64MB", "256MiB"],
        "docs/javascript.md": ["4 MiB"],
        "docs/moving-from-twilio.md": ["16 KiB"],
        // Of the log, which the owner trims, and of a load.
        "docs/cluster.md": [
            "512 MiB", "512 bytes", "41 MiB", "34 entries a second", "1,800 deliveries a second", "500 a second", "400 a second",
            "1,000 entries a second",
        ],
        "docs/operations.md": ["1 GiB", "16 KiB", "16 MiB"],
        "docs/pencilkit.md": ["8 bytes", "120 a second", "240 points a second", "512 KiB"],
        "Tests/Scenarios/README.md": ["16 bytes", "200 KB"],
        "docs/testing.md": ["400,000 bytes"],
        "docs/whiteboard.md": ["64 MiB"],
        "help serve": ["64MB", "16MiB", "1GiB"],
    ]

    private static func grouped(_ number: Int) -> String { ReferenceValues.grouped(number) }

    private static func minutes(_ time: Duration) -> Int64 { time.components.seconds / 60 }
}
