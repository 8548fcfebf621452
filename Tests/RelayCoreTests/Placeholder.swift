// RelayCoreTests
