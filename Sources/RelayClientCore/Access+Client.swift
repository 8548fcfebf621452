internal import RelayRights
import RelayWire

extension Access {
    /// As a relay tells it. What a newer relay may know besides, this client leaves out. [AC4, FR6]
    init(_ body: AccessBody) {
        var words: [String: [String]] = [:]
        for (pattern, rights) in body.grants ?? [:] {
            let known = rights.filter { Rights(word: $0) != nil }
            if !known.isEmpty, (try? Grants(words: [pattern: known])) != nil { words[pattern] = known }
        }
        self.init(role: body.role.flatMap { Role(word: $0) }, grants: (try? Grants(words: words)) ?? Grants())
    }
}
