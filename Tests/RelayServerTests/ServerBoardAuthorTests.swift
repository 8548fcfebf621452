import Foundation
import RelayClient
import RelayCore
import RelayIO
import RelayJournal
import RelayRights
import RelayWire
import Testing

@testable import RelayServer

extension Engine {
    fileprivate func bytesHeld() -> Int { hub.bytesHeld }
}

/// Whose record it is, on a disk that takes its time, over real sockets.
@Suite struct ServerBoardAuthorTests {
    private func editor(_ server: WhiteboardRelay, _ user: String) throws -> RawLink {
        let link = try RawLink(server.address)
        let key = try #require(server.keys).join
        try link.send(
            .json(
                .login,
                LoginRequest(
                    id: 1, user: try Name(user), secret: "000102030405060708090a0b0c0d0e0f", key: key, instance: "00000000000000bb")))
        _ = try link.frames(until: .welcome)
        return link
    }

    @Test(
        "[BL10, DL1, DL10] while the disk is asked whose a record is, its writer is held back by TCP and others are not; then all comes, in order; who is gone meanwhile leaves nothing behind"
    )
    func slowDisk() async throws {
        try await withTemporaryPath { path in
            var hub = Configuration.unhurried()
            hub.limits.messagesPerSecond = 1_000_000
            let options = WhiteboardRelay.Options(port: 0, storage: .folder(path), access: .keys(), hub: hub)
            let first = try await WhiteboardRelay.start(options)
            let anna = try editor(first, "anna")
            for board in ["lesson", "other"] {
                try anna.send(.publish(number: board == "lesson" ? 1 : 2, channel: board, key: "a", flags: .retain, payload: [1]))
                _ = try anna.frames(until: .stored)
            }
            await first.stop()

            let faults = FolderFaults()
            let server = try await WhiteboardRelay.start(options, permit: faults.permit)
            let ben = try editor(server, "ben"), cid = try editor(server, "cid"), host = try editor(server, "host")
            // The first one waits for the disk; what follows is more than sockets hold.
            faults.hold(.read)
            let count = 600
            let sent = Mutex(0), payload = [UInt8](repeating: 7, count: 32_000)
            Thread.detachNewThread {
                do {
                    try ben.send(.publish(number: 1, channel: "lesson", key: "a", flags: .retain, payload: [2]))
                    for number in 0..<count {
                        try ben.send(.publish(number: UInt64(number) + 2, channel: "lesson", payload: payload))
                        sent.withLock { $0 += payload.count }
                    }
                } catch { Issue.record(error) }
            }
            try cid.send(.publish(number: 1, channel: "other", key: "a", flags: .retain, payload: [2]))
            try await eventually("the disk is asked") { faults.isHolding }
            try await eventually("much is sent") { sent.withLock { $0 } > 600_000 }
            for _ in 0..<20 {
                try host.send(Frame(.ping, body: [1]))
                _ = try host.frames(until: .pong)
            }
            let held = await server.engine.bytesHeld()
            #expect(held > 0 && held <= 2 * Engine.readBudget, "\(held) bytes are held")
            cid.end(reset: true)
            faults.letGo()

            var answers: [UInt8] = []
            for _ in 0...count { answers += try ben.frames(until: answers.isEmpty ? .error : .accepted).map(\.type) }
            #expect(
                answers.filter { $0 != FrameType.ping.rawValue } == [FrameType.error.rawValue]
                    + Array(repeating: FrameType.accepted.rawValue, count: count))
            try await eventually("who was reset is gone") { descriptors(boundTo: server.address.port) == 3 }
            #expect(await server.engine.bytesHeld() == 0)
            await server.stop()
            #expect(descriptors(boundTo: server.address.port) == 0)
        }
    }
}
