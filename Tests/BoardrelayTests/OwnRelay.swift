import RelayServer

/// A relay for as long as the body runs; it has stopped however that ends.
func withRelay(_ options: WhiteboardRelay.Options = .init(port: 0), _ body: (WhiteboardRelay) async throws -> Void) async throws {
    let relay = try await WhiteboardRelay.start(options)
    let result: Result<Void, any Error>
    do { result = .success(try await body(relay)) } catch { result = .failure(error) }
    await relay.stop()
    try result.get()
}
