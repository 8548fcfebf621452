// Of SwiftUI what docs/samples uses. Signatures only; the page of each stands under https://developer.apple.com/documentation/swiftui, such
// as view/onchange(of:initial:_:)-4psgg, uiviewrepresentable, pastebutton. What a builder makes is of one type here.
@_exported import CoreGraphics
@_exported import Foundation
import UIKit

// MARK: - Apps and views

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}
extension App { public static func main() {} }

@MainActor @preconcurrency public protocol Scene {}
@resultBuilder public struct SceneBuilder { public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content } }

public struct WindowGroup<Content: View>: Scene { public nonisolated init(@ViewBuilder content: () -> Content) {} }

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}
extension Never: View { public var body: Never { fatalError() } }

extension Optional: View where Wrapped: View { public var body: Never { fatalError() } }

/// Of the views that SwiftUI itself draws.
public protocol Drawn: View where Body == Never {}
extension Drawn { public var body: Never { fatalError() } }

public struct Built: Drawn { nonisolated init() {} }
@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Built { Built() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<Content: View>(first: Content) -> Built { Built() }
    public static func buildEither<Content: View>(second: Content) -> Built { Built() }
}

@MainActor @preconcurrency public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType: UIView
    associatedtype Coordinator = Void
    @MainActor func makeUIView(context: Context) -> UIViewType
    @MainActor func updateUIView(_ uiView: UIViewType, context: Context)
    typealias Context = UIViewRepresentableContext<Self>
}
extension UIViewRepresentable { public nonisolated var body: Never { fatalError() } }
public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {}

@MainActor @preconcurrency public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder static var previews: Previews { get }
}

// MARK: - State

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding<Value> { fatalError() }
}

@propertyWrapper public struct Binding<Value> {
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
}

@propertyWrapper public struct AppStorage<Value> {
    public init(wrappedValue: Value, _ key: String) where Value == String {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding<Value> { fatalError() }
}

public struct EnvironmentValues { public var scenePhase: ScenePhase { .active } }
@propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError() }
}
public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

// MARK: - Views

public struct LocalizedStringKey: ExpressibleByStringInterpolation { public init(stringLiteral value: String) {} }

public struct Text: Drawn {
    public nonisolated init(_ key: LocalizedStringKey) {}
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ content: S) {}
}
public struct Group<Content>: Drawn { public nonisolated init(@ViewBuilder content: () -> Content) where Content: View {} }
public struct VStack<Content: View>: Drawn { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct Form<Content: View>: Drawn { public nonisolated init(@ViewBuilder content: () -> Content) {} }
public struct NavigationStack<Root: View>: Drawn { public nonisolated init(@ViewBuilder root: () -> Root) {} }
public struct Section<Content: View, Footer: View>: Drawn {
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) {}
}
public struct GeometryReader<Content: View>: Drawn {
    public nonisolated init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) {}
}
public struct GeometryProxy { public var size: CGSize { .zero } }
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Drawn {
    public nonisolated init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
    public nonisolated init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
    where Data.Element: Identifiable, ID == Data.Element.ID {}
}
public struct TextField: Drawn { public nonisolated init(_ titleKey: LocalizedStringKey, text: Binding<String>) {} }
public struct Label: Drawn {
    public nonisolated init(_ titleKey: LocalizedStringKey, systemImage name: String) {}
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ title: S, systemImage name: String) {}
}
public struct Button: Drawn {
    public nonisolated init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {}
    @_disfavoredOverload public nonisolated init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
    public nonisolated init(_ titleKey: LocalizedStringKey, systemImage: String, action: @escaping @MainActor () -> Void) {}
    @_disfavoredOverload
    public nonisolated init<S: StringProtocol>(_ title: S, systemImage: String, action: @escaping @MainActor () -> Void) {}
}
public struct Menu<Label: View, Content: View>: Drawn {
    public nonisolated init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {}
}
public struct ProgressView: Drawn {
    public nonisolated init<V: BinaryFloatingPoint>(_ titleKey: LocalizedStringKey, value: V?, total: V = 1.0) {}
}
public protocol Transferable {}
extension String: Transferable {}
@available(iOS 16.0, *)
public struct PasteButton: Drawn {
    public nonisolated init<T: Transferable>(payloadType: T.Type, onPaste: @escaping ([T]) -> Void) {}
}

// MARK: - How views look

public protocol ShapeStyle: Sendable {}
public struct Color: ShapeStyle, Drawn {
    public nonisolated init(uiColor: UIColor) {}
    public nonisolated static var red: Color { Color(uiColor: .black) }
}
extension ShapeStyle where Self == Color { public static var red: Color { Color(uiColor: .black) } }
public struct Font: Sendable { public static let caption = Font(), footnote = Font() }
public struct Alignment: Sendable { public static let center = Alignment(), top = Alignment() }
public struct Edge { public struct Set: OptionSet, Sendable {
    public let rawValue: Int8
    public init(rawValue: Int8) { self.rawValue = rawValue }
    public static let all = Set(rawValue: 15), bottom = Set(rawValue: 4)
} }
public struct TextInputAutocapitalization: Sendable { public static var never: TextInputAutocapitalization { .init() } }

public struct Modified: Drawn { nonisolated init() {} }
extension View {
    public nonisolated func font(_ font: Font?) -> some View { Modified() }
    public nonisolated func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { Modified() }
    public nonisolated func tint(_ tint: Color?) -> some View { Modified() }
    public nonisolated func opacity(_ opacity: Double) -> some View { Modified() }
    public nonisolated func padding(_ length: CGFloat) -> some View { Modified() }
    public nonisolated func position(_ position: CGPoint) -> some View { Modified() }
    public nonisolated func disabled(_ disabled: Bool) -> some View { Modified() }
    public nonisolated func allowsHitTesting(_ enabled: Bool) -> some View { Modified() }
    public nonisolated func ignoresSafeArea(edges: Edge.Set = .all) -> some View { Modified() }
    public nonisolated func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View { Modified() }
    public nonisolated func textInputAutocapitalization(_ autocapitalization: TextInputAutocapitalization?) -> some View { Modified() }
    public nonisolated func autocorrectionDisabled(_ disable: Bool = true) -> some View { Modified() }
    @available(iOS 17.0, *)
    public nonisolated func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
    ) -> some View { Modified() }
    public nonisolated func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { Modified() }
    public nonisolated func toolbar<Content: ToolbarContent>(@ToolbarContentBuilder content: () -> Content) -> some View { Modified() }
}

// MARK: - Toolbars

@MainActor @preconcurrency public protocol ToolbarContent {}
public struct BuiltItems: ToolbarContent { nonisolated init() {} }
@resultBuilder public struct ToolbarContentBuilder {
    public static func buildBlock<each Content: ToolbarContent>(_ content: repeat each Content) -> BuiltItems { BuiltItems() }
}
public struct ToolbarItemPlacement {
    @available(iOS 14.0, *) public static let topBarLeading = Self(), topBarTrailing = Self(), bottomBar = Self()
}
public struct ToolbarItem<Content: View>: ToolbarContent {
    public nonisolated init(placement: ToolbarItemPlacement, @ViewBuilder content: () -> Content) {}
}
public struct ToolbarItemGroup<Content: View>: ToolbarContent {
    public nonisolated init(placement: ToolbarItemPlacement, @ViewBuilder content: () -> Content) {}
}
