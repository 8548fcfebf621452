/// One change of a board: a record, or the removal of one. Many of them go together with `send(changes:to:)`.
package struct RecordChange: Equatable, Sendable {
    /// 1…64 bytes of ASCII, as names are.
    package var key: String
    /// 1 byte or more; `nil`: the record was removed.
    package var payload: Payload?
    /// 1…32 bytes; with the payload at most 32,768.
    package var customType: String?

    /// Writes the record of a key, in place of the one before.
    package init(key: String, payload: Payload, customType: String? = nil) {
        self.key = key
        self.payload = payload
        self.customType = customType
    }

    /// Removes the record of a key, whether there is one or not.
    package init(removing key: String) { self.key = key }

    var contentBytes: Int { (payload?.byteCount ?? 0) + (payload == nil ? 0 : customType?.utf8.count ?? 0) }
}
