import RelayWire

/// Rights by channel: what a token gives beyond its role.
package struct Grants: Equatable, Sendable {
    /// Rights on all channels that match a pattern.
    package struct Entry: Equatable, Sendable {
        /// The channels.
        package let pattern: ChannelPattern
        /// What may be done on them.
        package let rights: Rights

        package init(_ pattern: ChannelPattern, _ rights: Rights) {
            self.pattern = pattern
            self.rights = rights
        }
    }

    /// In the order of their patterns' bytes, so that equal grants are written alike.
    package let entries: [Entry]

    /// No grants.
    package init() { entries = [] }

    /// - Throws: `limitReached` above 64 entries; `badRequest` for a pattern that stands twice and for `direct`, which is no
    ///   channel's right, under another pattern than `*`.
    package init(_ entries: [Entry]) throws(WireError) {
        guard entries.count <= Limits.tokenGrantsMax else {
            throw WireError(
                .limitReached, "grants name at most \(Limits.tokenGrantsMax) patterns, these name \(entries.count)",
                limit: Limits.tokenGrantsMax, actual: entries.count)
        }
        guard Set(entries.map(\.pattern)).count == entries.count else {
            throw WireError(.badRequest, "grants name a pattern twice")
        }
        guard entries.allSatisfy({ $0.pattern.isEveryChannel || !$0.rights.contains(.direct) }) else {
            throw WireError(.badRequest, "grants name direct, which is no channel's right, under another pattern than *")
        }
        self.entries = entries.sorted {
            $0.pattern.description.utf8.lexicographicallyPrecedes($1.pattern.description.utf8)
        }
    }

    /// Reads grants as tokens and command lines have them: words of rights by pattern.
    ///
    /// - Throws: as above, `badName` for what is no pattern, `badRequest` for a word that is no right. No text repeats a pattern
    ///   or a word.
    package init(words: [String: [String]]) throws(WireError) {
        var entries: [Entry] = []
        for (text, words) in words {
            // The error of a name quotes a byte of it.
            guard let pattern = try? ChannelPattern(text) else {
                throw WireError(.badName, "a pattern of grants is no channel's name, nor a beginning of one with one * behind it")
            }
            var rights: Rights = []
            for word in words {
                guard let right = Rights(word: word) else { throw WireError(.badRequest, "grants name a right that there is not") }
                rights.formUnion(right)
            }
            entries.append(Entry(pattern, rights))
        }
        try self.init(entries)
    }

    /// The same the other way.
    package var words: [String: [String]] {
        Dictionary(uniqueKeysWithValues: entries.map { ($0.pattern.description, $0.rights.words) })
    }

    /// No more than `rights` of any channel.
    package func limited(to rights: Rights) -> Grants {
        Grants(kept: entries.map { Entry($0.pattern, $0.rights.intersection(rights)) }.filter { !$0.rights.isEmpty })
    }

    private init(kept entries: [Entry]) { self.entries = entries }

    /// What may be done on a channel: all that patterns that match it give. O(entries).
    package func rights(on channel: Name) -> Rights {
        entries.reduce(into: []) { rights, entry in if entry.pattern.matches(channel) { rights.formUnion(entry.rights) } }
    }

    /// Rights on every channel, and for requests without a channel: the rights under exactly `*`.
    package var everywhere: Rights { entries.first { $0.pattern.isEveryChannel }?.rights ?? [] }
}
