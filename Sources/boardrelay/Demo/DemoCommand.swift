import RelayConsole
import RelayCore
import RelayIO
import RelayServer

extension Command {
    static let demo = Command(
        name: "demo",
        summary: "runs a relay on which a recorded lesson is drawn, to look at",
        options: [
            .value("--host", as: "HOST", help: "The address to listen on; every interface if not given."),
            .value("--port", as: "PORT", help: "One that is free if not given."),
            .value("--speed", as: "X", help: "How much quicker than it was drawn, 0.01…10000. 1 if not given."),
        ],
        notes: [
            "Prints the addresses of the whiteboard, one a line; on a terminal it shows a QR code, too. Open one: four people draw at the same time, each point as it is made. When the lesson is over the board is cleared and it begins anew. Draw along.",
            "The relay keeps nothing on disk, and its keys are new at each start. Ctrl-C ends it: the exit code is 0.",
        ],
        examples: [
            .init("boardrelay demo", "The addresses to open, here and on a phone in the same network."),
            .init("boardrelay demo --host 127.0.0.1 --speed 3", "For this machine alone, three times as quick."),
        ],
        run: demo)

    private static func demo(_ arguments: Arguments) async throws -> ExitCode {
        let speed = try arguments.speed()
        let port = UInt16(try arguments.integer("--port", in: 0...65_535) ?? 0)
        var options = RelayServer.Options(host: arguments.value("--host"), port: port, access: .keys())
        options.isAskedByPort = true
        let log = ServeLog(level: .warning)
        // That the board is cleared each minute is nobody's news.
        options.log = { line in if line.level >= .warning { log.write(line) } }
        let signals = Signals()
        let server = try await startRelay(options)
        let bound = RelayAddress(host: options.host ?? "::", port: server.address.port)
        let entrance = Entrance(options, server)
        log.note("A lesson is being drawn. Ctrl-C ends it.")
        for address in Interfaces.reachable(bound) { try? Console.print(KeyText.url(address, server.keys!.join)) }
        entrance.show(Interfaces.reachable(bound))
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
