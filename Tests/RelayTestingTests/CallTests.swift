import Foundation
import RelayClient
import RelayPrimitives
import RelayTesting
import Testing

/// Every call of a handle ends: with its task, and when its time is up, whatever the relay, its disk and the link do.
@Suite struct CallTests {
    struct Call: CustomTestStringConvertible, Sendable {
        /// Of the handle and the method.
        var name: String
        /// It is done in any case, as its caller has no use for what it ends.
        var isEnding = false
        /// It waits for the relay's disk.
        var isStored = false
        /// Else the next login does it.
        var needsLink = true
        var make: @Sendable (Scene) async throws -> Void
        var testDescription: String { name }
    }

    /// A moderator who is in a channel, and has there what the calls are about.
    struct Scene: Sendable {
        let relay = TestRelay()
        let ann: WhiteboardClient
        let lesson: Channel
        let topic: Topic
        let publisher: TopicPublisher
        let lock: Lock

        init() async throws {
            // Less than after which the client takes a silent link for broken.
            ann = try relay.client("ann", role: .moderator) { $0.requestTimeout = .seconds(2) }
            lesson = try ann.channel("lesson")
            topic = try lesson.topic("pen")
            lock = try lesson.lock("pen")
            try await lesson.open()
            try await ann.person("ben").metadata.follow()
            publisher = try await topic.startPublishing()
            _ = try await topic.follow()
            _ = try await lesson.board.put("0,0 1,1", key: "s1").stored
            _ = try await lesson.metadata.set(["a": "b"])
            try await lock.make()
        }
    }

    static let calls: [Call] = [
        Call(name: "Board.clear", isStored: true) { _ = try await $0.lesson.board.clear() },
        Call(name: "Board.undoClear") { _ = try await $0.lesson.board.undoClear() },
        Call(name: "Board.delete", isStored: true) { try await $0.lesson.board.delete() },
        Call(name: "Board.records") { _ = try await $0.ann.channel("other").board.records() },
        Call(name: "Channel.open") { try await $0.ann.channel("other").open() },
        Call(name: "Channel.leave", isEnding: true) { try await $0.lesson.leave() },
        Call(name: "Channel.history") { _ = try await $0.lesson.history() },
        Call(name: "Channel.upToDate") { try await $0.lesson.upToDate() },
        Call(name: "Channel.locks") { _ = try await $0.lesson.locks() },
        Call(name: "Lock.make", isStored: true) { try await $0.lesson.lock("other").make() },
        Call(name: "Lock.acquire", isStored: true) { _ = try await $0.lock.acquire(wait: .milliseconds(1)) },
        Call(name: "Lock.with", isStored: true) { try await $0.lock.with(wait: .milliseconds(1)) { _ in } },
        Call(name: "Lock.release", isEnding: true) { try await $0.lock.release() },
        Call(name: "Lock.revoke") { try await $0.lock.revoke(from: "ben") },
        Call(name: "Lock.remove", isStored: true) { try await $0.lock.remove() },
        Call(name: "Metadata.set", isStored: true) { _ = try await $0.lesson.metadata.set(["a": "b"]) },
        Call(name: "Metadata.update", isStored: true) { _ = try await $0.lesson.metadata.update(["a": "b"]) },
        Call(name: "Metadata.remove", isStored: true) { _ = try await $0.lesson.metadata.remove(["a"]) },
        Call(name: "Metadata.removeAll", isStored: true) { _ = try await $0.lesson.metadata.removeAll() },
        Call(name: "Metadata.get") { _ = try await $0.lesson.metadata.get() },
        Call(name: "Metadata.follow") { try await $0.ann.person("carol").metadata.follow() },
        Call(name: "Metadata.unfollow", isEnding: true) { try await $0.ann.person("ben").metadata.unfollow() },
        Call(name: "Moderation.setRole", isStored: true) { try await $0.ann.moderation.setRole(.reader, of: "ben") },
        Call(name: "Moderation.freeze", isStored: true) { try await $0.ann.moderation.freeze("lesson") },
        Call(name: "Moderation.unfreeze") { try await $0.ann.moderation.unfreeze("lesson") },
        Call(name: "Moderation.openEditing", isStored: true) { try await $0.ann.moderation.openEditing("lesson") },
        Call(name: "Moderation.closeEditing") { try await $0.ann.moderation.closeEditing("lesson") },
        Call(name: "Moderation.endSession") { try await $0.ann.moderation.endSession(of: "ben") },
        Call(name: "Moderation.endChannel", isStored: true) { try await $0.ann.moderation.endChannel("lesson") },
        Call(name: "Moderation.offerJoinCode") { _ = try await $0.ann.moderation.offerJoinCode(to: "lesson") },
        Call(name: "Moderation.withdrawJoinCode") { try await $0.ann.moderation.withdrawJoinCode() },
        Call(name: "Moderation.ban", isStored: true) { try await $0.ann.moderation.ban("ben") },
        Call(name: "Moderation.unban") { try await $0.ann.moderation.unban("ben") },
        Call(name: "Moderation.bans") { _ = try await $0.ann.moderation.bans() },
        Call(name: "Moderation.forget", isStored: true) { try await $0.ann.moderation.forget(user: "ann", withRecords: true) },
        Call(name: "Moderation.removeRecords", isStored: true) {
            _ = try await $0.ann.moderation.removeRecords(of: "ann", from: "lesson")
        },
        Call(name: "Moderation.status") { _ = try await $0.ann.moderation.status() },
        Call(name: "Person.channels") { _ = try await $0.ann.person("ben").channels() },
        Call(name: "Presence.users") { _ = try await $0.lesson.presence.users() },
        Call(name: "Presence.set") { try await $0.lesson.presence.set(["a": "b"]) },
        Call(name: "Presence.remove") { try await $0.lesson.presence.remove() },
        Call(name: "Presence.states") { _ = try await $0.lesson.presence.states(of: "ann") },
        Call(name: "Topic.startPublishing") { _ = try await $0.lesson.topic("chalk").startPublishing() },
        Call(name: "Topic.follow") { _ = try await $0.lesson.topic("chalk").follow() },
        Call(name: "Topic.unfollow", isEnding: true) { try await $0.topic.unfollow() },
        Call(name: "Topic.followed") { _ = try await $0.topic.followed() },
        Call(name: "TopicPublisher.stop", isEnding: true) { try await $0.publisher.stop() },
        Call(name: "WhiteboardClient.boards") { _ = try await $0.ann.boards() },
        Call(name: "WhiteboardClient.upToDate") { try await $0.ann.upToDate() },
        Call(name: "WhiteboardClient.handOver") { _ = try await $0.ann.handOver() },
        Call(name: "WhiteboardClient.renew", needsLink: false) { try await $0.ann.renew(.key("another")) },
        Call(name: "WhiteboardClient.setReaderLimits") { try await $0.ann.setReaderLimits(ReaderLimits()) },
    ]

    private static func begin(_ call: Call, _ scene: Scene) async throws -> Task<RelayError?, Never> {
        let before = scene.relay.unanswered(of: scene.ann)
        let task = Task<RelayError?, Never> {
            do {
                try await call.make(scene)
                return nil
            } catch { return error as? RelayError }
        }
        try await scene.relay.until(within: .seconds(300)) { scene.relay.unanswered(of: scene.ann) > before }
        return task
    }

    @Test("a relay that says nothing holds no call for longer than its 2 s", arguments: calls)
    func silent(_ call: Call) async throws {
        let scene = try await Scene()
        scene.relay.setHeld(true, for: scene.ann)
        let task = try await Self.begin(call, scene)
        scene.relay.advance(by: .milliseconds(1_999))
        #expect(scene.relay.unanswered(of: scene.ann) > 0)
        scene.relay.advance(by: .milliseconds(2))
        let error = await task.value
        #expect(error?.code == .timedOut && error?.outcome == .unknown, "\(String(describing: error))")
    }

    @Test("a task that is cancelled waits for no relay that says nothing", arguments: calls)
    func cancelled(_ call: Call) async throws {
        let scene = try await Scene()
        scene.relay.setHeld(true, for: scene.ann)
        let task = try await Self.begin(call, scene)
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled && error?.outcome == .unknown, "\(String(describing: error))")
    }

    @Test("without a link a call waits for its 2 s, and nothing has happened", arguments: calls.filter(\.needsLink))
    func cut(_ call: Call) async throws {
        let scene = try await Scene()
        scene.relay.setReachable(false, for: scene.ann)
        let task = try await Self.begin(call, scene)
        scene.relay.advance(by: .milliseconds(2_001))
        let error = await task.value
        #expect(error?.code == .timedOut, "\(String(describing: error))")
        #expect(error?.outcome == (call.isEnding ? .unknown : .nothingHappened))
    }

    @Test("a disk that does nothing holds up what is stored, for no longer than the call's 2 s, and nothing else", arguments: calls)
    func slowDisk(_ call: Call) async throws {
        let scene = try await Scene()
        scene.relay.setDiskHeld(true)
        let isOver = Mutex(false)
        let task = Task<RelayError?, Never> {
            defer { isOver.withLock { $0 = true } }
            do {
                try await call.make(scene)
                return nil
            } catch { return error as? RelayError }
        }
        guard call.isStored else {
            // It is answered without any time passing, even if it is refused.
            try await scene.relay.until(within: .seconds(300)) { isOver.withLock { $0 } }
            let error = await task.value
            #expect(error?.code != .timedOut && scene.relay.clock.now.offset == .zero, "\(String(describing: error))")
            return
        }
        try await scene.relay.until(within: .seconds(300)) { scene.relay.unanswered(of: scene.ann) > 0 }
        scene.relay.advance(by: .milliseconds(2_002))
        let error = await task.value
        #expect(error?.code == .timedOut && error?.outcome == .unknown, "\(String(describing: error))")
    }

    @Test("the table has every call that takes its options from the app")
    func complete() throws {
        let folder = "\(#filePath.dropLast("Tests/RelayTestingTests/CallTests.swift".count))Sources/RelayClient/Handles"
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            var type = ""
            for part in try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8).components(separatedBy: "public ") {
                // Of a type that stands within another nothing is called.
                if let found = part.firstMatch(of: /^(?:final )?(?:struct|class) (\w+)[^{]*{\n    [^ ]/) { type = String(found.1) }
                if let method = part.firstMatch(of: /^func (\w+)(?:<\w+>)?\([^{]*call: CallOptions/) { names.insert("\(type).\(method.1)") }
            }
        }
        #expect(names == Set(Self.calls.map(\.name)))
    }
}
