import RelayConsole
import RelayCore
import RelayIO
import RelayServer
import RelaySystem

@available(macOS 15, iOS 18, *)
extension Command {
    static let demo = Command(
        name: "demo",
        summary: "runs a relay on which four people draw a recorded lesson",
        options: [
            .value("--host", as: "HOST", help: "Address to listen on. Default: every interface."),
            .value("--port", as: "PORT", help: "Port to listen on. Default: a free one."),
            .value("--speed", as: "X", help: "Speed of the drawing, 0.01…10000. Default: 1."),
        ],
        notes: [
            """
            Prints the addresses of the whiteboard, one a line; a terminal also shows a QR code. Open one and draw along. After about \
            a minute the board is cleared and the lesson starts again.
            """,
            "The demo keeps nothing on disk and makes new keys at each start. Ctrl-C ends it with exit code 0.",
        ],
        examples: [
            .init("boardrelay demo", "The addresses to open, here and on a phone in the same network."),
            .init("boardrelay demo --host 127.0.0.1 --speed 3", "For this machine alone, three times as quick."),
        ],
        run: demo)

    private static func demo(_ arguments: Arguments) async throws -> ExitCode {
        let speed = try arguments.speed()
        let port = UInt16(try arguments.integer("--port", in: 0...65_535) ?? 0)
        var options = WhiteboardRelay.Options(host: arguments.value("--host"), port: port, access: .keys())
        options.isAskedByPort = true
        let log = ServeLog(level: .warning)
        // That the board is cleared each minute is nobody's news.
        options.log = { line in if line.level >= .warning { log.write(line) } }
        let signals = Signals()
        let server = try await startRelay(options, log)
        let bound = RelayAddress(host: options.host ?? "::", port: server.address.port)
        let entrance = Entrance(options, server)
        log.note("A lesson is being drawn. Ctrl-C ends it.")
        for address in Interfaces.reachable(bound) { try? Console.print(KeyText.url(address, server.keys!.join)) }
        entrance.show(Ways(Interfaces.reachable(bound), nil))
        // Of every interface the one that is always there.
        let here = Interfaces.reachable(bound, of: [options.host == "::" ? "::1" : "127.0.0.1"])[0]
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await signals.first() }
                group.addTask { try await DemoClass.draw(.embedded(), at: here, keys: server.keys!, speed: speed) }
                _ = try await group.next()
                group.cancelAll()
            }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
        return .ok
    }
}
