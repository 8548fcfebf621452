import RelayIO

/// What has started this process as a service and waits to be told how it is: systemd, with `Type=notify` (sd_notify(3)).
package struct ServiceManager: Sendable {
    private let name: String

    /// - Parameter socket: `$NOTIFY_SOCKET`: a path, or `@` and a name that stands in no file system (Linux).
    /// - Returns: `nil` where nobody waits.
    package init?(socket: String?) {
        guard let socket, socket.hasPrefix("/") || socket.hasPrefix("@"), socket.utf8.count > 1 else { return nil }
        name = socket
    }

    /// It reads what it needs before it serves, for another minute at most.
    package func tellReading() { tell("EXTEND_TIMEOUT_USEC=60000000") }
    /// It serves from now on.
    package func tellReady() { tell("READY=1\nSTATUS=") }
    /// It waits until it may serve, for as long as it takes: its start is over. A text of one line says for what.
    package func tellWaiting(_ text: String) { tell("READY=1\nSTATUS=\(text)") }
    /// It ends; that may take some seconds.
    package func tellStopping() { tell("STOPPING=1") }

    /// One datagram. It is sent once: a relay serves with or without a service manager that takes it.
    private func tell(_ text: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, SocketConstants.datagram, 0)
        guard descriptor >= 0 else { return }
        defer { systemClose(descriptor) }
        // Without the zero behind it: of a name it would be a part.
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
        let message = Array(text.utf8)
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, message, message.count, SocketConstants.sendFlags, $0, length)
            }
        }
    }
}
