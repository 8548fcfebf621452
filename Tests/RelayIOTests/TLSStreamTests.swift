#if os(Linux)
    import Dispatch
    import Testing

    @testable import RelayIO

    @Suite(.timeLimit(.minutes(10))) struct TLSStreamTests {
        /// A stream on a queue, and the other end of its socket, with the server that agreed with its session.
        private final class Bench: @unchecked Sendable {
            // Safe: touched on `queue` only, but for the events, the peer and the server, which the test has alone.
            enum Event: Equatable, Sendable { case readable, writable }

            let queue = DispatchQueue(label: "test")
            let server: TLSServer
            let peer: Int32
            private let readiness: Readiness
            private let stream: TLSStream
            private var events: AsyncStream<Event>.AsyncIterator

            /// - Parameter early: what the server says right behind the handshake.
            init(early: [UInt8] = []) throws {
                let session = try TLSSession.pinned(), server = try TLSServer()
                try session.agree(with: server)
                try session.receive(all: early.isEmpty ? [] : server.send(early))
                var pair: [Int32] = [-1, -1]
                precondition(socketpair(AF_UNIX, SocketConstants.stream, 0, &pair) == 0)
                for descriptor in pair { keepFromBlocking(descriptor) }
                (self.server, peer) = (server, pair[1])
                let (events, told) = AsyncStream.makeStream(of: Event.self)
                self.events = events.makeAsyncIterator()
                let readiness = try Readiness(queue: queue)
                self.readiness = readiness
                stream = queue.sync { TLSStream(StreamSocket(adopting: pair[0], on: readiness), session, on: readiness) }
                let handlers = StreamSocket.Handlers(
                    readable: { @Sendable _ in told.yield(.readable) }, writable: { @Sendable _ in told.yield(.writable) })
                queue.sync { stream.activate(handlers, tag: 0) }
            }

            deinit { systemClose(peer) }

            func run<Result>(_ body: (TLSStream) -> Result) -> Result { queue.sync { body(stream) } }

            func wait(for wanted: Event) async { while let event = await events.next(), event != wanted {} }

            /// What the stream reads until it would block, and why it stopped.
            func readAll() -> (bytes: [UInt8], last: StreamSocket.Reading) {
                var all: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let reading = run { stream in buffer.withUnsafeMutableBytes { stream.read(into: $0) } }
                    guard case .bytes(let count) = reading else { return (all, reading) }
                    all += buffer[..<count]
                }
            }

            /// What has come to the peer by now, without TLS.
            func hear() -> [UInt8] {
                var all: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
                while case let count = recv(peer, &buffer, buffer.count, 0), count > 0 { all += server.receive(Array(buffer[..<count])) }
                return all
            }

            func say(_ bytes: [UInt8]) { precondition(send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count) }
        }

        @Test("what came right behind the handshake is told, and what comes later")
        func early() async throws {
            let bench = try Bench(early: [1, 2, 3])
            await bench.wait(for: .readable)
            #expect(bench.readAll() == ([1, 2, 3], .wouldBlock))
            bench.say(bench.server.send([4, 5]))
            await bench.wait(for: .readable)
            #expect(bench.readAll() == ([4, 5], .wouldBlock))
        }

        @Test("a peer that does not read holds the writer back, and gets all that was taken, though nothing more is written")
        func backpressure() async throws {
            let bench = try Bench()
            let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 7) }
            let taken = bench.run { stream in
                var taken = 0
                while case .wrote(let count) = bytes[taken...].withUnsafeBytes({ stream.write($0) }) { taken += count }
                return taken
            }
            #expect(taken > 0 && taken < bytes.count)
            bench.run { $0.waitUntilWritable() }
            var heard = bench.hear()
            await bench.wait(for: .writable)
            heard += bench.hear()
            #expect(heard == Array(bytes[..<taken]))
        }

        @Test("an end that is said is one, and so is one that is not; a wrong record is a failure with its reason")
        func ends() throws {
            let said = try Bench()
            said.say(said.server.send([1]) + said.server.end())
            #expect(said.readAll() == ([1], .end))
            let cut = try Bench()
            cut.say(cut.server.send([1]))
            shutdown(cut.peer, Int32(SHUT_RDWR))
            #expect(cut.readAll() == ([1], .end))
            let wrong = try Bench()
            wrong.say([23, 3, 3, 0, 32] + [UInt8](repeating: 0, count: 32))
            #expect(wrong.readAll() == ([], .failed(EPROTO)))
            #expect(wrong.run { $0.failure }?.description.hasPrefix("the link of TLS with board.local broke: ") == true)
            #expect(wrong.run { stream in [UInt8(1)].withUnsafeBytes { stream.write($0) } } == .failed(EPIPE))
        }

        @Test("closing says so to the server; then nothing is read or written")
        func closes() throws {
            let bench = try Bench()
            bench.run { $0.close() }
            #expect(bench.hear() == [] && bench.server.hasEnded)
            #expect(bench.readAll() == ([], .end))
            #expect(bench.run { stream in [UInt8(1)].withUnsafeBytes { stream.write($0) } } == .failed(EPIPE))
            bench.run { $0.close() }
        }
    }
#endif
