"""Numbers and names of docs/protocol.md."""

FRAME_TYPES = {
    "login": 0x01, "logout": 0x02, "ping": 0x03, "pong": 0x04, "renew": 0x05,
    "setRole": 0x06, "setMode": 0x07, "endSession": 0x08, "banUser": 0x09, "unbanUser": 0x0A, "getBans": 0x0B,
    "forgetUser": 0x0C, "status": 0x0D, "cancel": 0x0E, "setReaderLimits": 0x0F,
    "publish": 0x10, "publishPacket": 0x11, "direct": 0x12, "directReceived": 0x13, "publishChanges": 0x14, "goOn": 0x15,
    "offerDevice": 0x16, "endChannel": 0x17, "offerJoinCode": 0x18, "withdrawJoinCode": 0x19,
    "subscribe": 0x20, "unsubscribe": 0x21, "join": 0x22, "leave": 0x23,
    "joinTopic": 0x24, "leaveTopic": 0x25, "subscribeTopic": 0x26, "unsubscribeTopic": 0x27,
    "subscribedUsers": 0x28, "who": 0x29, "where": 0x2A,
    "setStates": 0x2B, "removeStates": 0x2C, "getStates": 0x2D, "history": 0x2E, "barrier": 0x2F,
    "setMetadata": 0x30, "updateMetadata": 0x31, "removeMetadata": 0x32, "getMetadata": 0x33,
    "subscribeUserMetadata": 0x34, "unsubscribeUserMetadata": 0x35,
    "setLock": 0x38, "acquireLock": 0x39, "releaseLock": 0x3A, "revokeLock": 0x3B, "removeLock": 0x3C,
    "getLocks": 0x3D, "clear": 0x40, "undoClear": 0x41, "boards": 0x42, "removeBoard": 0x43, "removeRecords": 0x44,
    "welcome": 0x80, "answer": 0x81, "error": 0x82, "closing": 0x83, "restored": 0x84,
    "metadataPage": 0x85,
    "deliver": 0x90, "packet": 0x91, "directDeliver": 0x92, "accepted": 0x93, "confirmed": 0x94,
    "historyItem": 0x95, "stored": 0x96, "notStored": 0x97,
    "userNamed": 0xA0, "flowOpened": 0xA1, "flowClosed": 0xA2, "lost": 0xA3, "packetsDropped": 0xA4,
    "presence": 0xB0, "topics": 0xB1, "metadata": 0xB2, "locks": 0xB3,
    "gap": 0xB4, "caughtUp": 0xB5, "catchingUp": 0xBC, "cleared": 0xB6, "reset": 0xB7, "accessExpiring": 0xB8, "removed": 0xB9,
    "accessChanged": 0xBA, "modeChanged": 0xBB, "credit": 0xBD, "joinCodeEnded": 0xBE,
}
FRAME_NAMES = {number: name for name, number in FRAME_TYPES.items()}

CODES = {
    100: "badRequest", 101: "unknownFrame", 102: "loginRequired", 103: "alreadyLoggedIn",
    104: "badName", 105: "badText", 106: "tooLarge", 107: "rateLimited", 108: "notSubscribed",
    109: "notJoined", 110: "topicNotJoined", 111: "unknownFlow", 112: "limitReached",
    113: "channelFull", 114: "userOffline", 115: "unconfirmed", 116: "outcomeUnknown",
    117: "notSupported", 118: "relayFull", 119: "notPresent", 120: "revisionMismatch",
    121: "itemNotFound", 122: "storageFull", 123: "storageFailed", 124: "busy", 125: "lockNotFound",
    126: "lockHeld", 127: "lockNotHeld", 128: "notAccepted", 129: "boardFull", 130: "quotaReached",
    131: "boardNotFound", 132: "nothingToUndo", 133: "partMissing",
    134: "tokenInvalid", 135: "tokenExpired", 136: "keyWrong", 137: "credentialRequired", 138: "userIDTaken",
    139: "notPermitted", 140: "notBanned", 141: "cancelled", 142: "behindRefused", 143: "codeWrong",
    144: "channelEnded", 145: "boardInUse",
    200: "shuttingDown", 201: "slowConsumer", 202: "heartbeatTimeout", 203: "loginTimeout",
    204: "tooManyConnections", 205: "accessExpired", 206: "tooManySessions", 207: "moved",
    300: "protocolError", 301: "versionNotSupported", 302: "replaced", 303: "abuse",
    304: "loggedOut", 305: "frameTooLarge", 306: "notRelayProtocol", 307: "credentialsWrong", 308: "keyChanged",
    309: "endedByModerator", 310: "banned", 311: "tlsRequired", 312: "spaceUnknown",
}

# Requests whose answer waits until they are durable (SG1).
CHANGES = {"setMetadata", "updateMetadata", "removeMetadata",
           "setLock", "acquireLock", "releaseLock", "revokeLock", "removeLock",
           "setRole", "setMode", "banUser", "unbanUser"}  # AC15
# Those of boards wait, too (BL6, BL9), for a storage of their own.
BOARD_CHANGES = {"clear", "undoClear", "removeBoard"}
# These wait until the disk has nothing of it any more (AC14, AC18, AC19).
ERASURES = {"forgetUser", "removeBoard", "removeRecords", "endChannel"}

TEXT, CUSTOM_TYPE, KEY, PART, ECHO, RETAIN, NO_HISTORY = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40
SLOT, SENDER_TIME = 0x02, 0x04

RELAY_JSON = {"welcome", "answer", "error", "closing", "restored", "flowOpened", "flowClosed",
              "packetsDropped", "presence", "topics", "locks", "gap", "caughtUp", "catchingUp",
              "notStored", "cleared", "reset", "accessExpiring", "removed", "accessChanged", "modeChanged", "credit",
              "joinCodeEnded"}
RELAY_TEXTS = {"metadataPage", "metadata"}
ALLOWED_FLAGS = {"deliver": TEXT | CUSTOM_TYPE | KEY | PART | RETAIN,
                 "packet": TEXT | SLOT | SENDER_TIME, "directDeliver": TEXT | CUSTOM_TYPE,
                 "historyItem": TEXT | CUSTOM_TYPE | KEY | PART}

# FR9: in front of every binary frame but these two.
EXTENSIONS, CRITICAL, EXTENSION_BYTES_MAX = 0x80, 0x8000, 1_024

# How long anything is waited for, in seconds. It ends a run that hangs, and judges nothing: a machine may have much else to do.
PATIENCE = 300.0

BODY_MAX = 81_920
INTEGER_MAX = 2**53 - 1
JSON_DEPTH_MAX = 8
NAME_MAX = 64
MEMBERS_MAX = 100
STATUS_ADDRESSES_MAX = 10
RANGES_MAX = 4_096
SNAPSHOT_BYTES = 12 * 1024
HISTORY_ITEMS_MAX = 100
HISTORY_BYTES_MAX = 512 * 1024
NUMBERS_REMEMBERED = 256
CLOCK_TOLERANCE_MS = 24 * 3600 * 1000

LIMIT_FIELDS = ("messageBytesMax", "largeMessageBytesMax", "messagesPerSecond", "packetBytesMax", "packetsPerSecond",
                "directMessagesPerSecond", "requestsPerSecond", "subscribedChannelsMax",
                "joinedChannelsMax", "publishedTopicsMax", "subscribedTopicsMax", "unansweredMax")
