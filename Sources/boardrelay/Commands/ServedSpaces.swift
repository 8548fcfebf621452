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

    /// The spaces that have a folder. The folder of them all is made if it does not exist.
    ///
    /// - Throws: when the data folder is one without spaces, or has a folder whose name is that of no space.
    @Sendable func spaces() throws(RelayServerError) -> [SpaceName] {
        guard !FileManager.default.fileExists(atPath: folder! + "/journal.anchor") else {
            throw RelayServerError(
                text: "\(folder!) has the data of a relay without spaces: move it to another folder, or make it a space: "
                    + "move all of it to \(spacesFolder)NAME/data")
        }
        let names: [String]
        do {
            try FileManager.default.createDirectory(
                atPath: spacesFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            names = try FileManager.default.contentsOfDirectory(atPath: spacesFolder).sorted()
        } catch {
            throw RelayServerError(text: "\(spacesFolder) cannot be read: \(error)")
        }
        var spaces: [SpaceName] = []
        for name in names {
            do throws(WireError) {
                spaces.append(try SpaceName(name))
            } catch {
                throw RelayServerError(text: "\(spacesFolder)\(name.debugDescription): \(error.text)")
            }
        }
        return spaces
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
            if let file = try Self.file(ifThere: spacesFolder + space.text + "/settings") {
                try arguments.override(by: file, Self.ofSpaces)
            }
            var options = options
            options.storage = .folder(spacesFolder + space.text + "/data")
            options.access = try Self.access(arguments, of: space)
            let ownsMemory = arguments.value("--memory") != self.arguments.value("--memory")
            options.hub = Configuration(memory: try Self.memory(arguments, sharedBy: ownsMemory ? 1 : count))
            try Self.setBounds(of: &options.hub, arguments)
            (options.tls, options.controlSocket, options.groupSocket, options.isAskedByPort) = (nil, nil, nil, false)
            return options
        } catch {
            throw RelayServerError(text: "\(error)")
        }
    }

    private static func file(ifThere path: String) throws -> SettingsFile? {
        FileManager.default.fileExists(atPath: path) ? try file(path) : nil
    }

    @Sendable func makeFolder(_ space: SpaceName) throws(RelayServerError) {
        do {
            try FileManager.default.createDirectory(
                atPath: spacesFolder + space.text, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw RelayServerError(text: "\(spacesFolder)\(space) cannot be made: \(error)")
        }
    }

    /// With all that the space has kept.
    @Sendable func removeFolder(_ space: SpaceName) throws(RelayServerError) {
        do {
            try FileManager.default.removeItem(atPath: spacesFolder + space.text)
        } catch {
            throw RelayServerError(text: "space \(space) is served no more, but \(spacesFolder)\(space) cannot be removed: \(error)")
        }
    }
}

/// What `serve` runs.
@available(macOS 15, iOS 18, *)
struct ServedRelay: Sendable {
    /// The relay, or the door of one with spaces.
    let relay: WhiteboardRelay
    let shared: SharedRelay?

    var address: RelayAddress { relay.address }

    func announced(as name: String?) { if let shared { shared.announced(as: name) } else { relay.announced(as: name) } }

    func apply(_ options: WhiteboardRelay.Options, _ settings: ServeSettings) throws {
        if let shared { try shared.apply(options, optionsOf: settings.options) } else { try relay.apply(options) }
    }

    /// Whether nobody has come in yet.
    func isUnused() async -> Bool {
        let relays = shared.map { shared in shared.names.compactMap { shared[$0] } } ?? [relay]
        for relay in relays where await relay.census().counters.sessionsOpened > 0 { return false }
        return true
    }

    func stop() async { if let shared { await shared.stop() } else { await relay.stop() } }
}
