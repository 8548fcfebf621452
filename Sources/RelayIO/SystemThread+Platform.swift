/// A thread that nobody waits for. Foundation's would bring all of Foundation into the program, and ICU with it.
package enum SystemThread {
    private final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    package static func detach(_ body: @escaping @Sendable () -> Void) {
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let start = Unmanaged.passRetained(Start(body)).toOpaque()
        let code = pthread_create(&thread, nil, Self.run, start)
        precondition(code == 0, "the system gives no thread: \(String(cString: strerror(code)))")
        #if canImport(Darwin)
            pthread_detach(thread!)
        #else
            pthread_detach(thread)
        #endif
    }

    #if canImport(Darwin)
        private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { start in
            Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body()
            return nil
        }
    #else
        private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { start in
            Unmanaged<Start>.fromOpaque(start!).takeRetainedValue().body()
            return nil
        }
    #endif
}
