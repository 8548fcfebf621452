// Of Apple's Foundation what the package and its tests use, as Apple's documentation declares it, with what it says of asynchronous
// contexts and of systems that are older than the floors. Signatures only. What is missing here is missing, not forbidden: add it.
@_exported import Darwin
@_exported import Dispatch

// MARK: - Objects

public protocol NSObjectProtocol: AnyObject {}

open class NSObject: NSObjectProtocol, Hashable, CustomStringConvertible {
    public init() {}
    public static func == (a: NSObject, b: NSObject) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) {}
    open func isEqual(_ object: Any?) -> Bool { false }
    open var hash: Int { 0 }
    open var description: String { "" }
    open func copy() -> Any { self }
    open func value(forKey key: String) -> Any? { nil }
    open func setValue(_ value: Any?, forKey key: String) {}
}

public struct NSZone {}
public protocol NSCopying { func copy(with zone: NSZone?) -> Any }
open class NSCoder: NSObject {}
public protocol NSCoding { init?(coder: NSCoder) }
public protocol NSSecureCoding: NSCoding {}
public let NSLocalizedDescriptionKey = "NSLocalizedDescription"

open class NSError: NSObject, NSCopying, NSSecureCoding, Error, @unchecked Sendable {
    public init(domain: String, code: Int, userInfo dict: [String: Any]? = nil) {}
    public required init?(coder: NSCoder) {}
    open var domain: String { "" }
    open var code: Int { 0 }
    open var userInfo: [String: Any] { [:] }
    open var localizedDescription: String { "" }
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

open class NSNumber: NSObject, @unchecked Sendable {
    open var intValue: Int { 0 }
    open var int64Value: Int64 { 0 }
    open var uint64Value: UInt64 { 0 }
    open var doubleValue: Double { 0 }
    open var boolValue: Bool { false }
}

@available(*, unavailable)
extension NSEnumerator: Sendable {}

open class NSEnumerator: NSObject, Sequence {
    @available(*, noasync)
    public func makeIterator() -> AnyIterator<Any> { fatalError() }
    open func nextObject() -> Any? { nil }
    open var allObjects: [Any] { [] }
}

public protocol LocalizedError: Error { var errorDescription: String? { get } }
extension LocalizedError { public var errorDescription: String? { nil } }
extension Error { public var localizedDescription: String { "" } }

public struct POSIXError: Error, Hashable, Sendable {
    public let code: POSIXErrorCode
    public init(_ code: POSIXErrorCode, userInfo: [String: Any] = [:]) { self.code = code }
}

// MARK: - Values

public typealias TimeInterval = Double

public struct Date: Sendable, Hashable, Comparable, Codable {
    public init() {}
    public init(timeIntervalSince1970: TimeInterval) {}
    public var timeIntervalSince1970: TimeInterval { 0 }
    public var timeIntervalSinceNow: TimeInterval { 0 }
    public func timeIntervalSince(_ date: Date) -> TimeInterval { 0 }
    public static let distantFuture = Date()
    public static func < (a: Date, b: Date) -> Bool { false }
    public static func + (a: Date, b: TimeInterval) -> Date { a }
}

public struct UUID: Sendable, Hashable {
    public init() {}
    public init?(uuidString: String) {}
    public var uuidString: String { "" }
}

public struct URL: Sendable, Hashable {
    public enum DirectoryHint: Sendable { case isDirectory, notDirectory, checkFileSystem, inferFromPath }
    public init?(string: String) {}
    public init(fileURLWithPath path: String) {}
    public init(fileURLWithPath path: String, isDirectory: Bool) {}
    @available(macOS 13.0, iOS 16.0, *)
    public init(filePath path: String, directoryHint: DirectoryHint = .inferFromPath, relativeTo base: URL? = nil) {}
    public var path: String { "" }
    @available(macOS 13.0, iOS 16.0, *)
    public func path(percentEncoded: Bool = true) -> String { "" }
    public var standardized: URL { self }
    public var pathExtension: String { "" }
    public var lastPathComponent: String { "" }
    public var pathComponents: [String] { [] }
    public var absoluteString: String { "" }
    public var standardizedFileURL: URL { self }
    public func appendingPathComponent(_ component: String) -> URL { self }
    public func appendingPathComponent(_ component: String, isDirectory: Bool) -> URL { self }
    public func deletingLastPathComponent() -> URL { self }
    public func deletingPathExtension() -> URL { self }
    public func resolvingSymlinksInPath() -> URL { self }
    @available(macOS 13.0, iOS 16.0, *)
    public func appending(path: some StringProtocol, directoryHint: DirectoryHint = .inferFromPath) -> URL { self }
    public struct ResourceKey: Sendable, Hashable {}
}

public struct Data: Sendable, Hashable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let atomic = Self(rawValue: 1)
    }
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public struct Base64EncodingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public init() {}
    public init(_ bytes: some Sequence<UInt8>) {}
    public init(repeating value: UInt8, count: Int) {}
    public init(count: Int) {}
    public init(contentsOf url: URL, options: ReadingOptions = []) throws {}
    public init?(base64Encoded text: String) {}
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(index: Int) -> UInt8 {
        get { 0 }
        set {}
    }
    public subscript(bounds: Range<Int>) -> Data {
        get { self }
        set {}
    }
    public mutating func replaceSubrange(_ range: Range<Int>, with bytes: some Collection<UInt8>) {}
    public func range(of data: Data) -> Range<Int>? { nil }
    public mutating func append(_ other: Data) {}
    public func base64EncodedString(options: Base64EncodingOptions = []) -> String { "" }
    public func write(to url: URL, options: WritingOptions = []) throws {}
}

// MARK: - Text

extension String {
    public struct Encoding: Sendable, Hashable {
        public static let utf8 = Self()
        public static let ascii = Self()
    }
    public init(contentsOf url: URL, encoding: Encoding) throws { self = "" }
    public init(contentsOfFile path: String, encoding: Encoding) throws { self = "" }
    public init(format: String, _ arguments: any CVarArg...) { self = "" }
    public struct CompareOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
}

extension StringProtocol {
    public var capitalized: String { "" }
    public func trimmingCharacters(in set: CharacterSet) -> String { "" }
    public func appending(_ text: some StringProtocol) -> String { "" }
    public func components(separatedBy separator: some StringProtocol) -> [String] { [] }
    public func replacingOccurrences(
        of target: some StringProtocol, with text: some StringProtocol, options: String.CompareOptions = [], range: Range<Index>? = nil
    ) -> String { "" }
    public func range(
        of text: some StringProtocol, options: String.CompareOptions = [], range: Range<Index>? = nil
    ) -> Range<Index>? { nil }
    public func write(toFile path: some StringProtocol, atomically: Bool, encoding: String.Encoding) throws {}
    public func write(to url: URL, atomically: Bool, encoding: String.Encoding) throws {}
    public func data(using encoding: String.Encoding, allowLossyConversion: Bool = false) -> Data? { nil }
}

public struct CharacterSet: Sendable, Hashable {
    public init(charactersIn text: String) {}
    public static let whitespaces = CharacterSet(charactersIn: "")
    public static let newlines = CharacterSet(charactersIn: "")
    public static let whitespacesAndNewlines = CharacterSet(charactersIn: "")
}

// MARK: - JSON and XML

open class JSONEncoder {
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let prettyPrinted = Self(rawValue: 1)
        public static let sortedKeys = Self(rawValue: 2)
        public static let withoutEscapingSlashes = Self(rawValue: 8)
    }
    public enum DateEncodingStrategy: Sendable { case secondsSince1970 }
    public init() {}
    open var outputFormatting: OutputFormatting {
        get { [] }
        set {}
    }
    open var dateEncodingStrategy: DateEncodingStrategy {
        get { .secondsSince1970 }
        set {}
    }
    open func encode(_ value: some Encodable) throws -> Data { Data() }
}

open class JSONDecoder {
    public enum DateDecodingStrategy: Sendable { case secondsSince1970 }
    public init() {}
    open var dateDecodingStrategy: DateDecodingStrategy {
        get { .secondsSince1970 }
        set {}
    }
    open func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value { fatalError() }
}

open class JSONSerialization: NSObject {
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let fragmentsAllowed = Self(rawValue: 4)
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let sortedKeys = Self(rawValue: 2)
    }
    open class func jsonObject(with data: Data, options: ReadingOptions = []) throws -> Any { fatalError() }
    open class func data(withJSONObject object: Any, options: WritingOptions = []) throws -> Data { fatalError() }
}

public protocol XMLParserDelegate: NSObjectProtocol {
    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String])
    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?)
    func parser(_ parser: XMLParser, foundCharacters text: String)
}

open class XMLParser: NSObject {
    public init(data: Data) {}
    open weak var delegate: (any XMLParserDelegate)?
    open func parse() -> Bool { false }
    open var parserError: (any Error)? { nil }
    open var lineNumber: Int { 0 }
}

// MARK: - The system

open class ProcessInfo: NSObject, @unchecked Sendable {
    public static var processInfo: ProcessInfo { fatalError() }
    public var environment: [String: String] { [:] }
    public var arguments: [String] { [] }
    public var processIdentifier: Int32 { 0 }
    public var activeProcessorCount: Int { 0 }
}

open class Bundle: NSObject, @unchecked Sendable {
    public class var main: Bundle { fatalError() }
    public class var allBundles: [Bundle] { [] }
    public var bundleURL: URL { fatalError() }
    public var executableURL: URL? { nil }
    public var resourceURL: URL? { nil }
    public func object(forInfoDictionaryKey key: String) -> Any? { nil }
}

open class Thread: NSObject, @unchecked Sendable {
    public class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
    @available(*, noasync)
    public class func sleep(forTimeInterval seconds: TimeInterval) {}
}

public protocol NSLocking {
    @available(*, noasync)
    func lock()
    @available(*, noasync)
    func unlock()
}

extension NSLocking {
    public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
}

open class NSLock: NSObject, NSLocking, @unchecked Sendable {
    @available(*, noasync)
    open func lock() {}
    @available(*, noasync)
    open func unlock() {}
}

open class NSCondition: NSObject, NSLocking, @unchecked Sendable {
    @available(*, noasync)
    open func lock() {}
    @available(*, noasync)
    open func unlock() {}
    @available(*, noasync)
    open func wait() {}
    @available(*, noasync)
    open func wait(until limit: Date) -> Bool { false }
    open func signal() {}
    open func broadcast() {}
}

// MARK: - Files

public func NSTemporaryDirectory() -> String { "" }

public struct FileAttributeKey: Hashable, Sendable {
    public static let posixPermissions = Self()
    public static let size = Self()
    public static let systemFreeSize = Self()
    public static let type = Self()
}

public struct FileAttributeType: Hashable, Sendable {
    public static let typeDirectory = Self()
    public static let typeRegular = Self()
}

open class FileManager: NSObject, @unchecked Sendable {
    public enum SearchPathDirectory: UInt, Sendable { case applicationSupportDirectory = 14 }
    public struct SearchPathDomainMask: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let userDomainMask = Self(rawValue: 1)
    }
    public struct DirectoryEnumerationOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    open class DirectoryEnumerator: NSEnumerator {
        open func skipDescendants() {}
    }
    public class var `default`: FileManager { fatalError() }
    public var temporaryDirectory: URL { fatalError() }
    public var currentDirectoryPath: String { "" }
    public func urls(for directory: SearchPathDirectory, in domainMask: SearchPathDomainMask) -> [URL] { [] }
    public func removeItem(atPath path: String) throws {}
    public func removeItem(at url: URL) throws {}
    public func fileExists(atPath path: String) -> Bool { false }
    public func isExecutableFile(atPath path: String) -> Bool { false }
    public func isReadableFile(atPath path: String) -> Bool { false }
    public func contents(atPath path: String) -> Data? { nil }
    public func contentsOfDirectory(atPath path: String) throws -> [String] { [] }
    public func enumerator(atPath path: String) -> DirectoryEnumerator? { nil }
    public func enumerator(
        at url: URL, includingPropertiesForKeys keys: [URL.ResourceKey]?, options: DirectoryEnumerationOptions = [],
        errorHandler: ((URL, any Error) -> Bool)? = nil
    ) -> DirectoryEnumerator? { nil }
    public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] { [:] }
    public func attributesOfFileSystem(forPath path: String) throws -> [FileAttributeKey: Any] { [:] }
    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {}
    @discardableResult
    public func createFile(atPath path: String, contents: Data?, attributes: [FileAttributeKey: Any]? = nil) -> Bool { false }
    public func createDirectory(
        atPath path: String, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
    public func createDirectory(at url: URL, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil) throws {}
    public func createSymbolicLink(atPath path: String, withDestinationPath target: String) throws {}
    public func copyItem(atPath source: String, toPath target: String) throws {}
    public func moveItem(atPath source: String, toPath target: String) throws {}
}

open class FileHandle: NSObject, @unchecked Sendable {
    public convenience init(fileDescriptor: Int32) { self.init(fileDescriptor: fileDescriptor, closeOnDealloc: false) }
    public init(fileDescriptor: Int32, closeOnDealloc: Bool) {}
    public convenience init(forWritingTo url: URL) throws { fatalError() }
    public convenience init(forReadingFrom url: URL) throws { fatalError() }
    public class var standardError: FileHandle { fatalError() }
    public class var standardOutput: FileHandle { fatalError() }
    public class var nullDevice: FileHandle { fatalError() }
    public var fileDescriptor: Int32 { 0 }
    public var availableData: Data { Data() }
    public func readDataToEndOfFile() -> Data { Data() }
    @available(macOS 10.15.4, iOS 13.4, *)
    public func readToEnd() throws -> Data? { nil }
    @available(macOS 10.15.4, iOS 13.4, *)
    public func read(upToCount count: Int) throws -> Data? { nil }
    public func write(_ data: Data) {}
    @available(macOS 10.15.4, iOS 13.4, *)
    public func write<Bytes: RandomAccessCollection<UInt8>>(contentsOf data: Bytes) throws {}
    @available(macOS 10.15, iOS 13.0, *)
    public func synchronize() throws {}
    @available(macOS 10.15, iOS 13.0, *)
    public func close() throws {}
}

open class Pipe: NSObject, @unchecked Sendable {
    public override init() {}
    public var fileHandleForReading: FileHandle { fatalError() }
    public var fileHandleForWriting: FileHandle { fatalError() }
}
