import Dispatch
import Foundation
import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayJournal
@testable import RelayServer
import Testing

/// Gives a path at which there is nothing yet, and removes what came to be there.
func withTemporaryPath<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = NSTemporaryDirectory() + "/boardrelay-\(String(SystemEntropy.word(), radix: 16))"
    do {
        let result = try await body(path)
        try? FileManager.default.removeItem(atPath: path)
        return result
    } catch {
        try? FileManager.default.removeItem(atPath: path)
        throw error
    }
}

/// Where a relay keeps what outlives it, for tests that hold for both.
enum Place: CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, disk

    var testDescription: String { self == .memory ? "memory" : "disk" }

    func withStorage<Result>(_ body: (WhiteboardRelay.Storage) async throws -> Result) async throws -> Result {
        switch self {
        case .memory: try await body(.inMemory)
        case .disk: try await withTemporaryPath { try await body(.folder($0)) }
        }
    }
}

extension Configuration {
    /// Rates that no test reaches, and nobody is gone for a silence on a machine where threads wait for seconds.
    static func unhurried(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        var configuration = Configuration()
        configuration.metadataCallsPerSecond = 100_000
        configuration.metadataCallsBurst = 100_000
        configuration.limits.requestsPerSecond = 100_000
        configuration.requestsBurst = 100_000
        configuration.presenceTimeoutDefault = .seconds(300)
        configuration.heartbeatMax = .seconds(150)
        configuration.loginTimeout = .seconds(300)
        configuration.directTimeout = .seconds(300)
        change(&configuration)
        return configuration
    }
}

/// Starts a relay, gives it to the body, and stops it whatever comes.
func withRelay<Result>(
    _ storage: WhiteboardRelay.Storage, _ change: (inout Configuration) -> Void = { _ in },
    permit: @escaping FolderStorage.Permit = { _ in },
    _ body: (WhiteboardRelay) async throws -> Result
) async throws -> Result {
    let server = try await WhiteboardRelay.start(.init(port: 0, storage: storage, hub: .unhurried(change)), permit: permit)
    do {
        let result = try await body(server)
        await server.stop()
        return result
    } catch {
        await server.stop()
        throw error
    }
}

extension MetadataContents {
    func isEmpty(at revision: UInt64) -> Bool { items.isEmpty && majorRevision == revision }
}

func refusal(_ body: () async throws -> Void) async -> RelayError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? RelayError
    }
}

/// Makes a folder's disk slow or broken for some calls.
final class FolderFaults: Sendable {
    private struct State {
        var failing: [StorageError.Operation: Int] = [:]
        var calls: [StorageError.Operation: Int] = [:]
        var held: StorageError.Operation?
        var isHolding = false
    }

    private let state = Mutex(State())
    private let gate = DispatchSemaphore(value: 0)

    /// The next calls of a kind fail.
    func fail(_ operation: StorageError.Operation, times: Int = 1) { state.withLock { $0.failing[operation] = times } }

    /// The next call of a kind waits for `letGo`.
    func hold(_ operation: StorageError.Operation) { state.withLock { $0.held = operation } }
    var isHolding: Bool { state.withLock { $0.isHolding } }
    func letGo() { gate.signal() }

    func calls(of operation: StorageError.Operation) -> Int { state.withLock { $0.calls[operation, default: 0] } }

    var permit: FolderStorage.Permit { { (operation) throws(StorageError) in try self.decide(operation) } }

    private func decide(_ operation: StorageError.Operation) throws(StorageError) {
        let (waits, fails) = state.withLock { state in
            state.calls[operation, default: 0] += 1
            let waits = state.held == operation
            if waits {
                state.held = nil
                state.isHolding = true
            }
            let left = state.failing[operation, default: 0]
            state.failing[operation] = max(left - 1, 0)
            return (waits, left > 0)
        }
        if waits {
            // Bounded: a test that fails meanwhile must not hang.
            _ = gate.wait(timeout: .now() + .seconds(300))
            state.withLock { $0.isHolding = false }
        }
        if fails { throw StorageError(operation, path: "test", code: EIO, text: "made to fail") }
    }
}
