// Of DNS Service Discovery what the package uses: names, types and numbers as in Apple's dns_sd.h, which is published under
// https://github.com/apple-oss-distributions/mDNSResponder/blob/main/mDNSShared/dns_sd.h; in Swift as the compiler imports C.
// https://developer.apple.com/documentation/dnssd has a page of each, such as dnsservicebrowse(_:_:_:_:_:_:_:).
@_exported import Dispatch

public typealias DNSServiceRef = OpaquePointer
public typealias DNSServiceFlags = UInt32
public typealias DNSServiceErrorType = Int32

// Constants of enumerations without a name.
public var kDNSServiceErr_NoError: Int { 0 }
public var kDNSServiceErr_NoAuth: Int { -65555 }
public var kDNSServiceErr_PolicyDenied: Int { -65570 }
public var kDNSServiceFlagsAdd: Int { 0x2 }

/// Reference, flags, interface, error, name of the service, type, domain, context.
public typealias DNSServiceBrowseReply = @convention(c) (
    DNSServiceRef?, DNSServiceFlags, UInt32, DNSServiceErrorType, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
    UnsafeMutableRawPointer?
) -> Void

public func DNSServiceBrowse(
    _ sdRef: UnsafeMutablePointer<DNSServiceRef?>!, _ flags: DNSServiceFlags, _ interfaceIndex: UInt32,
    _ regtype: UnsafePointer<CChar>!, _ domain: UnsafePointer<CChar>!, _ callBack: DNSServiceBrowseReply!,
    _ context: UnsafeMutableRawPointer!
) -> DNSServiceErrorType { 0 }

/// Reference, flags, interface, error, full name, host, port in network byte order, size of the TXT record, that record, context.
public typealias DNSServiceResolveReply = @convention(c) (
    DNSServiceRef?, DNSServiceFlags, UInt32, DNSServiceErrorType, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt16, UInt16,
    UnsafePointer<UInt8>?, UnsafeMutableRawPointer?
) -> Void

public func DNSServiceResolve(
    _ sdRef: UnsafeMutablePointer<DNSServiceRef?>!, _ flags: DNSServiceFlags, _ interfaceIndex: UInt32,
    _ name: UnsafePointer<CChar>!, _ regtype: UnsafePointer<CChar>!, _ domain: UnsafePointer<CChar>!,
    _ callBack: DNSServiceResolveReply!, _ context: UnsafeMutableRawPointer!
) -> DNSServiceErrorType { 0 }

/// Reference, flags, error, name of the service, type, domain, context.
public typealias DNSServiceRegisterReply = @convention(c) (
    DNSServiceRef?, DNSServiceFlags, DNSServiceErrorType, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
    UnsafeMutableRawPointer?
) -> Void

/// Without a name it is the machine's, and the host is the machine's; the port is in network byte order.
public func DNSServiceRegister(
    _ sdRef: UnsafeMutablePointer<DNSServiceRef?>!, _ flags: DNSServiceFlags, _ interfaceIndex: UInt32,
    _ name: UnsafePointer<CChar>!, _ regtype: UnsafePointer<CChar>!, _ domain: UnsafePointer<CChar>!, _ host: UnsafePointer<CChar>!,
    _ port: UInt16, _ txtLen: UInt16, _ txtRecord: UnsafeRawPointer!, _ callBack: DNSServiceRegisterReply!,
    _ context: UnsafeMutableRawPointer!
) -> DNSServiceErrorType { 0 }

public func DNSServiceSetDispatchQueue(_ service: DNSServiceRef!, _ queue: DispatchQueue!) -> DNSServiceErrorType { 0 }
public func DNSServiceRefDeallocate(_ sdRef: DNSServiceRef!) {}
