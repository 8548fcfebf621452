#if canImport(Darwin)
    package import Dispatch
    internal import Foundation
    package import RelayIO

    /// Looks for relays by the system, which asks the person first.
    package final class Browser: @unchecked Sendable {
        // Safe: all of it is touched on `queue` only.
        private let queue: DispatchQueue
        private let told: @Sendable (Result<[FoundService], SocketAddress.Failure>) -> Void
        private var search: SystemDNS?
        /// At most as many as a `Finder` holds.
        private var services: [SystemDNS.Service: (location: SystemDNS, found: FoundService?)] = [:]

        /// - Parameters:
        ///   - queue: serial.
        ///   - told: gets all that are known, on the queue, each time they are others; or why there will be none.
        package init(queue: DispatchQueue, told: @escaping @Sendable (Result<[FoundService], SocketAddress.Failure>) -> Void) {
            (self.queue, self.told) = (queue, told)
            queue.async { @Sendable [self] in
                guard Self.mayLook else { return told(.failure(.localNetwork)) }
                search = SystemDNS.search(on: queue) { [weak self] in self?.heard($0) }
            }
        }

        /// Ends it. From any thread.
        package func close() {
            queue.async { @Sendable [self] in (search, services) = (nil, [:]) }
        }

        private func heard(_ reply: SystemDNS.Reply) {
            switch reply {
            case .found(let service) where services[service] == nil && services.count < Finder.servicesMax:
                let location = SystemDNS.locate(service, on: queue) { [weak self] in self?.heard($0, of: service) }
                services[service] = (location, nil)
            case .gone(let service): if services.removeValue(forKey: service)?.found != nil { tell() }
            case .failed(let failure): told(.failure(failure))
            case .found, .located, .announced: break
            }
        }

        private func heard(_ reply: SystemDNS.Reply, of service: SystemDNS.Service) {
            guard case .located(var found) = reply else { return }
            found.name = service.name
            services[service]?.found = found
            tell()
        }

        /// A service on two interfaces counts once.
        private func tell() {
            let all = Set(services.values.compactMap(\.found))
            told(.success(all.sorted { ($0.name, $0.host, $0.port) < ($1.name, $1.host, $1.port) }))
        }

        /// iOS says nothing where a key is missing that it wants.
        private static var mayLook: Bool {
            #if os(iOS)
                let services = Bundle.main.object(forInfoDictionaryKey: "NSBonjourServices") as? [String] ?? []
                let isDescribed = Bundle.main.object(forInfoDictionaryKey: "NSLocalNetworkUsageDescription") != nil
                return isDescribed && services.contains { $0.hasPrefix("_boardrelay._tcp") }
            #else
                return true
            #endif
        }
    }
#endif
