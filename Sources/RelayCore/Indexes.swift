// The places of what the hub holds, each of a type of its own: a swapped pair does not compile.

extension Connection { typealias Index = Slab<Connection>.Index }
extension Person { typealias Index = Slab<Person>.Index }
extension Session { typealias Index = Slab<Session>.Index }
extension Channel { typealias Index = Slab<Channel>.Index }
extension Membership { typealias Index = Slab<Membership>.Index }
extension CatchUp { typealias Index = Slab<CatchUp>.Index }
extension Room { typealias Index = Slab<Room>.Index }
extension Flow { typealias Index = Slab<Flow>.Index }
extension Feed { typealias Index = Slab<Feed>.Index }
extension Chunk { typealias Index = Slab<Chunk>.Index }
extension TokenBucket { typealias Index = Slab<TokenBucket>.Index }
extension MetadataBook { typealias Index = Slab<MetadataBook>.Index }
extension Lock { typealias Index = Slab<Lock>.Index }
extension ShelvedBoard { typealias Index = Slab<ShelvedBoard>.Index }

extension ConnectionID {
    /// Where the hub has it: the engine hands out these places.
    var place: Connection.Index { Connection.Index(givenOut: index) }
}
