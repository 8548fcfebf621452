internal import Dispatch
internal import RelayCore
import RelayIO
import RelaySystem

/// A function of the engine that its queue calls often: `assumeIsolated` does the same, and allocates its closure twice at each call.
@available(macOS 15, iOS 18, *)
struct EngineEntry<Argument>: Sendable {
    private let function: @Sendable (Engine, Argument) -> Void

    /// - Parameter function: kept, and never made anew.
    init(_ function: @escaping @Sendable (isolated Engine, Argument) -> Void) {
        // The same function: isolation is a promise about where it is called, which each call checks.
        self.function = unsafeBitCast(function, to: (@Sendable (Engine, Argument) -> Void).self)
    }

    /// On the engine's queue, which is checked.
    func callAsFunction(_ engine: Engine, _ argument: Argument) {
        engine.executor.checkIsolated()
        function(engine, argument)
    }
}

@available(macOS 15, iOS 18, *)
extension EngineEntry<ConnectionID> {
    static let readable = EngineEntry { engine, id in engine.becameReadable(id) }
    static let writable = EngineEntry { engine, id in engine.becameWritable(id) }
}

@available(macOS 15, iOS 18, *)
extension EngineEntry<Void> {
    static let turnEnded = EngineEntry { engine, _ in engine.endTurn() }
    static let readableTurn = EngineEntry { engine, _ in engine.readableTurn() }
    static let flushTurn = EngineEntry { engine, _ in engine.flushTurn() }
}

// MARK: - From other threads

@available(macOS 15, iOS 18, *)
extension Engine {
    /// Runs it in a turn, soon. From any thread.
    nonisolated func enter(_ body: @escaping @Sendable (isolated Engine) -> Void) {
        guard let readiness = door.withLock({ $0 }) else {
            return executor.queue.async { [self] in
                assumeIsolated { engine in
                    body(engine)
                    engine.finishTurn()
                }
            }
        }
        readiness.enter { @Sendable [self] in
            assumeIsolated { engine in
                // Whether it may or not: what is asked of a hub that has ended finds nothing.
                _ = engine.takesTurn()
                body(engine)
            }
        }
    }

    nonisolated func enter(afterMilliseconds milliseconds: Int, _ body: @escaping @Sendable (isolated Engine) -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { @Sendable [weak self] in self?.enter(body) }
    }

    /// Waits for it. From any queue but the engine's.
    private nonisolated func inTurn<Value: Sendable>(_ body: @escaping @Sendable (isolated Engine) -> Value) -> Value {
        dispatchPrecondition(condition: .notOnQueue(executor.queue))
        let done = DispatchSemaphore(value: 0), value = Mutex<Value?>(nil)
        enter { engine in
            let found = body(engine)
            value.withLock { $0 = found }
            done.signal()
        }
        done.wait()
        return value.withLock { $0! }
    }

    // From queues that are not Swift's own, where waiting for one of its threads could be waiting for oneself.
    nonisolated func censusNow() -> Census { inTurn { $0.census() } }
    nonisolated func applyNow(_ configuration: Configuration, _ web: WebSite, _ identity: TLSIdentity?) {
        inTurn { engine in
            engine.apply(configuration, web)
            if let identity { engine.use(identity) }
        }
    }

    nonisolated func setAccessNow(_ rules: AccessRules, endsSessions: Bool) {
        inTurn { $0.hub.handle(.accessChanged(rules, endsSessions: endsSessions), at: Self.now()) }
    }
}
