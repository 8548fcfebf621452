package import Dispatch

/// Joins an actor to a Dispatch queue, so that handlers of sources on the queue enter the actor without a hop.
///
/// Linux has no `DispatchSerialQueue` that could do the same.
@available(macOS 15, iOS 18, *)
package final class QueueExecutor: SerialExecutor {
    package let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
