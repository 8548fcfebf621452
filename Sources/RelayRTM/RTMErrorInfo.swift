public import Foundation
import RelayClient

/// Why a call did not do what it was asked for. As an `NSError` its `code` is the number of `errorCode`, its domain `RelayRTM`.
// Safe: neither it nor what it inherits ever changes.
public final class RTMErrorInfo: NSError, @unchecked Sendable {
    /// For programs.
    public let errorCode: RTMErrorCode
    /// For people: what was wrong, with the limit and the value found.
    public let reason: String
    /// The call that failed, by its name.
    public let operation: String
    /// What the relay or its client said, with `limit`, `actual` and `retryAfter`; `nil` for what this library refused by itself.
    public let relayError: RelayError?

    init(_ code: RTMErrorCode, _ reason: String, operation: String = "", relayError: RelayError? = nil) {
        errorCode = code
        self.reason = reason
        self.operation = operation
        self.relayError = relayError
        let text = "\(operation.isEmpty ? "" : "\(operation): ")\(reason) (\(code.rawValue))"
        super.init(domain: "RelayRTM", code: code.rawValue, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// It is never kept in an archive.
    public required init?(coder: NSCoder) { nil }

    convenience init(_ error: any Error, operation: String, in area: RTMArea) {
        switch error {
        case let error as RTMErrorInfo: self.init(error.errorCode, error.reason, operation: operation, relayError: error.relayError)
        case let error as RelayError: self.init(area.code(of: error.code), "\(error)", operation: operation, relayError: error)
        default: self.init(.invalidParameter, "\(error)", operation: operation)
        }
    }

    public override var description: String { localizedDescription }
}

/// What a call is about: the same code of the relay has another number in each.
struct RTMArea {
    var badName, tooLarge, limitReached, timeout, failed: RTMErrorCode
    var notSubscribed = RTMErrorCode.channelNotSubscribed, tooOften = RTMErrorCode.operationRateExceedLimitation
    var lockNotHeld = RTMErrorCode.storageLockNotAcquired, lockNotFound = RTMErrorCode.storageInvalidLockName
    var notStored = RTMErrorCode.storageNotAvailable, notPresent = RTMErrorCode.channelInErrorState, silent = RTMErrorCode.notConnected

    static let login = Self(
        badName: .invalidUserId, tooLarge: .invalidParameter, limitReached: .loginRejected, timeout: .loginTimeout, failed: .loginRejected,
        silent: .loginTimeout)
    static let channel = Self(
        badName: .invalidChannelName, tooLarge: .invalidParameter, limitReached: .channelInstanceExceedLimitation,
        timeout: .channelSubscribeTimeout, failed: .channelInErrorState)
    static let publish = Self(
        badName: .invalidChannelName, tooLarge: .channelMessageLengthExceedLimitation, limitReached: .channelPublishMessageTooFrequent,
        timeout: .channelPublishMessageTimeout, failed: .channelPublishMessageFailed, tooOften: .channelPublishMessageTooFrequent)
    static let topic = Self(
        badName: .channelInvalidTopicName, tooLarge: .channelInvalidTopicMeta, limitReached: .channelExceedTopicLimitation,
        timeout: .channelSubscribeTimeout, failed: .channelInErrorState, notSubscribed: .channelTopicNotSubscribed)
    static let packet = Self(
        badName: .channelInvalidTopicName, tooLarge: .channelMessageLengthExceedLimitation, limitReached: .channelPublishMessageTooFrequent,
        timeout: .channelPublishMessageTimeout, failed: .channelPublishMessageFailed, tooOften: .channelPublishMessageTooFrequent)
    static let storage = Self(
        badName: .storageInvalidArgument, tooLarge: .storageMetadataLengthOverflow, limitReached: .storageMetadataItemExceedLimitation,
        timeout: .storageOperationTimeout, failed: .storageOperationFailed)
    static let userMetadata = Self(
        badName: .storageInvalidArgument, tooLarge: .storageMetadataLengthOverflow, limitReached: .storageSubscribeUserExceedLimitation,
        timeout: .storageOperationTimeout, failed: .storageOperationFailed, notSubscribed: .storageNotSubscribe)
    static let presence = Self(
        badName: .presenceInvalidArgument, tooLarge: .presenceStateValueSizeOverflow, limitReached: .presenceStateCountOverflow,
        timeout: .presenceOperationTimeout, failed: .presenceOperationFailed, notPresent: .presenceNotWritable)
    static let lock = Self(
        badName: .lockInvalidName, tooLarge: .invalidParameter, limitReached: .lockOperationFailed, timeout: .lockOperationTimeout,
        failed: .lockOperationFailed, lockNotHeld: .lockNotAcquired, lockNotFound: .lockNotExist, notStored: .lockNotAvailable)

    func code(of code: ErrorCode) -> RTMErrorCode {
        switch code {
        case .tokenInvalid, .keyWrong, .credentialRequired, .credentialsWrong: .invalidToken
        case .tokenExpired, .accessExpired: .tokenExpired
        case .userIDTaken, .banned, .endedByModerator, .keyChanged, .replaced, .versionNotSupported: .loginRejected
        case .tooManyConnections, .tooManySessions: .loginNoServerResources
        case .notPermitted: .notPermitted
        case .connectFailed, .clientClosed, .shuttingDown: .notConnected
        case .timedOut, .heartbeatTimeout, .loginTimeout: silent
        case .notSupported: .serviceNotSupport
        case .badText: .channelInvalidMessage
        case .badRequest: .invalidParameter
        case .badName: badName
        case .tooLarge: tooLarge
        case .limitReached: limitReached
        case .rateLimited, .unsentFull: tooOften
        case .outcomeUnknown, .unconfirmed: timeout
        case .notSubscribed: notSubscribed
        case .notJoined: .channelNotJoined
        case .topicNotJoined, .unknownFlow: .channelTopicNotJoined
        case .notPresent: notPresent
        case .channelFull: .channelJoinFailed
        case .relayFull: .channelInstanceExceedLimitation
        case .userOffline: .channelReceiverOffline
        case .revisionMismatch: .storageOutdatedRevision
        case .itemNotFound: .storageInvalidMetadataItem
        case .storageFull, .storageFailed, .busy: notStored
        case .lockHeld: .lockAcquireFailed
        case .lockNotHeld: lockNotHeld
        case .lockNotFound: lockNotFound
        default: failed
        }
    }
}
