#!/usr/bin/env python3
"""kill -9 of the real daemon at random moments, and what is there afterwards.

    python3 Tests/Faults/kill.py [--rounds 200] [--seed N] [--binary PATH] [--json]

Each round starts the daemon on the folder that the round before has left and holds what it shows, through the protocol,
against what its writers were told (books.py). Then eight writers, each with four users, change metadata of channels and
users, acquire and release locks, write, remove, clear and undo on boards, and decide on roles, bans and modes, several
requests in flight on each connection, and after 0…400 ms the process is killed: in every second round in the moment in
which the next answer has come, which is when an answer that was given too early has the least time to become true. Every
fifth time the daemon that starts anew is killed, too, while it reads its journal.

A seed decides what is written and when the process is killed, not how the system schedules: round n of `--seed S` writes
the same as round 1 of `--seed S+n-1`, on a folder with another past. `--seed S --rounds n` repeats that past as well.

What it shows: that no answer comes before its change was handed to the operating system, whole and in order, and that the
daemon starts from whatever it leaves at any moment. What it does not show: that anything was synced. What a killed process
has written is in the page cache and stays there; only a loss of power takes it away: powercut.py.
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

from books import Broken
from cast import Cast
from daemon import Daemon, Refused, find_binary, relay_client
from drawers import Drawer, Moderator
from players import Player, Writer

WRITERS = 8
KILL_WITHIN = 0.4


class Trigger:
    """Watches every client; once it is set, the next answer that any of them gets, or `stored`, kills the process."""

    def __init__(self, process):
        self.process, self.is_set, self.pulled = process, False, threading.Event()

    def sent(self, _):
        pass

    def received(self, event):
        if self.is_set and event.name in ("answer", "stored"):
            self.process.kill()
            self.pulled.set()


class Run:
    """All rounds on one folder."""

    def __init__(self, binary, folder, report):
        self.binary, self.folder, self.report = binary, folder, report
        drawers = [Drawer(number, with_ends=number == 0) for number in range(WRITERS - 2)]
        self.cast = Cast([Player(number) for number in range(3 * WRITERS)], drawers, [Moderator(number) for number in range(2)])
        # takenBack: rounds in which a refusal had told a revision (`actual`) that the crash has taken back: SG1 is about
        # answers, events, snapshots and pages.
        self.total = {"answered": 0, "inFlight": 0, "inFlightKept": 0, "refused": 0, "takenBack": 0, "killedWhileStarting": 0}
        self.slowest = 0.0
        self.daemon = None

    def start(self, **more):
        """Everybody comes in by a key: who decides has the host's."""
        return Daemon(self.binary, self.folder, auth="key", **more)

    def begin(self):
        """The first start."""
        self.daemon = self.start()
        self.cast.set_up(self.daemon)

    def round(self, number, seed):
        """Writes, kills, starts again, looks."""
        rng = random.Random(seed)
        trigger = Trigger(self.daemon.process)
        self.cast.begin(self.daemon, seed, trigger)
        clients = [writer.client for writer in self.cast.writers]
        writers = [Writer(self.cast.writers[n::WRITERS], random.Random(f"{seed} writer {n}")) for n in range(WRITERS)]
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
        counts = self.cast.count()
        if number % 5 == 0:
            self.start(kill_after=rng.uniform(0, 0.05))
            self.total["killedWhileStarting"] += 1
        began = time.monotonic()
        self.daemon = self.start()
        starting = time.monotonic() - began
        self.slowest = max(self.slowest, starting)
        counts.update(self.look())
        for name, count in counts.items():
            self.total[name] += count
        self.report("round", round=number, seed=seed, killedAfterMs=round(delay * 1000), **counts, startMs=round(starting * 1000),
                    **self.journal())

    def look(self):
        """Holds what the daemon shows against the books."""
        found = self.cast.find(self.daemon)
        told = [change.refusal.fields["actual"] for _, _, change in self.cast.shared.item.attempts if change.refusal]
        return {"takenBack": int(max(told, default=0) > found.item[0]), "inFlightKept": self.cast.go_on(found)}

    def journal(self):
        """How large it is: a segment has 64 MiB, and the oldest is emptied while the daemon runs."""
        files = list(self.folder.glob("journal-*.log"))
        return {"segments": len(files), "journalBytes": sum(file.stat().st_size for file in files)}

    def end(self):
        """SIGTERM leaves the same behind as it found."""
        code = self.daemon.stop()
        if code != 0:
            raise Broken(f"exit code {code} on SIGTERM")
        self.daemon = self.start()
        self.look()
        self.daemon.stop()


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
           slowestStartMs=round(run.slowest * 1000), fencing=run.cast.fencing, **run.journal())
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
