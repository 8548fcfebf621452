#if os(Linux)
    import Foundation
    import Testing

    @Suite struct LinkedLibrariesTests {
        /// All that the loader brings in, as ld.so(8) tells it.
        private static let known: Set<String> = [
            "libswiftCore.so", "libswiftSwiftOnoneSupport.so", "libswift_Concurrency.so", "libswift_StringProcessing.so",
            "libswift_RegexParser.so", "libswift_Builtin_float.so", "libswiftSynchronization.so", "libswiftGlibc.so", "libswiftDispatch.so",
            "libdispatch.so", "libBlocksRuntime.so", "libFoundationEssentials.so", "libm.so.6", "libc.so.6", "libstdc++.so.6", "libgcc_s.so.1",
        ]

        @Test("the daemon brings in no library but those it did before, not all of Foundation and ICU, and no target of a privacy manifest")
        func libraries() async throws {
            let told = try await Tool.run("help", environment: ["LD_TRACE_LOADED_OBJECTS": "1"])
            let names = told.lines.compactMap { $0.split(whereSeparator: \.isWhitespace).first.map(String.init) }
            let libraries = Set(names.filter { $0.hasPrefix("lib") })
            #expect(libraries.contains("libc.so.6"), "\(told)")
            #expect(libraries.subtracting(Self.known) == [])
            let program = try Data(contentsOf: Tool.binary(), options: .alwaysMapped)
            #expect(program.range(of: Data("RelayServer".utf8)) != nil)
            #expect(program.range(of: Data("RelayClientPrivacy".utf8)) == nil && program.range(of: Data("RelayServerPrivacy".utf8)) == nil)
        }
    }
#endif
