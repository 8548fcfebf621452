// What differs between the platforms' C libraries: clocks, random bytes, socket constants.

package enum SystemClock {
    /// Nanoseconds of a clock that goes on while the host sleeps, so that timers, which do not, are seen to be late.
    package static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        #if canImport(Glibc)
            clock_gettime(CLOCK_BOOTTIME, &time)
        #else
            // CLOCK_MONOTONIC goes on, too, and is made of the wall clock, which is set. CLOCK_UPTIME_RAW stands still.
            clock_gettime(CLOCK_MONOTONIC_RAW, &time)
        #endif
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Milliseconds since 1970.
    package static func wallMilliseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}

package enum SystemEntropy {
    /// Random bits from the system's generator, fit for secrets.
    package static func word() -> UInt64 {
        var system = SystemRandomNumberGenerator()
        return system.next()
    }
}

package enum SystemError {
    package static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

package enum SocketConstants {
    #if canImport(Glibc)
        package static let stream = Int32(SOCK_STREAM.rawValue)
        package static let datagram = Int32(SOCK_DGRAM.rawValue)
        /// Together with ignoring SIGPIPE: no signal from a peer that is gone.
        package static let sendFlags = Int32(MSG_NOSIGNAL)
        package static let notSentLowWater: Int32 = 25  // TCP_NOTSENT_LOWAT, missing in the module
        package static let sendBufferBytes: Int32? = nil
        package static let tcp = Int32(IPPROTO_TCP)
        package static let ipv4 = Int32(IPPROTO_IP)
        package static let ipv6 = Int32(IPPROTO_IPV6)
        /// A source address is chosen at once, its port when it connects: else each port serves one peer only.
        package static let bindWithoutPort: Int32? = 24  // IP_BIND_ADDRESS_NO_PORT, missing in the module
        package static let shutdownWrite = Int32(SHUT_WR)
        package static let peek = Int32(MSG_PEEK)
    #else
        package static let stream = SOCK_STREAM
        package static let datagram = SOCK_DGRAM
        package static let sendFlags: Int32 = 0
        package static let notSentLowWater: Int32 = TCP_NOTSENT_LOWAT
        /// The low water says there when a socket is told writable, and not what it takes. This holds what is not acknowledged, too:
        /// 128 KiB in each round trip.
        package static let sendBufferBytes: Int32? = 128 * 1024
        package static let tcp = IPPROTO_TCP
        package static let ipv4 = IPPROTO_IP
        package static let ipv6 = IPPROTO_IPV6
        package static let bindWithoutPort: Int32? = nil
        package static let shutdownWrite = SHUT_WR
        package static let peek = MSG_PEEK
    #endif

    /// Makes a socket that never signals SIGPIPE, where that is an option of the socket.
    ///
    /// - Returns: 0, or why not: Darwin refuses it to one that was reset. A write to that would end the process.
    @discardableResult
    package static func quiet(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            set(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1)
        #else
            0
        #endif
    }

    /// - Returns: 0, or why not.
    @discardableResult
    package static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Int32 {
        var value = value
        return setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 ? 0 : errno
    }
}

package func keepFromBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}

/// - Returns: another descriptor of the same socket, or −1 if this process may have no more.
package func duplicateDescriptor(_ descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }

#if os(Linux)
    /// Two connected stream sockets within this process, which never block.
    package struct SocketPair {
        package let near: Int32
        package let far: Int32

        /// - Parameter sendBufferBytes: of each.
        /// - Returns: `nil` when the system has no descriptor left.
        package init?(sendBufferBytes: Int32) {
            var pair: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, SocketConstants.stream, 0, &pair) == 0 else { return nil }
            for descriptor in pair {
                keepFromBlocking(descriptor)
                SocketConstants.set(descriptor, SOL_SOCKET, SO_SNDBUF, sendBufferBytes)
            }
            (near, far) = (pair[0], pair[1])
        }
    }
#endif

/// `close` and `connect` of the C library, whose names methods take.
package func systemClose(_ descriptor: Int32) {
    #if canImport(Glibc)
        _ = Glibc.close(descriptor)
    #else
        _ = Darwin.close(descriptor)
    #endif
}

package func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    #if canImport(Glibc)
        Glibc.connect(descriptor, address, length)
    #else
        Darwin.connect(descriptor, address, length)
    #endif
}
