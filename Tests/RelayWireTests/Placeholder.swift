// RelayWireTests
