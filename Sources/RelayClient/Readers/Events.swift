import RelayPrimitives

/// Everything from the moment on in which the sequence was made, in the relay's order.
///
/// It is for one loop: `break`, the end of its task, or leaving what it reads end it. It throws `tooSlow` when the loop lags by more than
/// 4 MiB, and why the relay has ended what it reads. A loop that runs keeps the client.
public struct Events<Element: Sendable>: AsyncSequence, Sendable {
    let reader: Reader
    /// What is made of an item; `nil`: it is passed over.
    let extract: @Sendable (ReaderItem) -> Element?

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, extract: extract, end: ReaderEnd(reader)) }

    /// Takes one after the other. It is for one task.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: Reader
        let extract: @Sendable (ReaderItem) -> Element?
        let end: ReaderEnd

        /// The next; `nil` at the end, and when the task is cancelled.
        ///
        /// - Throws: `tooSlow`; `channelEnded`, `notPermitted` and what else the relay says where it ends what is read.
        public mutating func next() async throws(RelayError) -> Element? {
            while !Task.isCancelled {
                switch reader.client.core.take(reader.id) {
                case .item(let item): if let element = extract(item) { return element }
                case .end(let error?): throw error
                case .end(nil): return nil
                case .nothing:
                    let id = reader.id
                    await reader.client.core.wait(.events(id)) { $0.feed.isReady(id) }
                }
            }
            end.now()
            return nil
        }
    }
}

/// An open reader; it ends with its last reference.
final class Reader: Sendable {
    let client: WhiteboardClient
    let id: ReaderFeed.ID
    private let channel: String?
    private let ended: @Sendable (WhiteboardClient, ReaderFeed.ID) -> Void
    private let isClosed = Mutex(false)

    /// - Parameters:
    ///   - channel: the reader ends when that is left; of packets with their topic.
    ///   - ended: once nobody reads any more.
    init(
        _ client: WhiteboardClient, of type: Any.Type, channel: String? = nil, topic: String? = nil, view: @escaping ReaderFeed.View,
        ended: @escaping @Sendable (WhiteboardClient, ReaderFeed.ID) -> Void = { _, _ in }
    ) {
        (self.client, self.channel, self.ended) = (client, channel, ended)
        id = client.core.act { readable, now in readable.open(channel: channel, topic: topic, at: now, view: view) }
        client.core.begin(.events(id), type)
    }

    init(_ client: WhiteboardClient, of type: Any.Type, id: ReaderFeed.ID) {
        (self.client, self.id, channel, ended) = (client, id, nil, { _, _ in })
        client.core.begin(.events(id), type)
    }

    func close() {
        guard
            isClosed.withLock({ isClosed in
                defer { isClosed = true }
                return !isClosed
            })
        else { return }
        client.core.act { readable, _ in readable.close(id, channel: channel) }
        client.core.end(.events(id))
        ended(client, id)
    }

    deinit { close() }
}

/// Ends a reader with the loop that reads.
final class ReaderEnd: Sendable {
    private let reader: Reader
    init(_ reader: Reader) { self.reader = reader }
    func now() { reader.close() }
    deinit { reader.close() }
}

extension WhiteboardClient {
    /// A reader of what handles show.
    func events<Element: Sendable>(
        channel: String? = nil, topic: String? = nil, ended: @escaping @Sendable (WhiteboardClient, ReaderFeed.ID) -> Void = { _, _ in },
        _ extract: @escaping @Sendable (ReaderItem) -> Element?
    ) -> Events<Element> {
        let extract: @Sendable (ReaderItem) -> Element? = { $0.audience.contains(.handles) ? extract($0) : nil }
        let reader = Reader(
            self, of: Events<Element>.self, channel: channel, topic: topic, view: { extract($0) == nil ? nil : $0 }, ended: ended)
        return Events(reader: reader, extract: extract)
    }
}
