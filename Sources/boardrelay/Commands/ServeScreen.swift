import RelayConsole
import RelayIO
import RelayServer

/// Addresses at which the relay is reached, the best first.
struct Ways: Sendable {
    /// For programs.
    let links: [RelayAddress]
    /// For whoever is invited: a page, or else what an app reads.
    let entrances: [RelayAddress]

    init(_ reachable: [RelayAddress], _ tls: TLSReport?) {
        links = tls?.links(reachable) ?? reachable
        let pages = tls?.pages(reachable) ?? reachable
        entrances = pages.isEmpty ? links : pages
    }

    /// What browsers make of the certificate, where that is to be known.
    static func note(_ tls: TLSReport) -> String? {
        guard tls.names.isEmpty else { return nil }
        return "No browser trusts a certificate that signed itself. "
            + (tls.allowsPlain
                ? "Browsers come without TLS, by http; apps and commands compare its pin."
                : "Apps and commands compare its pin; '--allow-plain' lets browsers come without TLS.")
    }
}

/// What `serve` shows to those at its terminal, and what keys do there.
@available(macOS 15, iOS 18, *)
struct ServeScreen: Sendable {
    let log: ServeLog
    let view: HostView
    let ways: @Sendable () -> Ways
    /// Keys and the terminal's size as they are now.
    let entrance: @Sendable () -> Entrance

    /// The address for others and its code.
    func show() {
        for line in entrance().lines(ways()) { view.note(line) }
    }

    func pressed(_ key: Character) {
        // The key that takes the host's address away does nothing else.
        if view.hide() { return }
        switch key {
        case "h": if let line = entrance().hostLine(ways()) { view.show(line) }
        case "c": entrance().showAlone(ways())
        default: break
        }
    }

    func networkChanged() {
        log.note("This machine has other addresses now.")
        for link in ways().links { view.print(KeyText.link(link)) }
        show()
    }

    func keysChanged() {
        // A log has its line of the audit.
        guard log.isTerminal else { return }
        log.note("A key was drawn anew: an address with the old one lets nobody in.")
        show()
    }
}
