import Foundation
import RelayIO
import RelaySystem
import Testing

/// Whom a command asks when it asks a relay of this machine.
@Suite struct SocketOwnerTests {
    @Test(
        "a control socket that another user has put where ours would be is not asked",
        .enabled(if: geteuid() == 0, "only root can make another user's file"))
    func stranger() throws {
        let folder = "/tmp/boardrelay-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/7420.sock"
        let listener = try UnixListener(path: path) { _ in .line("what it likes") }
        defer { listener.close() }
        #expect(try UnixListener.query(path: path, line: "keys") == "what it likes\n")
        #expect(chown(path, 12_345, 12_345) == 0)
        #expect(throws: SocketAddress.Failure.self) { try UnixListener.query(path: path, line: "keys") }
    }

    @Test("a socket is for this user alone, or for its group as well")
    func group() throws {
        let folder = "/tmp/boardrelay-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (isForGroup, mode) in [(false, 0o600), (true, 0o660)] {
            let path = folder + "/\(isForGroup).sock"
            let listener = try UnixListener(path: path, isForGroup: isForGroup) { _ in .line("") }
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
            listener.close()
        }
    }
}
