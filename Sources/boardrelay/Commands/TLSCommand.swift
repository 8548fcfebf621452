#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayConsole
import RelayGateway
import RelayIO
import RelayServer
import RelaySystem
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    private enum TLSAction: String, CaseIterable { case new, show }

    static let tls = Command(
        name: "tls",
        summary: "makes a certificate for this network, or shows one",
        arguments: [
            .action(
                TLSAction.self,
                help: "new: makes a certificate and, unless the folder has one, its key. "
                    + "show: tells names, end and pin of a certificate."
            ),
            .init(name: "FILE", isOptional: true, help: "show: a certificate in PEM."),
        ],
        options: [
            .json,
            .value(
                "-o", "--output", as: "DIR", default: "~/.local/share/boardrelay",
                help: "new: the folder for \(CertificateFiles.certificate) and \(CertificateFiles.key)."),
            .list("--name", as: "NAME", help: "new: a name or address to be for. Default: this machine's."),
            .value("--days", as: "N", default: "825", help: "new: how long the certificate is valid."),
        ],
        notes: [
            """
            Clients that have the pin, which the relay's address carries, take the key and no other. It stays the same while the key file \
            stays: 'tls new' again makes a new certificate for it, and 'reload' shows it. No browser trusts this certificate.
            """
        ],
        examples: [
            .init("boardrelay tls new", "For this machine's names and addresses."),
            .init("boardrelay tls show relay.pem", "The pin of a certificate from elsewhere, too."),
        ],
        run: tls)

    private static func tls(_ arguments: Arguments) async throws -> ExitCode {
        let action: TLSAction = try arguments.action(), isNew = action == .new
        if let option = ["--output", "--name", "--days"].first(where: { arguments.value($0) != nil }), !isNew {
            throw UsageError("option \(option) is for new")
        }
        let file = arguments.positional.dropFirst().first
        guard (file == nil) == isNew else { throw UsageError(isNew ? "FILE is for show" : "FILE is missing: a certificate in PEM") }
        let files = isNew ? try CertificateFiles.make(arguments) : nil
        let path = files?.certificate ?? file!
        let certificate = try CertificateFiles.certificate(path)
        let end = Console.universalTime(wallMilliseconds: UInt64(max(0, certificate.validUntil)) * 1_000)
        guard !arguments.flag("--json") else {
            var object: [(String, JSONValue)] = [
                ("type", "certificate"), ("certificate", .string(path)), ("names", .array(certificate.names.map(JSONValue.string))),
                ("pin", .string("\(certificate.pin)")), ("validUntil", .string(end)),
            ]
            if let files { object.append(("key", .string(files.key))) }
            try Console.print(JSONValue.object(object.map { JSONMember(key: $0.0, value: $0.1) }).line)
            return .ok
        }
        try Console.print("names:  \(certificate.names.joined(separator: ", "))")
        try Console.print("until:  \(end)")
        try Console.print("pin:    \(certificate.pin)")
        if let files { Console.note("Serve with it: boardrelay serve --tls-certificate \(files.certificate) --tls-key \(files.key)") }
        return .ok
    }
}

/// The two files that `serve` wants.
@available(macOS 15, iOS 18, *)
struct CertificateFiles {
    let certificate: String
    let key: String

    static let certificate = "tls-certificate.pem", key = "tls-key.pem"
    private static let bytesMax = 256 * 1024

    /// - Throws: `Failure`, `UsageError`.
    static func make(_ arguments: Arguments) throws -> CertificateFiles {
        #if os(Linux)
            let days = try arguments.integer("--days", in: 1...36_500) ?? 825
            let given = arguments.values("--name")
            let texts = given.isEmpty ? ["localhost", "boardrelay.local"] + Interfaces.names() + Interfaces.addresses() : given
            let names = try texts.compactMap { text throws -> CertificateName? in
                if let name = CertificateName(text, isAddress: IPAddress(text) != nil) { return name }
                guard given.isEmpty else { throw UsageError("option --name: \(Printable.quoted(text)) is no name of a certificate") }
                return nil
            }
            let beside = WhiteboardRelay.Storage.defaultFolder.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
            let folder = arguments.value("--output") ?? beside
            let files = CertificateFiles(certificate: "\(folder)/\(certificate)", key: "\(folder)/\(key)")
            let maker = try CertificateMaker()
            let fresh = try maker.key()
            let key = try PrivateFile.readOrCreate(files.key, bytesMax: bytesMax) { fresh }
            let serial = UInt64(Date().timeIntervalSince1970 * 1_000)
            let pem: [UInt8]
            do throws(SocketAddress.Failure) {
                pem = try maker.certificate(key: key, names: names, days: days, serial: serial)
            } catch {
                throw Failure("\(files.key): \(error)")
            }
            try PrivateFile.replace(files.certificate, content: pem)
            return files
        #else
            throw Failure("certificates are made on Linux only; on a Mac 'openssl req -x509' makes one")
        #endif
    }

    /// The first certificate of a file in PEM.
    static func certificate(_ path: String) throws -> Certificate {
        let text = String(decoding: try FileContents.read(path), as: UTF8.self)
        let body = text.split(separator: "-----BEGIN CERTIFICATE-----", maxSplits: 1).last.flatMap { $0.split(separator: "-----END").first }
        guard text.contains("-----BEGIN CERTIFICATE-----"), let body,
            let der = Data(base64Encoded: body.filter { !$0.isWhitespace }), let certificate = Certificate(der: Array(der))
        else { throw Failure("\(path) has no certificate in PEM", exitCode: .usage) }
        return certificate
    }
}
