#if os(Linux)
    package import Dispatch
    package import RelayDiscovery
    package import RelayIO

    /// Announces a relay on this machine's links: its service `name._boardrelay._tcp.local`, its host `name.local`.
    package typealias Announcer = MulticastHost<Responder>

    extension Announcer {
        /// - Parameters:
        ///   - name: what to try first: that which was won the last time.
        ///   - text: fields of the TXT record. Everybody on the link reads them.
        ///   - queue: serial.
        ///   - all: the interfaces and addresses on which the relay listens.
        ///   - told: gets the name when it is won, and when it is lost to somebody else, on the queue.
        /// - Throws: if this program may have no socket on port 5353.
        package convenience init(
            name: String, port: UInt16, text: [String], queue: DispatchQueue, among all: @escaping @Sendable () -> [LinkInterface],
            told: @escaping @Sendable (Responder.News) -> Void
        ) throws(SocketAddress.Failure) {
            try self.init(Responder(name: name, port: port, text: text, seed: SystemEntropy.word()), queue: queue, among: all, told: told)
        }
    }
#endif
