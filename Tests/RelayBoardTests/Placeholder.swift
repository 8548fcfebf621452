// RelayBoardTests
