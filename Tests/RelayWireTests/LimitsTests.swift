import RelayWire
import Testing

/// How limits relate; that they are those of the document is for `DocsTests`.
@Suite struct LimitsTests {
    @Test("[FR3] the largest frame of every kind fits into a frame body")
    func frames() {
        let limits = ServerLimits()
        // `deliver` with everything: four integers, custom type, key, part and payload.
        let deliver = 24 + 1 + Limits.customTypeBytesMax + 1 + Limits.nameBytesMax + 4 + limits.messageBytesMax
        #expect(deliver <= Limits.frameBodyBytesMax)
        #expect(LostFrame.fixedBytes + Limits.lostRangesPerFrameMax * LostFrame.rangeBytes <= Limits.frameBodyBytesMax)
        #expect(Limits.lostRangesPerFrameMax <= Int(UInt16.max))
        #expect(limits.packetBytesMax < limits.messageBytesMax)
        #expect(Limits.jsonBodyBytesMax <= Limits.frameBodyBytesMax)
    }

    @Test("[PR3] a page of members, each byte written as an escape of six, fits into a frame body")
    func pages() {
        #expect(6 * Limits.jsonPageBytes <= Limits.frameBodyBytesMax)
        #expect(Limits.statesBytesMax < Limits.jsonPageBytes)
    }

    @Test("[ST7] an answer that repeats as many users as a request may name, each with a code, fits into a frame body")
    func users() {
        let users = [String](repeating: "", count: Limits.usersPerRequestMax)
        let failures = JSONBody.encode(TopicUsersAnswer(id: .max, all: false, failed: users.map { .init(user: $0, code: .notSubscribed) }))
        // What the users' own bytes are, they were in the request.
        #expect(failures.count + Limits.jsonBodyBytesMax <= Limits.frameBodyBytesMax)
    }

    @Test("[FR8] names and custom types fit behind a length byte")
    func shortTexts() {
        #expect(Limits.nameBytesMax <= 255 && Limits.customTypeBytesMax <= 255)
    }

    @Test("[SE4] a whole login, the largest token with it, fits into what may be sent before it")
    func login() throws {
        let login = LoginRequest(
            id: .max, user: try Name(String(repeating: "\"", count: Limits.nameBytesMax)), secret: String(repeating: "f", count: 32),
            instance: String(repeating: "f", count: 16), presenceTimeoutMs: Limits.presenceTimeoutMilliseconds.upperBound,
            client: String(repeating: "\u{1}", count: Limits.clientDescriptionBytesMax),
            resume: ResumeRequest(token: String(repeating: "f", count: 32)))
        let token = #","token":"""#.utf8.count + Limits.tokenBytesMax
        #expect(Frame.json(.login, login).bytes.count + token <= Limits.bytesBeforeLoginMax)
    }
}
