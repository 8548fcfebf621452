/// Tells of one descriptor when it can be read or written, on the queue of its `Readiness`. Used there only.
package protocol DescriptorWatch: AnyObject {
    /// Begins. `readable` is called when something came: bytes, the end, a failure. The callee reads until EAGAIN,
    /// the end, or a short read while `mayHaveEnded` is not set, or comes back by itself. `writable` is called once for each
    /// `awaitWritable`.
    ///
    /// - Parameter tag: what the handlers get.
    /// - Returns: 0, or why the system does not watch it.
    func activate(_ handlers: StreamSocket.Handlers, tag: UInt64) -> Int32

    /// Whether the end, or a failure, may stand behind what is read without being told again.
    var mayHaveEnded: Bool { get }

    /// No `readable` until `resumeReading`, which tells of what is unread; it may call when nothing is.
    func pauseReading()
    func resumeReading()

    /// To be called when a write said EAGAIN; again before `writable` it does nothing.
    func awaitWritable()

    /// Ends and closes the descriptor; no call follows but `released`, in a later turn of the queue.
    func close()
}
