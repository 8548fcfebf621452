"""All who write, what a reader finds of them, and the judgement of that by their books."""

import pathlib
import random

from books import Broken
from daemon import Identity
from drawers import ALL, read
from players import BOARD, TTL, Shared, enter, plain


class Found:
    """What a relay shows of all that was written."""

    def __init__(self, start, relay):
        self.start, self.relay = start, relay
        self.states, self.item, self.locks, self.board = {}, None, {}, None


class Books:
    """What everybody was told between two looks, and what has stood before.

    floor: no fencing number above it was told before; relay: its public id.
    """

    def __init__(self, ledgers, shared, floor=0, start=0, relay=None):
        self.ledgers, self.shared = ledgers, shared
        self.floor, self.start, self.relay = floor, start, relay

    def judge(self, found):
        """How many changes of each user are there; raises Broken."""
        if found.start <= self.start:
            raise Broken(f"start number {found.start} after {self.start}")
        if self.relay not in (None, found.relay):
            raise Broken(f"the relay has the id {found.relay}, and had {self.relay}")
        counts = {user: ledger.judge(found.states[user], self.floor) for user, ledger in self.ledgers.items()}
        self.shared.copy().judge(found)
        return counts


class Cast:
    """Everybody, and what they share. The writers have the host's key, the pupils the other one."""

    def __init__(self, players, drawers, moderators):
        self.players, self.drawers, self.moderators = players, drawers, moderators
        self.writers = [*players, *drawers, *moderators]
        self.shared = Shared()
        self.reader = Identity("reader")
        self.may_be_banned = {user for moderator in moderators for user in moderator.banned}
        self.fencing = self.highest = self.start = 0  # the highest numbers told: at the last look, and since
        self.relay = None

    def set_up(self, daemon):
        """The first start, in an empty folder."""
        self.go_on(self.find(daemon))
        self.make_locks(daemon)

    def make_locks(self, daemon):
        setter = self.come_in(daemon, self.reader)
        for channel, name in [(BOARD, lock.name) for lock in self.shared.locks] + [(player.channel, "own") for player in self.players]:
            setter.request("setLock", lock=name, ttlMs=TTL, **channel)
        setter.logout()

    def take_keys(self, daemon):
        """Those in its folder, by name."""
        pupils = [pupil for moderator in self.moderators for pupil in moderator.pupils.values()]
        keys = {name: (pathlib.Path(daemon.folder) / f"{name}.key").read_text(encoding="ascii").strip() for name in ("host", "join")}
        for name, identities in (("host", [self.reader]), ("join", pupils)):
            for identity in identities:
                identity.credential = {"key": keys[name]}
        return keys

    def begin(self, daemon, seed, watcher=None):
        """Everybody logs in."""
        for writer in self.writers:
            writer.begin(daemon, self.reader.credential, self.shared, random.Random(f"{seed} {writer.user}"), watcher)

    @property
    def books(self):
        return Books({writer.user: writer.ledger for writer in self.writers}, self.shared, self.fencing, self.start, self.relay)

    def come_in(self, daemon, identity):
        """Once more as who was there before."""
        return daemon.client(Identity(identity.user, secret=identity.secret, credential=identity.credential))

    def count(self):
        """What was answered, refused, and neither; and that nothing was refused that should not have been."""
        for writer in self.writers:
            writer.settle()
        pairs = [(change, set()) for writer in self.writers for change in writer.ledger.changes] + list(self.shared.changes())
        counts = {"answered": 0, "refused": 0, "inFlight": 0}
        numbers = []
        for change, codes in pairs:
            if change.refusal is not None and change.refusal.name not in codes:
                raise Broken(f"{change.what} was refused: {change.refusal}")
            counts["answered" if change.answered else "refused" if change.refusal else "inFlight"] += 1
            if change.fencing is not None:
                numbers.append(change.fencing)
        if numbers and (min(numbers) <= self.fencing or len(set(numbers)) < len(numbers)):
            raise Broken(f"fencing numbers {sorted(numbers)} after {self.fencing}")
        self.highest = max([self.fencing, *numbers])
        return counts

    def find(self, daemon, ledgers=None):
        """What a reader is shown. ledgers: of the changes since the last look, if not the newest."""
        self.take_keys(daemon)
        reader = self.come_in(daemon, self.reader)
        found = Found(reader.checker.welcome["start"], reader.checker.welcome["relay"])
        for writer in self.writers:
            ledger = writer.ledger if ledgers is None else ledgers[writer.user]
            found.states[writer.user] = writer.find(reader, lambda identity: self.come_in(daemon, identity), ledger.states[0])
        records, (_, head) = read(reader, ALL, {"beginning": True}, {})
        found.board = (records, head)
        board = enter(reader, BOARD)
        reader.sync()
        revision, items = plain(board.metadata)
        if set(items) - {"shared"} or any(item[1] != revision for item in items.values()):
            raise Broken(f"the shared set of revision {revision} has {sorted(items)}")
        found.item = (revision, items["shared"][0] if items else None)
        found.locks = {name: (lock.get("owner"), lock.get("fencing")) for name, lock in board.locks.items()}
        reader.logout()
        if reader.checker.oddities:
            raise Broken(f"odd: {reader.checker.oddities}")
        self.must_be_one_each(found)
        return found

    def must_be_one_each(self, found):
        """Fencing numbers of locks, and bans that somebody has asked for."""
        held = [found.states[player.user].lock for player in self.players] + [fencing for _, fencing in found.locks.values()]
        held = sorted(fencing for fencing in held if fencing is not None)
        if len(set(held)) < len(held):
            raise Broken(f"two locks have one fencing number: {held}")
        strange = {user for moderator in self.moderators for user in found.states[moderator.user].others} - self.may_be_banned
        if strange:
            raise Broken(f"nobody has banned {sorted(strange)}")
        found.fencing = max(held, default=0)

    def resume(self, daemon, books, found):
        """Goes on from what was found, by books of an earlier time."""
        for writer in self.writers:
            writer.ledger = books.ledgers[writer.user]
        self.shared, self.fencing, self.start, self.relay = books.shared, books.floor, books.start, books.relay
        self.count()
        self.go_on(found)
        self.make_locks(daemon)

    def go_on(self, found):
        """Judges what was found, and takes it for what the next changes rest on: how many in flight are there."""
        books = self.books
        counts = books.judge(found)
        kept = sum(count - books.ledgers[user].answered() for user, count in counts.items())
        for writer in self.writers:
            writer.go_on(found.states[writer.user], counts[writer.user])
        self.shared.judge(found)
        self.fencing = max(self.highest, found.fencing)
        self.start, self.relay = found.start, found.relay
        return kept
