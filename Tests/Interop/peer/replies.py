"""Who a client is, and what it waits for."""

import secrets
import threading

from peer.constants import ECHO, NO_HISTORY, PATIENCE, RETAIN
from peer.errors import Timeout


class Identity:
    """Who a client is: user id, instance, secret and the numbers it has used (MS1, SE2)."""

    def __init__(self, user, instance=None, secret=None, credential=None, device="00000000000000dd"):
        self.user, self.credential = user, credential or {}  # {"key": …} or {"token": …} (AC1)
        self.instance = instance or secrets.token_hex(8)
        self.device = device  # of one user: a login takes over another one's of the same device (SE8)
        self.secret = secret or secrets.token_hex(16)
        self.number = self.forgotten = 0  # the last one used; the outcome of those up to this one may be unknown
        self.retained, self.stored, self.not_stored = {}, {}, set()  # (channel, how often `stored` may come); offsets
        self.sets = {}  # of change sets the first offset, by number (BL11)
        self.accepted, self.sent, self.sent_before = {}, set(), set()  # offsets by number; numbers, of earlier connections
        self.lock = threading.Lock()

    def next_number(self):
        """A number above all before."""
        with self.lock:
            self.number += 1
            return self.number


class Reply:
    """What comes back for one frame: a value, or an exception."""

    def __init__(self, id=None):
        self.id = id  # of the request
        self.done = threading.Event()
        self.value = self.problem = None

    def succeed(self, value):
        """It was accepted."""
        self.value = value
        self.done.set()

    def fail(self, problem):
        """It was refused or will never be answered."""
        self.problem = problem
        self.done.set()

    def wait(self, timeout=PATIENCE):
        """The value; raises RelayError, Ended, Violation or Timeout."""
        if not self.done.wait(timeout):
            raise Timeout("no answer")
        if self.problem is not None:
            raise self.problem
        return self.value


def publish_fields(channel, payload, custom_type, extra, key=None, part=None):
    """What is known of a publish when it is answered."""
    payload = payload if isinstance(payload, str) else bytes(payload)
    return {"channel": channel, "payload": payload, "customType": custom_type,
            "echo": bool(extra & ECHO), "noHistory": bool(extra & NO_HISTORY), "retain": bool(extra & RETAIN),
            "key": key, "part": part}


class Pending:
    """A frame that waits for its answer."""

    def __init__(self, kind, fields, id=None, number=None, flow=None):
        self.kind, self.fields, self.id, self.number, self.flow = kind, fields, id, number, flow
        self.reply = Reply(id)
        self.behind_caught_up = set()  # channels that a barrier waits for (HI8)

    def matches(self, event):
        """Can this error, which has neither id nor number, answer it?"""
        return event.get("flow") is None or event["flow"] == self.flow
