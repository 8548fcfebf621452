import RelayServer

/// Where a relay answers `status`: in its data folder, or, when it keeps nothing, where its port tells it from others.
enum ControlSocket {
    static func path(inFolder folder: String) -> String { folder + (folder.hasSuffix("/") ? "" : "/") + "control.sock" }

    /// - Parameter folder: `nil`: in memory.
    static func path(folder: String?, port: UInt16) -> String? {
        if let folder { return path(inFolder: folder) }
        return port == 0 ? nil : RelayServer.defaultControlSocket(port: port)
    }
}
