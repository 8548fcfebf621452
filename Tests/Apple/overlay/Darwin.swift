@_exported import Darwin
import SwiftShims

// What Apple's overlay adds to its C library, as stdlib/public/Platform/Platform.swift of swiftlang/swift declares it. Signatures only.

public var errno: Int32 { get { fatalError() } set { fatalError() } }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32 { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt, _ value: CInt) -> CInt { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> CInt { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt) -> CInt { fatalError() }
public var S_IFMT: mode_t { 0o170000 }
public var S_IFCHR: mode_t { 0o020000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFLNK: mode_t { 0o120000 }
public var S_IFSOCK: mode_t { 0o140000 }
public var S_ISVTX: mode_t { 0o001000 }
public var SIG_DFL: sig_t? { nil }
public var SIG_IGN: sig_t { fatalError() }
public var SIG_ERR: sig_t { fatalError() }
public var TIOCGWINSZ: UInt { 0x40087468 }
public var TIOCSWINSZ: UInt { 0x80087467 }

// By the SDK's API notes on Apple's systems.
public var CLOCK_REALTIME: clockid_t { _CLOCK_REALTIME }
public var CLOCK_MONOTONIC: clockid_t { _CLOCK_MONOTONIC }
public var CLOCK_MONOTONIC_RAW: clockid_t { _CLOCK_MONOTONIC_RAW }

// Of about a hundred, those that are used.
public enum POSIXErrorCode: Int32, Sendable { case EPERM = 1, ENOENT = 2, EIO = 5, ENOTCONN = 57, ECONNREFUSED = 61 }
