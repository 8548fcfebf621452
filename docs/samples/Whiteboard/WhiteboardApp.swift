// A whole app for iPad and iPhone: it joins a board, draws with PencilKit, and shows what others draw and where their pens are.
//
// It was never run on a device, nor in a simulator. `Tests/Apple/check.py` type-checks it against declarations of SwiftUI, UIKit and
// PencilKit that were written after Apple's documentation. Try it before you rely on it.
//
// In Xcode make an iOS app (17 or newer), add this package with its products WhiteboardModel and BoardFormat, put these files in place of
// the app's own, and say in Info.plist why it wants the local network (NSLocalNetworkUsageDescription) and what it looks for there
// (NSBonjourServices, an array with _boardrelay._tcp).
import Observation
import RelayClient
import SwiftUI
import WhiteboardModel

@main
struct WhiteboardApp: App {
    @State private var session = Session()
    @Environment(\.scenePhase) private var phase

    var body: some Scene {
        WindowGroup {
            Group {
                if let drawing = session.drawing {
                    BoardView(drawing: drawing) { session.leave() }
                } else {
                    JoinView(session: session)
                }
            }
            .onChange(of: phase) { _, phase in
                // The system ends links of an app in the background: the client looks at once, not at its next attempt.
                if phase == .active { session.drawing?.board.channel?.client.wakeUp() }
            }
        }
    }
}

/// The board that this app is at, if any.
@MainActor @Observable
final class Session {
    private(set) var drawing: SharedDrawing?
    private(set) var isJoining = false
    /// Why it did not come in.
    private(set) var problem: String?

    func join(_ text: String, name: String) async {
        (isJoining, problem) = (true, nil)
        defer { isJoining = false }
        do {
            let invitation = try Invitation(text.trimmingCharacters(in: .whitespacesAndNewlines))
            var options = ClientOptions()
            // iOS asks the person about the local network first, and refuses until it has an answer.
            options.waitsForConnectivity = true
            // Others see the name; the relay knows this installation by its id, also when the app was removed and comes again.
            let client = try WhiteboardClient(invitation, user: WhiteboardClient.keptUserID(), options: options)
            try await client.connect(timeout: .seconds(30))
            let board = try BoardModel(client.channel(invitation.channel ?? "whiteboard"), cursors: Cursor.topic)
            let drawing = SharedDrawing(board)
            try await board.open()
            try await board.channel?.presence.set(["name": name])
            self.drawing = drawing
        } catch {
            problem = plainWords(error)
        }
    }

    func leave() {
        guard let board = drawing?.board else { return }
        drawing = nil
        // Sends what waits, and logs out.
        Task { await board.channel?.client.close() }
    }
}

struct JoinView: View {
    let session: Session
    @AppStorage("invitation") private var text = ""
    @AppStorage("name") private var name = ""
    @State private var nearby: [NearbyRelay] = []
    /// Why the local network cannot be searched.
    @State private var trouble: String?

    var body: some View {
        Form {
            Section {
                TextField("Address, or the text of a QR code", text: $text)
                    .textInputAutocapitalization(.never)
                    .autocorrectionDisabled()
                PasteButton(payloadType: String.self) { texts in text = texts.first ?? text }
                TextField("Your name", text: $name)
            } footer: {
                if let problem = session.problem { Text(problem).foregroundStyle(.red) }
            }
            Button(session.isJoining ? "Joining…" : "Join") {
                Task { await session.join(text, name: name) }
            }
            .disabled(session.isJoining || text.isEmpty || name.isEmpty)
            // Anybody in the network can claim a name, and no key is announced: what is behind `#` is for people to give.
            Section {
                ForEach(nearby, id: \.self) { relay in
                    Button(relay.name) { text = relay.addresses[0].description }
                }
            } footer: {
                if let trouble { Text(trouble) }
            }
        }
        .task {
            do {
                for try await relays in NearbyRelays() { nearby = relays }
            } catch {
                trouble = (error as? RelayError)?.text
            }
        }
    }
}

/// What went wrong and what helps, where the relay's own words are for programmers.
func plainWords(_ error: any Error) -> String {
    guard let error = error as? RelayError else { return error.localizedDescription }
    return switch error.code {
    case .badRequest: "This is no invitation to a board: \(error.text)"
    case .connectFailed, .timedOut: "The relay does not answer. Are you in its network? (\(error.text))"
    case .keyWrong, .credentialRequired, .tokenInvalid, .tokenExpired: "This invitation is not valid any more. Ask for a new one."
    case .userIDTaken: "This name belongs to another device."
    case .banned, .endedByModerator: "The host has ended your stay."
    case .replaced: "You came in on another device."
    case .notPermitted: "You may not change this."
    case .boardFull, .storageFull, .storageFailed: "The relay could not keep your last change: its room is used up or its disk fails."
    case .rateLimited, .unsentFull: "That was too much at once. Your last change is lost."
    default: error.text
    }
}
