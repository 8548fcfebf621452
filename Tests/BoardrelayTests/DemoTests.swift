import BoardFormat
import Foundation
import RelayClient
import RelayCore
import RelayIO
import Testing

@testable import RelayConsole
@testable import boardrelay

@Suite("demo", .timeLimit(.minutes(10)))
struct DemoTests {
    private let lesson = DemoLesson.embedded()

    @Test("the lesson has several people, who take turns and also draw at the same time; nothing of the recording needs a repair")
    func lessonOfTheProgram() throws {
        #expect(lesson.people.count == 4 && lesson.people.reduce(0) { $0 + $1.board.strokes.count } == 177)
        #expect(lesson.people.allSatisfy { $0.name.allSatisfy(\.isLetter) } && Set(lesson.people.map(\.user)).count == 4)
        let times = try lesson.people.map { person in
            let plan = try lesson.plan(person, round: 1, speed: 1)
            #expect(plan.strokes == person.board.strokes.count)
            return person.begins..<(person.begins + plan.duration)
        }
        #expect(times[0].lowerBound == .zero && times.allSatisfy { $0.upperBound < .seconds(90) })
        for (one, next) in zip(times, times.dropFirst()) { #expect(one.lowerBound < next.lowerBound && one.overlaps(next)) }
        let ids = try [1, 2].map { round in try lesson.plan(lesson.people[0], round: round, speed: 1).drawing[0].id }
        #expect(ids[0] != ids[1], "of each round its own")
    }

    @Test("all of the lesson comes live, from four people with names, and is kept; it is cleared and begins anew; Ctrl-C ends it with 0")
    func loop() async throws {
        // Slow enough to stay inside the rates, round after round.
        let demo = try Running(["demo", "--host", "127.0.0.1", "--speed", "20"])
        let url = try #require(await demo.line(containing: "http://127.0.0.1:"))
        var options = ClientOptions()
        let invitation = try Invitation(url)
        #expect(invitation.credential != nil, "\(url)")
        options.secret = .inMemory
        let viewer = try await WhiteboardClient.connect(to: invitation, as: "viewer", options: options)
        let stream = try await viewer.join(DemoClass.channel, features: [], quiet: true)
        try await stream.subscribeTopic(BoardWords.pointsTopic, users: .all)
        // Last: whichever clearing it is told of, the points of the round that follows it come.
        try await viewer.subscribe(DemoClass.channel, features: [.messages, .presence], quiet: true)
        var seen = Seen()
        for await event in viewer.told where seen.note(event) { break }
        await viewer.close()
        demo.signal(SIGINT)
        let result = await demo.end()
        #expect(result.code == 0, "\(result)")

        #expect(seen.names == ["anna": "Anna", "ben": "Ben", "carla": "Carla", "david": "David"])
        for person in lesson.people {
            let strokes = seen.strokes.values.filter { $0.author == person.user }.map(\.stroke.points)
            let recorded = person.board.strokes.map(\.points)
            #expect(strokes.count == recorded.count && Set(strokes) == Set(recorded), "\(person.name)")
        }
        // What a viewer that is too slow loses of them it is told; the rest has come live.
        #expect(seen.hasLost || seen.early.isEmpty, "points come before the stroke that they are of")
        if !seen.hasLost { for (id, stroke) in seen.strokes { #expect(seen.points[id] == stroke.stroke.points.count, "\(id)") } }
    }

    /// A whole round: from one clearing of the board to the next.
    private struct Seen {
        var names: [String: String] = [:]
        var strokes: [String: (author: String, stroke: Stroke)] = [:]
        /// How many came live, by the stroke's id.
        var points: [String: Int] = [:]
        /// Strokes of which no point had come.
        var early: [String] = []
        /// Also before the round: the first notice may tell of packets that were to come in it.
        var hasLost = false
        private var clears = 0

        /// - Returns: whether the round is over.
        mutating func note(_ event: ClientEvent) -> Bool {
            switch event {
            case .presence(let change):
                switch change.kind {
                case .snapshot(let members, _): for member in members { names[member.user] = member.states["name"] }
                case .joined(let member): names[member.user] = member.states["name"]
                default: break
                }
            case .cleared:
                clears += 1
                if clears == 1 { (strokes, points, early) = ([:], [:], []) }
            case .message(let message):
                guard let key = message.key, message.isRetained,
                    let decoded = try? BoardMessage.decode(customType: message.customType, payload: message.payload.bytes),
                    case .stroke(let part) = decoded
                else { break }
                strokes[key] = (message.sender, part.stroke)
                if points[key] == nil { early.append(key) }
            case .packet(let packet):
                guard let live = try? PointPacket.decode(packet.payload.bytes) else { break }
                points[live.id.text, default: 0] += live.points.count
            case .packetsLost: hasLost = true
            default: break
            }
            return clears == 2
        }
    }
}
