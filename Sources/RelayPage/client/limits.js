// Numbers: those that the protocol fixes, the client's own, and what a relay allows by default.

/** Numbers that the protocol fixes, and the client's own, each with its unit. */
export const Limits = Object.freeze({
  frameHeadBytes: 6,
  extensionBytesMax: 1_024,
  // [FR3]
  frameBodyBytesMax: 80 * 1024,
  // Of a request [JS1]
  jsonBodyBytesMax: 16 * 1024,
  // [JS4]
  jsonDepthMax: 8,
  // [MS2]
  customTypeBytesMax: 32,
  // [MD4]
  metadataBytesMax: 64 * 1024,
  metadataItemsMax: 1_000,
  // How long a relay knows what became of a client's publishes [MS9]
  publishMemoryMs: 600_000,
  publishWindowMax: 256,
  // [BL8]
  partsMax: 65_535,
  // [AC12]
  endReasonBytesMax: 256,
  // Of where another relay serves [SE17]
  addressBytesMax: 300,
  // The pause before coming back: nothing the first time, then a random part of a bound that doubles.
  backoffBaseMs: 500,
  backoffCapMs: 15_000,
  // A session of this length was good: the next break starts with an immediate attempt again
  linkGoodAfterMs: 15_000,
  // How long a link that may be dead gets to answer
  probeTimeoutMs: 2_000,
  // A deadline later than this shows that the host slept [HB4]
  latenessToleratedMs: 1_000,
  roundTripEveryIntervals: 4,
  // How long `close` goes on sending …
  closeDrainTimeoutMs: 2_000,
  // … and waits for the logout's answer
  logoutTimeoutMs: 500,
  // Of one that waits while the link is down: stale points are noise
  packetLifetimeMs: 1_000,
  // [MS3]
  unansweredMax: 128,
  // Under way at once, as many as a relay stages; more wait [BL8]
  drawingsMax: 4,
  drawingRoundsMax: 5,
  // Records that a live subscriber catches up with and is told at once
  gatheredMax: 8_192,
  gatheredBytesMax: 16 * 1024 * 1024,
  // In one part of a change set, and in all of it [BL11]
  changesPerPartMax: 64,
  changesMax: 4_096,
  // Of a channel's rate; the rest is for what is drawn meanwhile
  creditKeptDivisor: 4,
  // More stays in the queue, where it can still be taken back
  outboundBytes: 64 * 1024,
  // A relay that asks and does not read is given up
  outboundBytesMax: 1024 * 1024,
  // What a relay can make a client remember; one that wants more is at fault.
  userNamesMax: 200_000,
  flowsMax: 100_000,
  closedFlowsMax: 1_024,
  // Bytes of the places that a login tells, beside its largest token
  placesBytesMax: 12 * 1024,
  partialDrawingsMax: 256,
  partialDrawingsBytesFactor: 4,
  drawingBytesMax: 64 * 1024 * 1024,
  batchMessagesMax: 256,
  batchBytesMax: 512 * 1024,
  historyItemsMax: 1_000,
  toldRangesMax: 4_096,
  channelsMax: 1_000,
  ownFlowsMax: 1_024,
  pacersMax: 256,
  // What an unread event counts besides what it carries
  eventBytes: 128,
  // By how much one reader may lag, or by one event that is larger, and all readers of a client together
  readerBytesMax: 4 * 1024 * 1024,
  readersBytesMax: 16 * 1024 * 1024,
  // How long a reader that holds the relay back may take nothing
  readerPatienceMs: 10_000,
  // Of a link that cannot be held back: what waits unread before it is ended
  heldBytesMax: 16 * 1024 * 1024,
  // Problems that are kept for their first reader, and how often one without readers is logged
  problemsKept: 100,
  problemsLoggedEveryMs: 60_000,
})

/** What a session may do at a relay that was started without options; the relay's welcome says what counts. */
export const sessionLimitDefaults = Object.freeze({
  messageBytesMax: 32 * 1024,
  largeMessageBytesMax: 8 * 1024 * 1024,
  messagesPerSecond: 60,
  packetBytesMax: 1_024,
  packetsPerSecond: 200,
  directMessagesPerSecond: 60,
  requestsPerSecond: 200,
  subscribedChannelsMax: 50,
  joinedChannelsMax: 100,
  publishedTopicsMax: 8,
  subscribedTopicsMax: 50,
  unansweredMax: 128,
})
