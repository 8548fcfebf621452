/// What went wrong, by the numbers that apps for hosted RTM 2.x already tell apart.
///
/// Where the relay means the same, name and number are those; `RTMErrorInfo.relayError` has the relay's own. `notPermitted`
/// is the relay's alone: the credential does not give the right for it, or a moderator took it back.
public enum RTMErrorCode: Int, Sendable {
    case ok = 0, notPermitted = -20139

    // Those behind "never" stand here for a `switch` that names them: the relay has no reason for them.

    // Login, and what is not about one channel.
    case notLogin = -10002, invalidToken = -10005, invalidUserId = -10006, invalidChannelName = -10008, tokenExpired = -10009
    case loginNoServerResources = -10010, loginTimeout = -10011, loginRejected = -10012, invalidParameter = -10014
    case duplicateOperation = -10017, instanceAlreadyReleased = -10018, invalidChannelType = -10019
    case operationRateExceedLimitation = -10021, serviceNotSupport = -10022, loginCanceled = -10023, notConnected = -10025
    // Never:
    case notInitialized = -10001, invalidAppId = -10003, invalidEventHandler = -10004, initServiceFailed = -10007, loginAborted = -10013
    case loginNotAuthorized = -10015, loginInconsistentAppId = -10016, invalidEncryptionParameter = -10020
    case invalidPrivateConfig = -10024, renewTokenTimeout = -10026
    // Channels, topics, messages.
    case channelNotJoined = -11001, channelNotSubscribed = -11002, channelInstanceExceedLimitation = -11005, channelInErrorState = -11006
    case channelJoinFailed = -11007, channelInvalidTopicName = -11008, channelInvalidMessage = -11009
    case channelMessageLengthExceedLimitation = -11010, channelTopicNotSubscribed = -11013, channelExceedTopicLimitation = -11014
    case channelTopicNotJoined = -11016, channelInvalidTopicMeta = -11018, channelSubscribeTimeout = -11019
    case channelPublishMessageFailed = -11024, channelPublishMessageTooFrequent = -11025, channelPublishMessageTimeout = -11026
    case channelInvalidCustomType = -11030, channelReceiverOffline = -11033
    case channelExceedTopicUserLimitation = -11003, channelInvalidUserList = -11011
    // Never:
    case channelReused = -11004, channelNotAvailable = -11012, channelJoinTopicFailed = -11015, channelTopicNotExist = -11017
    case channelSubscribeTooFrequent = -11020, channelSubscribeFailed = -11021, channelUnsubscribeFailed = -11022
    case channelEncryptMessageFailed = -11023, channelNotConnected = -11027, channelLeaveFailed = -11028
    case channelCustomTypeLengthOverflow = -11029, channelUnsupportedMessageType = -11031, channelPresenceNotReady = -11032
    case channelJoinCanceled = -11034, channelReceiverOfflineButMessageStoreSucceeded = -11035
    case channelReceiverOfflineAndMessageStoreFailed = -11036, channelMessageDeliveredButStoreFailed = -11037
    case channelSubscribePermissionDenied = -11038, channelPublishPermissionDenied = -11039, channelSubscribeCanceled = -11040

    case storageOperationFailed = -12001, storageMetadataItemExceedLimitation = -12002, storageInvalidMetadataItem = -12003
    case storageInvalidArgument = -12004, storageInvalidRevision = -12005, storageMetadataLengthOverflow = -12006
    case storageInvalidLockName = -12007, storageLockNotAcquired = -12008, storageOutdatedRevision = -12014, storageNotSubscribe = -12015
    case storageSubscribeUserExceedLimitation = -12017, storageOperationTimeout = -12018, storageNotAvailable = -12019
    // Never:
    case storageInvalidKey = -12009, storageInvalidValue = -12010, storageKeyLengthOverflow = -12011, storageValueLengthOverflow = -12012
    case storageDuplicateKey = -12013, storageInvalidMetadataInstance = -12016, storagePermissionDenied = -12020

    case presenceNotWritable = -13002, presenceInvalidArgument = -13003, presenceStateCountOverflow = -13005
    case presenceStateValueSizeOverflow = -13009, presenceOperationTimeout = -13012, presenceOperationFailed = -13013
    // Never:
    case presenceNotConnected = -13001, presenceCacheTooManyStates = -13004, presenceInvalidStateKey = -13006
    case presenceInvalidStateValue = -13007, presenceStateKeySizeOverflow = -13008, presenceStateDuplicateKey = -13010
    case presenceUserNotExist = -13011, presenceInactive = -13014, presencePendingRequestCancelled = -13015
    case presencePendingRequestExceedLimitation = -13016

    case lockOperationFailed = -14001, lockOperationTimeout = -14002, lockInvalidName = -14005, lockNotAcquired = -14006
    case lockAcquireFailed = -14007, lockNotExist = -14008, lockNotAvailable = -14009
    // Never:
    case lockOperationPerforming = -14003, lockAlreadyExist = -14004
    case historyOperationFailed = -15001, historyInvalidTimestamp = -15002, historyOperationTimeout = -15003
    case historyOperationNotPermitted = -15004, historyNotAvailable = -15005, historyPermissionDenied = -15006
}
