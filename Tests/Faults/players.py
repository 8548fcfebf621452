"""Who changes metadata and locks while a relay is killed, or loses power: what they send, their books of it, and what a reader finds."""

import copy
import random
import threading
import time

from books import Broken, Change, Ledger, SharedBoard, SharedItem, SharedLock, State
from daemon import Identity, relay_client

KEYS = [f"k{n}" for n in range(6)]
PAIR = ("left", "right")
# A set holds at most 65,536 bytes: six keys of 8 KB, and the pair.
VALUE_MAX, PAIR_VALUE_MAX = 8_192, 4_096
IN_FLIGHT = 6
TTL = 300_000
BOARD = {"kind": "message", "channel": "board"}
FILLER = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=32_768))


class Bucket:
    """Metadata calls that a user may make: the relay's rate, and of its burst of 20 (RT7) so much that a relay which stands still for
    most of a second, and gets in one moment what was sent meanwhile, refuses none."""

    BURST, RATE = 12, 10

    def __init__(self):
        self.tokens, self.at = self.BURST, time.monotonic()

    def take(self):
        now = time.monotonic()
        self.tokens, self.at = min(self.BURST, self.tokens + (now - self.at) * self.RATE), now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class Writing:
    """One user with one connection, several changes in flight on it, and a ledger of them."""

    def __init__(self, user, base):
        self.user, self.base = user, base
        self.ledger = Ledger(user, base)
        self.secret = Identity(user).secret

    def begin(self, daemon, key, shared, rng, watcher=None):
        """Logs in, with nothing sent yet."""
        self.client = daemon.client(Identity(self.user, secret=self.secret, credential=key), watcher=self.watched_by(watcher))
        self.port = self.client.socket.getsockname()[1]
        self.shared, self.rng, self.flying, self.written = shared, rng, [], 0
        self.ledger = Ledger(self.user, self.base)

    def watched_by(self, watcher):
        return watcher

    def has_room(self):
        self.flying = [change for change in self.flying if not change.reply.done.is_set()]
        return len(self.flying) < IN_FLIGHT

    def sent(self, change, state):
        self.ledger.sent(change, state)
        self.fly(change)

    def fly(self, change):
        change.port = self.port
        self.flying.append(change)

    def value(self, most, least=10):
        """`least` bytes, not below 10, to `most`, small ones as often as large ones; no two are the same."""
        self.written += 1
        size = int(least * (most / least) ** self.rng.random())
        return f"{self.written:04}{self.rng.getrandbits(24):06x}{FILLER}"[:size]

    def settle(self):
        """The ledger has nothing of what was refused for the time being."""

    def go_on(self, found, count):
        """So many changes are there: what the next ones rest on."""
        self.base = self.ledger.states[count].found_as(found)
        self.ledger = Ledger(self.user, self.base)


class Player(Writing):
    """Sets and a lock of its own, and a part in what all share."""

    def __init__(self, number):
        super().__init__(f"user {number:02}", State())
        self.channel = {"kind": "message" if number % 2 else "stream", "channel": f"own {number:02}"}

    def begin(self, daemon, key, shared, rng, watcher=None):
        super().begin(daemon, key, shared, rng, watcher)
        self.calls = {"channel": Bucket(), "user": Bucket()}
        self.guess, self.attempt, self.acquiring = shared.item.revision, None, {}

    def act(self):
        """Sends one change, if the rates let it."""
        dice = self.rng.random()
        if dice < 0.36:
            self.change_set("channel", self.channel)
        elif dice < 0.72:
            self.change_set("user", {"user": self.user})
        elif dice < 0.82:
            self.change_lock()
        elif dice < 0.92:
            self.compete_for_item()
        else:
            self.compete_for_lock(self.rng.choice(self.shared.locks))

    # -- what only this user changes ---------------------------------------------------------------------------------

    def change_set(self, name, owner):
        if not self.calls[name].take():
            return
        rng, (major, stored) = self.rng, getattr(self.ledger.now, name)
        fields = dict(owner)
        if rng.random() < 0.1:
            fields["majorRevision"] = major
        if name == "channel" and self.ledger.now.lock is not None and rng.random() < 0.2:
            fields["lock"] = "own"
        dice = rng.random()
        if stored and dice < 0.02:
            return self.remove(name, fields, None)
        if stored and dice < 0.14:
            return self.remove(name, fields, rng.sample(sorted(stored), min(len(stored), rng.randint(1, 3))))
        if dice < 0.36:
            items = {key: self.value(PAIR_VALUE_MAX) for key in PAIR}
        else:
            items = {rng.choice(KEYS): self.value(VALUE_MAX)}
        kind = "updateMetadata" if rng.random() < 0.2 and all(key in stored for key in items) else "setMetadata"
        author = self.user if rng.random() < 0.3 else None
        rows = [(key, value, *self.condition(stored, key)) for key, value in items.items()]
        reply = self.client.start_texts(kind, rows, recordUser=bool(author), recordTime=rng.random() < 0.2, **fields)
        self.sent(Change(kind, reply), self.ledger.now.with_set(name, items, author))

    def remove(self, name, fields, keys):
        stored = getattr(self.ledger.now, name)[1]
        if keys is not None:
            rows = [dict(zip(("key", "revision"), (key, *self.condition(stored, key)))) for key in keys]
            fields["items"] = rows
        reply = self.client.start_request("removeMetadata", **fields)
        gone = {key: None for key in (stored if keys is None else keys)}
        self.sent(Change("removeMetadata", reply), self.ledger.now.with_set(name, gone, None))

    def condition(self, stored, key):
        """Sometimes the revision that the item has when all that was sent is taken."""
        return ((stored[key][1] if key in stored else 0),) if self.rng.random() < 0.2 else ()

    def change_lock(self):
        releases = self.ledger.now.lock is not None and self.rng.random() < 0.7
        kind = "releaseLock" if releases else "acquireLock"
        change = Change(kind, self.client.start_request(kind, lock="own", **self.channel))
        self.sent(change, self.ledger.now.with_lock(None if releases else change))

    def find(self, reader, *_):
        """What stands of it."""
        channel = enter(reader, self.channel)
        reader.request("subscribeUserMetadata", user=self.user)
        reader.sync()
        lock = channel.locks.get("own", {})
        if lock.get("owner") not in (None, self.user):
            raise Broken(f"the lock of {self.user} belongs to {lock}")
        return State(plain(channel.metadata), plain(reader.checker.users_metadata[self.user]), lock.get("fencing"))

    # -- what all change ---------------------------------------------------------------------------------------------

    def compete_for_item(self):
        """Compare-and-set: the next attempt begins when the last one is answered."""
        if self.attempt is not None:
            expected, _, change = self.attempt
            if not change.reply.done.is_set():
                return
            self.guess = expected + 1 if change.answered else change.refusal.fields["actual"] if change.refusal else expected
        if not self.calls["channel"].take():
            return
        value = f"{self.user} {self.value(VALUE_MAX)}"
        change = Change("setMetadata", self.client.start_texts("setMetadata", [("shared", value, self.guess)], **BOARD))
        self.attempt = (self.guess, value, change)
        self.shared.add(self.shared.item.attempts, self.attempt)
        self.fly(change)

    def compete_for_lock(self, lock):
        earlier = self.acquiring.get(lock.name)
        if earlier is not None and not earlier.reply.done.is_set():
            return
        fencing = lock.holder(self.user)
        if fencing is None:
            wait = self.rng.choice((None, 50, 200))
            change = Change("acquireLock", self.client.start_request("acquireLock", lock=lock.name, waitMs=wait, **BOARD))
            self.acquiring[lock.name] = change
            self.shared.add(lock.acquisitions, (self.user, change))
        else:
            change = Change("releaseLock", self.client.start_request("releaseLock", lock=lock.name, **BOARD))
            self.shared.add(lock.releases, (self.user, fencing, change))
        self.fly(change)


class Shared:
    """What all players change."""

    def __init__(self):
        self.item, self.locks, self.board = SharedItem(), [SharedLock("first"), SharedLock("second")], SharedBoard()
        self.guard = threading.Lock()

    def copy(self):
        """Which is judged, and this one is not."""
        other = copy.copy(self)
        other.item, other.locks, other.board = copy.copy(self.item), [copy.copy(lock) for lock in self.locks], copy.copy(self.board)
        return other

    def add(self, entries, entry):
        with self.guard:
            entries.append(entry)

    def judge(self, found):
        """Holds what is there against what was answered and what was in flight; goes on from there."""
        self.item.judge(*found.item)
        self.board.judge(*found.board)
        for lock in self.locks:
            lock.judge(*found.locks.get(lock.name, (None, None)))

    def changes(self):
        """Each with the names of the codes that may refuse it."""
        yield from ((change, {"revisionMismatch"}) for _, _, change in self.item.attempts)
        yield from ((change, set()) for _, change in self.board.attempts)
        for lock in self.locks:
            yield from ((change, {"lockHeld"}) for _, change in lock.acquisitions)
            yield from ((change, set()) for _, _, change in lock.releases)


class Writer(threading.Thread):
    """Keeps some connections busy until they end."""

    def __init__(self, players, rng):
        super().__init__(daemon=True)
        self.players, self.rng = players, rng
        self.going, self.problem = threading.Event(), None

    def run(self):
        try:
            while not any(player.client.over for player in self.players):
                player = self.rng.choice(self.players)
                if player.has_room():
                    player.act()
                    self.going.set()
                else:
                    player.flying[0].reply.done.wait(0.05)
        except (relay_client.Ended, OSError):
            pass
        except Exception as problem:  # a broken rule, or a mistake of this program
            self.problem = problem
        self.going.set()


def enter(client, channel):
    """Its snapshots of metadata and locks, which the client keeps."""
    request = {"message": "subscribe", "stream": "join"}[channel["kind"]]
    handle = client.request(request, channel=channel["channel"], features=["metadata", "locks"], quiet=True)["handle"]
    return client.checker.channels[handle]


def plain(metadata):
    """(major revision, {key: (value, revision, author)}) of a set as the client has it."""
    return metadata.revision, {key: (item["value"], item["revision"], item.get("author")) for key, item in metadata.items.items()}

