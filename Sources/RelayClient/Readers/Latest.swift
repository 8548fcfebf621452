/// The present value first, then the newest whenever it has changed. It skips older ones, never throws, and ends with its task, its channel
/// or its client. A loop that runs keeps the client.
public struct Latest<Element: Sendable>: AsyncSequence, Sendable {
    typealias Standing = ReadableMachine.Standing

    let client: WhiteboardClient
    let standing: @Sendable (ReadableMachine) -> Standing
    let make: @Sendable (inout ReadableMachine, _ reader: UInt64) -> Element
    var ended: @Sendable (inout ReadableMachine, _ reader: UInt64) -> Void = { _, _ in }
    private let stay: Int

    init(
        _ client: WhiteboardClient, standing: @escaping @Sendable (ReadableMachine) -> Standing,
        make: @escaping @Sendable (inout ReadableMachine, _ reader: UInt64) -> Element,
        ended: @escaping @Sendable (inout ReadableMachine, _ reader: UInt64) -> Void = { _, _ in }
    ) {
        (self.client, self.standing, self.make, self.ended) = (client, standing, make, ended)
        stay = client.core.read(standing).stay
    }

    public func makeAsyncIterator() -> Iterator { Iterator(latest: self, place: Place(self), stay: stay) }

    /// Takes one after the other. It is for one task.
    public struct Iterator: AsyncIteratorProtocol {
        let latest: Latest
        let place: Place
        let stay: Int
        var version: Int?

        /// The newest; `nil` at the end, and when the task is cancelled.
        public mutating func next() async -> Element? {
            let (core, standing, make, id, stay) = (latest.client.core, latest.standing, latest.make, place.id, stay)
            while !Task.isCancelled {
                let seen = version
                let (now, element) = core.act { readable, _ -> (Standing, Element?) in
                    let now = standing(readable)
                    return (now, now.stay == stay && now.version != seen ? make(&readable, id) : nil)
                }
                version = now.version
                if let element { return element }
                guard now.stay == stay, !now.isOver else { return nil }
                await core.wait(.latest(id)) { readable in
                    let now = standing(readable)
                    return now.version != seen || now.stay != stay || now.isOver
                }
            }
            return nil
        }
    }

    /// What the client remembers of an iterator, as long as that is there.
    final class Place: Sendable {
        private let latest: Latest
        let id: UInt64

        init(_ latest: Latest) {
            self.latest = latest
            id = latest.client.core.act { readable, _ in readable.newReader() }
            latest.client.core.begin(.latest(id), Latest.self)
        }

        deinit {
            latest.client.core.act { readable, _ in latest.ended(&readable, id) }
            latest.client.core.end(.latest(id))
        }
    }
}
