// docs/client-interface.md links to this file. The functions show… are the app's.
import RelayClient

@MainActor func dashboard(_ link: String) async throws {
    let client = try WhiteboardClient(Invitation(link), user: "wall-1")
    let lesson = try client.channel("lesson")
    let links = client.linkStates(), people = lesson.presence.members(), titles = lesson.metadata.contents()
    let pictures = lesson.board.pictures(), problems = client.problems()
    try await lesson.open([.messages, .presence, .metadata], quiet: true)
    try await withThrowingTaskGroup { group in
        group.addTask { for await link in links { await showLink(link) } }
        group.addTask { for await members in people { await showPeople(members.map { $1.states["name"] ?? $0 }) } }
        group.addTask { for await contents in titles { await showTitle(contents.items["title"]?.value) } }
        group.addTask { for await picture in pictures { await showBoard(picture.records.count, picture.changed.count) } }
        group.addTask { for try await problem in problems { await showError(problem.error) } }
        for try await _ in group {}
    }
}
