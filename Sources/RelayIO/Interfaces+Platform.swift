#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The addresses under which others can reach this machine.
package enum Interfaces {
    /// Those of a relay: one for each of this machine's, if it listens on all of them.
    package static func reachable(_ address: RelayAddress) -> [RelayAddress] {
        guard address.host == "::" || address.host == "0.0.0.0" else { return [address] }
        return addresses().filter { address.host != "0.0.0.0" || !$0.contains(":") }.map { RelayAddress(host: $0, port: address.port) }
    }

    /// Of this machine: as the system has it, and as it is found without a server of names in a local network.
    package static func names() -> [String] {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return [] }
        let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let first = name.split(separator: ".").first else { return [] }
        return name.hasSuffix(".local") ? [name, String(first)] : [name, "\(first).local"]
    }

    /// IPv4 first, loopback last, without link-local ones.
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
            if text.hasPrefix("fe80") || text.hasPrefix("169.254.") || text == "::1" || found.contains(text) { continue }
            found.append(text)
        }
        func rank(_ text: String) -> Int { text == "127.0.0.1" ? 2 : text.contains(":") ? 1 : 0 }
        return found.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
    }
}
