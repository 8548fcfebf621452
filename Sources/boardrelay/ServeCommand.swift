import Dispatch
import Foundation
import RelayCore
import RelayIO
import RelayServer

/// `boardrelay serve`: the daemon.
enum ServeCommand: Command {
    static let name = "serve"
    static let summary = "run a relay until Ctrl-C"
    static let options: [Option] = [
        .value("host"), .value("port"), .flag("in-memory"), .value("auth"), .value("flush"), .value("log-level"), .value("control"),
        .value("max-connections"), .value("max-channels"), .value("max-channel-users"),
    ]
    static let help = """
        usage: boardrelay serve [options]

        Runs a relay until Ctrl-C (SIGINT) or SIGTERM. Then clients are told, what is queued for them gets up to 5 s to
        leave, and the exit code is 0. A second signal ends it at once.

          --host HOST        the address to listen on; every interface if absent
          --port PORT        7420 if absent; 0 lets the system choose
          --in-memory        nothing is kept on disk (this version keeps nothing in any case)
          --auth open        everybody who can reach the port may come in (the one mode of this version)
          --flush MODE       adaptive (default), immediate, or a tick such as 2ms: when queued bytes are written
          --log-level LEVEL  debug, info (default), warning or error
          --control PATH     the Unix socket on which `boardrelay status` asks
          --max-connections N, --max-channels N (of each kind), --max-channel-users N (in one stream channel)
                             bounds: 12000, 10000 and 1000 if absent

        examples:
          boardrelay serve
          boardrelay serve --host 127.0.0.1 --port 0 --log-level debug
        """

    static func run(_ arguments: Arguments) async throws {
        try arguments.expectNoRest()
        let level = try logLevel(arguments)
        let port = try arguments.number("port", 0...65535) ?? 7420
        if let auth = arguments.value("auth"), auth != "open" { throw Usage(text: "--auth is open, not '\(auth)'") }
        var options = RelayServer.Options(host: arguments.value("host"), port: UInt16(port), flush: try flush(arguments))
        options.controlSocket = arguments.value("control") ?? (port == 0 ? nil : RelayServer.defaultControlSocket(port: UInt16(port)))
        if let bound = try arguments.number("max-connections", 1...1_000_000) { options.hub.connectionsMax = bound }
        if let bound = try arguments.number("max-channels", 1...1_000_000) { options.hub.channelsMax = bound }
        if let bound = try arguments.number("max-channel-users", 1...100_000) { options.hub.streamChannelUsersMax = bound }
        options.log = { @Sendable line in
            if line.level >= level { complain("\(line.level.rawValue): \(line.text)") }
        }
        let signals = Signals()
        let server = try await RelayServer.start(options)
        announce(server, anyInterface: options.host == nil)
        await signals.first()
        complain("ending: clients are told; once more ends at once")
        await server.stop()
    }

    private static func logLevel(_ arguments: Arguments) throws -> LogLine.Level {
        guard let text = arguments.value("log-level") else { return .info }
        guard let level = LogLine.Level(rawValue: text) else { throw Usage(text: "--log-level is debug, info, warning or error, not '\(text)'") }
        return level
    }

    private static func flush(_ arguments: Arguments) throws -> FlushPolicy.Mode {
        switch arguments.value("flush") {
        case nil, "adaptive": return .adaptive
        case "immediate": return .immediate
        case let text?:
            guard text.hasSuffix("ms"), let milliseconds = Int(text.dropLast(2)), (1...100).contains(milliseconds) else {
                throw Usage(text: "--flush is adaptive, immediate or 1ms…100ms, not '\(text)'")
            }
            return .every(milliseconds: milliseconds)
        }
    }

    /// One address a line on stdout, so that a script can read the port; the rest to stderr.
    private static func announce(_ server: RelayServer, anyInterface: Bool) {
        let port = server.address.port
        if anyInterface {
            for host in Interfaces.addresses() { print(RelayServer.Address(host: host, port: port)) }
        } else {
            print(server.address)
        }
        fflush(nil)
        complain("boardrelay \(Boardrelay.version) listens; nothing is kept on disk; Ctrl-C ends it")
    }
}
