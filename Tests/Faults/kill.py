#!/usr/bin/env python3
"""kill -9 of the real daemon at random moments, and what is there afterwards.

    python3 Tests/Faults/kill.py [--rounds 200] [--seed N] [--binary PATH] [--json]

Each round starts the daemon on the folder that the round before has left and holds what it shows, through the protocol,
against what its writers were told (books.py). Then eight writers, each with three users, change metadata of channels and
users and acquire and release locks, several requests in flight on each connection, and after 0…400 ms the process is
killed: in every second round in the moment in which the next answer has come, which is when an answer that was given too
early has the least time to become true. Every fifth time the daemon that starts anew is killed, too, while it reads its journal.

A seed decides what is written and when the process is killed, not how the system schedules: round n of `--seed S` writes
the same as round 1 of `--seed S+n-1`, on a folder with another past. `--seed S --rounds n` repeats that past as well.

What it shows: that no answer comes before its change was handed to the operating system, whole and in order, and that the
daemon starts from whatever it leaves at any moment. What it does not show: that anything was synced. What a killed process
has written is in the page cache and stays there; only a loss of power takes it away. That is what the simulated storage of
RelayJournalTests is for, which drops, tears and reorders what was not synced.
"""

import argparse
import json
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

from books import Broken, Change, Ledger, SharedItem, SharedLock, State
from daemon import Daemon, Refused, find_binary, relay_client

WRITERS = 8
USERS_PER_WRITER = 3
IN_FLIGHT = 6
KILL_WITHIN = 0.4
KEYS = [f"k{n}" for n in range(6)]
PAIR = ("left", "right")
# A set holds at most 65,536 bytes: six keys of 8 KB, and the pair.
VALUE_MAX, PAIR_VALUE_MAX = 8_192, 4_096
TTL = 300_000
BOARD = {"kind": "message", "channel": "board"}
FILLER = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=VALUE_MAX))


class Bucket:
    """Metadata calls that a user may make: the relay's rate and burst (RT7), with one to spare."""

    def __init__(self):
        self.tokens, self.at = 19.0, time.monotonic()

    def take(self):
        now = time.monotonic()
        self.tokens, self.at = min(19.0, self.tokens + (now - self.at) * 10), now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class Player:
    """One user: a connection, sets and a lock of its own, and a part in what all share."""

    def __init__(self, number):
        self.user = f"user {number:02}"
        self.channel = {"kind": "message" if number % 2 else "stream", "channel": f"own {number:02}"}
        self.base = State()

    def begin(self, client, shared, rng):
        self.client, self.shared, self.rng = client, shared, rng
        self.ledger = Ledger(self.user, self.base)
        self.calls = {"channel": Bucket(), "user": Bucket()}
        self.flying, self.written = [], 0
        self.guess, self.attempt, self.acquiring = shared.item.revision, None, {}

    def has_room(self):
        self.flying = [change for change in self.flying if not change.reply.done.is_set()]
        return len(self.flying) < IN_FLIGHT

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

    def value(self, most):
        """10 bytes to `most`, small ones as often as large ones; no two are the same."""
        self.written += 1
        size = int(10 * (most / 10) ** self.rng.random())
        return f"{self.written:04}{self.rng.getrandbits(24):06x}{FILLER}"[:size]

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

    def sent(self, change, state):
        self.ledger.sent(change, state)
        self.flying.append(change)

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
        self.flying.append(change)

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
        self.flying.append(change)


class Shared:
    """What all players change."""

    def __init__(self):
        self.item, self.locks = SharedItem(), [SharedLock("first"), SharedLock("second")]
        self.guard = threading.Lock()

    def add(self, entries, entry):
        with self.guard:
            entries.append(entry)

    def changes(self):
        """Each with the names of the codes that may refuse it."""
        yield from ((change, {"revisionMismatch"}) for _, _, change in self.item.attempts)
        for lock in self.locks:
            yield from ((change, {"lockHeld"}) for _, change in lock.acquisitions)
            yield from ((change, set()) for _, _, change in lock.releases)


class Trigger:
    """Watches every client; once it is set, the next answer that any of them gets kills the process."""

    def __init__(self, process):
        self.process, self.is_set, self.pulled = process, False, threading.Event()

    def sent(self, _):
        pass

    def received(self, event):
        if self.is_set and event.name == "answer":
            self.process.kill()
            self.pulled.set()


class Writer(threading.Thread):
    """Keeps three connections busy until they end."""

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


class Run:
    """All rounds on one folder."""

    def __init__(self, binary, folder, report):
        self.binary, self.folder, self.report = binary, folder, report
        self.players = [Player(number) for number in range(WRITERS * USERS_PER_WRITER)]
        self.shared = Shared()
        self.fencing = self.floor = self.start = 0  # the highest number told; that of the round's beginning
        # takenBack: rounds in which a refusal had told a revision (`actual`) that the crash has taken back: SG1 is about
        # answers, events, snapshots and pages.
        self.total = {"answered": 0, "inFlight": 0, "inFlightKept": 0, "refused": 0, "takenBack": 0, "killedWhileStarting": 0}
        self.slowest = 0.0
        self.daemon = None

    def begin(self):
        """The first start: an empty folder, in which the locks are made."""
        self.daemon = Daemon(self.binary, self.folder)
        self.look()
        setter = self.daemon.client("setter")
        places = [(BOARD, lock.name) for lock in self.shared.locks] + [(player.channel, "own") for player in self.players]
        for channel, name in places:
            setter.request("setLock", lock=name, ttlMs=TTL, **channel)
        setter.logout()

    def round(self, number, seed):
        """Writes, kills, starts again, looks."""
        rng = random.Random(seed)
        self.floor = self.fencing
        trigger = Trigger(self.daemon.process)
        for player in self.players:
            player.begin(self.daemon.client(player.user, watcher=trigger), self.shared, random.Random(f"{seed} {player.user}"))
        clients = [player.client for player in self.players]
        writers = [Writer(self.players[n::WRITERS], random.Random(f"{seed} writer {n}")) for n in range(WRITERS)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.going.wait()
        delay = rng.uniform(0, KILL_WITHIN)
        time.sleep(delay)
        if self.daemon.process.poll() is not None:
            raise Broken(f"the daemon ended by itself with {self.daemon.process.returncode}")
        if number % 2 == 0:
            trigger.is_set = True
            trigger.pulled.wait(0.1)
        self.daemon.kill()
        for worker in [*writers, *(client.thread for client in clients)]:
            worker.join(30)
        for problem in [writer.problem for writer in writers] + [client.violation for client in clients]:
            if problem is not None:
                raise Broken(f"{type(problem).__name__}: {problem}")
        counts = self.count()
        if number % 5 == 0:
            Daemon(self.binary, self.folder, kill_after=rng.uniform(0, 0.05))
            self.total["killedWhileStarting"] += 1
        began = time.monotonic()
        self.daemon = Daemon(self.binary, self.folder)
        starting = time.monotonic() - began
        self.slowest = max(self.slowest, starting)
        counts["inFlightKept"] = self.look()
        for name, count in counts.items():
            self.total[name] += count
        self.report("round", round=number, seed=seed, killedAfterMs=round(delay * 1000), **counts, startMs=round(starting * 1000),
                    **self.journal())

    def journal(self):
        """How large it is: a segment has 64 MiB, and the oldest is emptied while the daemon runs."""
        files = list(self.folder.glob("journal-*.log"))
        return {"segments": len(files), "journalBytes": sum(file.stat().st_size for file in files)}

    def count(self):
        """What was answered, refused, and neither; and that nothing was refused that should not have been."""
        pairs = [(change, set()) for player in self.players for change in player.ledger.changes] + list(self.shared.changes())
        counts = {"answered": 0, "refused": 0, "inFlight": 0}
        numbers = []
        for change, codes in pairs:
            if change.refusal is not None and change.refusal.name not in codes:
                raise Broken(f"{change.what} was refused: {change.refusal}")
            counts["answered" if change.answered else "refused" if change.refusal else "inFlight"] += 1
            if change.what == "acquireLock" and change.answered:
                numbers.append(change.fencing)
        if numbers and (min(numbers) <= self.fencing or len(set(numbers)) < len(numbers)):
            raise Broken(f"fencing numbers {sorted(numbers)} after {self.fencing}")
        self.fencing = max([self.fencing, *numbers])
        return counts

    def look(self):
        """Holds what the daemon shows against the books; how many changes in flight are there."""
        client = self.daemon.client("reader")
        start = client.checker.welcome["start"]
        if start <= self.start:
            raise Broken(f"start number {start} after {self.start}")
        self.start = start
        shown, sets = {}, {}
        for player in self.players:
            shown[player.user] = self.enter(client, player.channel)
            client.request("subscribeUserMetadata", user=player.user)
        board = self.enter(client, BOARD)
        client.sync()
        kept = 0
        for player in self.players:
            channel, user = shown[player.user], client.checker.users_metadata[player.user]
            lock = channel.locks.get("own", {})
            if lock.get("owner") not in (None, player.user):
                raise Broken(f"the lock of {player.user} belongs to {lock}")
            found = State(plain(channel.metadata), plain(user), lock.get("fencing"))
            ledger = getattr(player, "ledger", None) or Ledger(player.user, player.base)
            kept += ledger.judge(found, self.floor) - ledger.answered()
            player.base = found
        revision, items = plain(board.metadata)
        if set(items) - {"shared"} or any(item[1] != revision for item in items.values()):
            raise Broken(f"the shared set of revision {revision} has {sorted(items)}")
        told = [change.refusal.fields["actual"] for _, _, change in self.shared.item.attempts if change.refusal]
        self.total["takenBack"] += max(told, default=0) > revision
        self.shared.item.judge(revision, items["shared"][0] if items else None)
        for lock in self.shared.locks:
            now = board.locks.get(lock.name, {})
            lock.judge(now.get("owner"), now.get("fencing"))
        held = [lock["fencing"] for channel in [*shown.values(), board] for lock in channel.locks.values() if "fencing" in lock]
        if len(set(held)) < len(held):
            raise Broken(f"two locks have one fencing number: {sorted(held)}")
        self.fencing = max([self.fencing, *held])
        client.logout()
        if client.checker.oddities:
            raise Broken(f"odd: {client.checker.oddities}")
        return kept

    @staticmethod
    def enter(client, channel):
        """Its snapshots of metadata and locks, which the client keeps."""
        request = {"message": "subscribe", "stream": "join"}[channel["kind"]]
        handle = client.request(request, channel=channel["channel"], features=["metadata", "locks"], quiet=True)["handle"]
        return client.checker.channels[handle]

    def end(self):
        """SIGTERM leaves the same behind as it found."""
        code = self.daemon.stop()
        if code != 0:
            raise Broken(f"exit code {code} on SIGTERM")
        for player in self.players:
            player.ledger = Ledger(player.user, player.base)
        self.daemon = Daemon(self.binary, self.folder)
        self.look()
        self.daemon.stop()


def plain(metadata):
    """(major revision, {key: (value, revision, author)}) of a set as the client has it."""
    return metadata.revision, {key: (item["value"], item["revision"], item.get("author")) for key, item in metadata.items.items()}


def printer(as_json):
    """One line for each thing reported."""
    def report(kind, **fields):
        if as_json:
            print(json.dumps({"type": kind, **fields}), flush=True)
        else:
            print(" · ".join([kind] + [f"{name} {value}" for name, value in fields.items()]), flush=True)
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None, help="of the first round; drawn at random if not given")
    parser.add_argument("--binary", help="boardrelay; a build of this tree if not given")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    binary, report = find_binary(options.binary), printer(options.json)
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    folder = pathlib.Path(tempfile.mkdtemp(prefix="boardrelay-kill-"))
    run, number, began = Run(binary, folder / "data", report), 0, time.monotonic()
    try:
        run.begin()
        for number in range(1, options.rounds + 1):
            run.round(number, seed + number - 1)
        run.end()
    except (Broken, Refused, relay_client.Violation, relay_client.Ended, relay_client.Timeout, relay_client.RelayError) as problem:
        log = run.daemon.log if run.daemon else []
        report("failed", round=number, seed=seed + number - 1, reason=f"{type(problem).__name__}: {problem}", log=log[-20:],
               folder=str(folder), repeat=f"python3 Tests/Faults/kill.py --seed {seed} --rounds {max(number, 1)}")
        return 1
    finally:
        if run.daemon is not None and run.daemon.process.returncode is None:
            run.daemon.kill()
    report("summary", rounds=options.rounds, seed=seed, seconds=round(time.monotonic() - began), **run.total,
           slowestStartMs=round(run.slowest * 1000), fencing=run.fencing, **run.journal())
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
