// RelayBoard
