// Of Network what the package uses. Signatures only; the page of each stands under https://developer.apple.com/documentation/network,
// such as nwconnection/receive(minimumincompletelength:maximumlength:completion:).
@_exported import Dispatch
@_exported import Foundation
@_exported import Security

public enum NWError: Error, Equatable, Sendable {
    case posix(POSIXErrorCode)
    case dns(Int32)
    case tls(OSStatus)
    @available(macOS 26.0, iOS 26.0, *)
    case wifiAware(Int32)
}

public enum NWEndpoint: Sendable {
    public enum Host: Hashable, Sendable {
        case name(String)
        public init(_ string: String) { self = .name(string) }
    }
    public struct Port: Hashable, Sendable, RawRepresentable {
        public let rawValue: UInt16
        public init?(rawValue: UInt16) { self.rawValue = rawValue }
    }
}

public class NWProtocolOptions: @unchecked Sendable { init() {} }
public class NWProtocolTLS {
    public class Options: NWProtocolOptions, @unchecked Sendable {
        public override init() {}
        public var securityProtocolOptions: sec_protocol_options_t { fatalError() }
    }
}
public class NWProtocolTCP {
    public class Options: NWProtocolOptions, @unchecked Sendable {
        public override init() {}
        public var noDelay: Bool { get { false } set {} }
    }
}

public final class NWParameters: @unchecked Sendable {
    public convenience init(tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options = NWProtocolTCP.Options()) { fatalError() }
    init() {}
}

public final class NWConnection: @unchecked Sendable {
    public enum State: Equatable, Sendable { case setup, waiting(NWError), preparing, ready, failed(NWError), cancelled }
    public class ContentContext: @unchecked Sendable { public static let defaultMessage = ContentContext() }
    public enum SendCompletion {
        case contentProcessed(@Sendable (NWError?) -> Void)
        case idempotent
    }
    public convenience init(host: NWEndpoint.Host, port: NWEndpoint.Port, using: NWParameters) { fatalError() }
    init() {}
    @preconcurrency public var stateUpdateHandler: (@Sendable (NWConnection.State) -> Void)? { get { nil } set {} }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
    @preconcurrency public func receive(
        minimumIncompleteLength: Int, maximumLength: Int,
        completion: @escaping @Sendable (Data?, NWConnection.ContentContext?, Bool, NWError?) -> Void
    ) {}
    @preconcurrency public func send(
        content: Data?, contentContext: NWConnection.ContentContext = .defaultMessage, isComplete: Bool = true,
        completion: NWConnection.SendCompletion
    ) {}
}
