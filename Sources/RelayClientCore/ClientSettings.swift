import RelayWire

/// Everything a client machine is told at its start.
package struct ClientSettings: Sendable {
    package var identity: ClientIdentity
    /// Drawn once per client object. [SE2]
    package var instance: UInt64
    /// 16 hexadecimal digits, drawn once per installation; zeros are what a relay takes a login for that names none. [SE8]
    package var device = String(repeating: "0", count: 16)
    /// Whether each login replaces the user's other devices. [SE8]
    package var onlyDevice = false
    /// What lets it in. [AC1]
    package var credential: Credential?
    /// The public id of the relay that is meant; another one is left again. [SE6]
    package var relayID: String?
    /// Which of a relay's spaces is meant. [SE16]
    package var space: String?
    /// At how many addresses it may be.
    package var addresses = 1
    /// How long others still see the user after its link broke; the relay's default if `nil`. [SE7]
    package var presenceTimeout: Duration?
    /// What it takes of packets at first. [DL11]
    package var readerLimits = ReaderLimits()
    /// What the client calls itself to operators, at most 64 bytes.
    package var description: String?
    /// Whether `connect` goes on waiting when an attempt fails.
    package var waitsForConnectivity = false
    /// Seed of the dice for pauses before coming back.
    package var seed: UInt64

    /// Time for one attempt to link up and log in.
    package var connectTimeout = Duration.seconds(10)
    /// Time for a call, until its answer.
    package var callTimeout = Duration.seconds(15)
    /// Whether a call waits for a link within that time; else it is `notConnected` at once.
    package var waitsForLink = true
    /// Whether the app gives another token when it is asked for one: else it is told that one ends.
    package var renewsTokens = false
    /// How long a reader that takes nothing may hold the relay back.
    package var readerPatience = Duration.seconds(10)
    /// Messages, packets and requests that may wait to be sent …
    package var unsentCountMax = 10_000
    /// … and their payloads, in bytes.
    package var unsentBytesMax = 16 * 1024 * 1024

    package init(identity: ClientIdentity, instance: UInt64, seed: UInt64) {
        self.identity = identity
        self.instance = instance
        self.seed = seed
    }

    package init(user: Name, instance: UInt64, secret: String? = nil, seed: UInt64) {
        self.init(identity: .user(user, secret: secret), instance: instance, seed: seed)
    }
}

/// Who logs in.
package enum ClientIdentity: Sendable {
    /// The secret has 32 hexadecimal digits, drawn once per installation and user id.
    case user(Name, secret: String?)
    /// The user who offered this code: `welcome` tells the id.
    case code(String)

    package var user: Name? { if case .user(let user, _) = self { user } else { nil } }
    package var secret: String? { if case .user(_, let secret) = self { secret } else { nil } }
    var code: String? { if case .code(let code) = self { code } else { nil } }
}

/// Numbers of the client that nobody tunes, each with its reason.
package enum ClientLimits {
    /// First bound of the pause before coming back; it doubles with each failure …
    package static let backoffBase = Duration.milliseconds(500)
    /// … up to this.
    package static let backoffCap = Duration.seconds(15)
    /// A session that lived this long was good: the next break starts with an immediate attempt again.
    package static let linkGoodAfter = Duration.seconds(15)
    /// How long a link that may be dead gets to answer after `wakeUp`. A LAN answers in milliseconds.
    package static let probeTimeout = Duration.seconds(2)
    /// A deadline that fires later than this shows that the host slept: the relay's silence is not held against it. [HB4]
    package static let latenessTolerated = Duration.seconds(1)
    /// Round trips are measured anew at least every this many heartbeat intervals.
    package static let roundTripEveryIntervals = 4
    /// How long `close()` goes on sending what waits …
    package static let closeDrainTimeout = Duration.seconds(2)
    /// … and how long the relay gets to answer the logout.
    package static let logoutTimeout = Duration.milliseconds(500)

    /// Life of a packet that waits while the link is down: live points, stale ones are noise. One that waits behind a
    /// message on a good link keeps its place, however long.
    package static let packetLifetime = Duration.seconds(1)
    /// Publishes and direct messages that may be unanswered; a relay may allow fewer. [MS3]
    package static let unansweredMax = 128
    /// Large drawings that may be under way; a relay stages as many. [BL8]
    package static let drawingsMax = 4
    /// How often the client sends a drawing again after the relay has lost its parts. [BL8]
    package static let drawingRoundsMax = 5
    /// Share of a channel's rate that the parts of drawings may take: the rest is for what is drawn meanwhile.
    package static let creditKeptDivisor = 4
    /// Encoded bytes that wait for the socket. More stays in the queue, where it can still be taken back.
    package static let outboundBytes = 64 * 1024
    /// Encoded bytes at which a relay that sends pings and does not read is given up.
    package static let outboundBytesMax = 1024 * 1024

    /// What a reader may lag, in bytes, beside its newest event …
    package static let readerBytesMax = 4 * 1024 * 1024
    /// … and all readers of a client together.
    package static let readersBytesMax = 16 * 1024 * 1024
    /// Problems that wait for their first reader.
    package static let problemsKept = 100
    /// Without a reader, one is logged in so long.
    package static let problemsLoggedEvery = Duration.seconds(60)

    // What a relay can make a client remember; one that wants more is at fault.

    package static let userNamesMax = 200_000
    package static let flowsMax = 100_000
    /// Flows that closed; a relay names at most 256 of them again.
    package static let closedFlowsMax = 1_024
    /// Bytes of the places that a login tells, beside its largest token. [SE4]
    package static let placesBytesMax = 12 * 1024
    /// A place without the channel's name: `"":[9007199254740991,4294967295,4294967295,1],`.
    package static let placeBytes = 47
    /// Drawings of one channel that are being put together: a user has 4 …
    package static let partialDrawingsMax = 256
    /// … and the bytes of all, in drawings of the largest size.
    package static let partialDrawingsBytesFactor = 4
    /// Largest size of a drawing in bytes that a relay may name.
    package static let drawingBytesMax = 64 * 1024 * 1024
    /// Records that a live subscriber catches up with and is told at once …
    package static let gatheredMax = 2 * Limits.changesMax
    /// … and their payloads, in bytes.
    package static let gatheredBytesMax = 16 * 1024 * 1024
    /// Messages of one batch of a board …
    package static let batchMessagesMax = 256
    /// … and their payloads, in bytes.
    package static let batchBytesMax = 512 * 1024
    /// Messages of one page of history.
    package static let historyItemsMax = 1_000
    /// Ranges of one flow that were told lost ahead of packets still to come.
    package static let toldRangesMax = 4_096
    /// Channels of one session.
    package static let channelsMax = 1_000
    /// Own flows whose topic is remembered for notices that come late.
    package static let ownFlowsMax = 1_024
    /// Rate memories of channels and topics no longer used are thrown away above this.
    package static let pacersMax = 256
}
