import RelayConsole
import RelayIO
import RelayServer

/// What `serve` shows to those at its terminal, and what keys do there.
@available(macOS 15, iOS 18, *)
struct ServeScreen: Sendable {
    let log: ServeLog
    let view: HostView
    let addresses: @Sendable () -> [RelayAddress]
    /// Keys and the terminal's size as they are now.
    let entrance: @Sendable () -> Entrance

    /// The address for others and its code.
    func show() {
        for line in entrance().lines(addresses()) { view.note(line) }
    }

    func pressed(_ key: Character) {
        // The key that takes the host's address away does nothing else.
        if view.hide() { return }
        switch key {
        case "h": if let line = entrance().hostLine(addresses()) { view.show(line) }
        case "c": entrance().showAlone(addresses())
        default: break
        }
    }

    func networkChanged() {
        log.note("This machine has other addresses now.")
        for address in addresses() { view.print("\(address)") }
        show()
    }

    func keysChanged() {
        // A log has its line of the audit.
        guard log.isTerminal else { return }
        log.note("A key was drawn anew: an address with the old one lets nobody in.")
        show()
    }
}
