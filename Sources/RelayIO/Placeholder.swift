// RelayIO
