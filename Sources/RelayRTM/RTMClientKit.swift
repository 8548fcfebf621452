import Foundation
public import RelayClient

/// A client of a relay in the shape of hosted RTM 2.x: each call answers `(response, error)`; one of them is `nil`.
///
/// Safe from any thread. What is published takes its place in the relay's order when the call is made, and so does every other
/// call that is awaited; others with a completion handler do in the order in which they were made. Handlers are called on the
/// main actor, each when its answer is there.
public final class RTMClientKit: Sendable {
    private enum Session {
        case none
        case loggingIn(UInt64, Task<WhiteboardClient, any Error>)
        case loggedIn(WhiteboardClient)
        case released
    }

    /// Safe: nobody changes it, the runtime guards reading a weak reference, and what it names is called on the main actor.
    private final class Listener: @unchecked Sendable {
        let id: ObjectIdentifier
        private(set) weak var delegate: (any RTMClientDelegate)?
        init(_ delegate: any RTMClientDelegate) { (id, self.delegate) = (ObjectIdentifier(delegate), delegate) }
    }

    private struct State {
        var session = Session.none
        var logins: UInt64 = 0
        var listeners: [Listener] = []
    }

    let settings: RTMSettings
    private let state = Mutex(State())

    /// A client that is not logged in yet. Neither does it keep the delegate alive.
    ///
    /// - Throws: nothing by now; hosted RTM's does.
    public init(_ config: RTMClientConfig, delegate: (any RTMClientDelegate)?) throws {
        settings = config.settings.keptByKit
        if let delegate { addDelegate(delegate) }
    }

    /// The client in its own shape, once logged in: boards, history, large drawings, moderation.
    ///
    /// For its calls. Its `events` and its `delegate` are the kit's: an app that takes them takes events from the kit's delegates.
    public var relayClient: WhiteboardClient? { state.withLock { if case .loggedIn(let client) = $0.session { client } else { nil } } }

    /// Tells one more. It is not kept alive.
    public func addDelegate(_ delegate: any RTMClientDelegate) {
        let listener = Listener(delegate)
        // Outside of the lock: the last reference to a delegate may be the one that this takes, and its `deinit` call the kit.
        let gone = Set(state.withLock { $0.listeners }.filter { $0.delegate == nil }.map(\.id))
        state.withLock { state in
            state.listeners.removeAll { $0.id == listener.id || gone.contains($0.id) }
            state.listeners.append(listener)
        }
    }

    /// Tells one less. May be called in the delegate's `deinit`.
    public func removeDelegate(_ delegate: any RTMClientDelegate) {
        // By identity: there can be no weak reference to an object that is going.
        let id = ObjectIdentifier(delegate)
        state.withLock { $0.listeners.removeAll { $0.id == id } }
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

    /// Logs out and stops all events. Make a new client object afterwards.
    @discardableResult
    public func destroy() -> RTMErrorCode {
        let session = leave(.released)
        state.withLock { $0.listeners = [] }
        if case .loggedIn(let client) = session { Task { await client.close() } }
        return .ok
    }

    // MARK: - Login

    /// Connects and logs in. The token is used at a relay with signed tokens; see `RTMClientConfig.key`.
    @discardableResult
    public func login(_ token: String?) async -> RTMAnswer<RTMCommonResponse> {
        await attempt("login", .login) {
            let (login, connection) = try self.begin(token), delivery = RTMDelivery(user: self.settings.user)
            self.tell(.connecting, of: login, by: delivery)
            let client: WhiteboardClient
            do {
                client = try await connection.value
            } catch let error as RelayError {
                let isWanted = self.goOn(login, to: .none)
                self.tell(.closed(reason: isWanted ? error : .clientClosed), of: login, by: delivery)
                throw isWanted ? error : Self.loginCanceled
            }
            guard self.goOn(login, to: .loggedIn(client)) else {
                self.tell(.closed(reason: .clientClosed), of: login, by: delivery)
                await client.close()
                throw Self.loginCanceled
            }
            self.tellEvents(of: client, login, by: delivery)
            return RTMCommonResponse()
        }
    }

    /// Leaves all channels and logs out, or ends a login that is under way. What was published goes out first: others see it then, at
    /// most 2 s later.
    @discardableResult
    public func logout() async -> RTMAnswer<RTMCommonResponse> {
        await attempt("logout", .login) {
            switch self.leave(.none) {
            case .loggedIn(let client): await client.close()
            case .loggingIn: break
            case .none: throw Self.notLoggedIn
            case .released: throw Self.released
            }
            return RTMCommonResponse()
        }
    }

    /// Goes on with another token.
    @discardableResult
    public func renewToken(_ token: String) async -> RTMAnswer<RTMCommonResponse> {
        await call("renewToken", .login) { client in
            guard let credential = self.settings.credential(token: token) else { throw RTMErrorInfo(.invalidToken, "an empty token") }
            try await client.renew(credential)
        }
    }

    private func begin(_ token: String?) throws -> (UInt64, Task<WhiteboardClient, any Error>) {
        try state.withLock { state throws(RTMErrorInfo) in
            switch state.session {
            case .released: throw Self.released
            case .loggingIn: throw RTMErrorInfo(.duplicateOperation, "a login is under way")
            case .loggedIn(let client):
                guard case .closed = client.link else { throw RTMErrorInfo(.duplicateOperation, "logged in already") }
            case .none: break
            }
            state.logins += 1
            let connection = Task { [settings] in
                try await WhiteboardClient.connect(to: settings.address, as: settings.user, options: settings.options(token: token))
            }
            state.session = .loggingIn(state.logins, connection)
            return (state.logins, connection)
        }
    }

    /// - Returns: false when the app has logged out meanwhile.
    private func goOn(_ login: UInt64, to next: Session) -> Bool {
        state.withLock { state in
            guard case .loggingIn(login, _) = state.session else { return false }
            state.session = next
            return true
        }
    }

    /// What the session was. A login that is under way ends.
    private func leave(_ next: Session) -> Session {
        let left = state.withLock { state in
            let session = state.session
            if case .released = session { return session }
            state.session = next
            return session
        }
        if case .loggingIn(_, let connection) = left { connection.cancel() }
        return left
    }

    /// Tells how a login begins or has failed. What this and `tellEvents` are called for is told in that order: the main actor's.
    private func tell(_ state: LinkState, of login: UInt64, by delivery: RTMDelivery) {
        // An app that fails and tries again at once is told both.
        let isFailure = if case .closed(let end) = state { end.code != .clientClosed } else { false }
        Task { @MainActor [weak self] in _ = self?.tell(.link(state), of: login, by: delivery, evenLate: isFailure) }
    }

    /// Tells all events of a login, until there is a later one.
    private func tellEvents(of client: WhiteboardClient, _ login: UInt64, by delivery: RTMDelivery) {
        // The events, not the client: nobody holds a client whose kit has gone, and so it ends.
        Task { @MainActor [weak self, events = client.told] in
            for await event in events {
                guard self?.tell(event, of: login, by: delivery) == true else { return }
            }
        }
    }

    /// - Returns: false when there is a later login.
    @MainActor private func tell(_ event: ClientEvent, of login: UInt64, by delivery: RTMDelivery, evenLate: Bool = false) -> Bool {
        guard evenLate || state.withLock({ $0.logins == login }) else { return false }
        delivery.deliver(event, of: self) { call in
            for delegate in state.withLock({ $0.listeners }).compactMap(\.delegate) { call(delegate) }
        }
        return true
    }

    // MARK: - Answers

    private static var released: RTMErrorInfo { RTMErrorInfo(.instanceAlreadyReleased, "destroy() was called") }
    private static var loginCanceled: RTMErrorInfo { RTMErrorInfo(.loginCanceled, "logged out before the login was answered") }
    private static var notLoggedIn: RTMErrorInfo { RTMErrorInfo(.notLogin, "not logged in") }

    func attempt<Response>(_ operation: String, _ area: RTMArea, _ body: () async throws -> Response) async -> RTMAnswer<Response> {
        do { return (try await body(), nil) } catch { return (nil, RTMErrorInfo(error, operation: operation, in: area)) }
    }

    /// A call that needs a login and answers something.
    func ask<Response>(
        _ operation: String, _ area: RTMArea, _ body: (WhiteboardClient) async throws -> Response
    ) async -> RTMAnswer<Response> {
        await attempt(operation, area) { try await body(try self.client()) }
    }

    /// The client, and the number of the login that it is of.
    ///
    /// - Throws: `RTMErrorInfo` with `notLogin`, `instanceAlreadyReleased`.
    func session() throws -> (client: WhiteboardClient, login: UInt64) {
        let (session, login) = state.withLock { ($0.session, $0.logins) }
        switch session {
        case .loggedIn(let client): return (client, login)
        case .released: throw Self.released
        case .none, .loggingIn: throw Self.notLoggedIn
        }
    }

    func client() throws -> WhiteboardClient { try session().client }

    /// A call that needs a login and answers that it was done.
    func call(_ operation: String, _ area: RTMArea, _ body: (WhiteboardClient) async throws -> Void) async -> RTMAnswer<RTMCommonResponse> {
        await ask(operation, area) { client in
            try await body(client)
            return RTMCommonResponse()
        }
    }
}
