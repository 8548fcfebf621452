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
}

/// The windows of client objects that have no session now, by user. [MS9]
struct KeptWindows {
    private var windows = [Name: [KeptPublishWindow]]()
    /// All of them.
    private(set) var count = 0
    /// Whether one was forgotten for a bound, before its time.
    var hasForgottenEarly = false
    /// Whether a deadline looks for those that are over.
    var isSweepSet = false
    /// While a relay starts: publishes that were remembered, by client object.
    private var restored = [Name: [UInt64: [PublishWindow.Remembered]]]()

    /// Those of one user, the oldest first.
    subscript(user: Name) -> [KeptPublishWindow] { windows[user, default: []] }

    /// In order.
    var users: [Name] { windows.keys.inOrder() }

    mutating func add(_ window: KeptPublishWindow, of user: Name) {
        windows[user, default: []].append(window)
        count += 1
    }

    /// - Returns: those that went.
    mutating func remove(of user: Name, where isMeant: (KeptPublishWindow) -> Bool) -> [KeptPublishWindow] {
        guard let kept = windows[user] else { return [] }
        let left = kept.filter { !isMeant($0) }
        count -= kept.count - left.count
        windows[user] = left.isEmpty ? nil : left
        return kept.filter(isMeant)
    }

    mutating func change(of user: Name, where isMeant: (KeptPublishWindow) -> Bool, _ change: (inout PublishWindow) -> Void) {
        for index in windows[user, default: []].indices where isMeant(windows[user]![index]) { change(&windows[user]![index].window) }
    }

    /// When the first of them ends.
    var firstEnd: Instant? { windows.values.lazy.flatMap { $0 }.map(\.until).min() }

    /// The end of all but so many, the oldest of which end first.
    func end(leaving left: Int) -> Instant { windows.values.flatMap { $0.map(\.until) }.inOrder()[count - left - 1] }

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
    /// A session goes on, or begins, with what is known of this client object.
    ///
    /// - Parameter lastNumber: the highest that the client object has sent. What it sent to an earlier start, or before it was
    ///   forgotten, may have been accepted.
    mutating func takeUpWindow(_ session: Session.Index, instance: UInt64, lastNumber: UInt64) {
        guard sessions[session].instance != instance else { return }
        let user = sessions[session].user!
        if let other = self.session(of: user, instance: instance) { moveAway(other) }
        // Taken out before the other one is put in: there is room for so many besides the one that is there.
        let known = keptWindows[user].first { $0.instance == instance }
        if known != nil { forgetWindows(of: user, areOver: false) { $0.instance == instance } }
        // Before the session's own window may push another out.
        let knowsRetained = known != nil || knowsAllRetained
        keepWindow(of: session)
        sessions[session].instance = instance
        sessions[session].window = known?.window ?? PublishWindow()
        if known?.isRestored ?? true { sessions[session].window.forget(through: lastNumber, alsoRetained: !knowsRetained) }
    }

    /// A client object is on one device: what is known of it goes to the one on which it logs in. [MS9]
    private mutating func moveAway(_ session: Session.Index) {
        if case .present(let connection) = sessions[session].state {
            close(connection, .replaced, "the same instance has logged in on another device")
        }
        keepWindow(of: session)
        sessions[session].instance = nil
    }

    /// Whether a client object that is not known has nothing durable: the journal has told of all, and none was forgotten since. [BL2]
    private var knowsAllRetained: Bool {
        !keptWindows.hasForgottenEarly && now.instant < startedAt + .milliseconds(Limits.publishMemoryMilliseconds)
    }

    /// The session has another client object now, or is forgotten.
    mutating func keepWindow(of session: Session.Index) {
        guard let instance = sessions[session].instance else { return }
        let user = sessions[session].user!
        endParts(of: session)
        let until = now.instant + .milliseconds(Limits.publishMemoryMilliseconds)
        keptWindows.add(
            KeptPublishWindow(instance: instance, device: sessions[session].device, window: sessions[session].window, until: until),
            of: user)
        boundWindows(of: user, device: sessions[session].device)
        if keptWindows.count > configuration.publishWindowsMax { boundWindows() }
        sessions[session].window = PublishWindow()
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

    /// One deadline for all: users who come and go by the thousand must not leave one each.
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

    /// Some more than must, so that looking through all of them is worth it.
    private mutating func boundWindows() {
        let last = keptWindows.end(leaving: configuration.publishWindowsMax / 16 * 15)
        for user in keptWindows.users { forgetWindows(of: user) { $0.until <= last } }
    }

    /// - Parameter areOver: not when a session goes on with one.
    private mutating func forgetWindows(of user: Name, areOver: Bool = true, where isMeant: (KeptPublishWindow) -> Bool) {
        for gone in keptWindows.remove(of: user, where: isMeant) where areOver {
            if gone.until > now.instant { keptWindows.hasForgottenEarly = true }
            forgetRemembered(user, gone.instance, places: gone.window.places(of: Self.placesMax))
        }
    }
}
