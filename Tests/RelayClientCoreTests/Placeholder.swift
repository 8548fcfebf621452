// RelayClientCoreTests
