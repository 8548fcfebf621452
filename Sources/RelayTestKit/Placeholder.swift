// RelayTestKit
