"""What writers were told, and what a relay may show after it was killed.

The changes of one connection are judged in the order in which they were sent, and become durable in that order. So what
is there after a crash is what one *prefix* of them leads to: nothing of a change without all of it, none without those
before it, and at least all that were answered. A `Ledger` holds one connection against that, over the sets and the lock
that only this connection changes. What several connections change has books of its own: `SharedItem`, `SharedLock`.
"""


class Change:
    """A change that was sent. `reply` is the client's; `held`: a lock that this acquires."""

    def __init__(self, what, reply):
        self.what, self.reply = what, reply

    @property
    def answered(self):
        return self.reply.done.is_set() and self.reply.problem is None

    @property
    def refusal(self):
        """The relay's error, if it sent one."""
        return self.reply.problem if self.reply.done.is_set() and hasattr(self.reply.problem, "code") else None

    @property
    def fencing(self):
        return self.reply.value.get("fencing") if self.answered else None


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
