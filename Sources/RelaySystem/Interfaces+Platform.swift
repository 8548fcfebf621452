import RelayIO

/// The addresses under which others can reach this machine.
package enum Interfaces {
    /// Those of a relay: one for each of this machine's, if it listens on all of them.
    ///
    /// Of two machines on one cable the addresses that nobody gave out (169.254…) are all there is; else they are left out.
    package static func reachable(_ address: RelayAddress, of addresses: [String] = addresses()) -> [RelayAddress] {
        guard address.host == "::" || address.host == "0.0.0.0" else { return [address] }
        let hosts = addresses.filter { address.host != "0.0.0.0" || !$0.contains(":") }
        let hasOther = hosts.contains { rank($0) < Rank.linkLocal }
        return hosts.filter { !hasOther || rank($0) != .linkLocal }.map {
            RelayAddress(host: $0, port: address.port, protection: address.protection)
        }
    }

    private enum Rank: Int, Comparable {
        case ipv4, ipv6, linkLocal, loopback
        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    private static func rank(_ text: String) -> Rank {
        text == "127.0.0.1" ? .loopback : text.hasPrefix("169.254.") ? .linkLocal : text.contains(":") ? .ipv6 : .ipv4
    }

    /// Of this machine: as the system has it, and as it is found without a server of names in a local network.
    package static func names() -> [String] {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return [] }
        let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let first = name.split(separator: ".").first else { return [] }
        return name.hasSuffix(".local") ? [name, String(first)] : [name, "\(first).local"]
    }

    /// IPv4 first, link-local ones behind all others, loopback last. Without those of IPv6 that mean nothing without an interface's name.
    package static func addresses() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return ["127.0.0.1"] }
        defer { freeifaddrs(list) }
        var found: [String] = []
        var next = list
        while let entry = next {
            defer { next = entry.pointee.ifa_next }
            guard let address = entry.pointee.ifa_addr else { continue }
            let family = Int32(address.pointee.sa_family)
            guard family == AF_INET || family == AF_INET6 else { continue }
            let length = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard getnameinfo(address, socklen_t(length), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else { continue }
            let text = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("fe80") || text == "::1" || found.contains(text) { continue }
            found.append(text)
        }
        return found.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
    }
}
