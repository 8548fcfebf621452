#if os(Linux)
    internal import RelayIO
    internal import RelayPrimitives

    extension LinkInterface {
        /// Those of this machine that are up, have a cable or a radio, and multicast; without loopback and tunnels. At most 16.
        package static func all() -> [LinkInterface] {
            var list: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&list) == 0 else { return [] }
            defer { freeifaddrs(list) }
            let wanted = UInt32(IFF_UP | IFF_RUNNING | IFF_MULTICAST), unwanted = UInt32(IFF_LOOPBACK | IFF_POINTOPOINT)
            var found: [UInt32: [Address]] = [:], next = list
            while let entry = next?.pointee {
                next = entry.ifa_next
                guard entry.ifa_flags & (wanted | unwanted) == wanted, let address = entry.ifa_addr, let mask = entry.ifa_netmask,
                    [AF_INET, AF_INET6].contains(Int32(address.pointee.sa_family))
                else { continue }
                let isIPv6 = Int32(address.pointee.sa_family) == AF_INET6
                let bits = MulticastSocket.address(mask, isIPv6: isIPv6).reduce(0) { $0 + $1.nonzeroBitCount }
                found[if_nametoindex(entry.ifa_name), default: []].append(
                    Address(bytes: MulticastSocket.address(address, isIPv6: isIPv6), prefixBits: bits))
            }
            return found.inOrder().prefix(countMax).map { index, addresses in
                let inOrder = addresses.inOrder { $0.bytes.lexicographicallyPrecedes($1.bytes) }
                return LinkInterface(index: index, addresses: Array(inOrder.prefix(addressesMax)))
            }
        }
    }
#endif
