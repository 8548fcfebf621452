#if os(Linux)
    import Dispatch
    import RelayAnnouncement
    import RelayConsole
    import RelayDiscovery
    import RelayGateway
    import RelayIO
    import RelayServer
    import RelaySystem

    /// Tells the local network of a relay, under a name that it keeps in its data folder.
    final class Announcement: Sendable {
        private let announcer: MulticastHost<Responder>
        private let watch: NetworkWatch

        /// - Returns: `nil` if nobody is to be told, or nobody can be: the log says why.
        init?(_ settings: ServeSettings, _ server: ServedRelay, _ log: ServeLog) {
            guard let host = settings.announcedHost else { return nil }
            let path = settings.folder.map { $0 + ($0.hasSuffix("/") ? "" : "/") + "name" }
            let port = server.address.port
            let told: @Sendable (Responder.News) -> Void = { news in
                switch news {
                case .won(let name):
                    server.announced(as: "\(name).local")
                    log.note(settings.announced(as: "\(name).local", port: port))
                    guard let path, Self.kept(path) != name else { return }
                    do { try PrivateFile.replace(path, content: Array((name + "\n").utf8)) } catch {
                        log.note("The name cannot be kept for the next start: \(error)")
                    }
                case .lost(let name):
                    server.announced(as: nil)
                    log.note("Somebody else in this network is \(name).local: the relay takes another name.")
                }
            }
            // Where it listens, and nowhere else.
            let wanted = IPAddress(host)
            let all: @Sendable () -> [LinkInterface] = {
                LinkInterface.all().compactMap { interface in
                    interface.only { address in
                        host == "0.0.0.0" ? address.bytes.count == 4 : host == "::" || wanted == nil || IPAddress(address.text) == wanted
                    }
                }
            }
            do {
                let name = path.flatMap(Self.kept) ?? "boardrelay"
                let responder = Responder(name: name, port: port, text: settings.announcedText, seed: SystemEntropy.word())
                announcer = try MulticastHost(
                    responder, queue: DispatchQueue(label: "boardrelay.announcement"), among: all, told: told)
            } catch {
                log.note("The network is not told of this relay: \(error)")
                return nil
            }
            watch = NetworkWatch(addresses: { all().map { "\($0)" } }) { @Sendable [announcer] _ in
                announcer.interfacesChanged()
            }
        }

        /// Says good-bye.
        func close() async {
            watch.cancel()
            await withCheckedContinuation { continuation in announcer.close { continuation.resume() } }
        }

        /// The name that the relay had the last time, if it is one.
        private static func kept(_ path: String) -> String? {
            guard let bytes = try? PrivateFile.read(path, bytesMax: 64), let text = String(validating: bytes, as: UTF8.self)
            else { return nil }
            let name = text.last == "\n" ? String(text.dropLast()) : text
            let isName = name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
                default: false
                }
            }
            return isName && !name.isEmpty && name.utf8.count <= Responder.nameBytesMax ? name : nil
        }
    }
#endif
