import RelayIO
import RelayServer

/// Where a relay answers its operator: in its data folder, or, when it keeps nothing, where its port tells it from others.
enum ControlSocket {
    static func path(inFolder folder: String) -> String { folder + (folder.hasSuffix("/") ? "" : "/") + "control.sock" }

    /// - Parameter folder: `nil`: in memory.
    static func path(folder: String?, port: UInt16) -> String? {
        if let folder { return path(inFolder: folder) }
        return port == 0 ? nil : RelayServer.defaultControlSocket(port: port)
    }

    /// Which relay is meant, for commands that ask it.
    static let options: [Command.Option] = [
        .value("--data-dir", as: "DIR", help: "The relay that keeps its data there; as for 'serve' if not given."),
        .value("--port", as: "PORT", help: "The relay that keeps nothing, by its port; 7420 if not given."),
        .value("--control", as: "PATH", help: "The relay with this socket, as given to 'serve'."),
    ]

    /// Where to ask, in turn.
    static func sockets(_ arguments: Arguments) throws -> [String] {
        for (one, other) in [("--control", "--data-dir"), ("--control", "--port"), ("--data-dir", "--port")] { try arguments.exclude(one, other) }
        if let path = arguments.value("--control") { return [path] }
        if let folder = arguments.value("--data-dir") { return [path(inFolder: folder)] }
        if let port = try arguments.integer("--port", in: 1...65_535) { return [RelayServer.defaultControlSocket(port: UInt16(port))] }
        return [path(inFolder: RelayServer.Storage.defaultFolder), RelayServer.defaultControlSocket(port: RelayAddress.defaultPort)]
    }

    /// The first that answers.
    static func ask<Answer>(_ sockets: [String], _ question: (String) throws(RelayServerError) -> Answer) throws(Failure) -> Answer {
        var failures: [String] = []
        for path in sockets {
            do throws(RelayServerError) {
                return try question(path)
            } catch {
                failures.append("\(error)")
            }
        }
        throw Failure(failures.joined(separator: "; "))
    }

    /// The host key of a relay that this user runs on this machine, if the address is its.
    static func hostKey(of address: RelayAddress) -> String? {
        guard address.host == "localhost" || Interfaces.addresses().contains(address.host) || address.host == "::1" else { return nil }
        guard let report = try? RelayServer.keys(controlSocket: RelayServer.defaultControlSocket(port: address.port)) else { return nil }
        return RelayAddress(report.address)?.port == address.port ? report.host : nil
    }
}
