internal import RelayCore
import RelayPrimitives
internal import RelayTesting
internal import RelayWire

// What moderators decide, between all other changes: about users and channels that nobody else has to do with, and about
// the user whose metadata everybody reads. On this relay, which is open, everybody may. [AC15]

extension StorageSimulation {
    private static let pupils = ["pupil-0", "pupil-1"]
    private static let rooms = ["room-0", "room-1"]

    /// Dice of its own, so that all else is what it was without.
    func maybeModerate() {
        guard moderationRandom.chance(1, in: 5), let user = users.filter({ $0.client != nil }).randomElement(using: &moderationRandom)
        else { return }
        moderate(user, user.client!)
    }

    private func moderate(_ user: StorageUser, _ client: TestClient) {
        let pupil = Self.pupils.randomElement(using: &moderationRandom)!, room = Self.rooms.randomElement(using: &moderationRandom)!
        let name = try! Name(pupil), id = client.nextRequest()
        let asker = Asker(user: user, client: client, id: id)
        switch Int.random(in: 0..<6, using: &moderationRandom) {
        case 0, 1:
            let role = [nil, "reader", "editor", "coeditor"].randomElement(using: &moderationRandom)!
            driver.send(.json(.setRole, SetRoleRequest(id: id, user: name, role: role)), from: client.id)
            decide(asker, isNew: applied.decisions.roles[pupil] != role) { $0.decisions.roles[pupil] = role }
        case 2, 3:
            let isOn = moderationRandom.chance(1, in: 2), mode = ChannelMode.allCases.randomElement(using: &moderationRandom)!
            driver.send(.json(.setMode, SetModeRequest(id: id, channel: try! Name(room), mode: mode, on: isOn)), from: client.id)
            decide(asker, isNew: applied.decisions.modes[room, default: []].contains(mode) != isOn) { model in
                if isOn { model.decisions.modes[room, default: []].insert(mode) } else { model.decisions.modes[room]?.remove(mode) }
                if model.decisions.modes[room]?.isEmpty == true { model.decisions.modes[room] = nil }
            }
        case 4:
            if moderationRandom.chance(1, in: 2) {
                driver.send(.json(.banUser, BanUserRequest(id: id, user: name)), from: client.id)
                decide(asker, isNew: true) { $0.decisions.bans[pupil] = user.user }
            } else {
                driver.send(.json(.unbanUser, UserRequest(id: id, user: name)), from: client.id)
                guard applied.decisions.bans[pupil] != nil else {
                    return refuse(asker, .refused(id, isReadOnly ? [.notBanned, .storageFailed] : [.notBanned]))
                }
                decide(asker, isNew: true) { $0.decisions.bans[pupil] = nil }
            }
        default: forget(asker, moderationRandom.chance(1, in: 2) ? pupil : "user-0")
        }
    }

    private func decide(_ asker: Asker, isNew: Bool, told: Told? = nil, _ change: (inout StorageModel) -> Void) {
        guard isNew else { return answerInOrder(asker) }
        guard !isRefused(asker.user, asker.id, []) else { return }
        done.decisions += 1
        accept(asker, told, change)
    }

    /// Metadata and role in one change, or nothing. [AC14]
    private func forget(_ asker: Asker, _ user: String) {
        driver.send(.json(.forgetUser, ForgetUserRequest(id: asker.id, user: try! Name(user))), from: asker.client.id)
        var asker = asker
        asker.waitsForErasure = true
        guard !isRefused(asker.user, asker.id, []) else { return }
        let set = "user:\(user)"
        let items = Set((applied.sets[set]?.items ?? [:]).keys)
        let told: Told? =
            items.isEmpty
            ? nil : .metadata(set, isSnapshot: false, majorRevision: applied.sets[set]!.majorRevision + 1, items: [:], removed: items)
        decide(asker, isNew: !items.isEmpty || applied.decisions.roles[user] != nil, told: told) { model in
            model.decisions.roles[user] = nil
            guard !items.isEmpty else { return }
            model.sets[set]!.majorRevision += 1
            model.sets[set]!.items = [:]
        }
    }

    /// What holds is what is durable, no less and no more.
    func checkDecisions() throws {
        let found = driver.hub.decisions
        let held = (
            roles: Dictionary(uniqueKeysWithValues: found.roles.map { ($0.0.text, $0.1) }),
            modes: Dictionary(grouping: found.modes, by: \.0.text).mapValues { Set($0.map(\.1)) },
            bans: Dictionary(uniqueKeysWithValues: found.bans.map { ($0.0.text, $0.1.text) })
        )
        guard held.roles == durable.decisions.roles, held.modes == durable.decisions.modes, held.bans == durable.decisions.bans else {
            throw BrokenPromise("[AC15, SG1] moderators' decisions are \(held), durable is \(durable.decisions)")
        }
    }
}

/// What moderators have decided.
struct DecisionsModel: Equatable {
    var roles: [String: String] = [:]
    var modes: [String: Set<ChannelMode>] = [:]
    /// By whom, by user.
    var bans: [String: String] = [:]
}
