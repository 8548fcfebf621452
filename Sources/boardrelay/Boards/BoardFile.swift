import BoardFormat
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayConsole
import RelayWire

/// An exported board as it was read.
struct BoardDocument: Sendable {
    var records: [WhiteboardRecord] = []
    var paper: String?

    /// - Throws: `Failure` that names the file and the line.
    init(reading path: String) throws(Failure) {
        var reader = BoardExportReader()
        do {
            try FileContents.pieces(path) { piece in try reader.read(piece, into: &records) }
            try reader.finish()
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("\(path == "-" ? "standard input" : Printable.quoted(path)), \(Printable.escaped("\(error)"))")
        }
        paper = reader.paper
    }
}

/// The folder of `board export --all`: a file for each board, under a name that every file system takes and from which the channel's comes
/// back.
enum BoardFolder {
    private static let suffix = ".json"

    /// Small letters, digits, `.`, `_` and `-` as they are, the last three not in front; all else as `%` and two digits: on some systems
    /// `A` and `a` are one file.
    static func file(of channel: String) -> String {
        var name = ""
        for byte in channel.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): name.unicodeScalars.append(.init(byte))
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                if name.isEmpty { fallthrough }
                name.unicodeScalars.append(.init(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                name += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return name + suffix
    }

    /// - Returns: `nil` for a file that `export --all` has not named.
    static func channel(of file: String) -> String? {
        guard file.hasSuffix(suffix) else { return nil }
        var bytes: [UInt8] = []
        var rest = Array(file.utf8.dropLast(suffix.utf8.count))[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        let channel = String(decoding: bytes, as: UTF8.self)
        guard (try? Name(channel)) != nil, self.file(of: channel) == file else { return nil }
        return channel
    }

    /// - Throws: `Failure` that names the folder.
    static func make(_ path: String) throws(Failure) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw Failure("\(Printable.quoted(path)) is no folder, and none can be made there")
        }
    }

    /// The boards in a folder, in order of their names.
    ///
    /// - Throws: `Failure` for a folder that cannot be read, has no board, or has a file whose name ends in `.json` and names none.
    static func boards(in path: String) throws(Failure) -> [(channel: String, path: String)] {
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw Failure("\(Printable.quoted(path)) is no folder that can be read")
        }
        var boards: [(channel: String, path: String)] = []
        for file in files where file.hasSuffix(suffix) {
            guard let channel = channel(of: file) else {
                throw Failure("\(Printable.quoted("\(path)/\(file)")) has no name that 'board export --all' gives")
            }
            boards.append((channel, "\(path)/\(file)"))
        }
        guard !boards.isEmpty else { throw Failure("\(Printable.quoted(path)) has no exported board") }
        return boards.sorted { $0.channel.utf8.lexicographicallyPrecedes($1.channel.utf8) }
    }
}
