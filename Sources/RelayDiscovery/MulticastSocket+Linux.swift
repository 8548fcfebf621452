#if os(Linux)
    internal import RelayIO

    /// A UDP socket on port 5353, of IPv4 or IPv6. Other programs may have the port, too.
    final class MulticastSocket: @unchecked Sendable {
        // Safe: `memory` is for `receive`, which is called on one queue.
        let descriptor: Int32
        let isIPv6: Bool
        /// A source address, what the system says about a datagram, and the datagram.
        private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 + DNSMessage.bytesMax, alignment: 8)

        /// RFC 6762 §3.
        private var group: [UInt8] { isIPv6 ? [0xFF, 2] + [UInt8](repeating: 0, count: 13) + [0xFB] : [224, 0, 0, 251] }
        private var level: Int32 { isIPv6 ? SocketConstants.ipv6 : SocketConstants.ipv4 }

        /// Says over which interface a datagram came, gets only what comes over those that it joined, sends also to this machine, and
        /// with 255 as time to live. (RFC 6762 §11)
        private static let options = [
            (IP_PKTINFO, IPV6_RECVPKTINFO, Int32(1)), (IP_MULTICAST_ALL, IPV6_MULTICAST_ALL, 0),
            (IP_MULTICAST_LOOP, IPV6_MULTICAST_LOOP, 1), (IP_TTL, IPV6_UNICAST_HOPS, 255), (IP_MULTICAST_TTL, IPV6_MULTICAST_HOPS, 255),
        ]

        init(isIPv6: Bool) throws(SocketAddress.Failure) {
            self.isIPv6 = isIPv6
            descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, SocketConstants.datagram, 0)
            guard descriptor >= 0 else { throw SocketAddress.Failure("a socket for multicast DNS", code: errno) }
            keepFromBlocking(descriptor)
            for option in [SO_REUSEADDR, SO_REUSEPORT] { SocketConstants.set(descriptor, SOL_SOCKET, option, 1) }
            for (ofIPv4, ofIPv6, value) in Self.options { SocketConstants.set(descriptor, level, isIPv6 ? ofIPv6 : ofIPv4, value) }
            if isIPv6 { SocketConstants.set(descriptor, level, IPV6_V6ONLY, 1) }
            let any = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
            let result = withSystemAddress(any, Datagram.port, 0) { bind(descriptor, $0, $1) }
            guard result == 0 else { throw SocketAddress.Failure("port \(Datagram.port) of UDP", code: errno) }
        }

        deinit {
            if descriptor >= 0 { systemClose(descriptor) }
            memory.deallocate()
        }

        /// Joins the group on an interface, or leaves it. To do it again does nothing.
        func join(_ interface: UInt32) { set(isIPv6 ? IPV6_JOIN_GROUP : IP_ADD_MEMBERSHIP, membership(interface)) }
        func leave(_ interface: UInt32) { set(isIPv6 ? IPV6_LEAVE_GROUP : IP_DROP_MEMBERSHIP, membership(interface)) }

        /// `struct ip_mreqn` has the group, an address of ours that it need not know, and the interface; `struct ipv6_mreq` has no address.
        private func membership(_ interface: UInt32) -> [UInt8] { group + (isIPv6 ? [] : [0, 0, 0, 0]) + native(interface) }

        private func set(_ option: Int32, _ value: [UInt8]) { setsockopt(descriptor, level, option, value, socklen_t(value.count)) }

        /// Sends to one, or to the group. What the system does not take is lost, as any datagram may be.
        func send(_ datagram: Datagram) {
            if datagram.peer == nil, !isIPv6 { set(IP_MULTICAST_IF, membership(datagram.interface)) }
            withSystemAddress(datagram.peer?.address ?? group, datagram.peer?.port ?? Datagram.port, datagram.interface) {
                _ = sendto(descriptor, datagram.bytes, datagram.bytes.count, SocketConstants.sendFlags, $0, $1)
            }
        }

        /// - Returns: `nil` when nothing waits. Of what is longer than any message only the beginning.
        func receive() -> Datagram? {
            let name = memory[..<64], control = memory[64..<256], bytes = memory[256...]
            var vector = iovec(iov_base: memory.baseAddress! + bytes.startIndex, iov_len: bytes.count)
            return withUnsafeMutablePointer(to: &vector) { vector in
                var message = msghdr()
                (message.msg_name, message.msg_namelen) = (memory.baseAddress, socklen_t(name.count))
                (message.msg_control, message.msg_controllen) = (memory.baseAddress! + control.startIndex, control.count)
                (message.msg_iov, message.msg_iovlen) = (vector, 1)
                let count = recvmsg(descriptor, &message, 0)
                guard count >= 0 else { return nil }
                // One `cmsghdr`, and behind it `struct in_pktinfo`, which begins with the interface, or `in6_pktinfo`, which ends with it.
                let place = control.startIndex + MemoryLayout<cmsghdr>.stride + (isIPv6 ? 16 : 0)
                let interface = message.msg_controllen > 0 ? memory.loadUnaligned(fromByteOffset: place, as: UInt32.self) : 0
                let address = Self.address(memory.baseAddress!, isIPv6: isIPv6), port = UInt16(memory[2]) << 8 | UInt16(memory[3])
                return Datagram(bytes: Array(bytes.prefix(count)), interface: interface, peer: Datagram.Peer(address: address, port: port))
            }
        }

        /// `struct sockaddr_in`: family, port, address, 8 of padding. `struct sockaddr_in6`: family, port, 4 of flow, address, interface.
        private func withSystemAddress<Result>(
            _ address: [UInt8], _ port: UInt16, _ interface: UInt32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
        ) -> Result {
            let zeros: [UInt8] = [0, 0, 0, 0], head = native(sa_family_t(isIPv6 ? AF_INET6 : AF_INET)) + native(port.bigEndian)
            let bytes = head + (isIPv6 ? zeros + address + native(interface) : address + zeros + zeros)
            return bytes.withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) }
        }

        private func native(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { [UInt8]($0) } }

        static func address(_ pointer: UnsafeRawPointer, isIPv6: Bool) -> [UInt8] {
            Array(UnsafeRawBufferPointer(start: pointer + (isIPv6 ? 8 : 4), count: isIPv6 ? 16 : 4))
        }
    }
#endif
