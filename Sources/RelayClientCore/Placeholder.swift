// RelayClientCore
