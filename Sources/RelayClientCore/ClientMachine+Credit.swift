import RelayPrimitives
import RelayWire

// How fast publishes leave, and what happens behind one that is refused. [MS10, RT8]

extension ClientMachine {
    /// A login counts from the whole credit of every channel.
    mutating func renewCredit(_ milliseconds: Int, at now: Instant) {
        windows = [:]
        // One percent, and a millisecond, for two clocks that run at different speeds.
        publishAt = milliseconds > 0 ? now + .microseconds(Int64(milliseconds) * 1_010 + 1_000) : nil
    }

    mutating func credit(_ notice: CreditNotice) { windows[notice.channel]?.credit = Int(notice.credit) }

    mutating func answered(_ channel: Name, credit: UInt32?, at now: Instant) {
        windows[channel]?.answered(credit: credit.map { Int($0) }, at: now)
    }

    // MARK: - Behind a refusal

    mutating func refused(_ message: OutgoingMessage, _ number: UInt64, _ error: RelayError) {
        let channel = message.channel
        switch error.code {
        case .behindRefused where stopped[channel] != nil: stopped[channel]!.again.append(message)
        // What was refused before it was not heard of.
        case .behindRefused: stopped[channel] = StoppedChannel(number: number, again: [message])
        case .rateLimited, .notAccepted, .outcomeUnknown: settleRefused(message, error)
        default:
            if relayStops, stopped[channel] == nil { stopped[channel] = StoppedChannel(number: number) }
            settleRefused(message, error)
        }
        goOn(channel)
    }

    private mutating func settleRefused(_ message: OutgoingMessage, _ error: RelayError) {
        if let part = message.part { refused(part, error) } else { fail(message, error) }
    }

    /// Once all that was sent is answered, the relay is told to go on, and what it refused is sent again, in its order.
    mutating func goOn(_ channel: Name) {
        guard windows[channel]?.unanswered == 0, let stop = stopped.removeValue(forKey: channel) else { return }
        sendAgain(stop, channel)
        ask(.goOn(channel, stop.number), token: nil)
    }

    /// The link has ended: what was sent behind the refused ones was refused, too, or never came.
    mutating func goOnWithStopped() {
        for channel in stopped.keys.inOrder() {
            var stop = stopped[channel]!
            for number in publishes.keys.inOrder() where number > stop.number && publishes[number]!.channel == channel {
                stop.again.append(publishes.removeValue(forKey: number)!.message!)
            }
            sendAgain(stop, channel)
        }
        stopped = [:]
    }

    /// Under new numbers, behind what has one and before all else. Parts leave beside the queue.
    private mutating func sendAgain(_ stop: StoppedChannel, _ channel: Name) {
        goingOn[channel] = stop.number
        let numbered = queue.elements.prefix { $0.message?.number != nil }
        let isBehind = { (item: Outgoing) in item.message!.channel == channel && item.message!.number! > stop.number }
        let first = numbered.filter { !isBehind($0) }
        let behind = numbered.filter(isBehind)
        for _ in numbered { _ = queue.removeFirst() }
        for item in behind { count(item, -1) }
        var again: [Outgoing] = []
        for var message in stop.again + behind.compactMap(\.message) {
            message.number = nil
            message.wasRefused = true
            if let part = message.part { sendAgain(part) } else { again.append(.message(message)) }
        }
        queue.prepend(first + again)
        for item in again { count(item, 1) }
    }
}
