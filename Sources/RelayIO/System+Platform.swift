// What differs between the platforms' C libraries: clocks, random bytes, socket constants.

package enum SystemClock {
    /// Nanoseconds of a clock that goes on while the host sleeps, so that timers, which do not, are seen to be late.
    package static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        #if canImport(Glibc)
            clock_gettime(CLOCK_BOOTTIME, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC, &time)
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

package enum SystemVolume {
    /// Bytes that this user may still write on the volume of a path; `nil` if the system does not say.
    package static func freeBytes(of path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }
}

package enum SystemError {
    package static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

package enum SystemProcess {
    /// What this process has used since it began.
    package struct Usage: Sendable, Hashable {
        package var userSeconds: Double
        package var systemSeconds: Double
        /// In memory now; where the system does not say, the most that it ever was.
        package var residentBytes: Int
    }

    /// All threads together. Walks the process's page tables: not for every turn.
    package static func usage() -> Usage {
        let used = used()
        let (user, system) = seconds(used)
        #if canImport(Glibc)
            let resident = residentBytes() ?? used.ru_maxrss * 1024
        #else
            let resident = used.ru_maxrss
        #endif
        return Usage(userSeconds: user, systemSeconds: system, residentBytes: resident)
    }

    /// Processor time of all threads, that of the system for them included, in seconds. Cheap.
    package static func processorSeconds() -> Double {
        let (user, system) = seconds(used())
        return user + system
    }

    private static func used() -> rusage {
        var used = rusage()
        #if canImport(Glibc)
            getrusage(RUSAGE_SELF.rawValue, &used)
        #else
            getrusage(RUSAGE_SELF, &used)
        #endif
        return used
    }

    private static func seconds(_ used: rusage) -> (user: Double, system: Double) {
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (seconds(used.ru_utime), seconds(used.ru_stime))
    }

    #if canImport(Glibc)
        /// The counters in statm are approximate, by some pages for each processor; this is exact.
        private static func residentBytes() -> Int? {
            let file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { systemClose(file) }
            let text = String(unsafeUninitializedCapacity: 2_048) { max(0, read(file, $0.baseAddress, $0.count)) }
            for line in text.split(separator: "\n") where line.hasPrefix("Rss:") {
                return line.split(separator: " ").compactMap { Int($0) }.first.map { $0 * 1024 }
            }
            return nil
        }
    #endif
}

enum SocketConstants {
    #if canImport(Glibc)
        static let stream = Int32(SOCK_STREAM.rawValue)
        static let datagram = Int32(SOCK_DGRAM.rawValue)
        /// Together with ignoring SIGPIPE: no signal from a peer that is gone.
        static let sendFlags = Int32(MSG_NOSIGNAL)
        static let notSentLowWater: Int32? = 25  // TCP_NOTSENT_LOWAT, missing in the module
        static let tcp = Int32(IPPROTO_TCP)
        static let ipv4 = Int32(IPPROTO_IP)
        static let ipv6 = Int32(IPPROTO_IPV6)
        /// A source address is chosen at once, its port when it connects: else each port serves one peer only.
        static let bindWithoutPort: Int32? = 24  // IP_BIND_ADDRESS_NO_PORT, missing in the module
        static let shutdownWrite = Int32(SHUT_WR)
        static let descriptors = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    #else
        static let stream = SOCK_STREAM
        static let datagram = SOCK_DGRAM
        static let sendFlags: Int32 = 0
        static let notSentLowWater: Int32? = TCP_NOTSENT_LOWAT
        static let tcp = IPPROTO_TCP
        static let ipv4 = IPPROTO_IP
        static let ipv6 = IPPROTO_IPV6
        static let bindWithoutPort: Int32? = nil
        static let shutdownWrite = SHUT_WR
        static let descriptors = RLIMIT_NOFILE
    #endif

    /// Makes a socket that never signals SIGPIPE, where that is an option of the socket.
    static func quiet(_ descriptor: Int32) {
        #if canImport(Darwin)
            set(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1)
        #endif
    }

    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// `close`, `read`, `bind` and `connect` of the C library, whose names methods take.
func systemClose(_ descriptor: Int32) {
    #if canImport(Glibc)
        _ = Glibc.close(descriptor)
    #else
        _ = Darwin.close(descriptor)
    #endif
}

func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    #if canImport(Glibc)
        Glibc.read(descriptor, buffer, count)
    #else
        Darwin.read(descriptor, buffer, count)
    #endif
}

func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    #if canImport(Glibc)
        Glibc.bind(descriptor, address, length)
    #else
        Darwin.bind(descriptor, address, length)
    #endif
}

func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    #if canImport(Glibc)
        Glibc.connect(descriptor, address, length)
    #else
        Darwin.connect(descriptor, address, length)
    #endif
}
