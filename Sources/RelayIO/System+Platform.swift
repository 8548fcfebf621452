internal import Foundation

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

package enum SystemDescriptors {
    /// Lets this process have as many descriptors as the system allows it.
    ///
    /// - Returns: how many it may have now.
    @discardableResult
    package static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(SocketConstants.descriptors, &limit) == 0 else { return .max }
        // Darwin says that there is no bound, and gives no more than OPEN_MAX.
        for most in [limit.rlim_max, min(limit.rlim_max, 10_240)] where limit.rlim_cur < most {
            var raised = limit
            raised.rlim_cur = most
            if setrlimit(SocketConstants.descriptors, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Makes room for as many descriptors at once. Each time that Linux doubles a process' table, whoever wants a descriptor waits for
    /// all processors (`expand_fdtable`, `synchronize_rcu`): up to 20 ms, in which a relay would serve nobody.
    package static func makeRoom(for count: Int) {
        let last = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, Int32(clamping: count - 1))
        if last >= 0 { systemClose(last) }
    }
}

package enum SystemMemory {
    /// What this process may take: the machine's memory, or that of its control group if it is less (Linux, cgroup v2).
    package static var bytes: Int {
        let machine = Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE)))
        return bounds(ofGroups: (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? "") { path in
            try? String(contentsOfFile: path, encoding: .utf8)
        }.reduce(machine, min)
    }

    /// What is freed goes back to the system, or to whoever allocates next: by default glibc keeps an arena for each of many threads, and
    /// in each what its busiest moment took. For the whole process, before its threads. (mallopt(3))
    package static func keepLittle() {
        #if canImport(Glibc)
            // <malloc.h> is in no module.
            guard let symbol = dlsym(nil, "mallopt") else { return }
            let set = unsafeBitCast(symbol, to: (@convention(c) (Int32, Int32) -> Int32).self)
            let (trimThreshold, mmapThreshold, arenaMax): (Int32, Int32, Int32) = (-1, -3, -8)
            _ = set(arenaMax, 2)
            _ = set(trimThreshold, 1 << 20)
            _ = set(mmapThreshold, 1 << 20)
        #endif
    }

    /// The bounds of a control group and those that it is in.
    ///
    /// - Parameter text: of `/proc/self/cgroup`: of version 2 there is one line, `0::/path`.
    static func bounds(ofGroups text: String, read: (String) -> String?) -> [Int] {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return [] }
        var parts = line.dropFirst(4).split(separator: "/")
        var bounds: [Int] = []
        while true {
            let path = (["/sys/fs/cgroup"] + parts.map(String.init) + ["memory.max"]).joined(separator: "/")
            if let digits = read(path), let bytes = Int(digits.filter { $0 != "\n" }) { bounds.append(bytes) }
            guard parts.popLast() != nil else { return bounds }
        }
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
    /// What this process has used until now. Walks the process's page tables: not for every turn.
    package static func usage() -> ProcessUsage {
        let used = used()
        var usage = ProcessUsage()
        usage.clockMicroseconds = Int(SystemClock.monotonicNanoseconds() / 1_000)
        usage.userMicroseconds = microseconds(used.ru_utime)
        usage.systemMicroseconds = microseconds(used.ru_stime)
        #if canImport(Glibc)
            usage.residentBytes = residentBytes() ?? used.ru_maxrss * 1024
        #else
            usage.residentBytes = used.ru_maxrss
        #endif
        return usage
    }

    /// Processor time of all threads, that of the system for them included, in seconds. Cheap.
    package static func processorSeconds() -> Double {
        let used = used()
        return Double(microseconds(used.ru_utime) + microseconds(used.ru_stime)) / 1e6
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

    private static func microseconds(_ time: timeval) -> Int { Int(time.tv_sec) * 1_000_000 + Int(time.tv_usec) }

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

    /// Nothing waits to be sent together, and a reset raises no signal.
    static func tune(_ descriptor: Int32) {
        quiet(descriptor)
        set(descriptor, tcp, TCP_NODELAY, 1)
    }
}

func keepFromBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
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
