#if canImport(Darwin)
    package import Dispatch
    package import RelayIO
    internal import dnssd

    /// An operation of the system's multicast DNS, which lasts until it is dropped. All of it happens on its queue, which is serial.
    ///
    /// What the system calls back are functions of C: they name the type of a static method, or they would carry it with them.
    package final class SystemDNS {
        package struct Service: Hashable, Sendable {
            package let name: String, domain: String
            let interface: UInt32
        }

        package enum Reply {
            case found(Service), gone(Service)
            case located(FoundService)
            /// It is announced: the system has chosen the name if somebody else has the one that was asked for.
            case announced(Service)
            case failed(SocketAddress.Failure)
        }

        private static let type = "_boardrelay._tcp"
        private let told: (Reply) -> Void
        private var operation: DNSServiceRef?

        private init(
            _ queue: DispatchQueue, _ told: @escaping (Reply) -> Void,
            _ begin: (inout DNSServiceRef?, UnsafeMutableRawPointer) -> DNSServiceErrorType
        ) {
            self.told = told
            var code = begin(&operation, Unmanaged.passUnretained(self).toOpaque())
            if Int(code) == kDNSServiceErr_NoError { code = DNSServiceSetDispatchQueue(operation, queue) }
            if Int(code) != kDNSServiceErr_NoError { told(.failed(Self.failure(code))) }
        }

        deinit { if let operation { DNSServiceRefDeallocate(operation) } }

        package static func search(on queue: DispatchQueue, told: @escaping (Reply) -> Void) -> SystemDNS {
            SystemDNS(queue, told) { operation, context in
                let reply: DNSServiceBrowseReply = { _, flags, interface, code, name, _, domain, context in
                    SystemDNS.reply(code, context) {
                        let service = Service(name: SystemDNS.text(name), domain: SystemDNS.text(domain), interface: interface)
                        return flags & DNSServiceFlags(kDNSServiceFlagsAdd) == 0 ? .gone(service) : .found(service)
                    }
                }
                return DNSServiceBrowse(&operation, 0, 0, type, "local.", reply, context)
            }
        }

        package static func locate(_ service: Service, on queue: DispatchQueue, told: @escaping (Reply) -> Void) -> SystemDNS {
            SystemDNS(queue, told) { operation, context in
                let reply: DNSServiceResolveReply = { _, _, _, code, name, host, port, size, fields, context in
                    SystemDNS.reply(code, context) {
                        // The name with its dots escaped, as the system writes it: whoever asked knows the plain one.
                        var host = SystemDNS.text(host)
                        if host.last == "." { host.removeLast() }
                        let data = Array(UnsafeBufferPointer(start: fields, count: Int(size)))
                        return .located(
                            FoundService(
                                name: SystemDNS.text(name), host: host, port: UInt16(bigEndian: port), text: FoundService.fields(data)))
                    }
                }
                return DNSServiceResolve(&operation, 0, service.interface, service.name, type, service.domain, reply, context)
            }
        }

        /// - Parameter fields: of the TXT record, at most 255 bytes each. Everybody on the link reads them.
        package static func announce(
            _ name: String, port: UInt16, fields: [String], on queue: DispatchQueue, told: @escaping (Reply) -> Void
        ) -> SystemDNS {
            SystemDNS(queue, told) { operation, context in
                let reply: DNSServiceRegisterReply = { _, _, code, name, _, domain, context in
                    SystemDNS.reply(code, context) {
                        .announced(Service(name: SystemDNS.text(name), domain: SystemDNS.text(domain), interface: 0))
                    }
                }
                let data = fields.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
                return DNSServiceRegister(
                    &operation, 0, 0, name, type, "local.", nil, port.bigEndian, UInt16(data.count), data, reply, context)
            }
        }

        private static func reply(_ code: DNSServiceErrorType, _ context: UnsafeMutableRawPointer?, _ make: () -> Reply) {
            let operation = Unmanaged<SystemDNS>.fromOpaque(context!).takeUnretainedValue()
            operation.told(Int(code) == kDNSServiceErr_NoError ? make() : .failed(failure(code)))
        }

        private static func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

        private static func failure(_ code: DNSServiceErrorType) -> SocketAddress.Failure {
            let isRefused = [kDNSServiceErr_NoAuth, kDNSServiceErr_PolicyDenied].contains(Int(code))
            return isRefused ? .localNetwork : SocketAddress.Failure("the system's multicast DNS ends with \(code)")
        }
    }

    extension SocketAddress.Failure {
        /// The system, or the person before it, keeps the app from the local network.
        static let localNetwork = SocketAddress.Failure(
            """
            this app may not look into the local network: its Info.plist needs NSLocalNetworkUsageDescription, and NSBonjourServices with \
            _boardrelay._tcp, and the person must allow it in Settings
            """, code: EACCES)
    }
#endif
