"""What the client in Python publishes: numbers, parts, the rate, and what is sent again. [MS1 MS9 BL2 BL8 BL11]"""

import collections
import time

from peer.constants import CODES, RETAIN
from peer.fields import encode_changes, encode_publish

UNANSWERED_MAX = 64
RATE = 50  # messages of one channel in any second; the relay takes 60
BEGUN_AGAIN_MAX = 5
PART_BYTES, PART_CHANGES = 30_000, 64
FORGOTTEN = 600  # seconds in which a relay that has forgotten the rest knows the numbers of records
BEGIN_AGAIN = {code for code, name in CODES.items() if name in ("partMissing", "notAccepted")}
UNKNOWN = next(code for code, name in CODES.items() if name == "outcomeUnknown")


class Job:
    """One message, record, drawing or change set: frames (kind, number → (flags, body)) and how its outcome is told."""

    def __init__(self, id, channel, parts, is_retained, settle):
        self.id, self.channel, self.parts, self.is_retained, self.settle = id, channel, parts, is_retained, settle
        self.begun_again, self.is_over = 0, False


class Part:
    def __init__(self, job, index):
        self.job, self.index, self.number, self.offset = job, index, None, None

    @property
    def is_last(self):
        return self.index == len(self.job.parts) - 1


def split(payload):
    return [payload[at:at + PART_BYTES] for at in range(0, len(payload), PART_BYTES)]


def message_parts(channel, payload, key):
    """Frames of a message, a record or, above one part, a drawing."""
    pieces = split(payload) if len(payload) > 32_768 else [payload]
    extra = RETAIN if key is not None else 0

    def frame(index):
        part = (index + 1, len(pieces)) if len(pieces) > 1 else None
        return lambda number: ("publish", *encode_publish(number, channel, pieces[index], key=key, part=part, extra=extra))
    return [frame(index) for index in range(len(pieces))]


def change_parts(channel, changes):
    """Frames of a change set: changes are (key, payload). A part has as many as its bytes and count allow."""
    groups, size = [[]], 0
    for change in changes:
        if groups[-1] and (len(groups[-1]) == PART_CHANGES or size + len(change[1]) > PART_BYTES):
            groups.append([])
            size = 0
        groups[-1].append(change)
        size += len(change[1])

    def frame(index):
        return lambda number: ("publishChanges", 0, encode_changes(number, channel, (index + 1, len(groups)), groups[index]))
    return [frame(index) for index in range(len(groups))]


class Outbox:
    """In the order of its queue; numbers are drawn when a part is sent first."""

    def __init__(self, send, fault):
        self.send, self.fault = send, fault
        self.queue = collections.deque()
        self.sent = {}  # by number: not answered, or a last part that is accepted and not stored
        self.number, self.times = 0, {}
        self.broke_at = None

    def add(self, job):
        self.queue.extend(Part(job, index) for index in range(len(job.parts)))

    def flush(self):
        """Sends what may be sent; the seconds until the rate lets the next one pass, or None."""
        while self.queue:
            part = self.queue[0]
            if part.job.is_over:
                self.queue.popleft()
                continue
            if sum(other.offset is None for other in self.sent.values()) >= UNANSWERED_MAX:
                return None
            times, now = self.times.setdefault(part.job.channel, collections.deque()), time.monotonic()
            while times and times[0] < now - 1:
                times.popleft()
            if len(times) >= RATE:
                return times[0] + 1 - now
            times.append(now)
            self.queue.popleft()
            self.number += 1
            part.number = self.number
            self.sent[part.number] = part
            self.write(part)
        return None

    def write(self, part):
        kind, flags, body = part.job.parts[part.index](part.number)
        self.send(kind, body, flags)

    # -- answers ---------------------------------------------------------------------------------

    def accepted(self, number, offset):
        """The job whose last part this is, the first time; else None."""
        part = self.sent.get(number)
        if part is None:
            return None
        is_first, part.offset = part.offset is None, offset
        if not part.is_last or not part.job.is_retained:
            del self.sent[number]
        if part.is_last and is_first:
            part.job.settle("accepted", offset)
            part.job.is_over = not part.job.is_retained
            return part.job
        return None

    def stored(self, number, offset):
        part = self.sent.pop(number, None)
        if part is not None:
            part.job.is_over = True
            part.job.settle("stored", offset)
        return part and part.job

    def refused(self, number, code):
        part = self.sent.pop(number, None)
        if part is None or part.job.is_over:
            return
        job = part.job
        if code in BEGIN_AGAIN and len(job.parts) > 1 and job.begun_again < BEGUN_AGAIN_MAX:
            # What became of the last part decides; without it the job begins anew, before anything else.
            if part.is_last or not any(other.job is job and other.is_last for other in self.sent.values()):
                job.begun_again += 1
                self.begin_again(job)
            return
        job.is_over = True
        job.settle("unknown" if code == UNKNOWN else "refused", code)

    def begin_again(self, job):
        self.withdraw(job)
        self.queue.extendleft(reversed([Part(job, index) for index in range(len(job.parts))]))

    def withdraw(self, job):
        self.queue = collections.deque(part for part in self.queue if part.job is not job)
        self.sent = {number: part for number, part in self.sent.items() if part.job is not job}

    # -- after a break ---------------------------------------------------------------------------

    def again(self, is_forgotten):
        """Sends again what has no answer, with its numbers, before anything new. [MS9]"""
        is_late = self.broke_at is not None and time.monotonic() - self.broke_at > FORGOTTEN
        for number, part in sorted(self.sent.items()):
            if number not in self.sent:
                continue
            if is_forgotten and (not part.job.is_retained or is_late):
                self.refused(number, UNKNOWN)
            elif is_forgotten and len(part.job.parts) > 1 and not part.is_last:
                self.without_last(part, number)
            elif self.fault == "resend-new-number":
                del self.sent[number]
                self.number += 1
                part.number, self.sent[self.number] = self.number, part
                self.write(part)
            else:
                self.write(part)

    def without_last(self, part, number):
        """The relay has forgotten parts that waited for their last. If that was sent, it alone is asked for."""
        if any(other.job is part.job and other.is_last for other in self.sent.values()):
            del self.sent[number]
        else:
            self.begin_again(part.job)
