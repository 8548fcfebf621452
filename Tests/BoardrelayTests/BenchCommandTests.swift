import Foundation
import Testing

@testable import boardrelay
@testable import RelayBench
@testable import RelayConsole

@Suite("bench and what it asks, run as a user runs them", .serialized)
struct BenchCommandTests {
    @Test("a load comes to a row with its account, its figures and the relay's, and the verdict is 0")
    func row() async throws {
        let result = try await Tool.run("bench", "paced10", "--seconds", "1", "--warmup", "0", "--unpinned", "--json", "--verdict")
        #expect(result.code == 0, "\(result.errors)")
        let objects = try result.objects()
        let row = try #require(objects.first)
        #expect(row["type"] as? String == "row" && row["scenario"] as? String == "paced10")
        #expect(row["expected"] as? Int == row["delivered"] as? Int && (row["delivered"] as? Int ?? 0) > 0)
        #expect(row["lost_unreported"] as? Int == 0 && row["lost_by_keepers"] as? Int == 0 && row["closed"] as? Int == 0)
        #expect(row["flush"] as? String == "adaptive" && row["lifted"] as? String == "none" && row["pinned"] as? Bool == false)
        #expect((row["rss_bytes"] as? Double ?? 0) > 1_000_000 && row["cpu_s_per_m"] is Double)
        #expect(objects.last?["type"] as? String == "verdict" && objects.last?["ok"] as? Bool == true)
    }

    @Test("somebody else's relay has no account, which is said")
    func foreign() async throws {
        let relay = try Running(["serve", "--in-memory", "--host", "127.0.0.1", "--port", "0", "--auth", "open"])
        let address = try #require(await relay.line(containing: "relay://"))
        let result = try await Tool.run("bench", "paced10", "--url", address, "--seconds", "1", "--warmup", "0", "--json")
        relay.signal(SIGTERM)
        #expect(await relay.end().code == 0)
        #expect(result.code == 0 && result.errors.contains("What the relay uses is not known"), "\(result.errors)")
        let row = try result.object()
        #expect(row["accounting"] as? Bool == false && row["cpu_s_per_m"] == nil && row["lost_unreported"] as? Int == 0)
    }

    @Test("status tells what the relay's process has used; more of it later")
    func process() async throws {
        let relay = try Running(["serve", "--in-memory", "--host", "127.0.0.1", "--port", "0", "--auth", "open"])
        let address = try #require(await relay.line(containing: "relay://"))
        let port = String(address.split(separator: ":").last ?? "")
        func process() async throws -> (time: Int, resident: Int) {
            let object = try await Tool.run("status", "--json", "--port", port).object()
            let process = try #require(object["process"] as? [String: Any])
            return (
                (process["userMicroseconds"] as? Int ?? -1) + (process["systemMicroseconds"] as? Int ?? -1),
                process["residentBytes"] as? Int ?? 0
            )
        }
        let first = try await process(), second = try await process()
        #expect(first.time > 0 && second.time >= first.time && second.resident > 1_000_000)
        #expect(try await Tool.run("status", "--port", port).output.contains("process"))
        relay.signal(SIGTERM)
        #expect(await relay.end().code == 0)
    }
}
