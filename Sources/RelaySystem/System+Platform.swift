#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
import RelayIO

#if os(Linux)
    internal import CEpoll
#endif

// What differs between the platforms' C libraries in what a server asks of its machine.

package enum SystemDescriptors {
    #if canImport(Glibc)
        private static let most = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    #else
        private static let most = RLIMIT_NOFILE
    #endif

    /// Lets this process have as many descriptors as the system allows it.
    ///
    /// - Returns: how many it may have now.
    @discardableResult
    package static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(most, &limit) == 0 else { return .max }
        // Darwin says that there is no bound, and gives no more than OPEN_MAX.
        for bound in [limit.rlim_max, min(limit.rlim_max, 10_240)] where limit.rlim_cur < bound {
            var raised = limit
            raised.rlim_cur = bound
            if setrlimit(most, &raised) == 0 { limit = raised }
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

    /// Memory now, wrong by some pages for each processor; on systems other than Linux the most that it ever was. Cheap.
    package static func residentBytesAbout() -> Int {
        #if canImport(Glibc)
            let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return 0 }
            defer { systemClose(file) }
            let text = String(unsafeUninitializedCapacity: 256) { max(0, read(file, $0.baseAddress, $0.count)) }
            let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        #else
            return used().ru_maxrss
        #endif
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

/// Accepts a connection that never blocks and that child processes do not get: in one call where the system has it (accept4(2)).
func systemAccept(_ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ length: UnsafeMutablePointer<socklen_t>?) -> Int32 {
    #if os(Linux)
        accept4(descriptor, address, length, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
    #else
        let peer = accept(descriptor, address, length)
        if peer >= 0 { keepFromBlocking(peer) }
        return peer
    #endif
}

/// `read` and `bind` of the C library, whose names methods take.
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
