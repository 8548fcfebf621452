import Dispatch
public import RelayClientCore
package import RelayDiscovery
public import RelayIO
import RelayWire

/// A relay that announces itself in the local network. Anybody there can claim a name: what lets in does not come from here.
public struct NearbyRelay: Hashable, Sendable {
    /// What it calls itself, to be shown: what cannot be seen or turns a line around is replaced.
    public let name: String
    /// Where it is reached, one at least: for an `Invitation`. A pin is not among it: somebody else could have announced another one.
    public let addresses: [RelayAddress]

    package let service: FoundService

    init(_ service: FoundService) {
        self.service = service
        name = String(String.UnicodeScalarView(service.name.unicodeScalars.map { $0.isHidden ? "\u{FFFD}" : $0 }))
        let hosts = service.addresses.isEmpty ? [service.host] : service.addresses.sorted()
        addresses = hosts.map { RelayAddress(host: $0, port: service.port, protection: service.wantsTLS ? .certified : .plain) }
    }
}

/// The relays of the local network: those that are known, at first none, then all again whenever they have changed.
///
///     for try await relays in NearbyRelays() { list = relays }
///
/// It looks as long as the loop runs. On iOS the app's Info.plist needs `NSLocalNetworkUsageDescription`, and `NSBonjourServices` with
/// `_boardrelay._tcp`.
public struct NearbyRelays: AsyncSequence, Sendable {
    /// Nothing happens before the loop.
    public init() {}

    public func makeAsyncIterator() -> Iterator { Iterator() }

    /// Takes one after the other. It is for one task.
    public struct Iterator: AsyncIteratorProtocol {
        private let search = NearbySearch()

        /// The newest; `nil` when the task is cancelled.
        ///
        /// - Throws: `notPermitted` where the system keeps the app from the local network, with the keys that it needs; `notSupported`
        ///   where there is no multicast DNS.
        public mutating func next() async throws(RelayError) -> [NearbyRelay]? { try await search.next() }
    }
}

/// One loop: it looks from its first call until it is dropped.
final class NearbySearch: Sendable {
    #if os(Linux)
        typealias Browser = MulticastHost<Finder>
    #endif

    fileprivate struct State {
        var browser: Browser?
        var news: Result<[FoundService], RelayError>? = .success([])
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    deinit { state.withLock { $0.browser }?.close() }

    func next() async throws(RelayError) -> [NearbyRelay]? {
        if !Task.isCancelled { begin() }
        return try await news()
    }

    func news() async throws(RelayError) -> [NearbyRelay]? {
        while !Task.isCancelled {
            if let news = state.withLock({ $0.takeNews() }) { return try news.get().map(NearbyRelay.init) }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = state.withLock { state in
                        if state.news == nil, !Task.isCancelled { state.waiter = continuation }
                        return state.waiter == nil
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.takeWaiter() }?.resume()
            }
        }
        return nil
    }

    private func begin() {
        guard state.withLock({ $0.browser == nil }) else { return }
        let queue = DispatchQueue(label: "boardrelay.nearby")
        do throws(SocketAddress.Failure) {
            #if os(Linux)
                let browser = try Browser(Finder(), queue: queue) { @Sendable [weak self] in self?.tell(.success($0)) }
                look(again: browser, on: queue)
            #else
                let browser = Browser(queue: queue) { @Sendable [weak self] in self?.tell($0) }
            #endif
            state.withLock { $0.browser = browser }
        } catch {
            tell(.failure(error))
        }
    }

    #if os(Linux)
        /// Interfaces come and go; the system says so to nobody who has no socket for it.
        private func look(again browser: Browser, on queue: DispatchQueue) {
            queue.asyncAfter(deadline: .now() + .seconds(5)) { @Sendable [weak self] in
                guard let self else { return }
                browser.interfacesChanged()
                look(again: browser, on: queue)
            }
        }
    #endif

    func tell(_ news: Result<[FoundService], SocketAddress.Failure>) {
        let waiter = state.withLock { state in
            state.news = news.mapError { RelayError($0.code == EACCES ? .notPermitted : .notSupported, $0.description) }
            return state.takeWaiter()
        }
        waiter?.resume()
    }
}

extension NearbySearch.State {
    /// What failed has failed for good.
    fileprivate mutating func takeNews() -> Result<[FoundService], RelayError>? {
        defer { if case .success? = news { news = nil } }
        return news
    }

    fileprivate mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
        defer { waiter = nil }
        return waiter
    }
}
