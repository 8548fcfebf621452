// docs/client-interface.md links to this file. The function show… is the app's.
import RelayClient

@MainActor func bot(_ link: String) async throws {
    try await WhiteboardClient.withClient(Invitation(link), user: "bot-1") { bot in
        showSent(try await bot.channel("lesson").send("the bell rings").accepted)
    }
}
