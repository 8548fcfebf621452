internal import RelayCore
import RelayGateway
import RelayIO
import RelaySystem

// By which names a relay may be asked for, and what else of it can change while it runs. [HT7]

@available(macOS 15, iOS 18, *)
extension Engine {
    /// By which names this machine can be asked for now.
    func refreshSite(_ bound: (host: String, port: UInt16)) {
        let reachable = Interfaces.reachable(RelayAddress(host: bound.host, port: bound.port))
        let names = Interfaces.names() + [announcedName].compactMap { $0 }
        site = web.site(port: bound.port, addresses: Interfaces.addresses(), names: names, links: reachable.map(\.pageURL))
        site.addPages(of: spaces.keys)
    }

    /// Other bounds hold, and other names, origins, proxies and operators' token.
    func apply(_ configuration: Configuration, _ web: WebSite) {
        hub.handle(.configurationChanged(configuration), at: Self.now())
        self.configuration = configuration
        self.web = web
        networkChanged()
    }

    /// It has another name in the network, or none.
    func announced(_ name: String?) {
        announcedName = name
        networkChanged()
    }

    /// Its addresses have changed.
    func networkChanged() {
        guard let listener else { return }
        refreshSite(listener.address.numeric)
    }
}
