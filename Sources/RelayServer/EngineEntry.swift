internal import RelayCore
import RelayIO

/// A function of the engine that its queue calls often: `assumeIsolated` does the same, and allocates its closure twice at each call.
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

extension EngineEntry<ConnectionID> {
    static let readable = EngineEntry { engine, id in engine.becameReadable(id) }
    static let writable = EngineEntry { engine, id in engine.becameWritable(id) }
}

extension EngineEntry<Void> {
    static let turnEnded = EngineEntry { engine, _ in engine.endTurn() }
    static let readableTurn = EngineEntry { engine, _ in engine.readableTurn() }
    static let flushTurn = EngineEntry { engine, _ in engine.flushTurn() }
}
