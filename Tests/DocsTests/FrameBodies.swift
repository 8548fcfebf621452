import RelayMonitoring
import RelayWire

/// The types of this package for JSON bodies, and for the heads of those with texts.
enum FrameBodies {
    typealias Body = JSONObject & SendableMetatype

    static func body(_ name: String) -> (any JSONObject.Type)? { requests[name] ?? events[name] }

    private static let requests: [String: any Body.Type] = [
        "login": LoginRequest.self, "logout": EmptyRequest.self, "renew": RenewRequest.self, "setRole": SetRoleRequest.self,
        "setMode": SetModeRequest.self, "endSession": EndSessionRequest.self, "banUser": BanUserRequest.self,
        "unbanUser": UserRequest.self, "getBans": PageRequest.self, "forgetUser": ForgetUserRequest.self, "status": StatusRequest.self,
        "cancel": CancelRequest.self, "goOn": GoOnRequest.self, "setReaderLimits": SetReaderLimitsRequest.self,
        "offerDevice": OfferDeviceRequest.self, "offerJoinCode": ChannelRequest.self, "withdrawJoinCode": EmptyRequest.self,
        "subscribe": SubscribeRequest.self, "unsubscribe": ChannelRequest.self, "join": JoinRequest.self,
        "leave": ChannelRequest.self, "joinTopic": JoinTopicRequest.self, "leaveTopic": TopicRequest.self,
        "subscribeTopic": TopicUsersRequest.self, "unsubscribeTopic": TopicUsersRequest.self,
        "subscribedUsers": SubscribedUsersRequest.self, "who": WhoRequest.self, "where": WhereRequest.self,
        "setStates": SetStatesRequest.self, "removeStates": RemoveStatesRequest.self, "getStates": GetStatesRequest.self,
        "history": HistoryRequest.self, "barrier": BarrierRequest.self, "setMetadata": WriteMetadataRequest.self,
        "updateMetadata": WriteMetadataRequest.self, "removeMetadata": RemoveMetadataRequest.self,
        "getMetadata": GetMetadataRequest.self, "subscribeUserMetadata": UserRequest.self, "unsubscribeUserMetadata": UserRequest.self,
        "setLock": SetLockRequest.self, "acquireLock": AcquireLockRequest.self, "releaseLock": LockRequest.self,
        "revokeLock": LockRequest.self, "removeLock": LockRequest.self, "getLocks": GetLocksRequest.self, "clear": ChannelRequest.self,
        "undoClear": ChannelRequest.self, "boards": BoardsRequest.self, "removeBoard": RemoveBoardRequest.self,
        "removeRecords": RemoveRecordsRequest.self, "endChannel": EndChannelRequest.self,
    ]

    private static let events: [String: any Body.Type] = [
        "welcome": Welcome.self, "answer": EmptyAnswer.self, "error": ErrorBody.self, "closing": CloseNotice.self,
        "restored": SubscribeAnswer.self, "metadataPage": MetadataPageHead.self, "notStored": NotStored.self,
        "flowOpened": FlowOpened.self, "flowClosed": FlowClosed.self, "packetsDropped": PacketsDroppedNotice.self,
        "presence": PresenceEvent.self, "topics": TopicsEvent.self, "metadata": MetadataEventHead.self, "locks": LocksEvent.self,
        "gap": Gap.self, "caughtUp": CaughtUp.self, "catchingUp": CatchingUp.self, "cleared": Cleared.self, "reset": ChannelReset.self,
        "accessExpiring": AccessExpiring.self, "removed": RemovedNotice.self, "accessChanged": AccessChanged.self,
        "modeChanged": ModeChanged.self, "credit": CreditNotice.self, "joinCodeEnded": JoinCodeEnded.self,
    ]

    /// By request; those that are not named have no more than `id`.
    static let answers: [String: any Body.Type] = [
        "renew": RenewAnswer.self, "offerDevice": OfferDeviceAnswer.self, "offerJoinCode": OfferJoinCodeAnswer.self,
        "getBans": BansAnswer.self, "status": StatusAnswer.self, "subscribe": SubscribeAnswer.self,
        "join": SubscribeAnswer.self, "joinTopic": JoinTopicAnswer.self, "leaveTopic": LeaveTopicAnswer.self,
        "subscribeTopic": TopicUsersAnswer.self, "unsubscribeTopic": TopicUsersAnswer.self,
        "subscribedUsers": SubscribedUsersAnswer.self, "who": WhoAnswer.self, "where": WhereAnswer.self, "getStates": StatesAnswer.self,
        "history": HistoryAnswer.self, "setMetadata": MetadataAnswer.self, "updateMetadata": MetadataAnswer.self,
        "removeMetadata": MetadataAnswer.self, "acquireLock": FencingAnswer.self, "getLocks": LocksAnswer.self,
        "clear": ClearAnswer.self, "undoClear": ClearAnswer.self, "boards": BoardsAnswer.self, "removeRecords": RemoveRecordsAnswer.self,
        "forgetUser": ForgetUserAnswer.self,
    ]

    /// Fields that a type of several frames has, and these frames do not.
    static let others: [String: Set<String>] = [
        "restored": ["id"], "releaseLock": ["owner", "ownerDevice"], "removeLock": ["owner", "ownerDevice"], "welcome": ["address", "versions"],
    ]

    /// Fields that the type alone does not ask for: it stands for other frames, too, the hub asks, or a client reads a laxer relay.
    static let lacking: Set<String> = [
        "answer to subscribe.id", "answer to join.id", "revokeLock.owner", "error.retry", "notStored.retry",
    ]
}
