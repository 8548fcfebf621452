internal import RelayCore
import RelayGateway
import RelayIO
import RelayPage
import RelaySystem
import RelayWire

// What operators ask by HTTP. No label holds what a user has chosen, a channel or an address. [HT9]

@available(macOS 15, iOS 18, *)
extension Engine {
    enum Path {
        static let health = "/healthz"
        static let readiness = "/readyz"
        static let metrics = "/metrics"
        static let all = [health, readiness, metrics]
    }

    /// - Returns: `nil` if the spaces have to be asked first.
    func answer(to request: HTTPRequest, _ web: WebLink, _ id: ConnectionID) -> HTTPResponse? {
        switch request.target.path {
        case Path.health: return .text(.ok, "ok\n")
        case Path.readiness:
            let own = nodesHindrance ?? hub.hindrance, failed = Array(repeating: "it does not start", count: failedSpaces)
            guard own == nil, !spaces.isEmpty || !failed.isEmpty else { return Self.readiness(own) }
            let isOfNode = nodes.first.map { $0.space == nil } ?? false
            askSpaces(for: id, { $0.hub.hindrance }) { hindrances in
                let (hindered, all) = (failed + hindrances.compactMap(\.value), failed.count + hindrances.count)
                return Self.readiness(hindered.first.map { isOfNode ? $0 : "\(hindered.count) of \(all) spaces: \($0)" })
            }
            return nil
        case Path.metrics:
            guard operators.allows(request, from: web.end) else {
                if !request.values("authorization").isEmpty {
                    let peer = operators.client(of: request, from: web.end)
                    hub.handle(.operatorTokenWrong(peer: peer, path: Path.metrics), at: Self.now())
                }
                return HTTPResponse(HTTPRefusal.operatorOnly)
            }
            var text = MetricsText()
            process(&text)
            metrics(&text)
            for (space, node) in nodes {
                var part = MetricsText()
                node.metrics(&part)
                text.add(part, space.map { .init("space", $0) })
            }
            guard !spaces.isEmpty else { return Self.response(text) }
            let own = text
            askSpaces(for: id, { $0.metrics() }) { texts in
                var text = own
                for (space, part) in texts { text.add(part, .init("space", space)) }
                return Self.response(text)
            }
            return nil
        default: return HTTPResponse(HTTPRefusal.notFound)
        }
    }

    func measureLater() {
        enter(afterMilliseconds: 60_000 / LastHour.notesPerSample) { engine in
            guard engine.isServing else { return }
            engine.measure()
            engine.measureLater()
        }
    }

    /// Tells the hub for its last hour what only the engine knows, and the journal's queue. [AC16]
    func measure() { journal?.measure { @Sendable [weak self] bytes in self?.enter { $0.measured(disk: bytes) } } }

    private func measured(disk bytes: Int?) {
        var measure = Measure()
        (measure.bytesIn, measure.bytesOut) = traffic
        measure.diskBytes = bytes ?? measure.diskBytes
        // Of a space it would tell of the others.
        if case .space = configuration.part {} else { measure.memoryBytes = SystemProcess.residentBytesAbout() }
        hub.handle(.measured(measure), at: Self.now())
    }

    /// Whether the relay can do all of its work: a relay that cannot store anything serves, but is not ready.
    private static func readiness(_ hindrance: String?) -> HTTPResponse {
        hindrance.map { .text(.serviceUnavailable, "\($0)\n") } ?? .text(.ok, "ready\n")
    }

    private static func response(_ text: MetricsText) -> HTTPResponse { .text(.ok, text.text, mediaType: MetricsText.mediaType) }

    private func metrics() -> MetricsText {
        var text = MetricsText()
        metrics(&text)
        return text
    }

    private func metrics(_ text: inout MetricsText) {
        let census = hub.census(isDetailed: false)
        let counters = census.counters
        gauges(census, &text)
        bounds(census, configuration, &text)
        if let tls = tlsCounters {
            text.single("boardrelay_tls_connections", .gauge, "Connections in a handshake, or by TLS.", UInt64(tls.links))
            text.single(
                "boardrelay_tls_certificate_end_seconds", .gauge, "When the certificate ends, in seconds since 1970.",
                UInt64(max(0, tls.validUntil)))
            text.begin("boardrelay_tls_handshakes_total", .counter, "First bytes of connections at a relay with TLS, by what came of them.")
            for (outcome, count) in tls.handshakes.sorted(by: { $0.key < $1.key }) { text.sample(count, [.init("outcome", outcome)]) }
        }
        text.single("boardrelay_connections_opened_total", .counter, "Connections that came.", counters.connectionsOpened)
        text.begin("boardrelay_sessions_total", .counter, "Sessions that began, were resumed, and ended because nobody came back.")
        text.sample(counters.sessionsOpened, [.init("event", "opened")])
        text.sample(counters.sessionsResumed, [.init("event", "resumed")])
        text.sample(counters.sessionsTimedOut, [.init("event", "timed_out")])
        text.single("boardrelay_messages_accepted_total", .counter, "Messages that got an offset.", counters.messagesAccepted)
        text.single("boardrelay_messages_delivered_total", .counter, "Messages put into readers' queues.", counters.messagesDelivered)
        text.single("boardrelay_messages_recovered_total", .counter, "Messages delivered from what is kept.", counters.messagesRecovered)
        text.single(
            "boardrelay_drawings_ended_total", .counter, "Drawings in parts whose next part did not come in time.", counters.drawingsEnded)
        text.single("boardrelay_change_sets_ended_total", .counter, "Change sets that were never whole.", counters.changeSetsEnded)
        text.single("boardrelay_packets_accepted_total", .counter, "Packets that got a sequence.", counters.packetsAccepted)
        text.single(
            "boardrelay_packets_queued_total", .counter, "Packets put into readers' queues, those shed later counted.",
            counters.packetsQueued)
        text.begin("boardrelay_packets_lost_total", .counter, "Packets that a reader was not given, or nobody at all, by the reason.")
        text.sample(counters.packetsShedSlow, [.init("reason", "slow_reader")])
        text.sample(counters.packetsShedExpired, [.init("reason", "expired")])
        text.sample(counters.packetsShedReader, [.init("reason", "reader_limit")])
        text.sample(counters.packetsShedCatchingUp, [.init("reason", "catching_up")])
        text.sample(counters.packetsDiscarded, [.init("reason", "connection_ended")])
        text.sample(counters.packetsDroppedRate, [.init("reason", "over_rate")])
        text.single("boardrelay_changes_accepted_total", .counter, "Changes of metadata and locks.", counters.changesAccepted)
        text.single("boardrelay_storage_failures_total", .counter, "Times that changes could not be stored.", counters.storageFailures)
        text.single(
            "boardrelay_erasures_refused_total", .counter, "Requests refused because too many erasures were under way.",
            counters.erasuresRefused)
        text.single(
            "boardrelay_credentials_wrong_total", .counter, "Wrong keys, tokens and codes, answered or not.", counters.credentialsWrong)
        text.single(
            "boardrelay_credentials_delayed_total", .counter, "Keys and codes judged late because their address had guessed.",
            counters.credentialsDelayed)
        text.single("boardrelay_moderations_total", .counter, "What moderators have changed.", counters.moderations)
        // What an alarm waits for is there from the start: a counter that comes with its first event has no increase by it.
        counted(
            Self.from0(ErrorCode.all.filter { !$0.code.closesConnection }.map(\.name), counters.refusals), &text,
            "boardrelay_refusals_total", "code", "Requests, messages and packets refused, by the code's name.")
        counted(
            Self.from0(ErrorCode.all.filter { $0.code.closesConnection }.map(\.name), counters.closes), &text, "boardrelay_closes_total",
            "code", "Connections that the relay closed, by the code's name.")
        counted(
            Self.from0(HTTPRefusal.allCases.map(\.rawValue), webCounters.refusals), &text, "boardrelay_http_refusals_total", "reason",
            "Requests of HTTP refused, by the reason.")
        counted(
            webCounters.ends, &text, "boardrelay_http_ends_total", "reason",
            "Connections of HTTP and WebSocket ended without an answer, by the reason.")
        text.begin("boardrelay_http_answers_total", .counter, "Answers of HTTP, by their status.")
        for (status, count) in webCounters.answers.sorted(by: { $0.key < $1.key }) { text.sample(count, [.init("status", "\(status)")]) }

        delays(hub.delays, &text)
    }

    /// What Prometheus' clients tell of each process.
    private func process(_ text: inout MetricsText) {
        text.begin("boardrelay_build_info", .gauge, "1, with the program's version, and the commit that a package was made from.")
        text.sample(1, [.init("version", Program.version), .init("commit", Page.commit ?? "")])
        text.begin("process_start_time_seconds", .gauge, "When the relay started, in seconds since 1970.")
        text.sample(Double(startedWallMilliseconds) / 1000)
        text.begin("process_cpu_seconds_total", .counter, "Processor time of the process, in seconds.")
        text.sample(SystemProcess.processorSeconds())
        text.single("process_resident_memory_bytes", .gauge, "Memory of the process.", SystemProcess.residentBytesAbout())
        text.single("process_max_fds", .gauge, "Descriptors that the process may have.", SystemDescriptors.raise())
    }

    /// Each bound on what is held, and how much of it is: an alarm compares the two.
    private func bounds(_ census: Census, _ most: Configuration, _ text: inout MetricsText) {
        let rows: [(name: String, used: Int, max: Int)] = [
            ("author_bytes", census.authorMemoryBytes, most.authorMemoryMax), ("bans", census.bans, most.bansMax),
            ("block_bytes", census.blockMemoryBytes, most.boardBlocksBytesMax), ("board_bytes", census.boardBytes, most.boardBytesTotalMax),
            ("boards", census.boards, most.boardsMax), ("connections", census.connections, most.connectionsMax),
            ("held_bytes", census.heldBytes, most.heldBytesMax), ("history_bytes", census.historyBytes, most.historyBytesTotalMax),
            ("locks", census.locks, most.locksTotalMax), ("message_channels", census.messageChannels, most.channelsMax),
            ("metadata_bytes", census.metadataBytes, most.metadataBytesTotalMax),
            ("publish_bytes", census.publishMemoryBytes, most.publishWindowBytesMax),
            ("queue_bytes", census.queueMemoryBytes, most.queueBytesTotalMax),
            ("session_bytes", census.sessionMemoryBytes, most.sessionMemoryMax),
            ("sessions", census.sessionsPresent + census.sessionsAway, most.sessionsMax), ("set_roles", census.setRoles, most.setRolesMax),
            ("staged_bytes", census.stagedBytes, most.stagedBytesMax), ("stream_channels", census.streamChannels, most.channelsMax),
            ("unfinished_bytes", census.unfinishedBytes, most.unfinishedBytesMax),
            ("unjournaled_bytes", census.changesUnjournaledBytes, most.unjournaledBytesMax),
            ("user_ids", census.userIDs, most.claimsMax),
        ]
        text.begin("boardrelay_bound_used", .gauge, "What is held of something that is bounded.")
        for row in rows { text.sample(row.used, [.init("bound", row.name)]) }
        text.begin("boardrelay_bound_max", .gauge, "How much of it there may be.")
        for row in rows { text.sample(row.max, [.init("bound", row.name)]) }
    }

    private func gauges(_ census: Census, _ text: inout MetricsText) {
        text.single("boardrelay_start_number", .gauge, "Number of this start of the relay, greater at each.", census.start)
        text.single("boardrelay_connections", .gauge, "Connections that are open, logged in or not.", census.connections)
        text.begin("boardrelay_sessions", .gauge, "Sessions, with a connection and without.")
        text.sample(census.sessionsPresent, [.init("state", "present")])
        text.sample(census.sessionsAway, [.init("state", "away")])
        text.single("boardrelay_user_ids", .gauge, "User ids that belong to clients.", census.userIDs)
        text.begin("boardrelay_channels", .gauge, "Channels.")
        text.sample(census.messageChannels, [.init("kind", "message")])
        text.sample(census.streamChannels, [.init("kind", "stream")])
        text.single("boardrelay_boards", .gauge, "Message channels that keep something for good.", census.boards)
        text.single("boardrelay_board_bytes", .gauge, "Bytes that boards keep.", census.boardBytes)
        text.single("boardrelay_history_bytes", .gauge, "Bytes of messages that channels keep for latecomers.", census.historyBytes)
        text.single("boardrelay_queued_bytes", .gauge, "Bytes that wait for readers.", census.queuedBytes)
        text.single(
            "boardrelay_pinned_bytes", .gauge, "Shared memory that lagging readers keep alive, each counted for itself.", census.pinnedBytes
        )
        text.single("boardrelay_queue_memory_bytes", .gauge, "Memory of all queues together.", census.queueMemoryBytes)
        let stores = census.storageFailure == nil && !nodes.contains { $0.node.hasFailedDisk }
        text.single("boardrelay_storage_failed", .gauge, "1 while nothing can be stored.", stores ? 0 : 1)
    }

    private func delays(_ delivery: DelayCounts, _ text: inout MetricsText) {
        text.begin("boardrelay_journal_seconds", .histogram, "From the hand-over of changes to the journal until they are durable.")
        text.histogram(journalTimes.histogram)
        text.begin(
            "boardrelay_delivery_seconds", .histogram,
            "From a frame that finds a reader's queue empty until the socket has taken all that came behind it, too.")
        text.histogram(MetricHistogram(bounds: DelayCounts.bounds, counts: delivery.counts, sum: delivery.seconds))
    }

    private static func from0(_ names: [String], _ counts: [String: UInt64]) -> [String: UInt64] {
        counts.merging(names.map { ($0, 0) }) { count, _ in count }
    }

    private func counted(_ counts: [String: UInt64], _ text: inout MetricsText, _ name: String, _ label: String, _ help: String) {
        text.begin(name, .counter, help)
        for (value, count) in counts.sorted(by: { $0.key < $1.key }) { text.sample(count, [.init(label, value)]) }
    }
}
