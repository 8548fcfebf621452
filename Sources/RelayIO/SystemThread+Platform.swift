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
        let code = pthread_create(
            &thread, nil,
            { start in
                pthread_detach(pthread_self())
                let start: UnsafeMutableRawPointer? = start
                Unmanaged<Start>.fromOpaque(start!).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(Start(body)).toOpaque())
        precondition(code == 0, "the system gives no thread: \(String(cString: strerror(code)))")
    }
}
