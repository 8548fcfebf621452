import RelayConsole
import RelayGateway
import RelayIO
import RelayServer
import RelaySystem

/// Where a relay answers its operator: in its data folder, and where its port tells it from others.
@available(macOS 15, iOS 18, *)
enum ControlSocket {
    static func path(inFolder folder: String) -> String { folder + (folder.hasSuffix("/") ? "" : "/") + "control.sock" }

    /// - Parameter folder: `nil`: in memory.
    static func path(folder: String?, port: UInt16) -> String? {
        if let folder { return path(inFolder: folder) }
        return port == 0 ? nil : WhiteboardRelay.defaultControlSocket(port: port)
    }

    /// Where a service is asked by its group as well.
    ///
    /// - Parameter folders: `$RUNTIME_DIRECTORY`, as systemd sets it.
    /// - Returns: `nil` where commands would not look for it.
    static func path(ofService folders: String?) -> String? {
        let path = path(inFolder: UnixListener.systemFolder)
        return (folders ?? "").split(separator: ":").contains { Self.path(inFolder: String($0)) == path } ? path : nil
    }

    /// Which relay is meant, besides the address that all commands have.
    static let options: [Command.Option] = [
        .value("--data-dir", as: "DIR", help: "The relay here with this data folder."),
        .value("--port", as: "PORT", help: "The relay here on this port, run by this user."),
        .value("--control", as: "PATH", help: "The relay here with this control socket."),
    ]

    /// A relay on this machine.
    enum Place: Equatable {
        case socket(String)
        /// Of this user.
        case port(UInt16)
    }

    /// The relay that an option names, else the one to which every command goes.
    ///
    /// - Returns: `nil` if that is on another machine.
    static func place(_ arguments: Arguments) throws(UsageError) -> Place? {
        let given = ["--control", "--data-dir", "--port", "--url"].filter { arguments.value($0) != nil }
        if given.count > 1 { try arguments.exclude(given[0], given[1]) }
        if let path = arguments.value("--control") { return .socket(path) }
        if let folder = arguments.value("--data-dir") { return .socket(path(inFolder: folder)) }
        if let port = try arguments.integer("--port", in: 1...65_535) { return .port(UInt16(port)) }
        let address = try arguments.address()
        return isHere(address) || Interfaces.names().contains(address.host) ? .port(address.port) : nil
    }

    /// Asks the relay that is meant; one that is found by its port must be on it.
    ///
    /// - Parameter address: where the relay listens, in its answer.
    /// - Returns: its answer, and the socket on which it gave it.
    static func ask<Answer>(
        _ place: Place, address: (Answer) -> String, _ question: (String) throws(RelayServerError) -> Answer
    ) throws(Failure) -> (answer: Answer, path: String) {
        let paths: [String]
        let hint =
            " (is it running? 'boardrelay serve' starts one; "
            + "one that runs as another user answers that user, 'sudo -u USER boardrelay …', and root with its --data-dir)"
        switch place {
        case .socket(let path): paths = [path]
        case .port(let port):
            let usual = path(inFolder: WhiteboardRelay.Storage.defaultFolder)
            paths = [WhiteboardRelay.defaultControlSocket(port: port), usual, path(inFolder: UnixListener.systemFolder)]
        }
        var other: RelayAddress?, isForbidden = false
        let waiting = Waiting("Waiting for the relay")
        defer { waiting.end() }
        for path in paths {
            do throws(RelayServerError) {
                let answer = try question(path)
                guard case .port(let port) = place, let found = RelayAddress(address(answer)), found.port != port else {
                    return (answer, path)
                }
                other = found
            } catch {
                if case .socket = place, error.nobodyAnswers { throw Failure("\(error)\(hint)") }
                if case .socket = place, error.isForbidden {
                    throw Failure("\(error); its user and root may ask there: 'sudo boardrelay …'")
                }
                // What stands in the usual folder need not be the relay that is meant.
                if !error.nobodyAnswers, path == paths[0] { throw Failure("\(error)") }
                if error.isForbidden, path.hasPrefix(UnixListener.systemFolder) { isForbidden = true }
            }
        }
        guard case .port(let port) = place else { preconditionFailure("a socket has answered, or not") }
        if isForbidden, other == nil {
            throw Failure("the relay that this machine runs as a service answers \(allowed)")
        }
        let there = other.map { "; the relay with the usual data folder is on port \($0.port): --port \($0.port)" } ?? hint
        throw Failure("no relay of this user answers for port \(port)\(there)")
    }

    /// Who may ask a service. Systemd makes the group while the service runs, a package for good: only that one has members.
    private static var allowed: String {
        let groups = (try? FileContents.read("/etc/group")) ?? []
        let isKept = groups.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: "boardrelay:".utf8) }
        guard isKept else { return "root: 'sudo boardrelay …'" }
        return "root and the group boardrelay: 'sudo boardrelay …', or 'sudo usermod --append --groups boardrelay USER' and another login"
    }

    static func keys(on path: String, _ space: String?) throws(RelayServerError) -> KeysReport {
        try WhiteboardRelay.keys(controlSocket: path, space: space)
    }

    static let own = OwnRelay(hostKey: hostKey, protection: protection)

    /// How a relay that this user runs on this machine is reached, if the address is its and it speaks TLS.
    private static func protection(of address: RelayAddress) -> RelayAddress.Protection? {
        guard isHere(address) else { return nil }
        let about = try? ask(.port(address.port), address: \.address) { path throws(RelayServerError) in
            try WhiteboardRelay.about(controlSocket: path)
        }
        return about?.answer.tls?.protection
    }

    /// The host key of a relay that this user runs on this machine, if the address is its.
    private static func hostKey(of address: RelayAddress, _ space: String?) -> String? {
        guard isHere(address) else { return nil }
        return try? ask(.port(address.port), address: \.address) { path throws(RelayServerError) in try keys(on: path, space) }.answer.host
    }

    /// By its numbers: a name may be told by anybody.
    private static func isHere(_ address: RelayAddress) -> Bool {
        address.host == "localhost" || IPAddress(address.host)?.isLoopback == true || Interfaces.addresses().contains(address.host)
    }
}
