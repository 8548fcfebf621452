import RelayClient
import Testing

@testable import boardrelay
@testable import RelayConsole
@testable import RelayReplay

@Suite("the pace and the summary of a replay")
struct ReplayTests {
    @Test("waiting keeps a replay inside any rate, at its bounds and for ever", arguments: [60, 200])
    func pace(perSecond: Int) {
        var pace = Pace(perSecond: perSecond)
        var now = Duration.zero
        var sent: [Duration] = []
        for _ in 0..<(perSecond * 20) {
            now += pace.delay(at: now)
            #expect(pace.delay(at: now) == .zero)
            pace.sent(at: now)
            sent.append(now)
        }
        for index in sent.indices where index >= perSecond {
            #expect(sent[index] - sent[index - perSecond] >= .milliseconds(450), "a bucket of one second's worth is never empty")
        }
        #expect(sent.last! < .seconds(21.5))
        // Never more than the relay's bucket: capacity one second's worth, refilled at the rate.
        var tokens = Double(perSecond)
        var last = Duration.zero
        for at in sent {
            tokens = min(Double(perSecond), tokens + (at - last) / .seconds(1) * Double(perSecond))
            last = at
            tokens -= 1
            #expect(tokens > 0)
        }
    }

    func summary(_ change: (inout ReplayTally) -> Void = { _ in }, verified: ReplayVerifier.Report? = nil) -> ReplaySummary {
        var tally = ReplayTally()
        tally.messagesSent = 3
        tally.messagesAccepted = 3
        tally.strokesDone = 3
        tally.packetsSent = 1_105
        for milliseconds in 1...3 { tally.roundTrips.add(.milliseconds(milliseconds)) }
        change(&tally)
        return ReplaySummary(
            file: "a.ndjson", channel: "lesson", users: 1, strokes: 3, points: 8_192, elapsed: .milliseconds(27_100),
            tally: tally, verified: verified)
    }

    @Test("a summary says what was drawn, for people and programs")
    func good() {
        var report = ReplayVerifier.Report()
        report.messagesAccepted = 3
        report.messagesDelivered = 3
        report.packetsAccepted = 1_105
        report.packetsDelivered = 1_100
        report.packetsLost = 5
        let summary = summary(verified: report)
        #expect(summary.isGood)
        #expect(
            summary.lines == [
                "drawn       3 of 3 strokes, 8,192 points, 1 user, 27.1 s",
                "messages    3 sent, 3 accepted, 0 refused",
                "packets     1,105 sent, 0 dropped, 0 refused",
                "round trip  p50 2.0 ms, p99 3.0 ms, longest 3.0 ms",
                "verified    3 of 3 messages; packets: 1,100 delivered + 5 lost = 1,105 accepted",
                "            every promise was kept",
            ])
        #expect(summary.json.line.contains(#""good":true"#) && summary.json.line.contains(#""p50":2.0"#))
    }

    @Test("anything refused, or one promise that was not kept, makes it a failure and is named")
    func bad() {
        let refused = summary { $0.refusals = ["rateLimited": 2, "badName": 1] }
        #expect(!refused.isGood && refused.lines.contains("messages    3 sent, 3 accepted, 3 refused: badName 1, rateLimited 2"))
        let others = summary { $0.refusals = ["notPermitted": 2] }.lines
        #expect(others.contains { $0.hasPrefix("            notPermitted: ") && $0.contains("another user has the record") })
        #expect(!refused.lines.contains { $0.contains("notPermitted") })
        #expect(!summary { $0.packetsRefused = 1 }.isGood)
        #expect(summary { $0.packetsDropped = 1 }.isGood)
        var verifier = ReplayVerifier()
        verifier.sends(.message, from: "a", payload: [1])
        let broken = summary(verified: verifier.finish())
        #expect(!broken.isGood)
        #expect(broken.lines.contains { $0.contains("NOT KEPT, 1 times:") })
        #expect(broken.lines.contains { $0.contains("- an accepted message did not arrive: message 0 of a") })
        #expect(broken.json.line.contains(#""violations":[{"what":"an accepted message did not arrive","times":1}]"#))
    }

    @Test("what was stored is summed over the users; the board is the newest that any of them saw; each end is told")
    func stored() {
        #expect(!summary().lines.contains { $0.hasPrefix("stored") } && !summary().json.line.contains(#""store":{"#))
        let full = RelayError(.tooLarge, "too large", limit: 65_536, actual: 66_000), failed = RelayError(.storageFailed, "a disk\u{202E}")
        var summary = summary {
            $0.saved["b"] = .init(strokes: 2, revision: 9, boardStrokes: 7, bytes: 1_234, saves: 2, conflicts: 1)
            $0.saved["a"] = .init(strokes: 5, revision: 8, boardStrokes: 6, bytes: 1_300, saves: 4, conflicts: 3)
        }
        #expect(summary.isGood && summary.lines.contains("stored      7 of 3 strokes, 1,234 bytes, 6 saves, 4 conflicts"))
        #expect(
            summary.json.line.contains(
                #""store":{"kind":"metadata","key":"board","strokes":7,"bytes":1234,"boardStrokes":7,"saves":6,"conflicts":4,"ended":[]}"#))
        summary.users = 2
        summary.tally.saved["a"]!.end = .init(lastStored: 4, refused: 5, error: full)
        summary.tally.saved["b"]!.end = .init(lastStored: nil, refused: nil, error: failed)
        #expect(!summary.isGood)
        #expect(
            summary.lines.contains(
                "            ENDED for a: stroke 4 is the last stored; with stroke 5 the metadata would have 66,000 bytes, the limit is 65,536 (tooLarge)"
            ))
        #expect(summary.lines.contains(#"            ENDED for b: none of the strokes is stored; a disk\u{202E} (storageFailed)"#))
        #expect(
            summary.json.line.contains(
                #"{"user":"a","lastStored":4,"refused":5,"code":106,"name":"tooLarge","text":"too large","limit":65536,"actual":66000}"#))
    }
}
