import RelayBench
import RelayConsole
import RelayServer

extension MeasuredRelay {
    /// What `serve` of this program starts.
    static let own = MeasuredRelay(
        check: { arguments throws(UsageError) in _ = try Command.flush(arguments) },
        usage: { try? RelayServer.usage(controlSocket: RelayServer.defaultControlSocket(port: $0)) })
}
