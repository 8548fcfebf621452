import RelayCluster
import RelayPrimitives

// The links to the log, and what goes wrong.

extension ClusterSimulation {
    private var delay: UInt64 {
        let most: [UInt64] = [300, 500, 1_000, 2_000, 5_000, 20_000, 150_000, 900_000]
        return 1_000 * dice.below(most[Int(dice.below(8))] + 1)
    }

    // MARK: - The link

    func linked(_ node: SimulatedNode) {
        on(node, after: delay) { world in
            if !node.isCut { world.handle(.log(.linked), node) }
        }
    }

    func ask(_ call: SpaceLog.Call, _ node: SimulatedNode) {
        guard !node.isCut else { return unanswered(call, node) }
        let link = node.link
        after(delay) { world in
            guard node.link == link else { return }
            guard !world.isEngineDown else { return world.unanswered(call, node) }
            guard let answer = world.answer(call, node) else { return }
            guard !world.dice.chance(1, in: 50) else {
                world.done.lostAnswers += 1
                return world.unanswered(call, node)
            }
            guard let end = node.isMuteUntil else { return world.deliver(answer, node) }
            guard world.time >= end else { return }
            node.isMuteUntil = nil
            world.deliver(answer, node) { $0.cut(node, (9_000 + $0.dice.below(4_000)) * 1_000_000) }
        }
    }

    /// The link says so, or nothing.
    private func unanswered(_ call: SpaceLog.Call, _ node: SimulatedNode) {
        guard case .append(_, _, let id) = call, dice.chance(1, in: 2) else { return }
        on(node, after: delay) { $0.handle(.log(.appended(id, .unknown)), node) }
    }

    private func deliver(_ answer: SpaceLog.Answer, _ node: SimulatedNode, then next: @escaping (ClusterSimulation) -> Void = { _ in }) {
        let link = node.link
        on(node, after: delay) { world in
            if node.link == link { world.handle(.log(answer), node) }
            next(world)
        }
    }

    private func answer(_ call: SpaceLog.Call, _ node: SimulatedNode) -> SpaceLog.Answer? {
        // A leader that was replaced and does not know it.
        let isStale = world == .faulty && dice.chance(1, in: 300) && log.end > 3
        switch call {
        case .append(let bytes, let after, let id):
            if isStale {
                done.staleAnswers += 1
                return .appended(id, .wrong(end: log.end - 1 - dice.below(3)))
            }
            let end = log.end
            let appended = log.append(bytes, after: after, id: id)
            if log.end > end { for other in nodes { push(log.entries.last!, other) } }
            return .appended(id, appended)
        case .readEnd(let number):
            guard isStale, let entry = log.entries(from: log.end - 1 - dice.below(3)).first else {
                return .end(log.entries.last?.bytes ?? [], at: log.end, number: number)
            }
            done.staleAnswers += 1
            return .end(entry.bytes, at: entry.position, number: number)
        case .follow(let position, let number):
            (node.follows, node.newestComesAt) = (position == nil ? nil : number, time)
            if let position { for entry in log.entries(from: position) { push(entry, node) } }
            return nil
        case .trim(let position):
            log.trim(below: position)
            return nil
        }
    }

    /// In order, as over one connection.
    private func push(_ entry: (position: UInt64, bytes: [UInt8]), _ node: SimulatedNode) {
        guard let number = node.follows, !node.isCut, node.isAlive else { return }
        node.newestComesAt = max(node.newestComesAt, time + delay)
        let link = node.link
        on(node, after: node.newestComesAt - time) {
            if node.link == link { $0.handle(.log(.entry(entry.bytes, at: entry.position, number: number)), node) }
        }
    }

    // MARK: - Faults

    func fault() {
        guard time < Self.faultsEnd else { return }
        let owner = nodes.first { $0.hub != nil }
        let node = dice.chance(3, in: 5) ? owner ?? nodes[0] : nodes[Int(dice.below(3))]
        let lengths: [UInt64] = [300, 2_000, 6_000, 9_000, 11_000, 14_000, 20_000]
        let length = lengths[Int(dice.below(7))] * 1_000 * (500 + dice.below(1_001))
        switch dice.below(15) {
        case 0...2: pause(node, length)
        case 3, 4: cut(node, length)
        case 5: crash(node, length)
        case 6, 7: breakEngine(length)
        case 8: deafen(node)
        case 9: breakDisk(node, length)
        case 10: resign(node)
        case 11: mute(node)
        case 12, 13: hesitate(node)
        // All at once.
        default:
            pause(node, length / 2)
            breakEngine(length)
        }
        // Some need time to do harm.
        let pause = dice.chance(1, in: 3) ? 15 * Self.second : Self.second / 5
        after(pause + dice.below(8 * Self.second)) { $0.fault() }
    }

    private func pause(_ node: SimulatedNode, _ length: UInt64) {
        say("node \(node.name) pauses for \(length / 1_000_000) ms")
        done.pauses += 1
        node.pausedUntil = max(node.pausedUntil, time + length)
    }

    private func cut(_ node: SimulatedNode, _ length: UInt64) {
        guard !node.isCut else { return }
        say("node \(node.name) is cut off for \(length / 1_000_000) ms")
        done.cuts += 1
        (node.isCut, node.follows) = (true, nil)
        node.link += 1
        after(length) { world in
            node.isCut = false
            world.linked(node)
        }
    }

    /// The log hears a node that hears nothing of it. At last one answer comes, and with it the link ends.
    private func mute(_ node: SimulatedNode) {
        guard node.isAlive, !node.isCut else { return }
        say("node \(node.name) hears no answer")
        done.mutes += 1
        node.isMuteUntil = time + (5_000 + dice.below(4_500)) * 1_000_000
    }

    private func crash(_ node: SimulatedNode, _ length: UInt64) {
        guard node.isAlive else { return }
        say("node \(node.name) dies for \(length / 1_000_000) ms")
        done.crashes += 1
        die(node)
        after(length) { world in
            node.isAlive = true
            node.life += 1
            (node.pausedUntil, node.isDiskBroken, node.isMuteUntil) = (0, false, nil)
            world.boot(node)
        }
    }

    private func breakEngine(_ length: UInt64) {
        guard !isEngineDown else { return }
        say("the engine is silent for \(length / 1_000_000) ms")
        done.outages += 1
        isEngineDown = true
        // Links end with it, or only wait.
        let isCutting = dice.chance(1, in: 2)
        if isCutting {
            for node in nodes {
                node.follows = nil
                node.link += 1
            }
        }
        after(length) { world in
            world.isEngineDown = false
            if isCutting { for node in world.nodes where !node.isCut { world.linked(node) } }
        }
    }

    /// What it follows ends without a word.
    private func deafen(_ node: SimulatedNode) {
        guard node.follows != nil else { return }
        done.deaf += 1
        node.follows = nil
    }

    private func breakDisk(_ node: SimulatedNode, _ length: UInt64) {
        guard node.isAlive, !node.isDiskBroken, time >= node.pausedUntil else { return }
        say("the disk of node \(node.name) fails for \(length / 1_000_000) ms")
        done.diskFailures += 1
        (node.isDiskBroken, node.writing) = (true, [])
        handle(.diskFailed, node)
        on(node, after: length) { world in
            node.isDiskBroken = false
            world.handle(.diskRecovered, node)
        }
    }

    private func resign(_ node: SimulatedNode) {
        guard node.isAlive, node.hub != nil, time >= node.pausedUntil else { return }
        say("node \(node.name) resigns")
        done.resignations += 1
        handle(.resign, node)
    }

    /// Until the faults end, or it starts anew.
    private func hesitate(_ node: SimulatedNode) {
        let hesitation: Duration? = dice.chance(1, in: 3) ? nil : .milliseconds(Int64(dice.below(2_000)))
        say("node \(node.name) hesitates: \(hesitation.map { "\($0)" } ?? "it takes nothing")")
        done.hesitations += 1
        on(node, after: 1) { $0.handle(.hesitate(hesitation), node) }
        on(node, after: Self.faultsEnd - time) { $0.handle(.hesitate(.zero), node) }
    }

    func forget() {
        guard log.end > 8 else { return }
        done.forgotten += 1
        log.forget(after: log.end - 1 - dice.below(6))
        say("the log forgets what is behind \(log.end)")
    }
}
