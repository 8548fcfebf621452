internal import RelayClientCore
internal import RelayWire

/// A client machine, the link it has, and an app that keeps books.
final class SimulatedClient {
    let index: Int
    let user: String
    var machine: ClientMachine
    var books: ClientBooks
    var link: SimulatedLink?
    /// Links that were asked for and are not made or refused yet.
    var opening: (attempt: UInt64, at: UInt64)?
    /// The app reads nothing until then, in nanoseconds.
    var readsFrom: UInt64 = 0
    /// Events that may wait for the app.
    var holdsBackAt = 0

    enum Sent { case message(channel: String, payload: UInt64), direct(payload: UInt64), request(ClientRequest), connect, close }

    private var lastToken: ClientToken = 0
    /// What waits to be completed.
    var waiting: [ClientToken: Sent] = [:]
    var completed: Set<ClientToken> = []
    /// Which start of the relay was there when a message was handed over.
    var runs: [ClientToken: Int] = [:]
    /// Topics that the app publishes in, as far as it knows.
    var publishing: Set<TopicID> = []
    var isClosing = false
    /// No link of its can be made before, in nanoseconds.
    var unreachableUntil: UInt64 = 0
    /// What had been accepted when the relay last logged it in.
    var orderAtLogin = 0
    var deadlinesFired = 0

    init(index: Int, user: String, settings: ClientSettings) {
        self.index = index
        self.user = user
        machine = ClientMachine(settings: settings)
        books = ClientBooks(name: user, index: index)
    }

    func token(_ sent: Sent) -> ClientToken {
        lastToken += 1
        waiting[lastToken] = sent
        return lastToken
    }

    func takeBack(_ token: ClientToken) { waiting[token] = nil }
}
