import RelayRights
import RelayWire
import Testing
@testable import RelayClientCore

/// What moderators decide, as the client's machine asks for it and is told of it.
@Suite struct ModerationTests {
    private func freezes(_ driver: MachineDriver) -> [ChannelModeChange] {
        driver.events().compactMap { if case .channelMode(let change) = $0 { change } else { nil } }
    }

    private func subscribed(_ id: UInt32?, frozen: Bool) -> SubscribeAnswer {
        var answer = MachineDriver.subscribed(id: id, handle: 10, head: 0)
        answer.modes = frozen ? ["frozen"] : nil
        return answer
    }

    private func comeBack(_ driver: MachineDriver) {
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
    }

    @Test("[AC10] what a moderator makes of it is what the client may from there on, and an event")
    func accessChanged() throws {
        let driver = MachineDriver()
        driver.logIn()
        _ = driver.events()
        driver.feed(
            .json(
                .accessChanged,
                AccessChanged(AccessBody(role: "reader", grants: ["lesson": ["subscribe", "levitate"]]), by: try Name("host"))))
        let access = Access(role: .reader, grants: try Grants(words: ["lesson": ["subscribe"]]))
        #expect(driver.events() == [.accessChanged(access, by: "host")])
        #expect(driver.machine.access == access)
    }

    @Test("[AC11, FR6] each mode is told by itself, one that is not known is not; a channel that was left has none")
    func modes() throws {
        let driver = MachineDriver(), channel = ChannelID(kind: .message, channel: try Name("lesson"))
        driver.logIn()
        try driver.ask(.subscribe(channel.channel, features: [.messages], quiet: false)) { id in
            var answer = subscribed(id, frozen: true)
            answer.modes = ["frozen", "melted", "openEditing"]
            return answer
        }
        #expect(freezes(driver).map(\.mode) == [.frozen, .openEditing] && driver.machine.modes(of: channel) == [.frozen, .openEditing])
        driver.feed(.json(.modeChanged, ModeChanged(channel: 10, mode: .frozen, on: false, by: try Name("host"))))
        #expect(freezes(driver) == [ChannelModeChange(place: channel, mode: .frozen, isOn: false, by: "host")])
        #expect(driver.machine.modes(of: channel) == [.openEditing])
        try driver.ask(.unsubscribe(channel.channel)) { EmptyAnswer(id: $0) }
        #expect(driver.machine.modes(of: channel).isEmpty)
    }

    @Test("[AC11] a channel that is frozen is told once: by the relay's notice, by the answer, or by restored, and so is its end")
    func frozen() throws {
        let driver = MachineDriver()
        driver.logIn()
        let channel = ChannelID(kind: .message, channel: try Name("lesson")), by = try Name("host")
        try driver.ask(.subscribe(channel.channel, features: [.messages], quiet: false)) { subscribed($0, frozen: true) }
        #expect(freezes(driver) == [ChannelModeChange(place: channel, mode: .frozen, isOn: true, by: nil)])
        try driver.ask(.subscribe(channel.channel, features: [.messages], quiet: false)) { subscribed($0, frozen: true) }
        #expect(freezes(driver).isEmpty)
        driver.feed(.json(.modeChanged, ModeChanged(channel: 10, mode: .frozen, on: false, by: by)))
        driver.feed(.json(.modeChanged, ModeChanged(channel: 99, mode: .frozen, on: true, by: by)))
        #expect(
            freezes(driver) == [ChannelModeChange(place: channel, mode: .frozen, isOn: false, by: "host")],
            "and nothing of a channel that it is not in")
        driver.feed(.json(.modeChanged, ModeChanged(channel: 10, mode: .frozen, on: true, by: by)))
        _ = driver.events()

        // Unfrozen while it was away, and frozen again while it was away once more.
        for isFrozen in [false, true] {
            comeBack(driver)
            driver.logIn(resumed: true)
            driver.feed(.json(.restored, subscribed(nil, frozen: isFrozen)))
            #expect(freezes(driver) == [ChannelModeChange(place: channel, mode: .frozen, isOn: isFrozen, by: nil)], "\(isFrozen)")
        }
        comeBack(driver)
        driver.logIn(resumed: true)
        driver.feed(.json(.restored, subscribed(nil, frozen: true)))
        #expect(freezes(driver).isEmpty, "it is as it was")
    }

    @Test(
        "[AC12, AC13, ER3] a client whose session a moderator has ended, or who is banned, does not come back by itself",
        arguments: [ErrorCode.endedByModerator, .banned])
    func ended(code: ErrorCode) {
        let driver = MachineDriver()
        driver.logIn()
        _ = driver.events()
        driver.feed(.json(.closing, CloseNotice(code: code, text: "enough")))
        #expect(driver.events() == [.link(.closed(reason: RelayError(code, "enough")))])
        driver.pass(.seconds(600))
        #expect(driver.sentNames().isEmpty)
    }

    @Test("[AC10, AC11, AC12, AC13, AC14, AC16, AC18, AC19] each call is the frame that the document has for it")
    func frames() throws {
        let driver = MachineDriver()
        driver.logIn()
        _ = driver.sent()
        let anna = try Name("anna"), lesson = try Name("lesson")
        for request in [
            ClientRequest.setRole(anna, .reader), .setRole(anna, nil), .setMode(lesson, .frozen, true), .setMode(lesson, .frozen, false),
            .endSession(anna, reason: "enough"),
            .ban(anna, forMilliseconds: 7_200_000), .ban(anna, forMilliseconds: nil), .unban(anna), .bans(after: anna),
            .forget(anna, withRecords: false),
            .forget(anna, withRecords: true), .removeRecords(of: anna, from: lesson),
            .endChannel(lesson, reason: nil), .endChannel(lesson, reason: "enough"),
            .status(after: nil, limit: nil, user: nil), .status(after: anna, limit: 7, user: nil),
            .status(after: nil, limit: nil, user: anna),
        ] { _ = try driver.ask(request) }
        let bodies = driver.sent().filter { $0.type != FrameType.ping.rawValue }.map { frame in
            "\(FrameType(rawValue: frame.type)!.name) " + String(decoding: frame.body, as: UTF8.self).replacing(/"id":[0-9]+,?/, with: "")
        }
        #expect(
            bodies == [
                #"setRole {"role":"reader","user":"anna"}"#, #"setRole {"user":"anna"}"#,
                #"setMode {"channel":"lesson","mode":"frozen","on":true}"#,
                #"setMode {"channel":"lesson","mode":"frozen","on":false}"#, #"endSession {"reason":"enough","user":"anna"}"#,
                #"banUser {"forMs":7200000,"user":"anna"}"#, #"banUser {"user":"anna"}"#, #"unbanUser {"user":"anna"}"#,
                #"getBans {"after":"anna",}"#,
                #"forgetUser {"user":"anna"}"#, #"forgetUser {"user":"anna","withRecords":true}"#,
                #"removeRecords {"channel":"lesson","user":"anna"}"#,
                #"endChannel {"channel":"lesson",}"#, #"endChannel {"channel":"lesson","reason":"enough"}"#,
                #"status {}"#, #"status {"after":"anna","limit":7}"#, #"status {"user":"anna"}"#,
            ])
    }
}
