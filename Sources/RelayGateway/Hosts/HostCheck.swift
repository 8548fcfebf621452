/// By which names this relay may be asked for. [HT7]
///
/// A page of anybody's can have its own name resolved to an address of this network, and then speaks to the relay behind
/// it as its own origin (DNS rebinding). What it cannot do is send another `Host` than the name it was loaded from: who
/// asks by a name that is not the relay's gets nothing of it.
package struct HostCheck: Sendable {
    /// Ports under which this relay can be reached by its addresses and by `localhost`.
    private let ports: Set<UInt16>
    private let addresses: Set<IPAddress>
    /// Names that were given, each with the port it was given with; `nil` for any port, as behind a proxy.
    private let names: [String: Set<UInt16?>]
    private let givenAddresses: [IPAddress: Set<UInt16?>]

    /// - Parameters:
    ///   - port: the one it listens on.
    ///   - addresses: of this machine, as text; malformed ones, and those with a zone, are left out. Loopback needs no entry.
    ///   - names: of this machine in this network, such as `board.local`. With the port it listens on.
    ///   - given: by its operator, `NAME` (with any port) or `NAME:PORT`.
    package init(port: UInt16, addresses: [String], names: [String] = [], given: [Authority] = []) {
        ports = [port]
        self.addresses = Set(addresses.compactMap { IPAddress($0) })
        var ofNames: [String: Set<UInt16?>] = ["localhost": [port]]
        var ofAddresses: [IPAddress: Set<UInt16?>] = [:]
        for name in names {
            if case .name(let name)? = Authority(name)?.host { ofNames[name, default: []].insert(port) }
        }
        for authority in given {
            switch authority.host {
            case .name(let name): ofNames[name, default: []].insert(authority.port)
            case .address(let address): ofAddresses[address, default: []].insert(authority.port)
            }
        }
        self.names = ofNames
        givenAddresses = ofAddresses
    }

    /// Without a port the field means port 80, inside TLS 443. [RFC 9110 §4.2.1]
    package func allows(_ authority: Authority, isProtected: Bool = false) -> Bool {
        let port = authority.port ?? (isProtected ? 443 : 80)
        func matches(_ given: Set<UInt16?>?) -> Bool {
            guard let given else { return false }
            // Behind a proxy that speaks TLS a field without a port means 443.
            return given.contains(nil) || given.contains(port) || authority.port == nil && given.contains(443)
        }
        switch authority.host {
        case .name(let name): return matches(names[name])
        case .address(let address):
            if matches(givenAddresses[address]) { return true }
            return ports.contains(port) && (address.isLoopback || addresses.contains(address))
        }
    }
}
