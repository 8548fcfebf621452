"""Shapes of JSON bodies."""

from links import Violation
from peer.constants import INTEGER_MAX
from peer.fields import is_name


def is_int(value, top):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= top


def _is_texts(value):
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_states(value):
    return (isinstance(value, dict) and all(is_name(k) and isinstance(v, str) for k, v in value.items()))


SHAPE_TESTS = {
    "u32": lambda v: is_int(v, 2**32 - 1),
    "u53": lambda v: is_int(v, INTEGER_MAX),
    "bool": lambda v: isinstance(v, bool),
    "true": lambda v: isinstance(v, bool),
    "text": lambda v: isinstance(v, str),
    "name": is_name,
    "texts": _is_texts,
    "names": lambda v: isinstance(v, list) and all(is_name(item) for item in v),
    "states": _is_states,
    "object": lambda v: isinstance(v, dict),
    "objects": lambda v: isinstance(v, list) and all(isinstance(item, dict) for item in v),
    "any": lambda v: v is not None,
    "kind": lambda v: v in ("message", "stream"),
}

CHANNEL_SHAPE = "kind:kind channel:name handle:u32 features:texts quiet:bool epoch?:object head?:u53 modes?:texts"
SINCE_SHAPE = " recovered?:bool missed?:object reset?:bool after?:u53"

SHAPES = {
    "welcome": "id:u32 version:u32 capabilities:texts relay:text user:name secret?:text handle:u32 resumeToken:text resumed:bool lastEnd?:object lastNumber:u53 forgotten?:true "
               "start:any heartbeatMs:u32 presenceTimeoutMs:u32 publishAfterMs?:u32 joinKey?:text channel?:name access:object limits:object",
    "error": "id?:u32 number?:u53 flow?:u32 code:u32 name:text text:text retry:text limit?:u53 actual?:u53 change?:u32 credit?:u32 "
             "retryAfterMs?:u53",
    "closing": "code:u32 name:text text:text versions?:any address?:text",
    "answer": "id:u32",
    "restored": CHANNEL_SHAPE + SINCE_SHAPE,
    "flowOpened": "flow:u32 channel:u32 topic:name user:name device:text meta:text next:u32 from?:u32",
    "flowClosed": "flow:u32 last:u32",
    "packetsDropped": "flow:u32 dropped:u53 total:u53",
    "presence": "channel:u32 event:text",
    "topics": "channel:u32 event:text publishers:objects more?:bool",
    "member": "user:name states:states",
    "publisher": "topic:name user:name device:text meta:text",
    "failed": "user:text code:u32 name:text",
    "range": "from:u53 to:u53",
    "epoch": "start:u32 incarnation:u32",
    "lastEnd": "code:u32 name:text text:text",
    "presence snapshot": "members:objects total:u53",
    "presence join": "user:name states:states",
    "presence leave": "user:name",
    "presence timeout": "user:name",
    "presence stateChanged": "user:name states:states removed?:names",
    "presence interval": "joined?:objects changed?:objects left?:names timedOut?:names",
    "answer logout": "id:u32",
    "answer subscribe": "id:u32 " + CHANNEL_SHAPE + SINCE_SHAPE,
    "answer join": "id:u32 " + CHANNEL_SHAPE + SINCE_SHAPE,
    "answer unsubscribe": "id:u32",
    "answer leave": "id:u32",
    "answer joinTopic": "id:u32 flow:u32 next:u32",
    "answer leaveTopic": "id:u32 flow:u32 last:u32",
    "answer subscribeTopic": "id:u32 all:bool succeeded:names failed:objects",
    "answer unsubscribeTopic": "id:u32 all:bool succeeded:names failed:objects",
    "answer subscribedUsers": "id:u32 all:bool users:names next?:name",
    "answer who": "id:u32 total:u53 members:objects next?:name",
    "answer where": "id:u32 channels:objects next?:object",
    "answer setStates": "id:u32",
    "answer removeStates": "id:u32",
    "answer getStates": "id:u32 states:states",
    "place": "kind:kind channel:name",
    "answer history": "id:u32 epoch?:object head:u53 count:u32 floor:u53 next?:u53",
    "gap": "channel:u32 from:u53 to:u53",
    "caughtUp": "channel:u32 head:u53",
    "catchingUp": "channel:u32 after:u53",
    "credit": "channel:name credit:u32",
}
SHAPE_RULES = {"welcome": "SE6", "error": "ER1", "closing": "ER2", "restored": "SE9", "flowOpened": "ST9",
               "flowClosed": "ST10", "packetsDropped": "RT4", "topics": "ST11", "member": "PR2", "answer history": "HI6", "gap": "HI4", "caughtUp": "HI2"}


SHAPES.update({
    "metadataPage": "id:u32 majorRevision:u53 items:objects next?:name",
    "metadata": "channel?:u32 user?:name event:text majorRevision:u53 items:objects removed?:names more?:bool",
    "item": "key:name bytes:u32 revision:u53 author?:name time?:u53",
    "locks": "channel:u32 event:text locks:objects user?:name device?:text",
    "lock": "lock:name ttlMs:u32 owner?:name ownerDevice?:text fencing?:u53",
    "answer setMetadata": "id:u32 majorRevision:u53",
    "answer updateMetadata": "id:u32 majorRevision:u53",
    "answer removeMetadata": "id:u32 majorRevision:u53",
    "answer subscribeUserMetadata": "id:u32",
    "answer unsubscribeUserMetadata": "id:u32",
    "answer setLock": "id:u32",
    "answer barrier": "id:u32", "answer cancel": "id:u32", "answer goOn": "id:u32", "answer setReaderLimits": "id:u32",
    "answer offerDevice": "id:u32 code:text validMs:u32",
    "answer offerJoinCode": "id:u32 code:text validMs:u32", "answer withdrawJoinCode": "id:u32", "joinCodeEnded": "reason:text",
    "answer acquireLock": "id:u32 fencing:u53",
    "answer releaseLock": "id:u32",
    "answer revokeLock": "id:u32",
    "answer removeLock": "id:u32",
    "answer getLocks": "id:u32 locks:objects",
})
SHAPES.update({
    "answer clear": "id:u32 offset:u53 records:u53",
    "answer undoClear": "id:u32 offset:u53 records:u53",
    "answer boards": "id:u32 boards:objects next?:name bytes:u53 bytesMax:u53",
    "answer removeBoard": "id:u32",
    "board": "channel:name records:u53 bytes:u53 fileBytes:u53 owner?:name created?:u53 changed:u53 used:u53",
    "notStored": "number:u53 code:u32 name:text text:text retry:text",
    "cleared": "channel:u32 offset:u53 user:name time:u53",
    "reset": "channel:u32 epoch:object head:u53",
})
SHAPE_RULES.update({"answer clear": "BL6", "answer undoClear": "BL6", "answer boards": "BL9", "board": "BL9",
                    "notStored": "BL2", "cleared": "BL6", "reset": "BL4"})
SHAPE_RULES.update({"metadataPage": "MD9", "metadata": "MD7", "item": "MD1", "locks": "LK8", "lock": "LK8"})
SHAPES.update({
    "access": "role?:text grants?:object untilMs?:u53",
    "answer renew": "id:u32 access:object",
    "accessExpiring": "inMs:u53",
    "removed": "channel:u32 code:u32 name:text text:text",
})
SHAPE_RULES.update({"access": "AC4", "answer renew": "AC8", "accessExpiring": "AC8", "removed": "AC7"})
SHAPES.update({
    "answer setRole": "id:u32", "answer setMode": "id:u32", "answer endSession": "id:u32", "answer banUser": "id:u32",
    "answer unbanUser": "id:u32", "answer removeRecords": "id:u32 records:u53", "answer endChannel": "id:u32",
    "answer forgetUser": "id:u32 metadata:u53 role:bool idFreed:bool boards:u53 records:u53 keptBytes:u53 banned:bool here:bool",
    "answer getBans": "id:u32 bans:objects next?:name",
    "ban": "user:name by:name time:u53 until?:u53",
    "answer status": "id:u32 uptimeMs:u53 connections:u53 sessions:object channels:object boards:u53 boardBytes:u53 queuedBytes:u53 "
                     "pinnedBytes:u53 counters:object storageFailure?:text known?:bool joinKey?:text hour?:objects addresses:objects users:objects next?:name",
    "status sessions": "present:u53 away:u53",
    "status channels": "message:u53 stream:u53",
    "status counters": " ".join(name + ":u53" for name in (
        "messagesAccepted", "messagesDelivered", "messagesRecovered", "packetsAccepted", "packetsQueued", "packetsShedSlow", "packetsShedExpired", "packetsShedReader",
        "packetsShedCatchingUp", "packetsDiscarded", "packetsDroppedRate", "directAccepted", "refusals", "credentialsWrong")),
    "status sample": "sessions:u53 lagging:u53 messagesIn:u53 messagesOut:u53 packetsIn:u53 packetsOut:u53 packetsLost:u53 bytesIn:u53 bytesOut:u53 "
                     "memoryBytes:u53 diskBytes?:u53",
    "status address": "address:text sessions:u53 memoryBytes:u53",
    "status user": "user:name device:text client:text peer:text away:bool sessionMs:u53 memoryBytes:u53 queuedBytes:u53 queuedPacketBytes:u53 packetsLost:u53 backlogMs:u53",
    "accessChanged": "role?:text grants?:object untilMs?:u53 by:name",
    "modeChanged": "channel:u32 mode:text on:bool by:name",
})
SHAPE_RULES.update({name: "AC16" for name in (
    "answer status", "status sessions", "status channels", "status counters", "status sample", "status address", "status user")})
SHAPE_RULES.update({"answer getBans": "AC13", "ban": "AC13", "accessChanged": "AC10", "modeChanged": "AC11"})
SHAPE_RULES["answer removeRecords"] = "AC18"
ROLES = ("reader", "editor", "coeditor", "moderator")
RIGHTS = ("subscribe", "presence", "publish", "stream", "metadata", "lock", "revise", "clear", "direct")
ACCESS_NOTICE_MS = 30_000
LOCK_EVENTS = ("snapshot", "set", "acquired", "released", "revoked", "expired", "removed")


def must_have_shape(name, fields):
    """Raises unless `fields` has the fields and types that the document gives for `name`."""
    rule = SHAPE_RULES.get(name, "PR2" if name.startswith("presence") else "JS5")
    for word in SHAPES[name].split():
        key, kind = word.split(":")
        value = fields.get(key.rstrip("?"))
        if value is None:
            if not key.endswith("?"):
                raise Violation(rule, f"{name} without {key}: {fields}")
        elif not SHAPE_TESTS[kind](value):
            raise Violation(rule, f"{name}: {key} is not {kind}: {value!r}")


def must_be_access(fields):
    """AC4: a role, or lists of rights by pattern, or both."""
    must_have_shape("access", fields)
    if fields.get("role") not in (None, *ROLES):
        raise Violation("AC4", f"no role: {fields}")
    for pattern, rights in (fields.get("grants") or {}).items():
        if not (is_name(pattern) or pattern == "*" or pattern.endswith("*") and is_name(pattern[:-1])):
            raise Violation("AC4", f"no pattern: {pattern!r}")
        if not _is_texts(rights) or not set(rights) <= set(RIGHTS) or len(set(rights)) < len(rights):
            raise Violation("AC4", f"no rights: {rights!r}")


def must_be_sorted(users, what):
    """Strictly rising by bytes: sorted and nobody twice (names are ASCII)."""
    if any(a >= b for a, b in zip(users, users[1:])):
        raise Violation("PR3", f"{what} not in order of user id: {users}")
