"""What writers were told, and what a relay may show after it was killed.

The changes of one connection are judged in the order in which they were sent, and become durable in that order. So what
is there after a crash is what one *prefix* of them leads to: nothing of a change without all of it, none without those
before it, and at least all that were answered. A `Ledger` holds one connection against that, over what only this
connection changes: sets and a lock (`State`), a board (`BoardState`), or decisions (`Rules`). What several connections change
has books of its own: `SharedItem`, `SharedLock`, `SharedBoard`.
"""


class Change:
    """A change that was sent. `reply` is the client's, `port` its own; `number` that of a publish."""

    port = None

    def __init__(self, what, reply, number=None):
        self.what, self.reply, self.number = what, reply, number

    @property
    def answered(self):
        return self.reply.done.is_set() and self.reply.problem is None

    @property
    def offset(self):
        """Of the last message that it is on a board, if that was told."""
        return self.reply.value.get("offset") if self.answered else None

    @property
    def refusal(self):
        """The relay's error, if it sent one."""
        return self.reply.problem if self.reply.done.is_set() and hasattr(self.reply.problem, "code") else None

    @property
    def fencing(self):
        return self.reply.value.get("fencing") if self.answered and self.what == "acquireLock" else None


class State:
    """What stands after a change: two sets (major revision, {key: (value, revision, author)}), and who has the lock.

    lock: None when free, a fencing number, or the `Change` that acquires it.
    """

    def __init__(self, channel=(0, {}), user=(0, {}), lock=None):
        self.channel, self.user, self.lock = channel, user, lock

    def with_set(self, name, items, author):
        """After items (a value of None removes) were written in one request."""
        major, stored = getattr(self, name)
        stored = dict(stored)
        for key, value in items.items():
            if value is None:
                del stored[key]
            else:
                stored[key] = (value, major + 1, author)
        return State(**{**vars(self), name: (major + 1, stored)})

    def with_lock(self, lock):
        return State(self.channel, self.user, lock)

    def found_as(self, found):
        """What the next changes begin with."""
        return found

    def differs(self, found, floor):
        """Where a state that was found is another one; None if it is this one.

        floor: what the fencing number of an acquisition is above whose answer did not come.
        """
        for name in ("channel", "user"):
            wanted, actual = getattr(self, name), getattr(found, name)
            if wanted[0] != actual[0]:
                return f"{name} metadata has major revision {actual[0]}, not {wanted[0]}"
            for key in sorted(set(wanted[1]) | set(actual[1])):
                if wanted[1].get(key) != actual[1].get(key):
                    return f"{name} metadata, {key}: {brief(actual[1].get(key))}, not {brief(wanted[1].get(key))}"
        lock = self.lock.fencing or "new" if isinstance(self.lock, Change) else self.lock
        if lock == "new" and (found.lock or 0) > floor:
            return None
        return None if lock == found.lock else f"the lock has fencing number {found.lock}, not {lock}"


class Record:
    """The newest record of a key. Its offset is `back` before the last one that `change` has taken, as far as that was told."""

    def __init__(self, key, payload, custom_type, user, change=None, back=0, offset=None):
        self.key, self.payload, self.custom_type, self.user = key, payload, custom_type, user
        self.change, self.back, self.told = change, back, offset

    @property
    def offset(self):
        last = self.change.offset if self.change else None
        return self.told if last is None else last - self.back

    def undone(self, change, back):
        """As it comes back."""
        return Record(self.key, self.payload, self.custom_type, self.user, change, back)

    def __eq__(self, other):
        return self.is_there_as(other) and self.offset == other.offset

    def is_there_as(self, other):
        """But for an offset that is not known."""
        same = (self.key, self.payload, self.custom_type, self.user) == (other.key, other.payload, other.custom_type, other.user)
        return same and self.offset in (None, other.offset)

    def __repr__(self):
        payload = f"{len(self.payload)} bytes {bytes(self.payload[:10])!r}…"
        return f"{self.key} ({payload}, {self.custom_type}, by {self.user}) at {self.offset}"


class BoardState:
    """What stands on a board after a change: its records in their order, and what an undo brings back.

    head: the last offset taken, 0 without a board. None: not known. Behind an end that is so until the offset of a change is told.
    cleared: None, or what the newest `clear` took away: (record, whether its key was left alone since).
    position: of a reader that was there when it was found: epoch, offset, {key: record}.
    """

    position = None

    def __init__(self, records=(), head=0, cleared=None, is_there=False):
        self.records, self.cleared, self.is_there = list(records), cleared, is_there
        self.known, self.before, self.change, self.count = head, None, None, 0

    @property
    def head(self):
        if self.known is None and self.change:
            self.known = self.change.offset
        if self.known is None and self.before and self.before.head is not None:
            self.known = self.before.head + self.count
        return self.known

    def after(self, change, count, records, cleared):
        """Behind a change that takes so many offsets."""
        state = BoardState(records, None, cleared, True)
        state.change, state.count, state.before = change, count, self if self.is_there or self.known == 0 else None
        return state

    def with_changes(self, change, rows):
        """After records were written, and (key, None) removed; each key once."""
        keys = {key for key, _ in rows}
        kept = [record for record in self.records if record.key not in keys]
        cleared = self.cleared and [(record, alone and record.key not in keys) for record, alone in self.cleared]
        return self.after(change, len(rows), kept + [record for _, record in rows if record], cleared)

    def with_clear(self, change):
        return self.after(change, 1, (), [(record, True) for record in self.records])

    def with_undo(self, change):
        last = len(self.cleared) - 1
        back = [record.undone(change, last - place) for place, (record, alone) in enumerate(self.cleared) if alone]
        return self.after(change, len(self.cleared), self.records + back, None)

    def with_end(self):
        return BoardState(head=None)

    def found_as(self, found):
        """What the next changes begin with."""
        state = BoardState(found.records, found.head, self.cleared, self.is_there)
        state.position = found.position
        return state

    def differs(self, found, _):
        """Where a board that was found is another one; None if it is this one."""
        if self.head not in (None, found.head) or self.is_there != (found.head > 0):
            return f"offset {found.head} is the last one, not {self.head}" + ("" if self.is_there else ": the board is gone")
        for place, (wanted, actual) in enumerate(zip(self.records, found.records)):
            if not wanted.is_there_as(actual):
                return f"record {place} is {actual}, not {wanted}"
        if len(self.records) != len(found.records):
            return f"{len(found.records)} records, not {len(self.records)}"
        return None


class Rules:
    """What a moderator has decided: roles and bans by user, modes by channel."""

    others = ()  # who else is banned, where it was found

    def __init__(self, roles=None, bans=None, modes=None):
        self.decided = {"roles": roles or {}, "bans": bans or {}, "modes": modes or {}}

    def having(self, kind, name, value):
        """With another decision; None: none."""
        decided = {**self.decided[kind], name: value}
        return Rules(**{**self.decided, kind: {name: value for name, value in decided.items() if value is not None}})

    def found_as(self, found):
        return found

    def differs(self, found, _):
        for kind, wanted in self.decided.items():
            if wanted != found.decided[kind]:
                return f"{kind} are {found.decided[kind]}, not {wanted}"
        return None


def brief(item):
    """An item as a failure shows it."""
    return item and f"{len(item[0])} characters {item[0][:16]!r}… of revision {item[1]} by {item[2]}"


class Ledger:
    """One connection's changes, each with what stands after it."""

    def __init__(self, user, base):
        self.user = user
        self.changes, self.states = [], [base]

    @property
    def now(self):
        """What stands if everything sent was taken."""
        return self.states[-1]

    def sent(self, change, state):
        self.changes.append(change)
        self.states.append(state)

    def take_back(self):
        """The last change was refused."""
        self.changes.pop()
        self.states.pop()

    def answered(self):
        """So many changes, from the first on, must be there."""
        return max((place + 1 for place, change in enumerate(self.changes) if change.answered), default=0)

    def judge(self, found, floor):
        """How many changes are there; raises Broken when it is no prefix, or less than was answered.

        floor: the highest fencing number known before the first change.
        """
        answered = self.answered()
        floor = max([floor, *(change.fencing or 0 for change in self.changes)])
        reasons = []
        for count in range(answered, len(self.states)):
            reason = self.states[count].differs(found, floor)
            if reason is None:
                return count
            reasons.append(f"  after {count}: {reason}")
        lost = next((n for n in range(answered) if self.states[n].differs(found, floor) is None), None)
        verdict = f"only the first {lost} are there" if lost is not None else "what is there is no prefix of them"
        raise Broken(f"{self.user}: {len(self.changes)} changes were sent, {answered} answered; {verdict}\n" + "\n".join(reasons[:8]))


class Broken(Exception):
    """A promise was not kept."""


class SharedItem:
    """One key that all writers change under the condition of its revision; nothing else is in its set."""

    def __init__(self):
        self.revision, self.value = 0, None
        self.attempts = []  # (expected revision, value, change)

    def judge(self, revision, value):
        """Holds what is there against what was answered and what was in flight; goes on from there."""
        told = {self.revision: self.value}
        for expected, attempt, change in self.attempts:
            if change.answered:
                if expected + 1 in told:
                    raise Broken(f"two writers were told that theirs is revision {expected + 1}")
                told[expected + 1] = attempt
        open_at = {}
        for expected, attempt, change in self.attempts:
            if not change.reply.done.is_set() or (change.refusal is None and not change.answered):
                open_at.setdefault(expected + 1, []).append(attempt)
        last = max(told)
        if revision < last:
            raise Broken(f"the shared key has revision {revision}, and {last} was answered")
        for step in range(last + 1, revision + 1):
            if step not in open_at:
                raise Broken(f"the shared key has revision {revision}, and nobody asked for {step}")
        possible = [told[revision]] if revision in told else open_at[revision]
        if value not in possible:
            raise Broken(f"the shared key has {brief((value or '', revision, None))}, which nobody wrote as that revision")
        self.revision, self.value, self.attempts = revision, value, []
        return len(told) - 1


class SharedLock:
    """A lock for which all writers contend: each acquires it, and releases it only after it was told so."""

    def __init__(self, name):
        self.name = name
        self.owner, self.fencing = None, None
        self.acquisitions, self.releases = [], []  # (user, change); (user, fencing, change)

    def holder(self, user):
        """The fencing number under which this user has it, as far as it was told and has not released."""
        released = {fencing for _, fencing, _ in self.releases}
        mine = [c.fencing for u, c in self.acquisitions if u == user and c.answered]
        if self.owner == user:
            mine.append(self.fencing)
        return next((fencing for fencing in mine if fencing not in released), None)

    def judge(self, owner, fencing):
        held = {c.fencing: user for user, c in self.acquisitions if c.answered}
        if self.owner is not None:
            held[self.fencing] = self.owner
        releases = {number: change for _, number, change in self.releases}
        last = max(held, default=None)
        may_be_free = last is None or last in releases
        wanting = {user for user, change in self.acquisitions if not change.answered and change.refusal is None}
        if owner is None:
            good = may_be_free
        elif fencing == last:
            good = owner == held[last] and not (last in releases and releases[last].answered)
        else:
            good = may_be_free and fencing > (last or 0) and owner in wanting
        if not good:
            released = "never" if last not in releases else "answered" if releases[last].answered else "in flight"
            raise Broken(f"lock {self.name}: {owner} has it under {fencing}; last told: {held.get(last)} under {last}, its release: "
                         f"{released}; acquiring: {sorted(wanting)}")
        self.owner, self.fencing, self.acquisitions, self.releases = owner, fencing, [], []


class SharedBoard:
    """A board on which all write and remove the same keys. Its offsets are one order of all changes: what is there is what those up to
    the last offset lead to."""

    def __init__(self):
        self.records, self.head = {}, 0
        self.attempts = []  # (record, or a removal without payload; its change)

    def judge(self, records, head):
        """Holds {key: record} and the last offset against what was told; goes on from there."""
        lost = [record for record, change in self.attempts if change.answered and change.offset > head]
        if lost or head < self.head:
            raise Broken(f"the board of all ends with {head}, and these were stored: {lost}; before, it ended with {self.head}")
        known = {record.offset: record for record, _ in self.attempts if record.offset is not None}
        unknown = [record for record, _ in self.attempts if record.offset is None]
        newest = dict(self.records)
        for offset in sorted(offset for offset in known if offset <= head):
            newest[known[offset].key] = known[offset]
        for key in sorted({*newest, *records}):
            wanted, found = newest.get(key), records.get(key)
            open_to = [record for record in unknown if record.key == key]
            if found is None:
                good = wanted is None or not wanted.payload or any(not record.payload for record in open_to)
            elif wanted is not None and found.offset == wanted.offset:
                good = found == wanted
            else:
                is_newer = found.offset > max(self.head, wanted.offset if wanted else 0)
                good = is_newer and any(record.is_there_as(found) for record in open_to)
            if not good:
                raise Broken(f"the board of all, up to {head}: {found}, not {wanted}; no offset was told of {open_to}")
        self.records, self.head, self.attempts = records, head, []
