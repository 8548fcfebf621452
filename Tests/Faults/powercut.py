#!/usr/bin/env python3
"""The power fails under the real daemon, at any of its calls, and what is there afterwards.

    python3 Tests/Faults/powercut.py [--cuts 100] [--seed N] [--self-test] [--binary PATH]

The daemon runs under strace while everybody of kill.py writes: it is started in an empty folder, killed, started, gets new keys, ends
on SIGTERM, is started and killed. The trace has each call on its files, and each frame that it sent (calls.py): what had left before a
cut was told. Then for each cut, at a place in the trace that the dice choose, a folder is made of what a disk may hold (disk.py, which
says what that is), the daemon is started on it, and what a reader finds is held against the books: all that was told is there, in its
order, each change whole or not at all, and nothing that nobody wrote. The keys that were told last are in force. The log tells of no
damage but a torn end that was cut, and nothing is put aside. No file has what was on a board whose end was told. At some cuts
`boardrelay check` is asked, too. At others the started daemon is traced while it recovers and all write again, and the power fails
once more at several places of that.

--self-test passes over the syncs of one kind of file after the other, as if the relay did not make them: cuts must show that, each time.

A seed decides what is written and how the disk is left, not how the system schedules. A failure keeps its folder.
"""

import argparse
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from books import Broken
from calls import read_calls, tracer, wait_for_end
from cast import Books, Cast
from daemon import Daemon, Refused, find_binary, relay_client
from disk import Dice, Disk, play, write_out
from drawers import Drawer, Moderator
from players import Player, Writer

WRITERS, SECONDS = 4, 0.7
SELF_TEST_CUTS = 150  # at most: the first that shows something is the last
CUTS, CUT_AT = "cuts", "cut at"
FORKED = multiprocessing.get_context("fork")  # a process that starts with all that this one has
# What is synced: a power cut must show that it was not.
SYNCS = {"the journal": r"data/journal-.*", "the anchor": r"data/journal\.anchor\.draft", "boards": r"data/board-.*",
         "keys": r"data/\w+\.key\..*", "names": "data", "the folder's name": r"\."}
TORN = "bytes of unfinished changes were cut from the journal's end"
FAILURES = (Broken, Refused, relay_client.Violation, relay_client.Ended, relay_client.Timeout, relay_client.RelayError, OSError)


class Clock:
    """The place of the cut that is judged; none so far."""

    now = float("inf")


class Told:
    """What had left the relay of the answer to one change, when the power failed."""

    def __init__(self, clock, event):
        self.clock, self.place = clock, event[0] if event else None
        self.answer = event[1].fields if event and event[1].name != "error" else None
        self.error = relay_client.RelayError(event[1].fields) if event and self.answer is None else None
        self.done = self

    def is_set(self):
        return self.place is not None and self.place <= self.clock.now

    @property
    def value(self):
        return self.answer if self.is_set() else None

    @property
    def problem(self):
        return self.error if self.is_set() else None


class Phase:
    """One run of the daemon under strace: its calls, what it told, and the books of those who wrote.

    welcomed: the place of the first welcome. From there on everything that was there at the start counts as told.
    """

    def __init__(self, calls, last, cast, clock):
        self.calls, self.last, self.ending = calls, last, max(call.ended or call.began for call in calls)
        self.told, self.starts = {}, []
        self._read_streams()
        self.welcomed = self.starts[0][0]
        self.books = cast.books
        shared = self.books.shared = cast.shared.copy()
        for change in [change for writer in cast.writers for change in writer.ledger.changes] + [change for change, _ in shared.changes()]:
            name, number = ("stored", change.number) if change.number else ("answer", change.reply.id)
            change.reply = Told(clock, self.told.get((change.port, name, number)) or self.told.get((change.port, "error", number)))
        self.erased = [one for drawer in cast.drawers for one in self._erased(drawer.ledger)]

    @staticmethod
    def _erased(ledger):
        """(place of the answer, beginnings of payloads) of each end of a board."""
        written = {record.payload[:10] for record in ledger.states[0].records}
        for change, state in zip(ledger.changes, ledger.states[1:]):
            written |= {record.payload[:10] for record in state.records}
            if change.what == "removeBoard" and change.reply.place and change.reply.answer:
                yield change.reply.place, written
                written = set()

    def _read_streams(self):
        """Frames that left, by connection."""
        streams = {}
        for call in self.calls:
            if call.peer is None or not call.result or call.result < 0:
                continue
            for frame in streams.setdefault(call.peer, relay_client.Splitter()).feed(call.data):
                event = relay_client.decode(*frame)
                if event.name == "welcome":
                    self.starts.append((call.began, event["start"]))
                elif event.name in ("answer", "stored", "error"):
                    self.told.setdefault((call.peer, event.name, event.get("number") or event.get("id")), (call.began, event))


class Recorder:
    """Runs the daemon under strace while everybody writes."""

    def __init__(self, binary, base, cast, disk, clock):
        self.binary, self.base, self.cast, self.disk, self.clock = binary, base, cast, disk, clock
        self.place = 0

    def phase(self, name, seed, seconds, ends_in_order=False, look=None, meanwhile=None):
        """One run, from a start to an end. look: what to do when it has started, if not to go on from what is found."""
        trace = self.base / f"trace-{name}"
        daemon = Daemon(self.binary, self.base / "data", auth="key", before=tracer(trace))
        try:
            (look or (lambda one: self.cast.go_on(self.cast.find(one))))(daemon)
            self.cast.begin(daemon, seed)
            writers = [Writer(self.cast.writers[n::WRITERS], random.Random(f"{seed} writer {n}")) for n in range(WRITERS)]
            for writer in writers:
                writer.start()
            time.sleep(seconds / 2)
            if meanwhile:
                meanwhile(daemon)
            time.sleep(seconds / 2)
            keys = self.cast.take_keys(daemon)
        finally:
            (daemon.stop if ends_in_order else daemon.kill)()
        clients = [writer.client for writer in self.cast.writers]
        for worker in [*writers, *(client.thread for client in clients)]:
            worker.join(30)
        for problem in [writer.problem for writer in writers] + [client.violation for client in clients]:
            if problem is not None:
                raise Broken(f"{type(problem).__name__}: {problem}")
        self.cast.count()
        wait_for_end(trace, daemon.pid)
        calls, self.place = read_calls(trace, self.place)
        self.replay(calls)
        phase = Phase(calls, self.place, self.cast, self.clock)
        phase.keys = {kind: (self.told_at(key, phase), key) for kind, key in keys.items()}
        return phase

    def told_at(self, key, phase):
        """The place at which it was told to the one who has changed it; else it counts when somebody has come in."""
        answers = (call for call in phase.calls if call.name in ("write", "sendmsg", "sendto") and not self.disk.knows(call.path))
        return next((call.began for call in answers if key.encode() in call.data), phase.welcomed)

    def replay(self, calls):
        """The trace leads to the files that are there: no call is missing. One that was under way when the process was killed may have
        happened or not, and a write in part."""
        for _ in play(self.disk, calls):
            pass
        unfinished = [call for call in calls if call.ended is None or call.result is None]
        if self.disk.shown() != (there := files_of(self.base / "data")):
            for call in unfinished:
                if call.name.startswith("pwrite"):
                    call.data = call.data[:max(0, len(there.get(call.path, b"")) - call.numbers[1])]
                call.ended, call.result = call.began, len(call.data)
                self.disk.begin(call)
        shown = self.disk.shown()
        if shown != there:
            wrong = sorted(path for path in set(shown) | set(there) if shown.get(path) != there.get(path))
            raise NotImplementedError(f"the trace does not lead to {wrong}")


def files_of(folder):
    """Each with its bytes."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Cutter:
    """Makes cuts in phases that follow each other, and judges what comes of them.

    work: where to make folders. before: the start number and the id that the relay had told before the first phase.
    """

    def __init__(self, binary, work, cast, phases, clock, before=(0, None)):
        self.binary, self.work, self.cast, self.phases, self.clock, self.before = binary, work, cast, phases, clock, before
        self.counts = {CUTS: 0, "tornEndsTold": 0, "checked": 0, "cutAgain": 0}

    def cut_all(self, places, disk, seed, goes_on=True):
        """Cuts at each of these places, in one walk through the trace. goes_on: at some the power fails once more."""
        places = sorted(places)
        for phase in self.phases:
            for place in play(disk, phase.calls):
                last = place == self.phases[-1].ending
                while places and (places[0] <= place or last):
                    places.pop(0)
                    self.cut(place, disk, random.Random(f"{seed} {place} {len(places)}"), goes_on)

    def cut(self, place, disk, rng, goes_on):
        """One cut."""
        target = pathlib.Path(tempfile.mkdtemp(prefix="cut-", dir=self.work))
        dice = Dice(rng, place)
        write_out(disk.after_cut(dice), disk.base, target)
        self.clock.now = place
        self.counts[CUTS] += 1
        try:
            self.judge_erased(target, rng)
            if rng.random() < 0.1 and (target / "data").exists():
                self.check(target)
            if goes_on and rng.random() < 0.05:
                self.go_on(target, rng)
            else:
                with Daemon(self.binary, target / "data", auth="key") as daemon:
                    self.judge(daemon)
                    daemon.kill()
                    self.judge_log(daemon, target)
        except FAILURES as problem:
            raise Broken(f"{CUT_AT} {place} ({dice}), kept in {target}: {type(problem).__name__}: {problem}") from problem
        shutil.rmtree(target)

    @property
    def books(self):
        """By which to judge."""
        place = self.clock.now
        phase = next((phase for phase in reversed(self.phases) if phase.welcomed <= place), self.phases[0])
        told = [start for one in self.phases for at, start in one.starts if at <= place]
        start, relay = (max(told), phase.books.relay) if told else self.before
        return Books(phase.books.ledgers, phase.books.shared, phase.books.floor, start, relay)

    def check(self, target):
        """`boardrelay check` says that a relay starts."""
        done = subprocess.run([self.binary, "check", target / "data"], capture_output=True, text=True, timeout=60)
        self.counts["checked"] += 1
        if done.returncode != 0:
            raise Broken(f"check ends with {done.returncode}: {done.stdout} {done.stderr}")

    def judge(self, daemon):
        """Looks at what a daemon shows that was started on what is there."""
        books = self.books
        self.judge_keys(self.cast.take_keys(daemon))
        found = self.cast.find(daemon, books.ledgers)
        books.judge(found)
        return found

    def go_on(self, target, rng):
        """The started daemon is traced, everybody writes again, and the power fails at some places of that: in a process of its own,
        which has the cast as it was at the cut."""
        results = FORKED.Queue()
        process = FORKED.Process(target=self.cut_again, args=(target, rng, results))
        process.start()
        problem, count = results.get()
        process.join()
        self.counts["cutAgain"] += count
        if problem:
            raise Broken(problem)

    def cut_again(self, target, rng, results):
        cutter = None
        try:
            disk, clock, books = Disk(target).load(), Clock(), self.books
            recorder = Recorder(self.binary, target, self.cast, Disk(target).load(), clock)
            phase = recorder.phase("again", rng.random(), 0.1, look=lambda daemon: self.cast.resume(daemon, books, self.judge(daemon)))
            if books.relay:
                phase.keys = {kind: (0, key) for kind, (_, key) in phase.keys.items()}
            cutter = Cutter(self.binary, self.work, self.cast, [phase], clock, (books.start, books.relay))
            cutter.cut_all(places_of([phase], str(target), 6, rng), disk, rng.random(), goes_on=False)
            results.put((None, cutter.counts[CUTS]))
        except FAILURES as problem:
            results.put((f"once more: {type(problem).__name__}: {problem}", cutter.counts[CUTS] if cutter else 0))
        except BaseException:
            results.put((traceback.format_exc(), 0))

    def judge_keys(self, keys):
        """Those that were told last, or are being told."""
        for kind, key in keys.items():
            told = [phase.keys[kind] for phase in self.phases]
            last = [other for at, other in told if at <= self.clock.now][-1:]
            later = [other for at, other in told if at > self.clock.now]
            if last and key not in last + later:
                older = ", but an older one" if key in [other for _, other in told] else ""
                raise Broken(f"the {kind} key is not the one that was told last{older}")

    def judge_erased(self, target, rng):
        """No file has what was on a board whose end was answered (AC14, BL9): of some of it."""
        gone = sorted({start for phase in self.phases for place, starts in phase.erased for start in starts if place <= self.clock.now})
        gone = rng.sample(gone, min(6, len(gone)))
        for path, data in files_of(target).items():
            kept = [start for start in gone if start in data]
            if kept:
                raise Broken(f"{path} has {kept} of a board that was removed")

    def judge_log(self, daemon, target):
        """Nothing is damaged, nothing put aside."""
        warnings = [line for line in daemon.log if line.startswith(("warning:", "error:"))]
        strange = [line for line in warnings if TORN not in line]
        aside = [path.name for path in target.rglob("quarantine-*")]
        if strange or aside:
            raise Broken(f"put aside: {aside}; the log: {strange}")
        self.counts["tornEndsTold"] += len(warnings) > 0


def rotate(daemon):
    """Both keys are new."""
    subprocess.run([daemon.binary, "key", "rotate", "--data-dir", daemon.folder], check=True, capture_output=True, timeout=60)


def record(binary, base, seed, clock):
    """The phases that are cut."""
    # What the large one writes makes checkpoints, and compactions of its board's file; an end makes one of the journal.
    drawers = [Drawer(0, with_ends=True), Drawer(1), Drawer(2, sizes=(16_000, 16_000))]
    cast = Cast([Player(number) for number in range(4)], drawers, [Moderator(0)])
    recorder = Recorder(binary, base, cast, Disk(base), clock)
    phases = [recorder.phase("first", f"{seed} 1", SECONDS, look=cast.set_up),
              recorder.phase("second", f"{seed} 2", SECONDS, ends_in_order=True, meanwhile=rotate),
              recorder.phase("third", f"{seed} 3", SECONDS)]
    return cast, phases


def places_of(phases, base, count, rng):
    """Where to cut: mostly beside calls on files, and beside those of each kind more alike than they are many."""
    beside = {}
    for call in [call for phase in phases for call in phase.calls if touches(call, base)]:
        kind = (call.name, call.name == "fsync" and not call.path.rpartition("/")[2].count("."))
        beside.setdefault(kind, []).extend((call.began - 1, call.began, call.ended or call.began))
    kinds = [beside[kind] for kind in sorted(beside)]
    chosen = rng.choices(kinds, [len(places) ** 0.5 for places in kinds], k=count)
    return [max(1, rng.choice(places)) if rng.random() < 0.8 else rng.randint(1, phases[-1].last) for places in chosen]


def key_places(phases):
    """Just behind the moments at which new keys were told, some times each."""
    return [place for phase in phases[:2] for place, _ in phase.keys.values()] * 4


def touches(call, base):
    """Whether it changes or syncs something in the folder."""
    if call.name.startswith(("rename", "link", "unlink", "mkdir")):
        return call.result == 0 and any(path.startswith(base) for path in call.paths)
    return call.name in ("pwrite64", "pwritev", "ftruncate", "fsync", "fdatasync") and (call.path or "").startswith(base)


def work_on(tasks, results, binary, work, recorded, clock, seed):
    """Takes tasks, (name, pattern of syncs to pass over or None, places), in a process of its own."""
    cast, phases = recorded
    while (task := tasks.get()) is not None:
        name, without, places = task
        cutter = Cutter(binary, work, cast, phases, clock)
        try:
            cutter.cut_all(places, Disk(work, without), f"{seed} {name}", goes_on=without is None)
            results.put((name, cutter.counts, None))
        except Exception as problem:
            results.put((name, cutter.counts, str(problem) if isinstance(problem, Broken) else traceback.format_exc()))


def run(tasks, *more):
    """What becomes of each task, by processes side by side: (name, counts, problem)."""
    waiting, results = FORKED.Queue(), FORKED.Queue()
    workers = [FORKED.Process(target=work_on, args=(waiting, results, *more)) for _ in range(2 * (os.cpu_count() or 1))]
    for task in [*tasks, *(None for _ in workers)]:
        waiting.put(task)
    for worker in workers:
        worker.start()
    for _ in tasks:
        yield results.get()
    for worker in workers:
        worker.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=100, help="besides those behind new keys")
    parser.add_argument("--seed", type=int, default=None, help="drawn at random if not given")
    parser.add_argument("--self-test", action="store_true", help="also shows that each sync is missed")
    parser.add_argument("--binary", help="boardrelay; a build of this tree if not given")
    options = parser.parse_args()
    binary = find_binary(options.binary)
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    work, began, clock = pathlib.Path(tempfile.mkdtemp(prefix="boardrelay-powercut-")), time.monotonic(), Clock()
    recorded = record(binary, work, seed, clock)
    print(f"seed {seed}: {recorded[1][-1].last} lines of trace in {time.monotonic() - began:.1f} s", flush=True)
    rng = random.Random(f"{seed} places")
    places = sorted(places_of(recorded[1], str(work), options.cuts, rng) + key_places(recorded[1]))
    tasks = [(f"cuts {n}", None, places[n::4]) for n in range(4)]
    if options.self_test:
        tasks += [(name, pattern, places_of(recorded[1], str(work), SELF_TEST_CUTS, rng)) for name, pattern in SYNCS.items()]
    total, failed = {}, 0
    for name, counts, problem in run(tasks, binary, work, recorded, clock, seed):
        if name in SYNCS:
            is_seen = (problem or "").startswith(CUT_AT)
            failed += not is_seen
            verdict = f"seen at cut {counts[CUTS]}: {problem.splitlines()[0]}" if is_seen else f"FAIL: {problem or 'nobody has noticed'}"
            print(f"without the sync of {name}: {verdict}")
            continue
        failed += problem is not None
        total = {key: total.get(key, 0) + count for key, count in counts.items()}
        if problem:
            print(f"FAIL: {problem}")
    print(", ".join(f"{name} {count}" for name, count in total.items()) + f"; {time.monotonic() - began:.1f} s")
    if not failed:
        shutil.rmtree(work)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
