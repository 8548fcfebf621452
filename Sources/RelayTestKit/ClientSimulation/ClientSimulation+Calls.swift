internal import RelayClientCore
internal import RelayCore
import RelayPrimitives
internal import RelayWire

// What the apps ask of their clients.

extension ClientSimulation {
    // MARK: - Calls of the apps

    func payload() -> Payload {
        lastPayload += 1
        var bytes: [UInt8] = []
        bytes.append(bigEndian: lastPayload)
        bytes.append(contentsOf: [UInt8](repeating: 7, count: Int.random(in: 0...200, using: &random)))
        return .bytes(bytes)
    }

    func send(_ client: SimulatedClient, _ channel: Name) {
        let payload = payload()
        let token = client.token(.message(channel: channel.text, payload: payload.digest))
        client.runs[token] = run
        do throws(RelayError) {
            try client.machine.send(
                payload, to: channel.text, customType: nil, echo: random.chance(1, in: 5), isKept: !random.chance(1, in: 8), token: token,
                at: moment)
        } catch { client.takeBack(token) }
    }

    func sendDirect(_ client: SimulatedClient) {
        let payload = payload()
        let token = client.token(.direct(payload: payload.digest))
        do throws(RelayError) {
            try client.machine.send(payload, toUser: clients.randomElement(using: &random)!.user, customType: nil, token: token, at: moment)
        } catch { client.takeBack(token) }
    }

    func sendPacket(_ client: SimulatedClient, _ topic: TopicID) {
        do throws(RelayError) {
            try client.machine.sendPacket(
                payload(), topic, slot: random.chance(1, in: 3) ? 1 : nil, senderTime: nil, echo: random.chance(1, in: 5), at: moment)
        } catch { return }
    }

    func ask(_ client: SimulatedClient, _ request: ClientRequest) {
        let token = client.token(.request(request))
        if case .subscribe(let channel, _, _, let since) = request {
            if since != nil { client.books.replays[channel.text, default: 0] += 1 }
            client.books.subscriptionChanges(channel.text, until: .max)
        }
        if case .unsubscribe(let channel) = request { client.books.subscriptionChanges(channel.text, until: .max) }
        do throws(RelayError) { try client.machine.request(request, token: token, at: moment) } catch { client.takeBack(token) }
    }
}
