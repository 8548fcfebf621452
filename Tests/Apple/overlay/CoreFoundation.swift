// Of Core Foundation what the package uses. Signatures only; the page of each stands under
// https://developer.apple.com/documentation/corefoundation, by its name in small letters.
@_exported import Darwin

public typealias CFIndex = Int
public typealias CFStringEncoding = UInt32
public class CFAllocator {}
public typealias CFTypeRef = AnyObject
public class CFString: Hashable {
    public static func == (a: CFString, b: CFString) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) {}
}
/// On Apple's systems a class, into which `as` turns a dictionary of Swift's: that takes Objective-C.
public typealias CFDictionary = [CFString: Any]
public class CFArray {}
public class CFData {}
public class CFError: Error, @unchecked Sendable {}

public enum CFStringBuiltInEncodings: CFStringEncoding { case UTF8 = 0x0800_0100 }
public func CFStringCreateWithCString(
    _ alloc: CFAllocator!, _ cStr: UnsafePointer<CChar>!, _ encoding: CFStringEncoding
) -> CFString! { fatalError() }
public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex { 0 }
public func CFArrayGetValueAtIndex(_ theArray: CFArray!, _ idx: CFIndex) -> UnsafeRawPointer! { fatalError() }
public func CFDataGetLength(_ theData: CFData!) -> CFIndex { 0 }
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! { fatalError() }
public func CFErrorGetCode(_ err: CFError!) -> CFIndex { 0 }
