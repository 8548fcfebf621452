import Foundation
import RelayClient

@main
@MainActor
struct Main {
    static func main() async throws {
        let (texts, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            while let text = readLine() { continuation.yield(text) }
            continuation.finish()
        }
        var commands = texts.makeAsyncIterator()
        guard let text = await commands.next() else { return }
        let start = try JSONDecoder().decode(Command.self, from: Data(text.utf8))
        guard start.do == "start", let address = RelayAddress(start.address ?? ""), let user = start.user, let secret = start.secret else {
            preconditionFailure("the first command is start, with address, user and secret")
        }
        var options = ClientOptions()
        options.secret = .digits(secret)
        options.presenceTimeout = start.presenceTimeoutMs.map { .milliseconds($0) }
        let invitation = Invitation(address, credential: start.key.map { .key($0) })
        let scenario = ScenarioClient(try WhiteboardClient(invitation, user: user, options: options))
        while let text = await commands.next() {
            scenario.carryOut(try JSONDecoder().decode(Command.self, from: Data(text.utf8)))
        }
        exit(0)
    }
}
