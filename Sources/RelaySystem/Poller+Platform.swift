// Readiness of many descriptors for one thread that waits for them itself, and has a time at which it must go on: what a
// load generator is. A relay has `Readiness`, which tells on a queue.
//
// Both kinds are level-triggered: a reader that does not read to the end is told again. Not thread-safe.

import RelayIO

#if os(Linux)
internal import CEpoll

package final class Poller {
    private let epoll: Int32
    /// epoll_wait(2) counts milliseconds, which is too coarse to send by.
    private let timer: Int32
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Poller.eventsPerTurn)

    private static let eventsPerTurn = 512
    private static let timerToken = UInt32.max

    /// - Throws: when the system has no descriptor left.
    package init() throws(SocketAddress.Failure) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SocketAddress.Failure("an epoll instance", code: errno) }
        timer = timerfd_create(CLOCK_MONOTONIC, O_NONBLOCK | O_CLOEXEC)
        guard timer >= 0 else {
            let code = errno
            systemClose(epoll)
            throw SocketAddress.Failure("a timer", code: code)
        }
        _ = control(EPOLL_CTL_ADD, timer, Self.timerToken, .reading)
    }

    deinit {
        systemClose(timer)
        systemClose(epoll)
        events.deallocate()
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ token: UInt32, _ interest: Interest) -> Int32 {
        var event = epoll_event()
        event.events = (interest.contains(.reading) ? EPOLLIN.rawValue : 0) | (interest.contains(.writing) ? EPOLLOUT.rawValue : 0)
        event.data.u32 = token
        return epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : errno
    }

    /// - Parameter token: below 2³²−1; what events of it are told by.
    /// - Returns: 0, or why the system does not watch it.
    package func add(_ descriptor: Int32, token: UInt32, for interest: Interest) -> Int32 {
        control(EPOLL_CTL_ADD, descriptor, token, interest)
    }

    package func change(_ descriptor: Int32, token: UInt32, to interest: Interest) {
        _ = control(EPOLL_CTL_MOD, descriptor, token, interest)
    }

    /// To be called before the descriptor is closed.
    package func remove(_ descriptor: Int32) { _ = control(EPOLL_CTL_DEL, descriptor, 0, []) }

    /// Waits until a descriptor is ready or the time is over.
    ///
    /// - Parameter nanoseconds: at most; 0 only looks.
    /// - Returns: how many are ready, 0 when the time is over; `event` tells each of them.
    package func wait(nanoseconds: UInt64) -> Int {
        if nanoseconds > 0 {
            var time = itimerspec()
            time.it_value = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
            timerfd_settime(timer, 0, &time, nil)
        }
        var count = Int(epoll_wait(epoll, events, Int32(Self.eventsPerTurn), nanoseconds > 0 ? -1 : 0))
        guard count > 0 else { return 0 }
        // The timer may stand anywhere among them; setting it again makes it unready.
        for index in 0..<count where events[index].data.u32 == Self.timerToken {
            events[index] = events[count - 1]
            count -= 1
            if nanoseconds == 0 {
                var off = itimerspec()
                timerfd_settime(timer, 0, &off, nil)
            }
            break
        }
        return count
    }

    /// One of those that the last `wait` counted.
    package func event(_ index: Int) -> Readied {
        let event = events[index]
        let ends = EPOLLHUP.rawValue | EPOLLERR.rawValue
        return Readied(
            token: event.data.u32, isReadable: event.events & (EPOLLIN.rawValue | ends) != 0,
            isWritable: event.events & (EPOLLOUT.rawValue | ends) != 0)
    }
}
#elseif canImport(Darwin)
package final class Poller {
    private let queue: Int32
    private let events = UnsafeMutablePointer<Darwin.kevent>.allocate(capacity: Poller.eventsPerTurn)

    private static let eventsPerTurn = 512

    /// - Throws: when the system has no descriptor left.
    package init() throws(SocketAddress.Failure) {
        queue = kqueue()
        guard queue >= 0 else { throw SocketAddress.Failure("a kqueue", code: errno) }
    }

    deinit {
        systemClose(queue)
        events.deallocate()
    }

    private func set(_ descriptor: Int32, _ token: UInt32, _ filter: Int32, _ flags: Int32) -> Int32 {
        var change = Darwin.kevent()
        change.ident = UInt(descriptor)
        change.filter = Int16(filter)
        change.flags = UInt16(flags)
        change.udata = UnsafeMutableRawPointer(bitPattern: UInt(token) + 1)
        return kevent(queue, &change, 1, nil, 0, nil) == 0 ? 0 : errno
    }

    /// - Parameter token: below 2³²−1; what events of it are told by.
    /// - Returns: 0, or why the system does not watch it.
    package func add(_ descriptor: Int32, token: UInt32, for interest: Interest) -> Int32 {
        let reading = set(descriptor, token, EVFILT_READ, EV_ADD | (interest.contains(.reading) ? EV_ENABLE : EV_DISABLE))
        let writing = set(descriptor, token, EVFILT_WRITE, EV_ADD | (interest.contains(.writing) ? EV_ENABLE : EV_DISABLE))
        return reading != 0 ? reading : writing
    }

    package func change(_ descriptor: Int32, token: UInt32, to interest: Interest) { _ = add(descriptor, token: token, for: interest) }

    /// To be called before the descriptor is closed.
    package func remove(_ descriptor: Int32) {
        _ = set(descriptor, 0, EVFILT_READ, EV_DELETE)
        _ = set(descriptor, 0, EVFILT_WRITE, EV_DELETE)
    }

    /// Waits until a descriptor is ready or the time is over.
    ///
    /// - Parameter nanoseconds: at most; 0 only looks.
    /// - Returns: how many are ready, 0 when the time is over; `event` tells each of them.
    package func wait(nanoseconds: UInt64) -> Int {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        return max(0, Int(kevent(queue, nil, 0, events, Int32(Self.eventsPerTurn), &time)))
    }

    /// One of those that the last `wait` counted.
    package func event(_ index: Int) -> Readied {
        let event = events[index]
        return Readied(
            token: UInt32(truncatingIfNeeded: UInt(bitPattern: event.udata) - 1), isReadable: Int32(event.filter) == EVFILT_READ,
            isWritable: Int32(event.filter) == EVFILT_WRITE)
    }
}
#endif
