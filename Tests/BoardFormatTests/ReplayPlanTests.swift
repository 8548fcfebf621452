import Testing

@testable import BoardFormat

@Suite("planning a replay")
struct ReplayPlanTests {
    func plan(
        _ recording: Recording, speed: Double? = 1, pauseMax: Duration? = nil
    ) throws -> ReplayPlan {
        try ReplayPlan(recording.boards, .init(speed: speed, pauseMax: pauseMax, idPrefix: "s"))
    }

    @Test("the points of 16 ms are one packet, and the finished stroke follows the last")
    func frames() throws {
        let plan = try plan(
            Recording(#"{"board":"b","t0":0,"points":[[0,0,0],[1,0,15],[2,0,16],[3,0,40],[4,0,47]]}"#))
        #expect(plan.steps.map(\.at) == [.milliseconds(16), .milliseconds(32), .milliseconds(48), .milliseconds(48)])
        #expect(plan.steps.map(\.lane) == [.packet, .packet, .packet, .message])
        #expect(try plan.steps.prefix(3).map { try PointPacket.decode($0.payload).first } == [0, 2, 3])
        #expect(plan.strokes == 1 && plan.points == 5 && plan.messages == 1 && plan.packets == 3)
    }

    @Test("ten times the speed puts ten times the points into a packet")
    func speed() throws {
        let recording = try Recording(
            #"{"board":"b","t0":0,"points":[[0,0,0],[1,0,20],[2,0,40],[3,0,155],[4,0,160]]}"#,
            #"{"board":"b","t0":1160,"points":[[0,0,0]]}"#)
        let plan = try plan(recording, speed: 10)
        #expect(try plan.steps.filter { $0.lane == .packet }.map { try PointPacket.decode($0.payload).points.count } == [4, 1, 1])
        #expect(plan.steps.map(\.at) == [16, 32, 32, 132, 132].map { .milliseconds($0) })
    }

    @Test("the longest pause holds between strokes and inside them")
    func pauses() throws {
        let recording = try Recording(
            #"{"board":"b","t0":0,"points":[[0,0,0],[1,0,5000]]}"#, #"{"board":"b","t0":105000,"points":[[0,0,0]]}"#)
        #expect(try plan(recording).duration == .milliseconds(105_016))
        let capped = try plan(recording, pauseMax: .seconds(1))
        #expect(capped.duration == .milliseconds(2_016))
        #expect(text(capped.steps[2].payload).contains("5000"), "the stroke keeps its own times")
    }

    @Test("strokes that overlap in time are drawn one after the other")
    func overlap() throws {
        let plan = try plan(
            Recording(#"{"board":"b","t0":0,"points":[[0,0,0],[1,0,100]]}"#, #"{"board":"b","t0":50,"points":[[0,0,0]]}"#))
        #expect(plan.steps.map(\.at) == [16, 112, 112, 116, 116].map { .milliseconds($0) })
    }

    @Test("without a clock points come 8 ms apart and strokes 400 ms; boards 1 s")
    func noClock() throws {
        let plan = try plan(
            Recording(
                #"{"board":"b","points":[[0,0],[1,0],[2,0]]}"#, #"{"board":"b","points":[[0,0]]}"#,
                #"{"board":"c","points":[[0,0]]}"#))
        #expect(plan.steps.map(\.at) == [16, 32, 32, 432, 432, 1_432, 1_432].map { .milliseconds($0) })
    }

    @Test("without a speed all is sent at once, in packets as full as they get")
    func atOnce() throws {
        let plan = try plan(Files.sample("pencil"), speed: nil)
        #expect(plan.duration == .zero)
        #expect(plan.packets < 30)
        #expect(plan.steps.allSatisfy { $0.lane == .message || $0.payload.count <= 1_024 })
    }

    @Test("each stroke has its own id, and lies above the one before, over all boards")
    func ids() throws {
        let recording = try Files.sample("three-boards")
        let plan = try ReplayPlan(recording.boards, .init(idPrefix: "r1-", firstLayer: 10))
        let strokes = try plan.steps.filter { $0.lane == .message }.map { step -> Stroke in
            guard case .stroke(let part) = try BoardMessage.decode(customType: "stroke", payload: step.payload) else {
                throw BoardError.missingField("stroke")
            }
            return part.stroke
        }
        #expect(strokes.map(\.id.text) == strokes.indices.map { "r1-\($0)" })
        #expect(strokes.map(\.z) == strokes.indices.map { 10 + $0 })
        #expect(strokes.count == recording.boards.map(\.strokes.count).reduce(0, +))
    }

    @Test(
        "the live points of every stroke are the finished stroke's, and no step comes before the one before it",
        arguments: ["lesson", "pencil", "browser-pen", "three-boards", "broken-clocks", "no-clock"], [1, 10, 1_000])
    func samples(name: String, speed: Double) throws {
        let plan = try plan(Files.sample(name), speed: speed, pauseMax: .seconds(1))
        var live: [BoardPoint] = []
        for (earlier, later) in zip(plan.steps, plan.steps.dropFirst()) { #expect(earlier.at <= later.at) }
        for step in plan.steps {
            switch step.lane {
            case .packet:
                let packet = try PointPacket.decode(step.payload)
                #expect(packet.first == live.count)
                live.append(contentsOf: packet.points)
            case .message:
                guard case .stroke(let part) = try BoardMessage.decode(customType: "stroke", payload: step.payload) else {
                    Issue.record("no stroke")
                    continue
                }
                #expect(part.stroke.points == live)
                live = []
            }
        }
    }

    @Test("at its own speed no second of any recording has more packets or messages than the rates allow", arguments: Files.allDrawings)
    func rates(name: String) throws {
        for board in try Files.drawings(name).boards {
            let plan = try ReplayPlan([board], .init(pauseMax: .seconds(1), idPrefix: "s"))
            for lane in [ReplayPlan.Lane.packet, .message] {
                let times = plan.steps.filter { $0.lane == lane }.map(\.at)
                var first = 0
                for last in times.indices {
                    while times[last] - times[first] >= .seconds(1) { first += 1 }
                    #expect(last - first < (lane == .packet ? 200 : 60))
                }
            }
        }
    }
}
