@testable import RelaySystem
import Testing

/// How much memory this process may take.
@Suite struct SystemMemoryTests {
    @Test("a control group's bound counts, and that of each group around it; without version 2 only the machine's memory does")
    func groups() {
        let files = [
            "/sys/fs/cgroup/memory.max": "8000000000\n", "/sys/fs/cgroup/system.slice/memory.max": "max\n",
            "/sys/fs/cgroup/system.slice/relay.service/memory.max": "536870912\n",
        ]
        let bounds = SystemMemory.bounds(ofGroups: "0::/system.slice/relay.service\n") { files[$0] }
        #expect(bounds == [536_870_912, 8_000_000_000])
        #expect(SystemMemory.bounds(ofGroups: "0::/\n") { files[$0] } == [8_000_000_000])
        #expect(SystemMemory.bounds(ofGroups: "4:memory:/user\n1:name=systemd:/\n") { files[$0] } == [])
        #expect(SystemMemory.bytes > 64 << 20)
    }
}
