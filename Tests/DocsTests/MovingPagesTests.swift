import Foundation
import Testing

/// Pages for apps that move here: a test shows each row of "Call by call".
@Suite("docs/moving-from-…") struct MovingPagesTests {
    @Test(
        "each row of \"Call by call\" is shown by tests that there are",
        arguments: [
            ("moving-from-agora.md", Self.agora), ("moving-from-twilio.md", Self.twilio),
        ])
    func shown(page: String, shown: [String: [String]]) throws {
        let tests = try Self.tests()
        #expect(tests.contains("MovingPagesTests.shown") && !tests.contains("MovingPagesTests.tests"))
        let rows = try Document.named(page).table("Call by call").map { Document.plain($0[0]) }
        #expect(rows.count >= 10)
        #expect(Set(rows) == Set(shown.keys).subtracting(["the same"]), "\(Set(rows).symmetricDifference(shown.keys))")
        for name in shown.values.joined() { #expect(tests.contains(name), "\(page): there is no test \(name)") }
    }

    /// Tests by the first cell of a row; "the same" are the calls that the text before the table names.
    static let agora = [
        "the same": [
            "EventTests.links", "EventTests.credentials", "ReliedOnTests.snapshot", "ReliedOnTests.topicLists", "ReliedOnTests.noEcho",
            "AppTests.bidding", "AppTests.contacts", "ErrorTests.storage", "EventTests.pages", "ReliedOnTests.twoKinds",
            "WhiteboardTests.whiteboard",
        ],
        "login(_:)": ["EventTests.credentials"],
        "logout(), destroy()": ["ErrorTests.logins", "EventTests.lettingGo"],
        "subscribe(channelName:option:)": ["ReliedOnTests.features", "EventTests.replay"],
        "publish(channelName:message:option:)": ["ReliedOnTests.publishing"],
        "publish to .user": ["AppTests.chat"],
        "publish to .stream": ["ErrorTests.channels"],
        "completion handlers": ["EventTests.order"],
        "join(_:)": ["ReliedOnTests.twoKinds", "LoginTests.streams"],
        "joinTopic(_:option:)": ["ErrorTests.streams"],
        "subscribeTopic(_:option:) without users": ["ReliedOnTests.everybody", "ReliedOnTests.lists"],
        "subscribeTopic(_:option:) with users": ["ReliedOnTests.topicLists"],
        "publishTopicMessage(topic:message:option:)": ["ErrorTests.streams"],
        "getStorage()": ["ReliedOnTests.noEcho", "WhiteboardTests.native"],
        "majorRevision, revision": ["ReliedOnTests.revisions"],
        "set…, update…, removeUserMetadata of another user": ["ObjectTests.others"],
        "setState": ["ReliedOnTests.snapshot"],
        "presence snapshot": ["ReliedOnTests.snapshot"],
        "presence interval": ["EventTests.intervals"],
        "presence remoteConnectionTimeout": ["EventTests.timeout"],
        "getLock()": ["EventTests.locks"],
        "link state, connectionChangedToState": ["EventTests.links", "LoginTests.failing"],
        "tokenPrivilegeWillExpire": ["EventTests.credentials"],
    ]

    static let twilio = [
        "connect(token, {name})": ["ClientTests.exchange"],
        "access token with a room grant": ["ServerAccessTests.tokens"],
        "participant's identity": ["ServerAccessTests.taken"],
        "new LocalDataTrack()": ["ClientTests.exchange"],
        "maxPacketLifeTime": ["DeliveryTests.expiry"],
        "maxRetransmits": ["DataTrackTests.slots"],
        "ordered: false": ["DataTrackTests.tracks"],
        "publishTrack, unpublishTrack": ["DataTrackTests.tracks"],
        "track.send": ["DataTrackTests.tracks"],
        "trackPublished, trackUnpublished": ["DataTrackTests.tracks"],
        "trackSubscribed": ["DataTrackTests.tracks"],
        "track.on('message'), …DidReceiveString, …DidReceiveData": ["DataTrackTests.tracks"],
        "nothing for latecomers": ["ClientBoardTests.records"],
        "the whole drawing in pieces of 16 KiB": ["ClientBoardTests.large"],
        "your own messages to erase, clear, undo": ["ClientBoardTests.clear", "BoardAuthorTests.refused"],
        "no notice of lost messages": ["ClientHistoryTests.startedAgain"],
        "participantConnected, participantDisconnected": ["DataTrackTests.participants"],
        "room.participants": ["DataTrackTests.participants"],
        "reconnecting, reconnected, disconnected": ["ClientHistoryTests.cutLinks"],
        "room.disconnect()": ["DataTrackTests.participants"],
        "no notice of lost packets": ["ResumeTests.packets"],
    ]

    /// `Suite.function` of every test in Swift.
    private static func tests() throws -> Set<String> {
        var found: Set<String> = []
        for file in try Document.files("Tests") {
            let source = try String(contentsOf: file, encoding: .utf8)
            let suite = file.deletingPathExtension().lastPathComponent
            // Each attribute's own function is the first behind it.
            for test in source.components(separatedBy: "@Test").dropFirst() {
                if let name = test.firstMatch(of: /\bfunc ([A-Za-z0-9]+)\(/) { found.insert("\(suite).\(name.output.1)") }
            }
        }
        return found
    }
}
