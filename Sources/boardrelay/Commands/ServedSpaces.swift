#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayConsole
import RelayCore
import RelayIO
import RelayServer
import RelaySystem
import RelayWire

// Relays with spaces: their folders are DIR/spaces/NAME, with data in `data` and, perhaps, settings of their own in `settings`.

@available(macOS 15, iOS 18, *)
extension ServeSettings {
    /// What a space's own settings file may say. It wins over what the relay is told.
    static let ofSpaces: Set<String> = [
        "--auth", "--pupils", "--token-secret-file", "--memory", "--max-connections", "--max-channels", "--max-history", "--history-age",
        "--message-rate", "--packet-rate", "--metadata-rate", "--max-board-bytes", "--max-boards-bytes", "--expire-boards",
        "--max-channel-users",
    ]

    static func checkShared(_ arguments: Arguments) throws {
        if arguments.flag("--in-memory") {
            throw arguments.wrong("--spaces", "keeps spaces in the data folder: it does not go with --in-memory")
        }
        if arguments.value("--token-audience") != nil {
            throw arguments.wrong("--token-audience", "does not go with --spaces: the audience of a token is its space")
        }
    }

    private var spacesFolder: String { folder! + (folder!.hasSuffix("/") ? "" : "/") + "spaces/" }

    /// The spaces that have a folder, and what else stands beside them. The folder of them all is made if it does not exist.
    ///
    /// - Throws: when the data folder is one without spaces.
    @Sendable func spaces() throws(RelayServerError) -> (names: [SpaceName], others: [String]) {
        guard !FileManager.default.fileExists(atPath: folder! + "/journal.anchor") else {
            throw RelayServerError(
                text: "\(folder!) has the data of a relay without spaces: move it to another folder, or make it a space: "
                    + "move all of it to \(spacesFolder)NAME/data")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: spacesFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            var names: [SpaceName] = [], others: [String] = []
            for entry in try FileManager.default.contentsOfDirectory(atPath: spacesFolder).sorted() {
                let isFolder = (try? Folder(reading: spacesFolder + entry)) != nil
                if isFolder, let name = try? SpaceName(entry) { names.append(name) } else { others.append(spacesFolder + entry) }
            }
            return (names, others)
        } catch {
            throw RelayServerError(text: "\(spacesFolder) cannot be read: \(error)")
        }
    }

    /// A relay without spaces must not hide them.
    func checkNoSpaces() throws {
        guard let folder, FileManager.default.fileExists(atPath: folder + "/spaces") else { return }
        throw Failure("\(folder) has spaces: 'boardrelay serve --spaces' serves them")
    }

    /// What a space is run with.
    ///
    /// - Parameter count: of the spaces that share the memory.
    @Sendable func options(of space: SpaceName, _ count: Int) throws(RelayServerError) -> WhiteboardRelay.Options {
        do {
            var arguments = arguments
            if let file = try ownSettings(of: space) { try arguments.override(by: file, Self.ofSpaces) }
            var options = options
            options.storage = .folder(spacesFolder + space.text + "/data")
            options.access = try Self.access(arguments, of: space)
            let ownsMemory = arguments.source("--memory") != self.arguments.source("--memory")
            options.hub = Configuration(memory: try Self.memory(arguments, sharedBy: ownsMemory ? 1 : count))
            try Self.setBounds(of: &options.hub, arguments)
            (options.tls, options.controlSocket, options.groupSocket, options.isAskedByPort) = (nil, nil, nil, false)
            return options
        } catch {
            throw RelayServerError(text: "\(error)")
        }
    }

    /// What a space has for itself.
    func ownSettings(of space: SpaceName) throws -> SettingsFile? {
        let path = spacesFolder + space.text + "/settings"
        return FileManager.default.fileExists(atPath: path) ? try Self.file(path) : nil
    }

    /// - Returns: whether there was none.
    @Sendable func makeFolder(_ space: SpaceName) throws(RelayServerError) -> Bool {
        let path = spacesFolder + space.text
        guard !FileManager.default.fileExists(atPath: path) else { return false }
        do throws(FileFailure) { try FileDurability.makeFolder(path) } catch { throw RelayServerError(text: "\(error)") }
        return true
    }

    @Sendable func folder(of space: SpaceName) -> String { spacesFolder + space.text }

    /// With all that the space has kept.
    @Sendable func removeFolder(_ space: SpaceName) throws(RelayServerError) {
        let path = spacesFolder + space.text
        guard FileManager.default.fileExists(atPath: path) else { return }
        // What is left when this is cut short is no space.
        let aside = path + ".removed"
        do {
            try? FileManager.default.removeItem(atPath: aside)
            try FileManager.default.moveItem(atPath: path, toPath: aside)
            try FileManager.default.removeItem(atPath: aside)
        } catch {
            throw RelayServerError(text: "space \(space) is served no more, but not all of \(path) could be removed: remove it yourself")
        }
    }
}

/// What `serve` runs.
@available(macOS 15, iOS 18, *)
struct ServedRelay: Sendable {
    /// The relay, or the door of one with spaces.
    let relay: WhiteboardRelay
    let shared: SharedRelay?
    /// A node of a space with a log; `relay` is its door.
    var cluster: ClusterRelay?
    /// A node of many spaces with logs; `relay` is its door.
    var directory: DirectoryRelay?

    var address: RelayAddress { relay.address }

    /// What it is besides a relay.
    func note(_ settings: ServeSettings) -> String? {
        if let shared { return SpaceText.served(shared.names) }
        guard let log = settings.log else { return nil }
        guard directory != nil else { return "It is a node of space \(log.space): it follows the log, and serves while it owns it." }
        let most = Printable.count(settings.spacesMax, "space")
        return "It is a node of a directory: it follows each space there, and serves at most \(most). 'boardrelay space ls' lists them."
    }

    func announced(as name: String?) {
        if let shared { return shared.announced(as: name) }
        if let directory { return directory.announced(as: name) }
        if let cluster { cluster.announced(as: name) } else { relay.announced(as: name) }
    }

    func apply(_ options: WhiteboardRelay.Options, _ settings: ServeSettings) throws {
        if let shared { return try shared.apply(options, optionsOf: settings.options) }
        if let directory { return try directory.apply(options, optionsOf: settings.options) }
        if let cluster { try cluster.apply(options) } else { try relay.apply(options) }
    }

    /// Whether nobody has come in yet.
    func isUnused() async -> Bool {
        if cluster != nil || directory != nil { return false }
        let relays = shared.map { shared in shared.names.compactMap { shared[$0] } } ?? [relay]
        for relay in relays where await relay.census().counters.sessionsOpened > 0 { return false }
        return true
    }

    /// What each space has for itself now, by setting.
    func ownSettings(_ settings: ServeSettings) throws -> [SpaceName: [String: [String]]] {
        var own: [SpaceName: [String: [String]]] = [:]
        for space in shared?.names ?? directory?.names ?? [] {
            own[space] = Dictionary(grouping: try settings.ownSettings(of: space)?.lines ?? [], by: \.name).mapValues { $0.map(\.value) }
        }
        return own
    }

    func stop() async {
        if let shared { return await shared.stop() }
        if let directory { return await directory.stop() }
        if let cluster { await cluster.stop() } else { await relay.stop() }
    }
}
