import RelayMonitoring
import RelayWire

extension FrameVector {
    /// What its sender may send at most.
    var bodyBytesMax: Int { type?.sender == .relay ? Limits.frameBodyBytesMax : Limits.jsonBodyBytesMax }

    /// The type of its JSON body.
    var bodyType: (any JSONObject.Type)? {
        switch typeName {
        case "login": LoginRequest.self
        case "logout": EmptyRequest.self
        case "renew": RenewRequest.self
        case "setRole": SetRoleRequest.self
        case "setMode": SetModeRequest.self
        case "endSession": EndSessionRequest.self
        case "banUser": BanUserRequest.self
        case "unbanUser": UserRequest.self
        case "forgetUser": ForgetUserRequest.self
        case "removeRecords": RemoveRecordsRequest.self
        case "endChannel": EndChannelRequest.self
        case "getBans": PageRequest.self
        case "status": StatusRequest.self
        case "subscribe": SubscribeRequest.self
        case "join": JoinRequest.self
        case "unsubscribe", "leave": ChannelRequest.self
        case "joinTopic": JoinTopicRequest.self
        case "leaveTopic": TopicRequest.self
        case "subscribedUsers": SubscribedUsersRequest.self
        case "subscribeTopic", "unsubscribeTopic": TopicUsersRequest.self
        case "who": WhoRequest.self
        case "where": WhereRequest.self
        case "setStates": SetStatesRequest.self
        case "removeStates": RemoveStatesRequest.self
        case "getStates": GetStatesRequest.self
        case "removeMetadata": RemoveMetadataRequest.self
        case "getMetadata": GetMetadataRequest.self
        case "subscribeUserMetadata", "unsubscribeUserMetadata": UserRequest.self
        case "setLock": SetLockRequest.self
        case "acquireLock": AcquireLockRequest.self
        case "releaseLock", "revokeLock", "removeLock": LockRequest.self
        case "getLocks": GetLocksRequest.self
        case "locks": LocksEvent.self
        case "history": HistoryRequest.self
        case "gap": Gap.self
        case "barrier": BarrierRequest.self
        case "cancel": CancelRequest.self
        case "goOn": GoOnRequest.self
        case "credit": CreditNotice.self
        case "offerDevice": OfferDeviceRequest.self
        case "offerJoinCode": ChannelRequest.self
        case "withdrawJoinCode": EmptyRequest.self
        case "joinCodeEnded": JoinCodeEnded.self
        case "setReaderLimits": SetReaderLimitsRequest.self
        case "catchingUp": CatchingUp.self
        case "caughtUp": CaughtUp.self
        case "clear", "undoClear": ChannelRequest.self
        case "boards": BoardsRequest.self
        case "removeBoard": RemoveBoardRequest.self
        case "notStored": NotStored.self
        case "cleared": Cleared.self
        case "reset": ChannelReset.self
        case "accessExpiring": AccessExpiring.self
        case "removed": RemovedNotice.self
        case "accessChanged": AccessChanged.self
        case "modeChanged": ModeChanged.self
        case "welcome": Welcome.self
        case "error": ErrorBody.self
        case "closing": CloseNotice.self
        case "restored": SubscribeAnswer.self
        case "flowOpened": FlowOpened.self
        case "flowClosed": FlowClosed.self
        case "packetsDropped": PacketsDroppedNotice.self
        case "presence": PresenceEvent.self
        case "topics": TopicsEvent.self
        case "answer":
            switch name {
            case "answer": EmptyAnswer.self
            case "answer.renew": RenewAnswer.self
            case "answer.offerDevice": OfferDeviceAnswer.self
            case "answer.offerJoinCode": OfferJoinCodeAnswer.self
            case "answer.bans", "answer.bans.next": BansAnswer.self
            case "answer.forgetUser": ForgetUserAnswer.self
            case "answer.records": RemoveRecordsAnswer.self
            case "answer.status", "answer.status.next": StatusAnswer.self
            case "answer.history", "answer.history.none": HistoryAnswer.self
            case "answer.subscribe", "answer.join", "answer.join.modes", "answer.after", "answer.reset": SubscribeAnswer.self
            case "answer.clear": ClearAnswer.self
            case "answer.boards", "answer.boards.next": BoardsAnswer.self
            case "answer.joinTopic": JoinTopicAnswer.self
            case "answer.leaveTopic": LeaveTopicAnswer.self
            case "answer.subscribeTopic": TopicUsersAnswer.self
            case "answer.subscribedUsers", "answer.subscribedUsers.next": SubscribedUsersAnswer.self
            case "answer.who": WhoAnswer.self
            case "answer.where", "answer.where.next": WhereAnswer.self
            case "answer.metadata": MetadataAnswer.self
            case "answer.acquireLock": FencingAnswer.self
            case "answer.locks": LocksAnswer.self
            case "answer.states": StatesAnswer.self
            default: nil
            }
        default: nil
        }
    }
}
