#if os(Linux)
    import Foundation
    import RelaySystem

    @testable import RelayIO

    /// The server's side of TLS in memory, by the same OpenSSL: for what no server does by itself.
    final class TLSServer {
        private typealias Pointer = UnsafeMutableRawPointer

        /// A certificate that it signed itself, with its key behind it in a file, and the key's pin.
        private static let made = Result<(path: String, pin: KeyPin), any Error> {
            let path = FileManager.default.temporaryDirectory.appending(path: "boardrelay-tls-\(UInt32.random(in: 0 ... .max)).pem").path
            let output = Pipe()
            let script = """
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1" -out "$1.crt" -subj /CN=test -days 2 2>/dev/null
                openssl x509 -in "$1.crt" -pubkey -noout | openssl pkey -pubin -outform der | openssl sha256 -binary | head -c 16 | basenc --base64url
                cat "$1.crt" >>"$1"; rm "$1.crt"
                """
            let process = try ChildProcess(
                "/bin/sh", ["-c", script, "sh", path], output: .descriptor(output.fileHandleForWriting.fileDescriptor))
            try output.fileHandleForWriting.close()
            let letters = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self).prefix(KeyPin.letterCount)
            guard process.wait() == .exited(0), let pin = KeyPin(letters) else { throw SocketAddress.Failure("no certificate is made") }
            return (path, pin)
        }

        static func pin() throws -> KeyPin { try made.get().pin }

        private let library: OpenSSL
        private let session: Pointer, input: Pointer, outlet: Pointer
        private let askForKeys: @convention(c) (Pointer, Int32) -> Int32
        private(set) var hasEnded = false

        init() throws {
            let path = try Self.made.get().path
            library = try OpenSSL.ofSystem.get()
            let handle = dlopen("libssl.so.3", RTLD_NOW)
            func function<Function>(_ name: String) -> Function { unsafeBitCast(dlsym(handle, name)!, to: Function.self) }
            let method: @convention(c) () -> Pointer? = function("TLS_server_method")
            let use: @convention(c) (Pointer, UnsafePointer<CChar>) -> Int32 = function("SSL_CTX_use_certificate_chain_file")
            let useKey: @convention(c) (Pointer, UnsafePointer<CChar>, Int32) -> Int32 = function("SSL_CTX_use_PrivateKey_file")
            let accept: @convention(c) (Pointer) -> Void = function("SSL_set_accept_state")
            askForKeys = function("SSL_key_update")
            let context = library.newContext(method())!
            precondition(use(context, path) == 1 && useKey(context, path, 1) == 1)
            session = library.newSession(context)!
            library.freeContext(context)
            (input, outlet) = (library.newStream(library.memoryMethod())!, library.newStream(library.memoryMethod())!)
            library.setStreams(session, input, outlet)
            accept(session)
        }

        deinit { library.freeSession(session) }

        /// What it has for the client.
        func output() -> [UInt8] {
            var all: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
            while case let count = library.readStream(outlet, &buffer, 65_536), count > 0 { all += buffer[..<Int(count)] }
            return all
        }

        /// Takes what the client has sent.
        ///
        /// - Returns: what the client said.
        func receive(_ bytes: [UInt8]) -> [UInt8] {
            _ = library.writeStream(input, bytes, Int32(bytes.count))
            var all: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = library.read(session, &buffer, 65_536)
                guard count > 0 else {
                    hasEnded = library.outcome(session, count) == OpenSSL.Constant.closed
                    return all
                }
                all += buffer[..<Int(count)]
            }
        }

        func send(_ bytes: [UInt8]) -> [UInt8] {
            _ = library.write(session, bytes, Int32(bytes.count))
            return output()
        }

        /// Asks the client for a new key, which it has to answer.
        func askForKey() -> [UInt8] {
            _ = askForKeys(session, 1)
            _ = library.shakeHands(session)
            return output()
        }

        func end() -> [UInt8] {
            _ = library.shutDown(session)
            return output()
        }
    }

    extension TLSSession {
        /// One that wants the server of these tests, and has not said anything.
        static func pinned() throws -> TLSSession {
            try TLSSession(to: RelayAddress(host: "board.local", protection: .pinned(try TLSServer.pin())))
        }

        /// Takes bytes of any number, in pieces.
        func receive(all bytes: [UInt8], piece: Int = TLSSession.pieceBytesMax, then: () throws -> Void = {}) throws {
            for start in stride(from: 0, to: bytes.count, by: piece) {
                try bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { try receive($0) }
                try then()
            }
        }

        /// What waits for the server, taken away.
        func takeOutput() -> [UInt8] {
            let bytes = output
            wrote(bytes.count)
            return bytes
        }

        /// Goes on until both have agreed.
        func agree(with server: TLSServer, piece: Int = TLSSession.pieceBytesMax) throws {
            while try !shakeHands() {
                _ = server.receive(takeOutput())
                try receive(all: server.output(), piece: piece) { _ = try shakeHands() }
            }
            _ = server.receive(takeOutput())
            try receive(all: server.output(), piece: piece)
        }

        /// All that has come whole, and how it ended.
        func readAll() throws -> (bytes: [UInt8], last: Reading) {
            var all: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let reading = try buffer.withUnsafeMutableBytes { try read(into: $0) }
                guard case .bytes(let count) = reading else { return (all, reading) }
                all += buffer[..<count]
            }
        }
    }
#endif
