#if os(Linux)
    /// A library of the system that is loaded at run time, and stays loaded.
    package struct SharedLibrary {
        package typealias Pointer = UnsafeMutableRawPointer

        /// OpenSSL 3.
        package static let ssl = "libssl.so.3", crypto = "libcrypto.so.3"

        private let handle: Pointer

        /// - Throws: when it is not there.
        package init(_ name: String) throws(SocketAddress.Failure) {
            guard let handle = dlopen(name, RTLD_NOW) else { throw TLSFailure.notThere(Self.error()) }
            self.handle = handle
        }

        /// - Returns: the function as the type that the caller wants, which is trusted to be its own.
        package func function<Function>(_ symbol: String) throws(SocketAddress.Failure) -> Function {
            guard let pointer = dlsym(handle, symbol) else { throw TLSFailure.notThere(Self.error()) }
            return unsafeBitCast(pointer, to: Function.self)
        }

        private static func error() -> String { dlerror().map { String(cString: $0) } ?? "it cannot be loaded" }
    }
#endif
