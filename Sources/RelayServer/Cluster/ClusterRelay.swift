internal import RelayCore
import RelayIO
import RelayWire

/// One node of a space with a log: it serves the space while it owns it, and follows whoever else does.
///
/// The port is a *door*'s, as with `SharedRelay`: it stands while ownerships come and go, and tells who asks that this node stands by. Each
/// ownership is a relay behind it, on the node's folder. Calls are safe from anywhere.
@available(macOS 15, iOS 18, *)
package final class ClusterRelay: Sendable {
    package let door: WhiteboardRelay
    private let member: SpaceMember
    private let controls = Mutex<[ControlServer]>([])

    private init(_ door: WhiteboardRelay, _ member: SpaceMember) { (self.door, self.member) = (door, member) }

    /// Opens the folder and the port, and follows the log; who owns the space is decided there.
    ///
    /// - Throws: when the port or the folder cannot be had, or the folder is not one of this log.
    package static func start(
        _ options: WhiteboardRelay.Options, _ log: SpaceLogOptions
    ) async throws(RelayServerError) -> ClusterRelay {
        let place = RelayPlace(), tls = WhiteboardRelay.shownWeb(options, try options.tls?.identity()).tls
        let member = try await SpaceMember.open(ofSpace(options, tls), log, behind: place)
        do throws(RelayServerError) {
            let part = RelayPart.door(to: [], elsewhere: [log.space: .unknown])
            let door = try await WhiteboardRelay.start(ofDoor(options), permit: { _ in }, as: part)
            place.opens(at: door.address)
            let cluster = ClusterRelay(door, member)
            do {
                let controls = try WhiteboardRelay.controls(options, door.address, cluster.answers())
                cluster.controls.withLock { $0 = controls }
            } catch {
                await door.stop()
                throw RelayServerError(text: "\(error)")
            }
            await door.engine.tell(of: [(nil, member.node)])
            await cluster.lead()
            await member.begin { [weak cluster] in await cluster?.lead() }
            return cluster
        } catch {
            await member.stop()
            throw error
        }
    }

    /// It keeps nothing, and lets nobody in.
    private static func ofDoor(_ options: WhiteboardRelay.Options) -> WhiteboardRelay.Options {
        var door = options
        (door.storage, door.access, door.sharers) = (.inMemory, .open, 2)
        door.hub = Configuration(memory: 16 << 20)
        door.hub.connectionsMax = options.hub.connectionsMax
        return door
    }

    private static func ofSpace(_ options: WhiteboardRelay.Options, _ tls: TLSReport?) -> WhiteboardRelay.Options {
        var own = options
        (own.web.tls, own.sharers, own.tls) = (tls, 2, nil)
        return own
    }

    private func lead() async {
        await door.engine.lead { [member] in
            guard let owner = member.owner else { return ([:], [member.space: member.whereabouts], true) }
            return ([member.space: owner.engine], [:], true)
        }
    }

    /// Lets other options hold: see `WhiteboardRelay.apply`.
    package func apply(_ options: WhiteboardRelay.Options) throws(RelayServerError) {
        try door.apply(Self.ofDoor(options))
        try member.apply(Self.ofSpace(options, door.tls))
    }

    /// The relay that serves, while this node owns the space.
    package var owner: WhiteboardRelay? { member.owner }

    package func announced(as name: String?) {
        door.announced(as: name)
        owner?.announced(as: name)
    }

    /// Gives the space to another node first, then ends.
    package func stop() async {
        for control in controls.withLock({ $0 }) { control.close() }
        await member.stop()
        await door.stop()
    }

    // MARK: - The operator

    private func answers() -> ControlAnswers {
        let ofDoor = door.control.answer, ofMember = member.answers { ofDoor(.status) as? Status }
        return ControlAnswers(
            answer: { @Sendable request in
                switch request {
                case .about, .usage, .reload: ofDoor(request)
                default: ofMember.answer(request)
                }
            }, backup: ofMember.backup)
    }
}
