#if canImport(Darwin)
    internal import Foundation
#endif

/// A thread that nobody waits for. Foundation's where Foundation is the system's; elsewhere it would bring all of Foundation into the
/// program, and ICU with it.
package enum SystemThread {
    #if canImport(Darwin)
        package static func detach(_ body: @escaping @Sendable () -> Void) { Thread.detachNewThread(body) }
    #else
        private final class Start {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }

        package static func detach(_ body: @escaping @Sendable () -> Void) {
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { start in
                    pthread_detach(pthread_self())
                    Unmanaged<Start>.fromOpaque(start!).takeRetainedValue().body()
                    return nil
                }, Unmanaged.passRetained(Start(body)).toOpaque())
            precondition(code == 0, "the system gives no thread: \(String(cString: strerror(code)))")
        }
    #endif
}
