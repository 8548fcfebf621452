import Foundation
@testable import RelayGateway
import Testing

/// Compared with what others make of the same bytes: h11, websockets, qrcode and zbarimg, which
/// `Tests/Interop/gateway/check.py` asks. It writes cases into a folder, runs these tests with it, and reads what they leave.
private let folder = ProcessInfo.processInfo.environment["BOARDRELAY_GATEWAY_PEERS"].map { URL(filePath: $0) }

@Suite("Peers", .enabled(if: folder != nil)) struct GatewayPeerTests {
    /// The cells of each line.
    private func rows(_ file: String) throws -> [[Substring]] {
        let text = try String(contentsOf: #require(folder).appending(path: file), encoding: .utf8)
        return text.utf8.split(separator: 0x0A).map { $0.split(separator: 0x09, omittingEmptySubsequences: false).map { Substring($0) } }
    }

    private func write(_ lines: [String], to file: String) throws {
        try (lines.joined(separator: "\n") + "\n").write(to: #require(folder).appending(path: file), atomically: false, encoding: .utf8)
    }

    /// bytes | "-" or method, target, minor version, fields, bytes behind it
    @Test("[HT1] what is accepted h11 accepts, and reads the same")
    func http() throws {
        var accepted = 0, differences: [String] = []
        let rows = try rows("http.txt")
        for row in rows {
            let bytes = try #require([UInt8](hex: row[0]))
            var parser = HTTPRequestParser()
            var position = 0
            let outcome = bytes.withUnsafeBytes { bytes in Result { () throws(HTTPRefusal) in try parser.next(bytes, &position) } }
            guard case .success(let request?) = outcome else { continue }
            accepted += 1
            let fields = request.fields.map { "\($0.name.hex):\($0.value.hex)" }.joined(separator: ",")
            let ours = [
                request.method.rawValue, request.target.raw.hex, "\(request.version.rawValue)", fields, "\(bytes.count - position)",
            ]
            if row.dropFirst().map(String.init) != ours {
                differences.append("\(text(bytes).debugDescription): \(row.dropFirst()), not \(ours)")
            }
        }
        #expect(differences.isEmpty, "\(differences.count) of \(accepted): \(differences.prefix(5).joined(separator: "\n"))")
        try write(["\(rows.count) requests, \(accepted) accepted"], to: "http.out")
    }

    /// limit | bytes | items | code of the failure, "-" for none
    @Test("[WS4, WS5, WS6] what is accepted of a client websockets accepts, and reads the same; what it refuses is refused")
    func frames() throws {
        var intact = 0, stricter = 0, differences: [String] = []
        let rows = try rows("frames.txt")
        for row in rows {
            let bytes = try #require([UInt8](hex: row[1]))
            let limit: Int = try #require(Int(row[0]))
            let decoded = WebSocketDecoderTests.Decoded([bytes], limit: limit)
            let items = decoded.items.map { item in
                switch item {
                case .text(let bytes): "t\(bytes.hex)"
                case .binary(let bytes): "b\(bytes.hex)"
                case .ping(let bytes): "i\(bytes.hex)"
                case .pong(let bytes): "o\(bytes.hex)"
                case .close(let close): "c\(close.map { "\($0.code)" } ?? "")"
                }
            }
            let theirs = row[2].isEmpty ? [] : row[2].split(separator: ",").map(String.init)
            let code = decoded.failure.map { "\($0.code)" } ?? "-"
            switch (code, row[3]) {
            case (let ours, let other) where ours == other && items == theirs: intact += 1
            case ("-", "close") where items.last?.first == "c" && items.dropLast() == theirs[...]: intact += 1
            case (let ours, "close") where ours != "-" && theirs.starts(with: items): stricter += 1
            // We know it before they do: at a head that is not whole, or a length that is too long.
            case (let ours, "-") where ours != "-" && theirs.starts(with: items): stricter += 1
            // Of two things that are wrong with one frame either may be named, but both refuse.
            case (let ours, let other) where ours != "-" && other != "-" && theirs.starts(with: items): stricter += 1
            default: differences.append("\(bytes.hex): they read \(theirs) \(row[3]), not \(items) \(code)")
            }
        }
        #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(5).joined(separator: "\n"))")
        try write(["\(rows.count) streams, \(intact) read the same, \(stricter) refused earlier or for another reason"], to: "frames.out")
    }

    /// What a client sends in its whole life; what an echo writes goes back to it.
    @Test("[WS1, WS2, WS8, WS9] websockets' own client is at home here")
    func dialogs() throws {
        var lines: [String] = []
        for row in try rows("dialogs.txt") {
            var site = Connection.site()
            site.sockets = .echo(messageBytesMax: 1 << 20)
            let connection = Connection(site)
            connection.receive(try #require([UInt8](hex: row[0])))
            let written = connection.actions.flatMap { action -> [UInt8] in
                switch action {
                case .respond(let answer), .upgrade(let answer, _): answer.head + answer.body
                case .send(let frame), .pong(let frame): frame
                case .close(let frame, _): frame ?? []
                case .ask, .receive: []
                }
            }
            lines.append(written.hex)
        }
        try write(lines, to: "dialogs.out")
    }

    /// mask | bytes | modules
    @Test("qrcode draws the same symbols, whatever the mask")
    func symbols() throws {
        var differences: [String] = []
        let rows = try rows("symbols.txt")
        for row in rows {
            let mask: Int = try #require(Int(row[0]))
            let bytes: [UInt8] = try #require([UInt8](hex: row[1]))
            let code: QRCode = try #require(QRCode(bytes, mask: mask))
            let modules = String((0..<code.size * code.size).map { code[$0 / code.size, $0 % code.size] ? "1" : "0" })
            if modules != row[2] { differences.append("\(row[1].count / 2) bytes, mask \(row[0])") }
        }
        #expect(differences.isEmpty, "\(differences.count) of \(rows.count): \(differences.prefix(5))")
        try write(["\(rows.count) symbols"], to: "symbols.out")
    }

    /// What a terminal shows, for `zbarimg`.
    @Test("codes as they are printed")
    func printed() throws {
        let lines = try rows("texts.txt").map { row in
            let bytes: [UInt8] = try #require([UInt8](hex: row[0]))
            return try #require(QRCode(bytes)).terminalLines.joined(separator: "|")
        }
        try write(lines, to: "texts.out")
    }

    @Test("a page of metrics")
    func metrics() throws {
        var metrics = MetricsText()
        metrics.single("boardrelay_connections", .gauge, "Links, \"logged in\" or not.\nA \\ line", 3)
        metrics.begin("boardrelay_refusals_total", .counter, "Requests refused, by code.")
        for refusal in HTTPRefusal.allCases {
            metrics.sample(7, [.init("reason", refusal.rawValue), .init("text", "a \"b\" \\ \n \(refusal.text)")])
        }
        var histogram = MetricHistogram(bounds: [0.001, 0.01, 0.1, 1])
        for value in [0.0005, 0.001, 0.02, 5] { histogram.observe(value) }
        metrics.begin("boardrelay_delivery_seconds", .histogram, "From a publish to the socket.")
        metrics.histogram(histogram)
        try write([metrics.text], to: "metrics.out")
    }
}
