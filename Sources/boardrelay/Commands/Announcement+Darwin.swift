#if canImport(Darwin)
    import Dispatch
    import RelayConsole
    import RelayDiscovery
    import RelayServer
    import RelaySystem

    /// Has the system tell the local network of a relay: by its service, and by the name that this machine has there. It was never run.
    @available(macOS 15, iOS 18, *)
    final class Announcement: @unchecked Sendable {
        // Safe: what is mutable is touched on `queue` only.
        private let queue = DispatchQueue(label: "boardrelay.announcement")
        private let settings: ServeSettings
        private let server: ServedRelay
        private let log: ServeLog
        private var service: SystemDNS?, place: SystemDNS?

        /// - Returns: `nil` if nobody is to be told: one of its addresses alone the system cannot announce.
        init?(_ settings: ServeSettings, _ server: ServedRelay, _ log: ServeLog) {
            guard let host = settings.announcedHost else { return nil }
            guard host == "::" || host == "0.0.0.0" else {
                log.note("The network is not told of this relay: it listens on \(host) alone.")
                return nil
            }
            (self.settings, self.server, self.log) = (settings, server, log)
            queue.async { @Sendable [self] in
                service = SystemDNS.announce(
                    "boardrelay", port: server.address.port, fields: settings.announcedText, on: queue
                ) { [weak self] in self?.heard($0) }
            }
        }

        /// Says good-bye.
        func close() async {
            await withCheckedContinuation { continuation in
                queue.async { @Sendable [self] in
                    (service, place) = (nil, nil)
                    continuation.resume()
                }
            }
        }

        private func heard(_ reply: SystemDNS.Reply) {
            switch reply {
            case .announced(let service): place = SystemDNS.locate(service, on: queue) { [weak self] in self?.heard($0) }
            case .located(let found):
                server.announced(as: found.host)
                log.note(settings.announced(as: found.host, port: found.port))
            case .failed(let failure): log.note("The network is not told of this relay: \(failure)")
            case .found, .gone: break
            }
        }
    }
#endif
