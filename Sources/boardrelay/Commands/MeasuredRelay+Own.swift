import RelayBench
import RelayConsole
import RelayServer

@available(macOS 15, iOS 18, *)
extension MeasuredRelay {
    /// What `serve` of this program starts.
    static let own = MeasuredRelay(
        check: { arguments throws(UsageError) in _ = try ServeSettings.flush(arguments) },
        usage: { try? WhiteboardRelay.usage(controlSocket: WhiteboardRelay.defaultControlSocket(port: $0)) })
}
