/// A message of multicast DNS. (RFC 1035 §4, RFC 6762 §18)
///
///     2 id | 2 flags | 2 questions | 2 answers | 2 authorities | 2 additionals, all big-endian
///     question: name | 2 type | 1 bit wants unicast, 15 bits class
///     record:   name | 2 type | 1 bit is unique, 15 bits class | 4 seconds to live | 2 size | data
///
/// A name is labels behind their lengths, ended by a zero or by 2 bytes `11`, 14 bits: where in the message the name goes on.
package struct DNSMessage: Hashable, Sendable {
    package struct Question: Hashable, Sendable {
        package var name: DNSName
        package var type: UInt16
        /// The "QU" bit. (RFC 6762 §5.4)
        package var wantsUnicast = false

        package init(_ name: DNSName, _ type: UInt16) { (self.name, self.type) = (name, type) }
    }

    package var id: UInt16 = 0
    package var isResponse = false
    package var questions: [Question] = []
    /// Of a query: what the asker knows already.
    package var answers: [DNSRecord] = []
    /// Of a query: what a probe would claim.
    package var authorities: [DNSRecord] = []
    package var additionals: [DNSRecord] = []

    package init() {}
}

/// Numbers of record types. (RFC 1035 §3.2.2, RFC 2782, 3596, 4034)
package enum DNSType {
    package static let a: UInt16 = 1, ptr: UInt16 = 12, txt: UInt16 = 16, aaaa: UInt16 = 28, srv: UInt16 = 33, nsec: UInt16 = 47
    package static let any: UInt16 = 255
}

package struct DNSRecord: Hashable, Sendable {
    package var name: DNSName
    package var type: UInt16
    /// How long it may be believed; 0 takes it back.
    package var seconds: UInt32
    /// Nobody else may have one of this name and type: the cache-flush bit. (RFC 6762 §10.2)
    package var isUnique: Bool
    /// Names in it are whole.
    package var data: [UInt8]

    package init(_ name: DNSName, _ type: UInt16, seconds: UInt32, isUnique: Bool, _ data: [UInt8]) {
        (self.name, self.type, self.seconds, self.isUnique, self.data) = (name, type, seconds, isUnique, data)
    }

    /// Whether both say the same, for whatever time.
    package func says(_ other: DNSRecord) -> Bool { type == other.type && data == other.data && name == other.name }
}
