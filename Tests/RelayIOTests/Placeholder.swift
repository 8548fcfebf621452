// RelayIOTests
