// Of Core Graphics what docs/samples uses. Signatures only; the page of each stands under
// https://developer.apple.com/documentation/corefoundation (cgfloat, cgpoint, cgsize, cgrect, cgaffinetransform), by its name in small
// letters. CGFloat is a type of its own here, too: the compiler alone turns it into a Double and back.
@_exported import Foundation

@frozen public struct CGFloat: Sendable, Hashable, Comparable, SignedNumeric, ExpressibleByFloatLiteral, Codable {
    public typealias NativeType = Double
    public var native: Double
    public init() { native = 0 }
    public init(_ value: Double) { native = value }
    public init(_ value: Float) { native = 0 }
    public init(_ value: CGFloat) { native = value.native }
    public init(_ value: some BinaryInteger) { native = 0 }
    public init?(exactly source: some BinaryInteger) { nil }
    public init(floatLiteral value: Double) { native = value }
    public init(integerLiteral value: Int) { native = 0 }
    public typealias Magnitude = CGFloat
    public var magnitude: CGFloat { self }
    public static func < (a: CGFloat, b: CGFloat) -> Bool { false }
    public static func + (a: CGFloat, b: CGFloat) -> CGFloat { a }
    public static func - (a: CGFloat, b: CGFloat) -> CGFloat { a }
    public static func * (a: CGFloat, b: CGFloat) -> CGFloat { a }
    public static func / (a: CGFloat, b: CGFloat) -> CGFloat { a }
    public static func *= (a: inout CGFloat, b: CGFloat) {}
    public static var pi: CGFloat { 3 }
    public func rounded() -> CGFloat { self }
}

extension Double { public init(_ value: CGFloat) { self = value.native } }

public struct CGPoint: Sendable, Hashable {
    public var x: CGFloat, y: CGFloat
    public init(x: CGFloat, y: CGFloat) { (self.x, self.y) = (x, y) }
    public init(x: Double, y: Double) { self.init(x: CGFloat(x), y: CGFloat(y)) }
    public static var zero: CGPoint { fatalError() }
    public func applying(_ t: CGAffineTransform) -> CGPoint { self }
}

public struct CGSize: Sendable, Hashable {
    public var width: CGFloat, height: CGFloat
    public init(width: CGFloat, height: CGFloat) { (self.width, self.height) = (width, height) }
    public init(width: Double, height: Double) { self.init(width: CGFloat(width), height: CGFloat(height)) }
    public static var zero: CGSize { fatalError() }
}

public struct CGRect: Sendable, Equatable {
    public var origin: CGPoint, size: CGSize
    public static var zero: CGRect { fatalError() }
    public var width: CGFloat { 0 }
    public var height: CGFloat { 0 }
    public var minX: CGFloat { 0 }
    public var minY: CGFloat { 0 }
    public var maxX: CGFloat { 0 }
    public var maxY: CGFloat { 0 }
    public var isNull: Bool { false }
}

public struct CGAffineTransform: Sendable, Equatable {
    public static let identity = CGAffineTransform()
}
