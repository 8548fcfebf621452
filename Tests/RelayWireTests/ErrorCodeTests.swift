import RelayWire
import Testing

@Suite struct ErrorCodeTests {
    @Test("[ER4] no number and no name stands twice, and the table is in order of numbers")
    func unique() {
        let numbers = ErrorCode.all.map(\.code.rawValue)
        #expect(numbers == Set(numbers).sorted())
        #expect(Set(ErrorCode.all.map(\.name)).count == ErrorCode.all.count)
        for (code, name) in ErrorCode.all { #expect(code.name == name) }
    }

    @Test("[ER3] 1xx refuses, 2xx closes and the client comes back, 3xx closes and it stays away")
    func classes() {
        for (code, name) in ErrorCode.all {
            switch code.rawValue {
            case 100..<200: #expect(!code.closesConnection && !code.clientReconnects, "\(name)")
            case 200..<300: #expect(code.closesConnection && code.clientReconnects, "\(name)")
            case 300..<400: #expect(code.closesConnection && !code.clientReconnects, "\(name)")
            default: Issue.record("\(name) is \(code.rawValue), which is in no class")
            }
        }
        let edges: [(UInt16, Bool, Bool)] = [
            (0, false, false), (99, false, false), (199, false, false), (200, true, true), (299, true, true), (300, true, false),
            (399, true, false), (400, false, false), (.max, false, false),
        ]
        for (number, closes, reconnects) in edges {
            let code = ErrorCode(rawValue: number)
            #expect(code.closesConnection == closes && code.clientReconnects == reconnects, "\(number)")
        }
    }

    @Test("[ER4] the numbers and names are those of version 1")
    func frozen() {
        let expected =
            "100 badRequest, 101 unknownFrame, 102 loginRequired, 103 alreadyLoggedIn, 104 badName, 105 badText, 106 tooLarge, 107 rateLimited, "
            + "108 notSubscribed, 109 notJoined, 110 topicNotJoined, 111 unknownFlow, 112 limitReached, 113 channelFull, 114 userOffline, "
            + "115 unconfirmed, 116 outcomeUnknown, 117 notSupported, 118 relayFull, 119 notPresent, 120 revisionMismatch, 121 itemNotFound, "
            + "122 storageFull, 123 storageFailed, 124 busy, 125 lockNotFound, 126 lockHeld, 127 lockNotHeld, 128 notAccepted, 129 boardFull, "
            + "130 quotaReached, 131 boardNotFound, 132 nothingToUndo, 133 partMissing, 134 tokenInvalid, 135 tokenExpired, "
            + "136 keyWrong, 137 credentialRequired, 138 userIDTaken, 139 notPermitted, 140 notBanned, 141 cancelled, 142 behindRefused, 143 codeWrong, 144 channelEnded, 145 boardInUse, "
            + "200 shuttingDown, 201 slowConsumer, 202 heartbeatTimeout, 203 loginTimeout, 204 tooManyConnections, 205 accessExpired, 206 tooManySessions, 207 moved, "
            + "300 protocolError, 301 versionNotSupported, 302 replaced, 303 abuse, 304 loggedOut, 305 frameTooLarge, 306 notRelayProtocol, "
            + "307 credentialsWrong, 308 keyChanged, 309 endedByModerator, 310 banned, 311 tlsRequired, 312 spaceUnknown"
        #expect(ErrorCode.all.map { "\($0.code.rawValue) \($0.name)" }.joined(separator: ", ") == expected)
    }

    @Test("[FR6] a code that this version does not know is carried as its number")
    func unknown() throws {
        let body = Array(#"{"code":299,"name":"newThing","text":"from a newer relay"}"#.utf8)
        let notice = try body.withUnsafeBytes { try JSONBody.decode(CloseNotice.self, from: $0) }
        #expect(notice.code.rawValue == 299 && notice.name == "newThing" && notice.code.clientReconnects)
        #expect(notice.code.name == "code 299")
    }

    @Test("[ER1] an error says what it answers, by number and name, and leaves out what it has not")
    func body() {
        let error = WireError(.rateLimited, "too fast", limit: 60, actual: 61, retryAfterMilliseconds: 16)
        #expect(
            String(decoding: JSONBody.encode(ErrorBody(error, number: 7)), as: UTF8.self)
                == #"{"actual":61,"code":107,"limit":60,"name":"rateLimited","number":7,"retry":"later","retryAfterMs":16,"text":"too fast"}"#)
        #expect(
            String(decoding: JSONBody.encode(ErrorBody(WireError(.unknownFrame, "no"))), as: UTF8.self)
                == #"{"code":101,"name":"unknownFrame","retry":"never","text":"no"}"#)
    }
}
