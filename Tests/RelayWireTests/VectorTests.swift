import RelayWire
import Testing

@Suite struct VectorTests {
    @Test("[FR1] the vectors have at least one frame of every type, each under a name of its own")
    func coverage() {
        let covered = Set(FrameVector.all.compactMap(\.type))
        let missing = FrameType.allCases.filter { !covered.contains($0) }
        #expect(missing.isEmpty, "no vector for \(missing.map(\.name))")
        #expect(Set(FrameVector.all.map(\.name)).count == FrameVector.all.count)
    }

    @Test("[FR1] a vector is one frame of the type it is named for, and encodes back to its bytes", arguments: FrameVector.all)
    func heads(vector: FrameVector) throws {
        let read = try frames(in: [vector.bytes[...]])
        #expect(read.frames == [vector.frame] && read.pending == 0)
        #expect(vector.type?.rawValue == vector.frame.type, "\(vector.name) is not type \(vector.frame.type)")
        #expect(vector.frame.bytes.hex == vector.bytes.hex)
    }

    @Test("[FR8] a binary body decodes to its meaning and encodes back to its bytes", arguments: FrameVector.binary)
    func binary(vector: FrameVector) throws {
        let type = try #require(vector.type)
        let body = try #require(try BinaryBody.decode(type, flags: vector.frame.flags, body: vector.frame.body))
        #expect(body.meaning == vector.meaning)
        if let encoded = body.encoded { #expect(encoded.bytes.hex == vector.bytes.hex) }
    }

    @Test("[FR8] the vectors try every encoder of a binary frame")
    func encoders() throws {
        var tried: Set<FrameType> = []
        for vector in FrameVector.binary {
            let type = try #require(vector.type)
            if try BinaryBody.decode(type, flags: vector.frame.flags, body: vector.frame.body)?.encoded != nil { tried.insert(type) }
        }
        #expect(tried == [
            .publish, .publishPacket, .direct, .directReceived, .setMetadata, .updateMetadata, .metadataPage, .metadata,
        ])
    }

    @Test("[JS1, FR4] a JSON body is its meaning, passes every check and encodes back to its bytes", arguments: FrameVector.json)
    func json(vector: FrameVector) throws {
        #expect(String(decoding: vector.frame.body, as: UTF8.self) == vector.meaning)
        #expect(vector.frame.flags == 0)
        #expect(try Self.reencoded(vector) == vector.meaning)
    }

    @Test("[PR2, ST11, LK8] the vectors show every event of presence, topics and locks")
    func events() throws {
        struct Event: Codable { var event: String }
        func events(_ type: FrameType) throws -> Set<String> {
            Set(try FrameVector.json.filter { $0.type == type }.map { vector in
                try vector.frame.body.withUnsafeBytes { try JSONBody.decode(Event.self, from: $0) }.event
            })
        }
        #expect(try events(.presence) == ["snapshot", "join", "leave", "timeout", "stateChanged", "interval"])
        #expect(try events(.locks) == Set(LocksEvent.Event.allCases.map(\.rawValue)))
        #expect(try events(.topics) == ["snapshot", "publisherJoined", "publisherLeft"])
    }

    /// The body decoded to the type that the frame's name stands for, and written again.
    private static func reencoded(_ vector: FrameVector) throws -> String {
        func through<T: Codable>(_ type: T.Type) throws -> String {
            let limit = vector.type?.sender == .relay ? Limits.frameBodyBytesMax : Limits.jsonBodyBytesMax
            let value = try vector.frame.body.withUnsafeBytes { try JSONBody.decode(type, from: $0, bytesMax: limit) }
            return String(decoding: JSONBody.encode(value), as: UTF8.self)
        }
        switch vector.typeName {
        case "login": return try through(LoginRequest.self)
        case "logout": return try through(EmptyRequest.self)
        case "renew": return try through(RenewRequest.self)
        case "setRole": return try through(SetRoleRequest.self)
        case "freezeChannel": return try through(FreezeChannelRequest.self)
        case "endSession": return try through(EndSessionRequest.self)
        case "banUser": return try through(BanUserRequest.self)
        case "unbanUser", "forgetUser": return try through(UserRequest.self)
        case "getBans", "status": return try through(PageRequest.self)
        case "subscribe": return try through(SubscribeRequest.self)
        case "join": return try through(JoinRequest.self)
        case "unsubscribe", "leave": return try through(ChannelRequest.self)
        case "joinTopic": return try through(JoinTopicRequest.self)
        case "leaveTopic": return try through(TopicRequest.self)
        case "subscribedUsers": return try through(SubscribedUsersRequest.self)
        case "subscribeTopic", "unsubscribeTopic": return try through(TopicUsersRequest.self)
        case "who": return try through(WhoRequest.self)
        case "where": return try through(WhereRequest.self)
        case "setStates": return try through(SetStatesRequest.self)
        case "removeStates": return try through(RemoveStatesRequest.self)
        case "getStates": return try through(GetStatesRequest.self)
        case "removeMetadata": return try through(RemoveMetadataRequest.self)
        case "getMetadata": return try through(GetMetadataRequest.self)
        case "subscribeUserMetadata", "unsubscribeUserMetadata": return try through(UserRequest.self)
        case "setLock": return try through(SetLockRequest.self)
        case "acquireLock": return try through(AcquireLockRequest.self)
        case "releaseLock", "revokeLock", "removeLock": return try through(LockRequest.self)
        case "getLocks": return try through(GetLocksRequest.self)
        case "locks": return try through(LocksEvent.self)
        case "history": return try through(HistoryRequest.self)
        case "gap": return try through(Gap.self)
        case "caughtUp": return try through(CaughtUp.self)
        case "clear", "undoClear", "removeBoard": return try through(ChannelRequest.self)
        case "boards": return try through(PageRequest.self)
        case "notStored": return try through(NotStored.self)
        case "cleared": return try through(Cleared.self)
        case "reset": return try through(ChannelReset.self)
        case "accessExpiring": return try through(AccessExpiring.self)
        case "removed": return try through(RemovedNotice.self)
        case "accessChanged": return try through(AccessChanged.self)
        case "channelFrozen": return try through(ChannelFrozen.self)
        case "welcome": return try through(Welcome.self)
        case "error": return try through(ErrorBody.self)
        case "closing": return try through(CloseNotice.self)
        case "restored": return try through(SubscribeAnswer.self)
        case "flowOpened": return try through(FlowOpened.self)
        case "flowClosed": return try through(FlowClosed.self)
        case "packetsDropped": return try through(PacketsDroppedNotice.self)
        case "presence": return try through(PresenceEvent.self)
        case "topics": return try through(TopicsEvent.self)
        case "answer":
            switch vector.name {
            case "answer": return try through(EmptyAnswer.self)
            case "answer.renew": return try through(RenewAnswer.self)
            case "answer.bans", "answer.bans.next": return try through(BansAnswer.self)
            case "answer.status", "answer.status.next": return try through(StatusAnswer.self)
            case "answer.history", "answer.history.none": return try through(HistoryAnswer.self)
            case "answer.subscribe", "answer.join", "answer.join.frozen", "answer.caughtUp": return try through(SubscribeAnswer.self)
            case "answer.clear": return try through(ClearAnswer.self)
            case "answer.boards", "answer.boards.next": return try through(BoardsAnswer.self)
            case "answer.joinTopic": return try through(JoinTopicAnswer.self)
            case "answer.leaveTopic": return try through(LeaveTopicAnswer.self)
            case "answer.subscribeTopic": return try through(TopicUsersAnswer.self)
            case "answer.subscribedUsers", "answer.subscribedUsers.next": return try through(SubscribedUsersAnswer.self)
            case "answer.who": return try through(WhoAnswer.self)
            case "answer.where", "answer.where.next": return try through(WhereAnswer.self)
            case "answer.metadata": return try through(MetadataAnswer.self)
            case "answer.acquireLock": return try through(FencingAnswer.self)
            case "answer.locks": return try through(LocksAnswer.self)
            case "answer.states": return try through(StatesAnswer.self)
            default: return "no answer is called \(vector.name)"
            }
        default: return "no JSON frame is called \(vector.name)"
        }
    }
}
