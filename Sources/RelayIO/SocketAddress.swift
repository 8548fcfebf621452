/// An IPv4 or IPv6 address with a port, as the system calls want it.
package struct SocketAddress: Sendable, CustomStringConvertible {
    private var storage = sockaddr_storage()
    private var length: socklen_t = 0

    /// What went wrong with a system call, for people.
    package struct Failure: Error, CustomStringConvertible, Sendable {
        package var description: String
        /// `errno`, 0 where there was none.
        package var code: Int32
        package var isAddressInUse: Bool { code == EADDRINUSE }

        package init(_ description: String, code: Int32 = 0) {
            self.description = code == 0 ? description : "\(description): \(SystemError.text(code))"
            self.code = code
        }
    }

    /// Lets a system call fill it in.
    package init(_ fill: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Void) {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { fill($0, &length) }
        }
        self.length = length
    }

    private init(copying info: addrinfo) {
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen)))
        }
        length = info.ai_addrlen
    }

    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    package var family: Int32 { Int32(storage.ss_family) }

    /// Every address of a host, in the system's order. Blocks while the resolver works: never on a queue that serves.
    ///
    /// - Parameter host: `nil` for every interface of this machine (IPv6 and with it IPv4, then IPv4 alone).
    package static func resolve(host: String?, port: UInt16) throws(Failure) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = SocketConstants.stream
        hints.ai_flags = host == nil ? AI_PASSIVE | AI_NUMERICSERV : AI_NUMERICSERV
        var first: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &first)
        guard result == 0, let first else {
            throw Failure("host \(host ?? "any"): \(String(cString: gai_strerror(result)))")
        }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let info = next {
            if info.pointee.ai_family == AF_INET || info.pointee.ai_family == AF_INET6 {
                addresses.append(SocketAddress(copying: info.pointee))
            }
            next = info.pointee.ai_next
        }
        if host == nil { addresses.sort { $0.family == AF_INET6 && $1.family != AF_INET6 } }
        return addresses
    }

    package var numeric: (host: String, port: UInt16) {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let result = withPointer {
            getnameinfo($0, $1, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
        }
        guard result == 0 else { return ("?", 0) }
        func text(_ buffer: [CChar]) -> String { String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
        var name = text(host)
        // An IPv4 client of a dual-stack listener.
        if name.hasPrefix("::ffff:") { name = String(name.dropFirst(7)) }
        return (name, UInt16(text(port)) ?? 0)
    }

    package var description: String {
        let (host, port) = numeric
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
