import RelayPrimitives

/// Seeds of the simulation.
package enum Seeds {
    /// Seeds that have failed once, each with the bug's name.
    package static let regressions: [UInt64] = [
        141_968_260_891_392,  // a lost notice passed the hard limit, weighed against a queue that was only half made
        141_562_702_332_807,  // (of the model) events of an earlier subscription
        167_374_789_315_564,  // the rest of a packet on the wire did not count against the bound
        261_207_620_919_066,  // interval mode: a snapshot between a leave and the join that cancels it
        116_334_886_796_839,  // a queue that was drained without having been asked for was not looked at again: memory unbounded
        15,  // (of the tally) in few seeds readers pass their limits: in this one they do
    ]

    /// The same of the simulation with client machines.
    package static let clientRegressions: [UInt64] = [
        119_795_527_184_658,  // what was asked again after a break was itself lost with a link, and never asked again
        162_731_894_001_109,  // a notice named a flow before its opening, and was thrown away
        226_474_600_323_884,  // a flow that opened and closed while its reader was away was never told
        111_648_072_601_813,  // an own message's echo was taken for seen when it was accepted, and lost with the link untold
        81_776_673_136_439,  // packets from before a selection that was asked again and not answered were told lost
        129_732_636_586_905,  // messages missed were told by the resumption and again by the answer to a subscribe that was asked again
        40_604_855_109_914,  // a message that waited to be sent again at two breaks was sent to a relay that was started anew
        210_863_596_239_882,  // the same after a selection whose end was asked and not answered
        32_811_885_194_751,  // packets of a flow that opened behind a selection whose answer was lost were told by nobody
        135_988_691_245_038,  // (the check itself) events of a catching up that a new subscription had ended were read behind its answer
        165_599_138_913_311,  // a reset did not tell which messages of the new numbering were not kept any more
        132_238_304_889_294,  // (the check itself) losses of a relay before the login were looked for in the one after it
    ]

    /// The same of the simulation of storage.
    package static let storageRegressions: [UInt64] = [
        14_979_724_988_856  // a wait for a lock whose removal could not be stored never ended
    ]

    /// The same of the simulation of boards.
    package static let boardRegressions: [UInt64] = [
        65_501_806_989_419,  // own records above the place where a reading from the beginning was cut off never came
        120_035_380_731_625,  // a record that was removed while its reader was still reading from the beginning stayed with it
        187_658_613_040_105,  // own records of a reading that the relay had written to its end, and that the link took along, never came
        65_016_332_768_427,  // parts of a drawing that was replaced while it was read were taken for parts of those behind it
        94_404_351_185_447,  // after a restart it was unknown of a retained message that could not be stored that it was not
        // (the app itself) a record told stored behind a reading from the beginning had been cleared meanwhile, and was shown
        181_005_021_181_114,
        17_289_841_380_877,  // of a gap in a board nothing was told to who was cut off before its end
        159_472_906_176_770,  // an own record told stored while the board was read stayed on its way when it was read anew
        148_184_184_675_554,  // a board opened again was whole before the answer of a resumed session, and then waited to be read
        191_032_962_638_677,  // an own removal was forgotten before the older record came that it removes
        38_926_504_661_757,  // the same, of a change set that was gathered while its reader had fallen behind
    ]

    /// The same of the simulation of greed.
    package static let greedRegressions: [UInt64] = [
        278_091_449_499_758  // many connections of one address had the dearest requests in turns with a whole lesson's
    ]

    /// The same of the simulation of a space with several nodes.
    package static let clusterRegressions: [UInt64] = [
        155_241_724_646_885  // (the check itself) a log that had lost its end was written anew by one node, and went on by another
    ]

    /// Of runs whose heap is looked at.
    package static let heap: [UInt64] = [
        4,  // metadata and history are full
        19,  // the disk takes nothing, and small changes wait for it
        20,  // the same, and large ones
    ]

    // What a seed stands for must not change with what the simulations learn later: new ones are added at the ends of the lists.

    /// Found before there were roles: their relays are open.
    package static let olderThanRoles = Set(boardRegressions.prefix(7))
    /// Found before there were WebSockets: their links are TCP.
    package static let olderThanWebSockets = Set(regressions.prefix(5) + clientRegressions.prefix(11) + boardRegressions.prefix(7))

    /// Found before moderators removed records and ended channels.
    package static let olderThanRemovals = Set(boardRegressions.prefix(7))

    /// Found before apps opened a channel again from its board.
    package static let olderThanOpeningAgain = Set(boardRegressions.prefix(7))

    /// Found before apps gave up waiting for a channel to open.
    package static let olderThanGivenUpOpenings = Set(boardRegressions.prefix(9))

    /// Found before readers could say what they take.
    package static let olderThanReaderLimits = Set(regressions.prefix(5))

    /// Found before a user had several devices.
    package static let olderThanDevices = Set(regressions.prefix(5))

    /// New seeds at each run; a failure prints its seed.
    package static func fresh(count: Int, from base: UInt64) -> [UInt64] {
        var generator = SplitMix64(seed: base)
        return (0..<count).map { _ in generator.next() >> 16 }
    }
}
