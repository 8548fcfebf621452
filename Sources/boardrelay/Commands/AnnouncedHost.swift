import RelayConsole
import RelayGateway
import RelayServer

@available(macOS 15, iOS 18, *)
extension ServeSettings {
    /// Where a relay listens of which the local network is told; `nil`: it is not. A relay that only this machine reaches, or on a port
    /// that the system has chosen, is for tests: nobody is told of it.
    var announcedHost: String? {
        let host = options.host ?? "::"
        let isForOthers = options.port != 0 && host != "localhost" && IPAddress(host)?.isLoopback != true
        return isForOthers && !arguments.flag("--no-announce") ? host : nil
    }
}
