import RelayClient
import RelayConsole
import RelayIO
import RelayWire

extension Command {
    static let lock = Command(
        name: "lock",
        summary: "sets, acquires and releases locks of a channel",
        arguments: [
            .action(LockAction.self, help: "set, acquire, release, revoke, remove or list."),
            .init(name: "CHANNEL", help: "The channel's name."),
            .init(name: "LOCK", isOptional: true, help: "The lock's name; list takes none."),
        ],
        options: [
            .flag("--stream", help: "Uses the stream channel of this name instead of the message channel."),
            .value("--ttl", as: "TIME", help: "set: how long the lock outlives its owner's connection, 1s to 5m. Default: 10s."),
            .value("--wait", as: "TIME", help: "acquire: how long to wait in line, at most 5m."),
            .value("--from", as: "USER", help: "revoke: the user who holds the lock."),
            .value("--timeout", as: "TIME", help: "Ends after this time with exit code 124. Default: never."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            """
            A lock belongs to one device of a user: use the same --as on the same machine to release it. The lock's ttl starts when \
            that device's connection ends, usually with this command.
            """
        ],
        examples: [
            .init("boardrelay lock set lesson pen --ttl 30s", "Makes the lock 'pen'."),
            .init("boardrelay lock acquire lesson pen --wait 1m --as alice", "Waits for it, and prints the fencing number."),
            .init("boardrelay lock list lesson", "All locks and their owners."),
        ],
        run: lock)

    private enum LockAction: String, CaseIterable { case set, acquire, release, revoke, remove, list }

    private static func lock(_ arguments: Arguments) async throws -> ExitCode {
        let action: LockAction = try arguments.action()
        let channel = try arguments.name(argument: 1, "CHANNEL")!
        let lock = try arguments.name(argument: 2, "LOCK")
        if action == .list, lock != nil { throw UsageError("list takes no LOCK") }
        if action != .list, lock == nil { throw UsageError("LOCK is missing") }
        for (option, owner) in [("--ttl", LockAction.set), ("--wait", .acquire), ("--from", .revoke)]
        where arguments.flag(option) && action != owner {
            throw UsageError("option \(option) is for \(owner.rawValue)")
        }
        let ttl = try arguments.duration("--ttl") ?? .seconds(10), wait = try arguments.duration("--wait")
        let owner = try arguments.name("--from")
        if action == .revoke, owner == nil { throw UsageError("revoke wants --from USER: whose lock it is") }
        let timeout = try arguments.duration("--timeout")
        let user = try arguments.user()
        let json = arguments.flag("--json")
        let address = try arguments.address()
        let code = try await withClient(arguments, as: user, timeout: timeout) { client in
            let locks = try client.locks(of: arguments.flag("--stream") ? .stream(channel) : .message(channel))
            var fields: JSONValue = ["type": .string(action.rawValue), "channel": .string(channel), "lock": .optional(lock)]
            switch action {
            case .set: try await locks.lock(lock!).make(ttl: ttl)
            case .acquire:
                let fencing = try await locks.lock(lock!).acquire(wait: wait).fencing
                if !json { try Console.print("\(fencing)") }
                fields = .object([fields, ["fencing": .integer(Int(clamping: fencing)), "owner": .string(user)]])
            case .release: try await locks.lock(lock!).release()
            case .revoke: try await locks.lock(lock!).revoke(from: owner!)
            case .remove: try await locks.lock(lock!).remove()
            case .list:
                let all = try await locks.all()
                fields = ["type": "locks", "channel": .string(channel), "locks": .array(all.map(EventJSON.lock))]
                if !json { try list(all, of: channel) }
            }
            if json {
                try Console.print((action == .list ? fields : .object([fields, ["relay": .string("\(address)")]])).line)
            } else if action != .list {
                noteChange("lock \(lock!) of \(channel) is \(action == .set ? "set" : action.rawValue + "d").", at: address)
            }
            return .ok
        }
        if code == .timedOut { Console.note("boardrelay lock: timed out; it may have happened or not") }
        return code
    }

    private static func list(_ locks: [LockDetail], of channel: String) throws {
        Console.note(locks.isEmpty ? "\(channel) has no locks." : "\(Printable.count(locks.count, "lock")) of \(channel):")
        var table = Table(("lock", .left), ("owner", .left), ("fencing", .right), ("ttl", .right))
        for lock in locks {
            table.add(lock.lock, lock.owner ?? "-", lock.fencing.map { "\($0)" } ?? "-", "\(lock.ttl / .seconds(1)) s")
        }
        if !table.isEmpty { for line in table.lines { try Console.print(line) } }
    }
}
