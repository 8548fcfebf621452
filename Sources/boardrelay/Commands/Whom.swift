#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayClient
import RelayConsole
import RelayMonitoring
import RelayPrimitives
import RelayWire

/// Finds out whom a moderator means, before anything is done.
struct Whom {
    /// What the command was given: an id, or what somebody calls themselves.
    let word: String
    /// What is asked, with the id in it: "Ban anna?"
    let question: (String) -> String

    /// - Returns: the id that is meant, whether the relay knows it, and when the relay had said so: the time in which somebody
    ///   thinks about the question is not the relay's.
    /// - Throws: `Failure`, when the name fits no user or several, or the operator answers no.
    func find(_ arguments: Arguments, timeout: Duration) async throws -> (user: String, isKnown: Bool, at: ContinuousClock.Instant) {
        let isID = (try? Name(word)) != nil
        var addressee = Addressee.id, isWhole = true
        let code = try await withClient(arguments, as: try arguments.user(), timeout: timeout) { client in
            let isKnown = isID ? try await client.moderation.status(limit: 1, asking: word).known ?? true : false
            let people = try await People.look(client)
            isWhole = people.isWhole
            addressee = Addressee(word, isKnownID: isKnown, among: people.all)
            return .ok
        }
        guard code == .ok else { throw Failure("\(code == .timedOut ? "timed out" : "stopped"); nothing was done", exitCode: code) }
        let told = ContinuousClock.now
        switch addressee {
        case .id: return (word, true, told)
        case .contested(let people):
            // Anybody can take an id that is what somebody else is called.
            Console.note("\(Printable.quoted(word)) is a user's id, and here it is also the name of:")
            show(people)
            if Question.canBeAsked { try ask(word) } else { Console.note("The id counts.") }
            return (word, true, told)
        case .person(let person):
            Console.note("No user has the id \(Printable.quoted(word)). One person here has that name:")
            show([person])
            guard Question.canBeAsked else { throw Failure("give the id, \(person.user), where no terminal can ask", exitCode: .usage) }
            try ask(person.user)
            return (person.user, true, told)
        case .several(let people):
            Console.note("No user has the id \(Printable.quoted(word)). \(people.count) people here have that name:")
            show(people)
            throw Failure("give the user's id", exitCode: .usage)
        case .nobody(let similar):
            let who = isWhole ? "nobody here" : "nobody of the first \(People.askedMax) here"
            Console.note("This relay knows no user with the id \(Printable.quoted(word)), and \(who) has that name.")
            if !similar.isEmpty {
                Console.note("Similar:")
                show(similar)
            }
            Console.note("It keeps no names of people who have left: use their ids.")
            Console.note("'boardrelay sub BOARD --since beginning --json' tells the id of the sender of each record.")
            guard isID else { throw Failure("\(Printable.quoted(word)) is no user's id or name") }
            if Question.canBeAsked { try ask(word) }
            return (word, false, told)
        }
    }

    private func ask(_ user: String) throws(Failure) {
        guard Question.isYes(question(user)) else { throw Failure("nothing was done") }
    }

    private func show(_ people: [People.Person]) {
        let now = Date().timeIntervalSince1970 * 1_000
        var table = Table(("  ID", .left), ("NAME", .left), ("HERE SINCE", .left), ("IN", .left))
        for person in people {
            let since = UInt64(max(0, now - person.hereFor / .milliseconds(1)))
            let time = "\(Console.localTime(wallMilliseconds: since)) (\(Printable.clock(person.hereFor)))"
            table.add("  \(person.user)", person.names.joined(separator: ", "), time, person.channels.joined(separator: ", "))
        }
        for line in table.lines { Console.note(line) }
    }
}
