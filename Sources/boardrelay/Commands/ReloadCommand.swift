import Dispatch
import RelayConsole
import RelayCore
import RelayIO
import RelayServer
import RelayWire

/// Reads the settings of a relay again while it runs.
@available(macOS 15, iOS 18, *)
final class ServeReload: Sendable {
    private struct State {
        var server: ServedRelay?
        /// What was read last.
        var settings: ServeSettings
        /// What holds.
        var options: WhiteboardRelay.Options
        /// What was read last of what spaces have for themselves.
        var spaces: [SpaceName: [String: [String]]] = [:]
    }

    /// The command line, which stays.
    private let given: Arguments
    private let log: ServeLog
    private let started: ServeSettings
    private let state: Mutex<State>
    /// Settings are read and applied one after the other. It waits for the relay: no lock is held meanwhile.
    private let turns = DispatchQueue(label: "boardrelay.reload")

    init(_ given: Arguments, _ settings: ServeSettings, _ log: ServeLog) {
        (self.given, self.log, started) = (given, log, settings)
        state = Mutex(State(server: nil, settings: settings, options: settings.options))
    }

    /// The relay serves from now on.
    func begins(_ server: ServedRelay) {
        let spaces = (try? server.ownSettings(started)) ?? [:]
        state.withLock { ($0.server, $0.spaces) = (server, spaces) }
    }

    /// What holds.
    var options: WhiteboardRelay.Options { state.withLock { $0.options } }

    /// For the control socket. Waits for the relay.
    @Sendable func answer() -> any JSONObject {
        do {
            return try reload()
        } catch {
            return ControlRefusal("\(error)")
        }
    }

    /// For SIGHUP. What became of it is in the log.
    @Sendable func bySignal() { SystemThread.detach { [self] in _ = try? reload() } }

    private func reload() throws -> ReloadReport {
        do {
            let report = try turns.sync { try apply() }
            log.note(report.sentence)
            return report
        } catch {
            log.write(LogLine(.error, "the settings stay as they are: \(error)"))
            throw error
        }
    }

    private func apply() throws -> ReloadReport {
        let known = state.withLock { $0 }
        guard let server = known.server else { throw Failure("the relay is starting") }
        let settings = try ServeSettings(given)
        var options = settings.options, fixed = ServeSettings.needRestart
        // A mode holds from the start on, with all that belongs to it.
        if Self.differ("--auth", settings, started) {
            options.access = known.options.access
            fixed.formUnion(["--pupils", "--token-secret-file", "--token-audience"])
        }
        options.hub.keepRates(of: started.options.hub)
        try server.apply(options, settings)
        log.level.withLock { $0 = settings.level }
        var report = ReloadReport()
        report.address = "\(server.address)"
        for option in Command.serve.settings {
            let isFixed = fixed.contains(option.name)
            guard Self.differ(option.name, settings, isFixed ? started : known.settings) else { continue }
            if isFixed { report.needRestart.append(option.setting) } else { report.changed.append(option.setting) }
        }
        let spaces = try server.ownSettings(settings)
        for (space, own) in spaces.sorted(by: { $0.key < $1.key }) {
            let before = known.spaces[space] ?? own
            for setting in Set(own.keys).union(before.keys).sorted() where own[setting] != before[setting] {
                let place = setting == "auth" ? \ReloadReport.needRestart : \.changed
                report[keyPath: place].append("\(space): \(setting)")
            }
        }
        state.withLock { ($0.settings, $0.options, $0.spaces) = (settings, options, spaces) }
        return report
    }

    private static func differ(_ name: String, _ one: ServeSettings, _ other: ServeSettings) -> Bool {
        one.arguments.values(name) != other.arguments.values(name)
    }
}

extension Configuration {
    /// What `--metadata-rate` sets besides `limits`, which a hub keeps by itself.
    fileprivate mutating func keepRates(of other: Configuration) {
        (metadataCallsPerSecond, metadataCallsBurst, requestsBurst) = (
            other.metadataCallsPerSecond, other.metadataCallsBurst, other.requestsBurst
        )
    }
}

extension ReloadReport {
    /// For people.
    var sentence: String {
        let held = changed.isEmpty ? "no setting has another value" : "changed: \(changed.joined(separator: ", "))"
        let later = needRestart.isEmpty ? "" : "; after a restart: \(needRestart.joined(separator: ", "))"
        return "Settings, keys and secrets are read again; \(held)\(later)."
    }
}

@available(macOS 15, iOS 18, *)
extension Command {
    static let reload = Command(
        name: "reload",
        summary: "has a relay on this machine read its settings again",
        options: [.json, .url] + ControlSocket.options,
        notes: [
            """
            The relay reads its settings file, the files of keys, secrets and tokens that it names, and the keys in the data folder. \
            Its command line and environment are those of its start. What is wrong is told, and then nothing changes.
            """,
            """
            These hold after a restart only, and are named: \(ServeSettings.needRestart.sorted().joined(separator: ", ")). Whoever is \
            connected stays, with its role; with less memory readers that lag may be closed. What else is above a new limit stays, and \
            nothing is added to it.
            """,
        ],
        examples: [
            .init("boardrelay reload", "The relay of this machine on port 7420."),
            .init("sudo systemctl reload boardrelay", "The same, of a relay that systemd runs."),
        ],
        run: reload)

    private static func reload(_ arguments: Arguments) async throws -> ExitCode {
        guard let place = try ControlSocket.place(arguments) else {
            throw UsageError("reload asks a relay on this machine; the address names another one")
        }
        // Found before anything changes.
        let path = try ControlSocket.ask(place, address: \.address) { path throws(RelayServerError) in
            try WhiteboardRelay.status(controlSocket: path)
        }.path
        let report: ReloadReport
        let waiting = Waiting("Waiting for the relay")
        defer { waiting.end() }
        do throws(RelayServerError) {
            report = try WhiteboardRelay.reload(controlSocket: path)
        } catch {
            throw Failure("\(error)")
        }
        if arguments.flag("--json") {
            try Console.print(report.line)
        } else {
            try Console.print(report.sentence)
        }
        return .ok
    }
}
