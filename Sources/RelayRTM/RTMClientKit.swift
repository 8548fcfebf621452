import Foundation
import RelayClient

/// A client of a relay in the shape of hosted RTM 2.x: each call answers `(response, error)`, of which one is `nil`.
///
/// Safe from any thread. What is published takes its place in the relay's order when the call is made, and so does every other
/// call that is awaited; others with a completion handler do in the order in which they were made. Handlers are called on the
/// main actor, each when its answer is there.
public final class RTMClientKit: Sendable {
    private enum Session {
        case none
        case loggingIn(UInt64)
        case loggedIn(RelayClient)
        case released
    }

    /// Safe: the reference is read and changed under the kit's lock, and what it names is called on the main actor.
    private final class Listener: @unchecked Sendable {
        weak var delegate: (any RTMClientDelegate)?
        init(_ delegate: any RTMClientDelegate) { self.delegate = delegate }
    }

    private struct State {
        var session = Session.none
        var logins: UInt64 = 0
        var listeners: [Listener] = []
    }

    let settings: RTMSettings
    private let state = Lock(State())

    /// A client that is not logged in yet. Neither does it keep the delegate alive.
    ///
    /// - Throws: nothing by now; hosted RTM's does.
    public init(_ config: RTMClientConfig, delegate: (any RTMClientDelegate)?) throws {
        settings = config.settings
        if let delegate { addDelegate(delegate) }
    }

    /// The client in its own shape, once logged in: boards, history, large drawings, moderation.
    public var relayClient: RelayClient? { state.withLock { if case .loggedIn(let client) = $0.session { client } else { nil } } }

    /// Tells one more. It is not kept alive.
    public func addDelegate(_ delegate: any RTMClientDelegate) {
        let listener = Listener(delegate)
        state.withLock { $0.listeners = $0.listeners.filter { $0.delegate != nil && $0.delegate !== listener.delegate } + [listener] }
    }

    /// Tells one less.
    public func removeDelegate(_ delegate: any RTMClientDelegate) {
        let listener = Listener(delegate)
        state.withLock { $0.listeners = $0.listeners.filter { $0.delegate != nil && $0.delegate !== listener.delegate } }
    }

    // MARK: - Parts

    /// Metadata of channels and users.
    public func getStorage() -> RTMStorage? { RTMStorage(kit: self) }
    /// Who is where, with states.
    public func getPresence() -> RTMPresence? { RTMPresence(kit: self) }
    /// Locks of channels.
    public func getLock() -> RTMLock? { RTMLock(kit: self) }

    /// A stream channel, not joined yet.
    ///
    /// - Throws: `RTMErrorInfo` with `instanceAlreadyReleased`.
    public func createStreamChannel(_ channelName: String) throws -> RTMStreamChannel {
        if case .released = state.withLock({ $0.session }) { throw Self.released }
        return RTMStreamChannel(kit: self, name: channelName)
    }

    /// Logs out and ends; a new client object is needed then.
    @discardableResult
    public func destroy() -> RTMErrorCode {
        if let client = leave(.released) { Task { await client.close() } }
        return .ok
    }

    // MARK: - Login

    /// Connects and logs in. The token is used at a relay with signed tokens; see `RTMClientConfig.key`.
    @discardableResult
    public func login(_ token: String?) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await attempt("login", .login) {
            let login = try self.begin()
            let client: RelayClient
            do {
                client = try await RelayClient.connect(to: self.settings.address, as: self.settings.user, options: self.settings.options(token: token))
            } catch {
                self.state.withLock { if case .loggingIn(login) = $0.session { $0.session = .none } }
                throw error
            }
            guard self.enter(client, login) else {
                await client.close()
                throw RTMErrorInfo(.loginCanceled, "logged out before the login was answered")
            }
            return RTMCommonResponse()
        }
    }

    /// Leaves all channels and logs out; others see it at once.
    @discardableResult
    public func logout() async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await attempt("logout", .login) {
            guard let client = self.leave(.none) else { throw Self.notLoggedIn }
            await client.close()
            return RTMCommonResponse()
        }
    }

    /// Goes on with another token.
    @discardableResult
    public func renewToken(_ token: String) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await call("renewToken", .login) { client in
            guard let credential = self.settings.credential(token: token) else { throw RTMErrorInfo(.invalidToken, "an empty token") }
            try await client.renew(credential)
        }
    }

    private func begin() throws -> UInt64 {
        try state.withLock { state throws(RTMErrorInfo) in
            switch state.session {
            case .released: throw Self.released
            case .loggingIn: throw RTMErrorInfo(.duplicateOperation, "a login is under way")
            case .loggedIn(let client):
                guard case .closed = client.linkState else { throw RTMErrorInfo(.duplicateOperation, "logged in already") }
            case .none: break
            }
            state.logins += 1
            state.session = .loggingIn(state.logins)
            return state.logins
        }
    }

    private func enter(_ client: RelayClient, _ login: UInt64) -> Bool {
        let isWanted = state.withLock { state in
            guard case .loggingIn(login) = state.session else { return false }
            state.session = .loggedIn(client)
            return true
        }
        guard isWanted else { return false }
        // The events, not the client: nobody holds a client whose kit has gone, and so it ends.
        Task { @MainActor [weak self, user = settings.user, events = client.events] in
            let delivery = RTMDelivery(user: user)
            for await event in events {
                guard let self else { return }
                delivery.deliver(event, of: self) { call in
                    for delegate in self.state.withLock({ $0.listeners }).compactMap(\.delegate) { call(delegate) }
                }
            }
        }
        return true
    }

    private func leave(_ next: Session) -> RelayClient? {
        state.withLock { state in
            let session = state.session
            switch (session, next) {
            case (.released, _): break
            default: state.session = next
            }
            if case .loggedIn(let client) = session { return client }
            return nil
        }
    }

    // MARK: - Answers

    private static var released: RTMErrorInfo { RTMErrorInfo(.instanceAlreadyReleased, "destroy() was called") }
    private static var notLoggedIn: RTMErrorInfo { RTMErrorInfo(.notLogin, "not logged in") }

    func attempt<Response>(
        _ operation: String, _ area: RTMArea, _ body: () async throws -> Response
    ) async -> (Response?, RTMErrorInfo?) {
        do { return (try await body(), nil) } catch { return (nil, RTMErrorInfo(error, operation: operation, in: area)) }
    }

    /// A call that needs a login and answers something.
    func ask<Response>(
        _ operation: String, _ area: RTMArea, _ body: (RelayClient) async throws -> Response
    ) async -> (Response?, RTMErrorInfo?) {
        await attempt(operation, area) { try await body(try self.client()) }
    }

    /// - Throws: `RTMErrorInfo` with `notLogin`, `instanceAlreadyReleased`.
    func client() throws -> RelayClient {
        switch state.withLock({ $0.session }) {
        case .loggedIn(let client): return client
        case .released: throw Self.released
        case .none, .loggingIn: throw Self.notLoggedIn
        }
    }

    /// A call that needs a login and answers that it was done.
    func call(_ operation: String, _ area: RTMArea, _ body: (RelayClient) async throws -> Void) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await ask(operation, area) { client in
            try await body(client)
            return RTMCommonResponse()
        }
    }
}
