/// What a board's records draw: its title, and strokes, texts and images in their layers.
///
/// Records are a state, not steps: only `stroke`, `text`, `image` and `title` are part of it, `erase` and `move` change pictures
/// that messages draw (docs/board-format.md).
public struct WhiteboardPicture: Sendable {
    enum Element: Sendable {
        /// In the order of their numbers; one or several.
        case stroke([StrokePart])
        case text(BoardText)
        case image(BoardImage)

        var z: Int {
            switch self {
            case .stroke(let parts): parts[0].stroke.z
            case .text(let text): text.z
            case .image(let image): image.z
            }
        }
    }

    private var elements: [ElementID: Element] = [:]
    /// `nil` without one, and where it is empty.
    public private(set) var title: String?
    /// Records of a custom type that draws nothing: how many of each, an absent type as the empty one.
    public private(set) var skipped: [String: Int] = [:]
    /// Records of a known type that break the format; they are passed over.
    public private(set) var broken: [(key: String, problem: BoardError)] = []

    public init() {}

    public var strokes: Int { elements.values.count { if case .stroke = $0 { true } else { false } } }
    public var texts: Int { elements.values.count { if case .text = $0 { true } else { false } } }
    public var images: Int { elements.values.count { if case .image = $0 { true } else { false } } }

    /// Takes the next record, in the order of offsets.
    public mutating func add(_ record: WhiteboardRecord) {
        let type = record.customType ?? ""
        let isDrawn = [BoardWords.stroke, BoardWords.text, BoardWords.image, BoardWords.title].contains(type)
        guard isDrawn, case .text(let text) = record.payload else {
            skipped[type, default: 0] += 1
            return
        }
        do {
            let message = try BoardMessage.decode(customType: type, payload: Array(text.utf8), bytesMax: BoardLimits.recordBytesMax)
            switch message {
            case .stroke(let part): add(part)
            case .text(let text): elements[text.id] = .text(text)
            case .image(let image): elements[image.id] = .image(image)
            case .title(let text): title = text.isEmpty ? nil : text
            case .erase, .move, nil: break
            }
        } catch {
            broken.append((record.key, error))
        }
    }

    /// A part 1 takes the place of all that its id drew; other parts join what is there of the same stroke.
    private mutating func add(_ part: StrokePart) {
        guard part.part > 1, case .stroke(var parts)? = elements[part.stroke.id], parts[0].parts == part.parts else {
            elements[part.stroke.id] = .stroke([part])
            return
        }
        parts.removeAll { $0.part == part.part }
        parts.insert(part, at: parts.firstIndex { $0.part > part.part } ?? parts.count)
        elements[part.stroke.id] = .stroke(parts)
    }

    /// From the lowest layer to the highest.
    var ordered: [Element] {
        elements.sorted { ($0.value.z, $0.key) < ($1.value.z, $1.key) }.map(\.value)
    }
}
