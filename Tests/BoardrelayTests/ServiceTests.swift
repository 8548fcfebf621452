import Foundation
import RelaySystem
import Testing

@testable import boardrelay
@testable import RelayConsole

/// `.ci/package --check` installs and removes a service where systemd runs.
@Suite("service: what systemd is given")
struct ServiceTests {
    @Test("the machine's unit is the example's, with this program and its settings; a word that systemd would read otherwise is quoted")
    func machine() throws {
        let example = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../docs/examples/boardrelay.service"), encoding: .utf8)
        let service = SystemService(config: "/etc/a b/100%.conf", program: "/opt/boardrelay", isMachines: true, home: "/root")
        let (lines, wanted) = (service.text.split(separator: "\n").dropFirst(), example.split(separator: "\n").drop { $0 != "[Unit]" })
        #expect(lines.count == wanted.count && lines.count > 30)
        let differ = zip(lines, wanted).filter { $0 != $1 }.map { String($0.0) }
        #expect(
            differ == [
                "ExecStart=/opt/boardrelay serve --config \"/etc/a b/100%%.conf\"",
                "ExecReload=/opt/boardrelay reload --control /run/boardrelay/control.sock",
            ])
        #expect(service.text.hasPrefix("# Written by 'boardrelay service install'"))
        #expect(service.path == "/etc/systemd/system/boardrelay.service")
    }

    @Test("a user's unit has nothing that a user's manager may not do")
    func user() {
        let service = SystemService(config: nil, program: "/opt/boardrelay", isMachines: false, home: "/home/ann")
        #expect(service.path == "/home/ann/.config/systemd/user/boardrelay.service")
        #expect(service.text.contains("\nExecStart=/opt/boardrelay serve\n") && service.text.hasSuffix("WantedBy=default.target"))
        for word in ["DynamicUser", "ProtectSystem", "CapabilityBoundingSet"] { #expect(!service.text.contains(word)) }
    }

    @Test("--print writes nothing; a settings file that is not there, and options of install for remove, are mistakes")
    func mistakes() async throws {
        let printed = try await Tool.run("service", "install", "--print")
        let program = try Tool.binary().resolvingSymlinksInPath().path
        #expect(printed.code == 0 && printed.output.contains("ExecStart=\(program) serve\n"))
        let missing = try await Tool.run("service", "install", "--print", "--config", "/nowhere.conf")
        #expect(missing.code == 2 && missing.errors.contains("/nowhere.conf: No such file"))
        let wrong = try await Tool.run("service", "remove", "--print")
        #expect(wrong.code == 2 && wrong.errors.contains("option --print is for install"))
        // Where one runs, it would be installed.
        guard !FileManager.default.fileExists(atPath: "/run/systemd/system") else { return }
        let refused = try await Tool.run("service", "install")
        #expect(refused.code == 1 && (refused.errors.contains("no systemd runs here") || refused.errors.contains("a service cannot run")))
    }
}
