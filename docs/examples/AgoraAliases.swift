import RelayRTM

typealias AgoraRtmClientKit = RTMClientKit; typealias AgoraRtmClientConfig = RTMClientConfig
typealias AgoraRtmClientDelegate = RTMClientDelegate; typealias AgoraRtmStreamChannel = RTMStreamChannel
typealias AgoraRtmStorage = RTMStorage; typealias AgoraRtmPresence = RTMPresence; typealias AgoraRtmLock = RTMLock
typealias AgoraRtmOperationBlock = RTMOperationBlock; typealias AgoraRtmCommonResponse = RTMCommonResponse
typealias AgoraRtmErrorInfo = RTMErrorInfo; typealias AgoraRtmErrorCode = RTMErrorCode
typealias AgoraRtmSubscribeOptions = RTMSubscribeOptions; typealias AgoraRtmPublishOptions = RTMPublishOptions
typealias AgoraRtmJoinChannelOption = RTMJoinChannelOption; typealias AgoraRtmJoinTopicOption = RTMJoinTopicOption
typealias AgoraRtmTopicOption = RTMTopicOption; typealias AgoraRtmTopicMessageOptions = RTMTopicMessageOptions
typealias AgoraRtmMetadataItem = RTMMetadataItem; typealias AgoraRtmMetadata = RTMMetadata
typealias AgoraRtmMetadataOptions = RTMMetadataOptions; typealias AgoraRtmGetMetadataResponse = RTMGetMetadataResponse
typealias AgoraRtmUserState = RTMUserState; typealias AgoraRtmGetOnlineUsersOptions = RTMGetOnlineUsersOptions
typealias AgoraRtmGetOnlineUsersResponse = RTMGetOnlineUsersResponse; typealias AgoraRtmChannelInfo = RTMChannelInfo
typealias AgoraRtmLockDetail = RTMLockDetail; typealias AgoraRtmMessage = RTMMessage; typealias AgoraRtmMessageEvent = RTMMessageEvent
typealias AgoraRtmPresenceEvent = RTMPresenceEvent; typealias AgoraRtmPresenceIntervalInfo = RTMPresenceIntervalInfo
typealias AgoraRtmTopicEvent = RTMTopicEvent; typealias AgoraRtmTopicInfo = RTMTopicInfo; typealias AgoraRtmPublisherInfo = RTMPublisherInfo
typealias AgoraRtmStorageEvent = RTMStorageEvent; typealias AgoraRtmLockEvent = RTMLockEvent
typealias AgoraRtmLinkStateEvent = RTMLinkStateEvent; typealias AgoraRtmChannelType = RTMChannelType
typealias AgoraRtmMessageQos = RTMMessageQos; typealias AgoraRtmMessagePriority = RTMMessagePriority
typealias AgoraRtmClientConnectionState = RTMClientConnectionState
typealias AgoraRtmClientConnectionChangeReason = RTMClientConnectionChangeReason; typealias AgoraRtmLinkState = RTMLinkState
typealias AgoraRtmPresenceEventType = RTMPresenceEventType; typealias AgoraRtmTopicEventType = RTMTopicEventType
typealias AgoraRtmStorageType = RTMStorageType; typealias AgoraRtmStorageEventType = RTMStorageEventType
typealias AgoraRtmLockEventType = RTMLockEventType; typealias AgoraRtmLinkOperation = RTMLinkOperation
typealias AgoraRtmSubscribeChannelFeature = RTMSubscribeChannelFeature; typealias AgoraRtmJoinChannelFeature = RTMJoinChannelFeature
typealias AgoraRtmGetLocksResponse = RTMGetLocksResponse; typealias AgoraRtmGetUserChannelsResponse = RTMGetUserChannelsResponse
typealias AgoraRtmTopicSubscriptionResponse = RTMTopicSubscriptionResponse
typealias AgoraRtmPresenceGetStateResponse = RTMPresenceGetStateResponse
typealias AgoraRtmGetTopicSubscribedUsersResponse = RTMGetTopicSubscribedUsersResponse; typealias AgoraRtmStateItem = RTMStateItem
typealias AgoraRtmPresenceOptions = RTMPresenceOptions; typealias AgoraRtmWhoNowResponse = RTMWhoNowResponse
typealias AgoraRtmWhereNowResponse = RTMWhereNowResponse; typealias AgoraRtmTopicSubscriptionBlock = RTMTopicSubscriptionBlock
typealias AgoraRtmGetTopicSubscribedUsersBlock = RTMGetTopicSubscribedUsersBlock; typealias AgoraRtmGetMetadataBlock = RTMGetMetadataBlock
typealias AgoraRtmGetLocksBlock = RTMGetLocksBlock; typealias AgoraRtmWhoNowBlock = RTMWhoNowBlock
typealias AgoraRtmWhereNowBlock = RTMWhereNowBlock; typealias AgoraRtmGetOnlineUsersBlock = RTMGetOnlineUsersBlock
typealias AgoraRtmGetUserChannelsBlock = RTMGetUserChannelsBlock; typealias AgoraRtmPresenceGetStateBlock = RTMPresenceGetStateBlock
