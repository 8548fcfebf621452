// RelayServerTests
