import RelayPrimitives
import RelayWire

/// The window of a client object that has no session now.
struct KeptPublishWindow {
    var instance: UInt64
    /// The device that had it last; `nil`: it was remembered by an earlier start.
    var device: UInt64?
    var window: PublishWindow
    /// Forgotten then.
    var until: Instant
    /// It was remembered by an earlier start of the relay: what was durable of it. [BL2]
    var isRestored = false
    /// Whom it is charged to; `nil`: nobody.
    var address: AddressKey?

    var bytes: Int { Footprint.keptWindow + window.bytes }
}

/// The windows of client objects that have no session now, by user. [MS9]
struct KeptWindows {
    private var windows = [Name: [KeptPublishWindow]]()
    private(set) var memory: MemoryAccount
    /// Whether one was forgotten for a bound, before its time.
    var hasForgottenEarly = false
    /// Whether a deadline is set that looks for expired windows.
    var isSweepSet = false
    /// While a relay starts: publishes that were remembered, by client object.
    private var restored = [Name: [UInt64: [PublishWindow.Remembered]]]()

    init(bytesMax: Int) { memory = MemoryAccount(max: bytesMax) }

    /// May become less than what is held.
    var bytesMax: Int {
        get { memory.max }
        set { memory.max = newValue }
    }

    /// Those of one user, the oldest first.
    subscript(user: Name) -> [KeptPublishWindow] { windows[user, default: []] }

    /// In order.
    var users: [Name] { windows.keys.inOrder() }

    mutating func add(_ window: KeptPublishWindow, of user: Name) {
        windows[user, default: []].append(window)
        memory.hold(window.bytes, window.address)
    }

    /// - Returns: the forgotten windows.
    mutating func remove(of user: Name, where isMeant: (KeptPublishWindow) -> Bool) -> [KeptPublishWindow] {
        guard let kept = windows[user] else { return [] }
        let left = kept.filter { !isMeant($0) }
        windows[user] = left.isEmpty ? nil : left
        let gone = kept.filter(isMeant)
        for window in gone { memory.hold(-window.bytes, window.address) }
        return gone
    }

    mutating func change(of user: Name, where isMeant: (KeptPublishWindow) -> Bool, _ change: (inout PublishWindow) -> Void) {
        guard var kept = windows[user] else { return }
        for index in kept.indices where isMeant(kept[index]) {
            let before = kept[index].bytes
            change(&kept[index].window)
            memory.hold(kept[index].bytes - before, kept[index].address)
        }
        windows[user] = kept
    }

    /// When the first of them ends.
    var firstEnd: Instant? { windows.values.lazy.flatMap { $0 }.map(\.until).min() }

    /// Client objects that must go so that some room is left, whose windows end first.
    ///
    /// - Parameter address: whose go; `nil`: everybody's.
    func oldest(of address: AddressKey?) -> [(user: Name, instance: UInt64)] {
        var all: [(user: Name, kept: KeptPublishWindow)] = []
        for (user, kept) in windows { all += kept.filter { address == nil || $0.address == address }.map { (user, $0) } }
        let ordered = all.inOrder { ($0.kept.until, $0.user, $0.kept.instance) < ($1.kept.until, $1.user, $1.kept.instance) }
        var over = memory.used - memory.max / 16 * 15, going: [(user: Name, instance: UInt64)] = []
        for (user, kept) in ordered where over > 0 {
            over -= kept.bytes
            going.append((user, kept.instance))
        }
        return going
    }

    // MARK: - After a restart

    mutating func restore(_ remembered: PublishWindow.Remembered, of user: Name, _ instance: UInt64) {
        restored[user, default: [:]][instance, default: []].append(remembered)
    }

    /// What was restored becomes windows: client objects that come back can send again what they were not told about. [BL2]
    mutating func takeRestored(places: Int, until: Instant) {
        for (user, instances) in restored {
            for (instance, remembered) in instances.inOrder() {
                var window = PublishWindow()
                window.restore(remembered, places: places)
                add(KeptPublishWindow(instance: instance, window: window, until: until, isRestored: true), of: user)
            }
        }
        restored = [:]
    }
}

extension Hub {
    /// A session continues, or begins, with the window of this client object.
    ///
    /// - Parameter lastNumber: the highest that the client object has sent. What it sent to an earlier start, or before it was
    ///   forgotten, may have been accepted.
    mutating func takeUpWindow(_ session: Session.Index, instance: UInt64, lastNumber: UInt64) {
        guard sessions[session].instance != instance else { return }
        let user = sessions[session].user!
        if let other = self.session(of: user, instance: instance) { moveAway(other) }
        // This window leaves before the other one enters: the bound counts kept windows without the present one.
        let known = keptWindows[user].first { $0.instance == instance }
        if known != nil { forgetWindows(of: user, areOver: false) { $0.instance == instance } }
        // Before the session's own window may push another out.
        let knowsRetained = known != nil || knowsAllRetained
        keepWindow(of: session)
        sessions[session].instance = instance
        setWindow(known?.window ?? PublishWindow(), of: session)
        if known?.isRestored ?? true { sessions[session].window.forget(through: lastNumber, alsoRetained: !knowsRetained) }
    }

    private mutating func setWindow(_ window: PublishWindow, of session: Session.Index) {
        sessions[session].window = window
        recount(session)
    }

    /// A client object is on one device: its window moves to the device on which it logs in. [MS9]
    private mutating func moveAway(_ session: Session.Index) {
        if case .present(let connection) = sessions[session].state {
            close(connection, .replaced, "the same instance has logged in on another device")
        }
        keepWindow(of: session)
        sessions[session].instance = nil
    }

    /// Whether a client object that is not known has nothing durable: the journal has told of all, and none was forgotten since. [BL2]
    private var knowsAllRetained: Bool {
        !keptWindows.hasForgottenEarly && now.instant < start.instant + .milliseconds(Limits.publishMemoryMilliseconds)
    }

    /// The session has another client object now, or is forgotten.
    mutating func keepWindow(of session: Session.Index) {
        guard let instance = sessions[session].instance else { return }
        let user = sessions[session].user!
        endParts(of: session)
        let until = now.instant + .milliseconds(Limits.publishMemoryMilliseconds)
        keptWindows.add(
            KeptPublishWindow(
                instance: instance, device: sessions[session].device, window: sessions[session].window, until: until,
                address: sessions[session].address), of: user)
        boundWindows(of: user, device: sessions[session].device)
        boundWindows()
        setWindow(PublishWindow(), of: session)
        setWindowSweep()
    }

    /// A device that sends new instances pushes out its own, then a user the oldest of all its devices'.
    private mutating func boundWindows(of user: Name, device: UInt64) {
        let limit = configuration.publishWindowsPerDeviceMax
        let all = keptWindows[user]
        let own = all.filter { $0.device == device || $0.device == nil }
        let crowded = own.count > limit ? own : all.count > limit * configuration.devicesPerUserMax ? all : []
        guard let oldest = crowded.first else { return }
        let first = (crowded.dropLast().first { $0.window.isEmpty } ?? oldest).instance
        forgetWindows(of: user) { $0.instance == first }
    }

    /// One deadline serves all users: thousands who come and go must not leave one each.
    mutating func setWindowSweep() {
        guard !keptWindows.isSweepSet, let first = keptWindows.firstEnd else { return }
        keptWindows.isSweepSet = true
        deadlines.set(.windowSweep, at: max(first, now.instant + .seconds(1)))
    }

    /// Forgets the windows that are over, at most a second late.
    mutating func sweepWindows() {
        let now = now.instant
        keptWindows.isSweepSet = false
        for user in keptWindows.users { forgetWindows(of: user) { $0.until <= now } }
        setWindowSweep()
    }

    /// Forgets more than needed, so that searching all windows pays off: first of the address above its quarter, then of all.
    mutating func boundWindows() {
        guard keptWindows.memory.used > keptWindows.memory.max else { return }
        if let address = keptWindows.memory.largestAboveShare { forgetOldestWindows(of: address) }
        forgetOldestWindows(of: nil)
    }

    private mutating func forgetOldestWindows(of address: AddressKey?) {
        for (user, instance) in keptWindows.oldest(of: address) { forgetWindows(of: user) { $0.instance == instance } }
    }

    /// - Parameter areOver: not when a session goes on with one.
    private mutating func forgetWindows(of user: Name, areOver: Bool = true, where isMeant: (KeptPublishWindow) -> Bool) {
        for gone in keptWindows.remove(of: user, where: isMeant) where areOver {
            if gone.until > now.instant { keptWindows.hasForgottenEarly = true }
            forgetRemembered(user, gone.instance, places: gone.window.places(of: Self.placesMax))
        }
    }
}
