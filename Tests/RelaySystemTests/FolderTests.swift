import Foundation
import RelayIO
import RelaySystem
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension Folder {
    fileprivate func write(_ bytes: [UInt8], to name: String, at offset: Int) throws(FileFailure) {
        try write([bytes], to: name, at: offset)
    }
}

@Suite struct FolderTests {
    @Test("pieces are written one behind the other, more of them than one call takes, empty ones too")
    func pieces() throws {
        try inTemporaryFolder { path in
            let folder = try Folder(path: path)
            defer { folder.close() }
            try folder.create("a")
            let pieces = (0..<200).map { [UInt8](repeating: UInt8($0), count: $0 % 7 * 1_000) }
            try folder.write([[9, 9]], to: "a", at: 0)
            try folder.write(pieces, to: "a", at: 1)
            try folder.write([[UInt8]](), to: "a", at: 0)
            let whole = [9] + pieces.joined()
            #expect(try folder.read("a", at: 0, count: whole.count + 1) == whole)
        }
    }

    @Test("the space that is free on a folder's volume is known; of a path that leads nowhere nothing is")
    func free() throws {
        try inTemporaryFolder { path in
            let free = try #require(SystemVolume.freeBytes(of: path))
            let told = try #require(try FileManager.default.attributesOfFileSystem(forPath: path)[.systemFreeSize] as? NSNumber)
            // Others write on it meanwhile.
            #expect(free > 0 && free <= 2 * told.intValue && told.intValue <= 4 * free, "\(free), \(told)")
            #expect(SystemVolume.freeBytes(of: path + "/nowhere") == nil)
        }
    }

    @Test("a folder's files are made, written, read, cut, renamed and removed; what is not there or there already is told by errno")
    func operations() throws {
        try inTemporaryFolder { path in
            let folder = try Folder(path: path + "/data")
            try folder.create("a")
            try folder.write(Array("hello".utf8), to: "a", at: 0)
            try folder.write(Array("p, world".utf8), to: "a", at: 3)
            #expect(try folder.size(of: "a") == 11)
            #expect(try text(folder, "a") == "help, world")
            try folder.truncate("a", to: 4)
            try folder.write(Array("!".utf8), to: "a", at: 6)
            #expect(try folder.read("a", at: 0, count: 100) == Array("help\0\0!".utf8), "the hole is filled with zeros")
            try folder.sync("a")
            try folder.sync()
            #expect(refusal { try folder.create("a") }?.code == EEXIST)

            try folder.create("b")
            try folder.write(Array("b".utf8), to: "b", at: 0)
            try folder.rename("b", to: "a")
            #expect(try folder.list() == ["a"] && text(folder, "a") == "b", "the new name's file is replaced")
            // The descriptor that wrote last went with the old name.
            #expect(refusal { try folder.write([0], to: "b", at: 0) }?.code == ENOENT)
            try folder.write(Array("c".utf8), to: "a", at: 1)
            #expect(try text(folder, "a") == "bc")

            try folder.remove("a")
            try folder.create("a")
            try folder.write(Array("new".utf8), to: "a", at: 0)
            #expect(try text(folder, "a") == "new", "not into the file that was removed")
            let calls: [() throws -> Void] = [
                { try folder.remove("none") }, { try folder.rename("none", to: "a") }, { try folder.truncate("none", to: 0) },
                { try folder.sync("none") }, { _ = try folder.size(of: "none") }, { _ = try folder.read("none", at: 0, count: 1) },
            ]
            for call in calls {
                let failure = refusal(call)
                #expect(
                    failure?.code == ENOENT && failure?.path == path + "/data/none", "\(failure.map(String.init(describing:)) ?? "nothing")"
                )
            }
        }
    }

    @Test("files are for this user alone, 0600, and so are the folder and those made on the way, 0700")
    func modes() throws {
        try inTemporaryFolder { path in
            let folder = try Folder(path: path + "/on/the/way")
            try folder.lockOut()
            try folder.create("a")
            for made in ["/on", "/on/the", "/on/the/way"] { #expect(status(path + made).mode == 0o700) }
            for file in ["a", "lock"] { #expect(status(path + "/on/the/way/" + file).mode == 0o600) }
        }
    }

    @Test("a path that is a link leads to the folder; a file that is a link is refused, and what it leads to stays as it was")
    func links() throws {
        try inTemporaryFolder { path in
            _ = try Folder(path: path + "/real")
            #expect(symlink("real", path + "/link") == 0)
            #expect(FileManager.default.createFile(atPath: path + "/precious", contents: Data("precious".utf8)))
            let folder = try Folder(path: path + "/link")
            try folder.create("a")
            #expect(status(path + "/real/a").mode == 0o600)
            for name in ["file", "lock"] { #expect(symlink("../precious", path + "/real/" + name) == 0) }
            #expect(refusal { try folder.write([0], to: "file", at: 0) }?.code == ELOOP)
            #expect(refusal { try folder.truncate("file", to: 0) }?.code == ELOOP)
            #expect(refusal { try folder.sync("file") }?.code == ELOOP)
            #expect(refusal { _ = try folder.read("file", at: 0, count: 1) }?.code == ELOOP)
            #expect(refusal { try folder.create("file") }?.code == EEXIST)
            #expect(refusal { try folder.lockOut() }?.code == ELOOP)
            try folder.remove("file")
            #expect(FileManager.default.contents(atPath: path + "/precious") == Data("precious".utf8))
        }
    }

    @Test("a path that leads nowhere, to a file or through one is refused by its name")
    func paths() throws {
        try inTemporaryFolder { path in
            #expect(symlink("nowhere", path + "/link") == 0)
            #expect(FileManager.default.createFile(atPath: path + "/file", contents: nil))
            for (name, code) in [("/link", ENOENT), ("/file", ENOTDIR), ("/file/folder", ENOTDIR)] {
                let failure = refusal { _ = try Folder(path: path + name) }
                #expect(failure?.code == code && failure?.path == path + name)
            }
            #expect(refusal { _ = try Folder(path: "") }?.code == ENOENT)
        }
    }

    @Test("another user's folder is refused, both users are named")
    func foreign() throws {
        try inTemporaryFolder { path in
            // Root may give a folder away; everybody else finds one of root's.
            let theirs = geteuid() == 0 ? path + "/theirs" : "/usr"
            if geteuid() == 0 { #expect(mkdir(theirs, 0o777) == 0 && chown(theirs, 65_534, 65_534) == 0) }
            let failure = refusal { _ = try Folder(path: theirs) }
            #expect(failure?.code == EPERM)
            #expect(failure?.text == "it belongs to user \(status(theirs).owner), this process to user \(geteuid())")
            #expect(descriptors(of: theirs) == 0)
        }
    }

    @Test("a second lock is refused with the pid of the first, and granted when that is closed, even if a child being started holds a copy")
    func lock() throws {
        try inTemporaryFolder { path in
            let first = try Folder(path: path), second = try Folder(path: path)
            try first.lockOut()
            let failure = refusal { try second.lockOut() }
            #expect(failure?.code == EBUSY && failure?.path == path)
            #expect(failure?.text == "it is in use by pid \(getpid())")
            // Between fork and exec a child has all descriptors.
            let held = openDescriptors(of: path + "/lock")
            let copies = held.map { dup($0) }
            defer { for copy in copies { close(copy) } }
            #expect(!copies.isEmpty && !copies.contains(-1))
            first.close()
            try second.lockOut()
            #expect(descriptors(of: path + "/lock") == copies.count + 1, "none is left of the attempt that failed")
            #expect(refusal { try Folder(path: path).lockOut() }?.code == EBUSY)
            second.close()
        }
    }

    @Test("who waits for a lock is told once who has it, and has it when that one is closed")
    func waited() throws {
        try inTemporaryFolder { path in
            let first = try Folder(path: path), second = try Folder(path: path)
            try first.lockOut()
            var told: [String] = []
            try second.lockOut(waits: { holder in
                told.append(holder)
                first.close()
            })
            #expect(told == ["pid \(getpid())"])
            #expect(refusal { try Folder(path: path).lockOut() }?.text == "it is in use by pid \(getpid())")
            second.close()
            try Folder(path: path).lockOut(waits: { told.append($0) })
            #expect(told.count == 1, "nobody is waited for where nobody is")
        }
    }

    @Test("a folder that was replaced while somebody waited for it is refused, and its lock is not kept", arguments: [true, false])
    func replaced(isThere: Bool) throws {
        try inTemporaryFolder { path in
            let first = try Folder(path: path + "/data"), second = try Folder(path: path + "/data")
            try first.lockOut()
            let failure = refusal {
                try second.lockOut(waits: { _ in
                    rename(path + "/data", path + "/moved")
                    if isThere { try? Folder(path: path + "/data").lockOut() }
                    first.close()
                })
            }
            #expect(failure?.code == ESTALE && failure?.text == "it was replaced while this process waited for it", "\(failure as Any)")
            second.close()
            try Folder(path: path + "/moved").lockOut()
        }
    }

    @Test("close gives up every descriptor, once; so does the end of a folder that nobody closed")
    func descriptorsClosed() throws {
        try inTemporaryFolder { path in
            for closes in [0, 1, 2] {
                let folder = try Folder(path: path)
                try folder.lockOut()
                try folder.create("a\(closes)")
                #expect(descriptors(of: path) == 1 && descriptors(of: path + "/lock") == 1 && descriptors(of: path + "/a\(closes)") == 1)
                for _ in 0..<closes { folder.close() }
            }
            #expect(descriptors(of: path) == 0 && descriptors(of: path + "/lock") == 0)
            for closes in [0, 1, 2] { #expect(descriptors(of: path + "/a\(closes)") == 0) }
        }
    }

    @Test("a list has every name but . and .., hidden ones and folders too, also of 2,000 files, and again")
    func list() throws {
        try inTemporaryFolder { path in
            let folder = try Folder(path: path)
            #expect(try folder.list() == [])
            var names: Set = [".hidden", "..more", "folder", "link", "ü 🦆"]
            for name in [".hidden", "..more", "ü 🦆"] { try folder.create(name) }
            #expect(mkdir(path + "/folder", 0o700) == 0 && symlink("nowhere", path + "/link") == 0)
            for number in 0..<2_000 {
                try folder.create("file-\(number)")
                names.insert("file-\(number)")
            }
            for _ in 0..<2 {
                let found = try folder.list()
                #expect(Set(found) == names && found.count == names.count)
            }
        }
    }

    @Test("a read past the end is short, one from behind it empty")
    func ends() throws {
        try inTemporaryFolder { path in
            let folder = try Folder(path: path)
            try folder.create("a")
            #expect(try folder.read("a", at: 0, count: 10) == [])
            try folder.write([1, 2, 3, 4], to: "a", at: 0)
            #expect(try folder.read("a", at: 1, count: 2) == [2, 3])
            #expect(try folder.read("a", at: 2, count: 10) == [3, 4])
            #expect(try folder.read("a", at: 4, count: 10) == [] && folder.read("a", at: 400, count: 10) == [])
            #expect(try folder.read("a", at: 0, count: 0) == [])
        }
    }

    @Test("a sync fails when the file or the folder was removed: what was written is in no folder any more")
    func removed() throws {
        try inTemporaryFolder { path in
            let folder = try Folder(path: path + "/data")
            try folder.create("a")
            try folder.write([1], to: "a", at: 0)
            try folder.sync("a")
            #expect(unlink(path + "/data/a") == 0)
            try folder.write([2], to: "a", at: 1)
            #expect(refusal { try folder.sync("a") }?.code == ENOENT)
            try folder.sync()
            try FileManager.default.removeItem(atPath: path + "/data")
            let failure = refusal { try folder.sync() }
            #expect(failure?.code == ENOENT && failure?.path == path + "/data")
            #expect(refusal { try folder.create("b") }?.code == ENOENT)
            // A new folder of that name is another one.
            _ = try Folder(path: path + "/data")
            #expect(refusal { try folder.sync() }?.code == ENOENT && refusal { try folder.create("b") }?.code == ENOENT)
        }
    }

    @Test("a folder that is moved is still the one that was opened")
    func moved() throws {
        try inTemporaryFolder { path in
            let folder = try Folder(path: path + "/here")
            try folder.lockOut()
            try folder.create("a")
            #expect(rename(path + "/here", path + "/there") == 0)
            try folder.write([1], to: "a", at: 0)
            try folder.sync("a")
            try folder.create("b")
            try folder.sync()
            #expect(try Set(folder.list()) == ["a", "b", "lock"] && folder.read("a", at: 0, count: 9) == [1])
            #expect(status(path + "/there/b").mode == 0o600 && !FileManager.default.fileExists(atPath: path + "/here"))
            let other = try Folder(path: path + "/there")
            #expect(refusal { try other.lockOut() }?.code == EBUSY)
        }
    }

    @Test("writes of 0 bytes and of 5 MiB are whole", arguments: [0, 1, 5 * 1024 * 1024])
    func sizes(byteCount: Int) throws {
        try inTemporaryFolder { path in
            let folder = try Folder(path: path)
            let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            try folder.create("a")
            try folder.write(bytes, to: "a", at: 0)
            try folder.write(bytes, to: "a", at: byteCount)
            try folder.sync("a")
            #expect(try folder.size(of: "a") == 2 * byteCount)
            #expect(try folder.read("a", at: 0, count: 2 * byteCount + 1) == bytes + bytes)
        }
    }
}

/// Gives a new folder to work in, and removes it.
private func inTemporaryFolder(_ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "/boardrelay-\(String(SystemEntropy.word(), radix: 16))"
    #expect(mkdir(path, 0o700) == 0)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
}

private func refusal(_ body: () throws -> Void) -> FileFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? FileFailure
    }
}

private func text(_ folder: Folder, _ name: String) throws -> String {
    String(decoding: try folder.read(name, at: 0, count: 1_000), as: UTF8.self)
}

/// Permissions and owner of what a path leads to.
private func status(_ path: String) -> (mode: Int, owner: UInt32) {
    var found = stat()
    guard stat(path, &found) == 0 else { return (-1, 0) }
    return (Int(found.st_mode) & 0o7777, found.st_uid)
}

/// Descriptors of this process that lead to the same file or folder as a path.
private func openDescriptors(of path: String) -> [Int32] {
    var wanted = stat()
    guard stat(path, &wanted) == 0 else { return [] }
    return (0..<4_096).filter { descriptor in
        var found = stat()
        return fstat(descriptor, &found) == 0 && found.st_ino == wanted.st_ino && found.st_dev == wanted.st_dev
    }
}

private func descriptors(of path: String) -> Int { openDescriptors(of: path).count }
