import RelayConsole
import RelayDiscovery
import RelayGateway
import RelayServer
import RelaySystem

@available(macOS 15, iOS 18, *)
extension ServeSettings {
    /// The address on which an announced relay listens. It is `nil` for a relay that is not announced: one with `--no-announce`, on
    /// loopback, or on a port that the system has chosen.
    var announcedHost: String? {
        let host = options.host ?? "::"
        let isForOthers = options.port != 0 && host != "localhost" && IPAddress(host)?.isLoopback != true
        return isForOthers && !arguments.flag("--no-announce") ? host : nil
    }

    /// What everybody on the link reads of the relay.
    var announcedText: [String] {
        let wantsTLS = options.tls.map { !$0.allowsPlain } ?? false
        return ["version=\(Program.version)"] + (wantsTLS ? [FoundService.tlsField] : [])
    }

    func announced(as host: String, port: UInt16) -> String {
        let place = FoundService.place(host, port, wantsTLS: announcedText.contains(FoundService.tlsField))
        return "Devices that know such names find the relay as \(place) too."
    }
}
