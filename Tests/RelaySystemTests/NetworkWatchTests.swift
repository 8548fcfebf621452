import Dispatch
import RelayIO
import RelaySystem
import Testing

@Suite struct NetworkWatchTests {
    @Test("other addresses are told, once for each change; the same ones in another order are not")
    func changes() async {
        let script = Mutex<[[String]]>([["a", "b"], ["b", "a"], ["b"], ["b"], ["b", "c"], ["b", "c"]])
        let read = Mutex(0)
        let (told, teller) = AsyncStream.makeStream(of: [String].self)
        let watch = NetworkWatch(
            every: 1,
            addresses: {
                read.withLock { $0 += 1 }
                return script.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            }, changed: { teller.yield($0) })
        var changes: [[String]] = []
        for await change in told {
            changes.append(change)
            if changes.count == 2 { break }
        }
        watch.cancel()
        #expect(changes == [["b"], ["b", "c"]])
        #expect(read.withLock { $0 } >= 5)
    }

    @Test("this machine has addresses, loopback last, and a name")
    func machine() {
        let addresses = Interfaces.addresses()
        #expect(addresses.last == "127.0.0.1" && Set(addresses).count == addresses.count)
        #expect(Interfaces.names().allSatisfy { !$0.isEmpty })
        #expect(Interfaces.reachable(RelayAddress(host: "127.0.0.1", port: 7420)).map(\.host) == ["127.0.0.1"])
        #expect(Interfaces.reachable(RelayAddress(host: "0.0.0.0", port: 7420)).allSatisfy { !$0.host.contains(":") })
    }

    @Test(
        "addresses that nobody gave out are told where there are no others, as of two machines on one cable",
        arguments: [
            (["169.254.7.7", "127.0.0.1"], ["169.254.7.7", "127.0.0.1"]),
            (["192.168.1.5", "169.254.7.7", "127.0.0.1"], ["192.168.1.5", "127.0.0.1"]),
            (["2001:db8::1", "169.254.7.7", "127.0.0.1"], ["2001:db8::1", "127.0.0.1"]), (["127.0.0.1"], ["127.0.0.1"]), ([], []),
        ])
    func linkLocal(addresses: [String], told: [String]) {
        #expect(Interfaces.reachable(RelayAddress(host: "::", port: 7420), of: addresses).map(\.host) == told)
    }
}
