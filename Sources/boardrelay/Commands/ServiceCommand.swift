import CResources
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayConsole
import RelayIO
import RelaySystem

@available(macOS 15, iOS 18, *)
extension Command {
    private enum ServiceAction: String, CaseIterable { case install, remove }

    static let service = Command(
        name: "service",
        summary: "has this machine run a relay from each boot or login on",
        arguments: [
            .action(
                ServiceAction.self,
                help: "install: writes a unit for systemd (on a Mac a property list for launchd) and starts the relay. "
                    + "remove: ends it and removes that file; settings and data stay.")
        ],
        options: [
            .value("--config", as: "FILE", help: "install: the relay's settings file."),
            .flag("--print", help: "install: prints the file, and does nothing."),
        ],
        notes: [
            """
            As root it is the machine's relay, with a user of its own and its data in /var/lib/private/boardrelay. Else it is this \
            user's, and runs while the user is logged in; 'loginctl enable-linger' makes that always. The Debian package brings its own \
            service.
            """
        ],
        examples: [
            .init("boardrelay service install", "For this user; 'systemctl --user status boardrelay' tells of it."),
            .init("sudo boardrelay service install --config /etc/boardrelay.conf", "For this machine."),
            .init("boardrelay service install --print", "What would be written."),
        ],
        run: service)

    private static func service(_ arguments: Arguments) async throws -> ExitCode {
        let action: ServiceAction = try arguments.action()
        if action == .remove, let option = ["--config", "--print"].first(where: { arguments.flag($0) }) {
            throw UsageError("option \(option) is for install")
        }
        let service = SystemService(config: try arguments.value("--config").map(wholePath))
        if arguments.flag("--print") {
            try Console.print(service.text)
        } else if action == .install {
            try await service.install()
        } else {
            try await service.remove()
        }
        return .ok
    }

    /// - Throws: `Failure` if there is no such file.
    private static func wholePath(_ path: String) throws(Failure) -> String {
        guard let whole = realpath(path, nil) else { throw Failure("\(path): \(String(cString: strerror(errno)))", exitCode: .usage) }
        defer { free(whole) }
        return String(cString: whole)
    }
}

/// A relay that systemd or launchd starts and keeps running.
@available(macOS 15, iOS 18, *)
struct SystemService {
    /// The relay's settings file, if it has one.
    var config: String?
    var program = Program.path
    /// Whether it is the machine's; else this user's.
    var isMachines = geteuid() == 0
    var home = ProcessInfo.processInfo.environment["HOME"] ?? "/"

    /// What a package has installed.
    private static let packaged = "/usr/lib/systemd/system/boardrelay.service"

    private var words: [String] { [program, "serve"] + (config.map { ["--config", $0] } ?? []) }

    #if os(Linux)
        var path: String { isMachines ? "/etc/systemd/system/boardrelay.service" : "\(home)/.config/systemd/user/boardrelay.service" }

        /// The unit. That of the machine is docs/examples/boardrelay.service; a user's manager cannot confine so much.
        var text: String {
            let start = "ExecStart=" + words.map(Self.quoted).joined(separator: " ")
            guard isMachines else {
                return """
                    \(Self.mark)
                    [Unit]
                    Description=Whiteboard relay

                    [Service]
                    Type=notify
                    \(start)
                    ExecReload=/bin/kill -HUP $MAINPID
                    Restart=always
                    TimeoutStartSec=5min
                    UMask=0077

                    [Install]
                    WantedBy=default.target
                    """
            }
            guard let file = resource_file_named("boardrelay.service")?.pointee else { preconditionFailure("no unit in resources.c") }
            let example = String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
            let lines = example.split(separator: "\n", omittingEmptySubsequences: false).drop { $0 != "[Unit]" }
            return
                ([Self.mark]
                + lines.map { line in
                    if line.hasPrefix("ExecStart=") { return start }
                    return String(line).replacing("ExecReload=/usr/local/bin/boardrelay", with: "ExecReload=" + Self.quoted(program))
                }).joined(separator: "\n")
        }

        /// The first line of what this writes: a file without it is somebody's own.
        private static let mark = "# Written by 'boardrelay service install'. Changes belong into a drop-in: 'systemctl edit boardrelay'."

        /// A word of a unit's command line. [systemd.service(5)]
        private static func quoted(_ word: String) -> String {
            let plain = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%").replacing(
                "$", with: "$$")
            return plain == word && !word.contains(where: \.isWhitespace) ? word : "\"\(plain)\""
        }

        func install() async throws {
            guard !isMachines || access(Self.packaged, F_OK) != 0 else {
                throw Failure("a package has installed the service: 'systemctl enable --now boardrelay' starts it, at each boot, too")
            }
            for (path, what) in [(program, "run"), (config ?? "", "read")] where isMachines && Self.isHidden(path) {
                throw Failure("a service cannot \(what) \(path): copy it, a program to /usr/local/bin/, settings to /etc/")
            }
            if let config, isMachines {
                var info = stat()
                guard stat(config, &info) == 0, info.st_mode & 0o004 != 0 else {
                    throw Failure("the service's user cannot read \(config): 'chmod o+r' lets it; keep secrets in files of their own")
                }
            }
            guard access("/run/systemd/system", F_OK) == 0 else {
                throw Failure("no systemd runs here. 'boardrelay service install --print' prints the unit")
            }
            let folder = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? ""
            guard isMachines || access(folder + "/systemd", F_OK) == 0 else {
                throw Failure("no systemd of this user runs in this session; 'sudo boardrelay service install' takes that of the machine")
            }
            try refuseForeign()
            try write()
            try await run(["daemon-reload"])
            try await run(["enable", "boardrelay"])
            Console.note("Waiting until the relay is ready.")
            try await run(["restart", "boardrelay"])
        }

        /// The unit keeps these folders from the relay.
        private static func isHidden(_ path: String) -> Bool {
            ["/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"].contains { path.hasPrefix($0) }
        }

        /// - Throws: `Failure` if a unit is there that somebody else has written.
        private func refuseForeign() throws {
            guard access(path, F_OK) == 0 else { return }
            guard let text = try? String(contentsOf: URL(filePath: path), encoding: .utf8), text.hasPrefix(Self.mark) else {
                throw Failure("\(path) is somebody's own: it is left as it is")
            }
        }

        func remove() async throws {
            guard access(path, F_OK) == 0 else { throw Failure("there is no \(path): nothing was installed") }
            try refuseForeign()
            try await run(["disable", "--now", "boardrelay"])
            unlink(path)
            try await run(["daemon-reload"])
            Console.note("\(path) is removed. Settings and data stay.")
        }

        private func run(_ words: [String]) async throws { try await run("/usr/bin/systemctl", (isMachines ? [] : ["--user"]) + words) }
    #else
        var path: String { "\(home)/Library/LaunchAgents/\(Self.label).plist" }
        private static let label = "boardrelay"

        /// The property list. [launchd.plist(5)]
        var text: String {
            func escaped(_ text: String) -> String { text.replacing("&", with: "&amp;").replacing("<", with: "&lt;") }
            let arguments = words.map { "        <string>\(escaped($0))</string>" }.joined(separator: "\n")
            return """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                    <key>Label</key>
                    <string>\(Self.label)</string>
                    <key>ProgramArguments</key>
                    <array>
                \(arguments)
                    </array>
                    <key>RunAtLoad</key>
                    <true/>
                    <key>KeepAlive</key>
                    <true/>
                    <key>StandardErrorPath</key>
                    <string>\(escaped(home))/Library/Logs/boardrelay.log</string>
                </dict>
                </plist>
                """
        }

        func install() async throws {
            guard !isMachines else { throw Failure("launchd runs it for a user: not as root") }
            try write()
            try await run("/bin/launchctl", ["bootstrap", "gui/\(getuid())", path])
        }

        func remove() async throws {
            guard access(path, F_OK) == 0 else { throw Failure("there is no \(path): nothing was installed") }
            try await run("/bin/launchctl", ["bootout", "gui/\(getuid())/\(Self.label)"])
            unlink(path)
            Console.note("\(path) is removed. Settings and data stay.")
        }
    #endif

    private func write() throws {
        let folder = String(path[..<path.lastIndex(of: "/")!])
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data((text + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw Failure("\(path) cannot be written: \(error)")
        }
        chmod(path, 0o644)
        Console.note("\(path) is written.")
    }

    /// What it says goes where ours goes.
    private func run(_ program: String, _ words: [String]) async throws {
        let child = try ChildProcess(program, words, output: .descriptor(STDERR_FILENO), errors: .descriptor(STDERR_FILENO))
        guard case .exited(0) = await child.waitUntilEnd() else { throw Failure("'\(program) \(words.joined(separator: " "))' has failed") }
    }
}
