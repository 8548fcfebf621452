import RelayClient
import RelayConsole
import RelayMonitoring
import RelayWire

/// Who is at a relay, as others see them: for a command that was given a name, or the wrong channel.
struct People {
    struct Person: Equatable {
        var user: String
        /// What it calls itself: its state `name`, which may differ from channel to channel.
        var names: [String] = []
        var hereFor = Duration.zero
        /// Of those it is in, as far as they were looked at.
        var channels: [String] = []
    }

    /// In order of ids.
    private(set) var all: [Person] = []
    /// The ids of those inside, by the name of the channel: the message and the stream channel are one room.
    private(set) var channels: [String: Set<String>] = [:]

    /// Whether these are all: more than `askedMax` are not looked at.
    private(set) var isWhole = true

    /// Each person costs a request, and requests have a rate (RT6).
    static let askedMax = 300

    /// The first people by their ids, with names and channels.
    static func look(_ client: WhiteboardClient) async throws -> People {
        var people = People()
        var next: String?
        repeat {
            let page = try await paced { () async throws(RelayError) in try await client.moderation.status(after: next) }
            // A relay that names a page again would be asked for ever.
            if let next, let first = page.users.first, first.user <= next { throw Failure("the pages of status do not go on") }
            people.add(page.users)
            next = page.next
        } while next != nil && people.all.count < askedMax
        people.isWhole = next == nil && people.all.count <= askedMax
        people.all = Array(people.all.prefix(askedMax))
        var rooms: Set<ChannelID> = []
        for person in people.all {
            let inside = try await paced { () async throws(RelayError) in try await client.channels(of: person.user) }
            rooms.formUnion(inside)
            for room in inside { people.channels[room.name, default: []].insert(person.user) }
        }
        var names: [String: Set<String>] = [:]
        for room in rooms.sorted() {
            for member in try await members(of: room, client) {
                if let name = member.states["name"] { names[member.user, default: []].insert(name) }
            }
        }
        for index in people.all.indices { people.all[index].names = names[people.all[index].user, default: []].sorted() }
        for (channel, inside) in people.channels.sorted(by: { $0.key < $1.key }) {
            for index in people.all.indices where inside.contains(people.all[index].user) { people.all[index].channels.append(channel) }
        }
        return people
    }

    /// A person's devices stand one behind the other.
    private mutating func add(_ devices: [RelayStatus.User]) {
        for device in devices {
            if all.last?.user == device.user {
                all[all.count - 1].hereFor = max(all[all.count - 1].hereFor, device.session)
            } else {
                all.append(Person(user: device.user, hereFor: device.session))
            }
        }
    }

    /// The ids of those in a channel, be it the message or the stream channel.
    static func inside(_ channel: String, _ client: WhiteboardClient) async throws -> Set<String> {
        let name = try Name(channel)
        var found: Set<String> = []
        for kind in [ChannelKind.message, .stream] {
            found.formUnion(try await members(of: ChannelID(kind: kind, channel: name), client).map(\.user))
        }
        return found
    }

    private static func members(of channel: ChannelID, _ client: WhiteboardClient) async throws -> [Member] {
        let presence = try client.presence(of: channel.kind == .stream ? .stream(channel.channel.text) : .message(channel.channel.text))
        var members: [Member] = []
        var next: String?
        repeat {
            let page = try await paced { () async throws(RelayError) in try await presence.users(after: next) }
            members += page.members
            next = page.next
        } while next != nil
        return members
    }

    /// Requests have a rate (RT6): what is over it is asked again when the relay has said that it may.
    private static func paced<Answer>(_ ask: () async throws(RelayError) -> Answer) async throws -> Answer {
        while true {
            do throws(RelayError) {
                return try await ask()
            } catch {
                guard error.code == .rateLimited, let wait = error.retryAfter else { throw error }
                try await Task.sleep(for: wait)
            }
        }
    }
}

/// Whom a word on the command line means.
enum Addressee: Equatable {
    /// The relay knows this id.
    case id
    /// The same, and these others, who are here, have it as a name.
    case contested([People.Person])
    /// The relay does not, and one person who is here has it as a name.
    case person(People.Person)
    case several([People.Person])
    /// Nobody; those whose id or name is like it.
    case nobody(similar: [People.Person])

    /// An id comes first: nobody can call themselves so that a command for another meets them.
    init(_ word: String, isKnownID: Bool, among people: [People.Person]) {
        let wanted = word.lowercased()
        let named = people.filter { $0.names.contains { $0.lowercased() == wanted } }
        guard !isKnownID else {
            let others = named.filter { $0.user != word }
            self = others.isEmpty ? .id : .contested(others)
            return
        }
        switch named.count {
        case 0: self = .nobody(similar: Array(people.filter { Self.isSimilar($0, wanted) }.prefix(Self.similarMax)))
        case 1: self = .person(named[0])
        default: self = .several(named)
        }
    }

    private static let similarMax = 10

    private static func isSimilar(_ person: People.Person, _ wanted: String) -> Bool {
        ([person.user] + person.names).contains { boardrelay.isSimilar($0, wanted) }
    }
}
