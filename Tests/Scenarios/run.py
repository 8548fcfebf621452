#!/usr/bin/env python3
"""Drives a client of the relay through cut links and killed relays, by seeds, and holds what it says against what it was told to do.

Tests/Scenarios/README.md has the lines that a client program reads and prints, and the promises.

Examples:
    python3 Tests/Scenarios/run.py --client './my-client'
    python3 Tests/Scenarios/run.py --client python --seeds 10
    python3 Tests/Scenarios/run.py --client './my-client' --seed 17 --seeds 1
    python3 Tests/Scenarios/run.py --self-test

Exit codes: 0 all seeds passed, 1 a promise was broken, 2 the command line is wrong, 124 over the budget.
"""

import argparse
import concurrent.futures
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Documented"))
sys.dont_write_bytecode = True
import dependent
from scenario import Scenario
from daemon import ROOT, Refused, find_binary
from program import Broken
import own_records

HERE = pathlib.Path(__file__).resolve().parent
FAULTS = ("resend-new-number", "drop-deliver", "ignore-cleared", "seen-off-by-one")
# These need an end of the link or the relay within a few milliseconds, which few seeds have.
PLAYED_FAULTS = ("own-behind-reading", "own-not-stored")
SELF_TEST_SEEDS = 10


def command_of(client):
    """The clients of this project by their names; any other text is a command."""
    if client == "python":
        return f"{shlex.quote(sys.executable)} -B {shlex.quote(str(HERE / 'client.py'))}"
    if client == "javascript":
        return f"node {shlex.quote(str(HERE / 'client.mjs'))}"
    if client == "swift":
        if dependent.build(HERE / "swift", lambda words: subprocess.run(words, stdout=sys.stderr)).returncode != 0:
            raise SystemExit("the client in Swift does not build")
        return shlex.quote(str(dependent.BINARIES / "scenario-client"))
    return client


class Runner:
    """Runs seeds, some at once, until the first that fails."""

    def __init__(self, arguments, command, binary):
        self.arguments, self.command, self.binary = arguments, command, binary
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="scenarios-"))
        self.deadline = time.monotonic() + arguments.budget if arguments.budget else None
        self.stopped, self.counts, self.lock = threading.Event(), {}, threading.Lock()

    def one(self, seed):
        """(seed, what was broken or None, the folder of its trace); None if it was not run."""
        if self.stopped.is_set() or self.is_late():
            return None
        folder = self.folder / str(seed)
        folder.mkdir()
        began = time.monotonic()
        problem = None
        try:
            counts = Scenario(self.command, seed, self.arguments.seconds, self.binary, folder).run()
            with self.lock:
                for name, count in counts.items():
                    self.counts[name] = self.counts.get(name, 0) + count
            shutil.rmtree(folder)
        except Broken as broken:
            problem = str(broken)
        except Refused as refused:
            problem = f"the relay did not start: {refused}"
        if problem:
            self.stopped.set()
        self.tell(seed, problem, time.monotonic() - began)
        return seed, problem, folder

    def is_late(self):
        return self.deadline is not None and time.monotonic() > self.deadline

    def tell(self, seed, problem, seconds):
        print(f"seed {seed}: {problem or 'passed'} ({seconds:.1f} s)", file=sys.stderr, flush=True)
        if self.arguments.json:
            print(json.dumps({"type": "seed", "seed": seed, "passed": problem is None, "broken": problem, "seconds": round(seconds, 1)}),
                  flush=True)

    def run(self):
        """(what failed or None, how many passed, whether the budget was enough)."""
        seeds = range(self.arguments.seed, self.arguments.seed + self.arguments.seeds)
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            results = [result for result in pool.map(self.one, seeds) if result]
        failed = next((result for result in results if result[1]), None)
        if failed is None:
            shutil.rmtree(self.folder)
        return failed, sum(result[1] is None for result in results), len(results) == len(seeds)


def run(arguments):
    binary = find_binary(arguments.binary)
    runner = Runner(arguments, command_of(arguments.client), binary)
    began = time.monotonic()
    failed, passed, is_whole = runner.run()
    summary = {"type": "summary", "client": arguments.client, "passed": passed, "seeds": arguments.seeds,
               "seconds": round(time.monotonic() - began, 1), "counts": dict(sorted(runner.counts.items()))}
    if arguments.json:
        print(json.dumps(summary), flush=True)
    else:
        print(f"{passed} of {arguments.seeds} seeds passed in {summary['seconds']} s: "
              + ", ".join(f"{count} {name}" for name, count in summary["counts"].items()))
    if failed:
        seed, problem, folder = failed
        again = (f"--client {shlex.quote(arguments.client)} --seed {seed} --seeds 1 --seconds {arguments.seconds:g} "
                 f"--binary {shlex.quote(str(binary))}")
        print(f"FAIL seed {seed}: {problem}\nreplay: python3 Tests/Scenarios/run.py {again}\ntrace: {folder}", file=sys.stderr)
        return 1
    return 0 if is_whole else 124


def self_test(arguments):
    """Each fault of the client in Python is found, by what is played to it or within a few seeds."""
    missed = []
    for fault in (None, *PLAYED_FAULTS):
        failed = own_records.failures(fault)
        if bool(failed) != bool(fault):
            missed.append(fault or "played")
        print(f"own records, {fault or 'no fault'}: {len(failed)} of the played tests fail", flush=True)
    binary = find_binary(arguments.binary)
    for fault in FAULTS:
        arguments.seeds, arguments.seed = SELF_TEST_SEEDS, 1
        runner = Runner(arguments, f"{command_of('python')} --fault {fault}", binary)
        failed, passed, _ = runner.run()
        shutil.rmtree(runner.folder, ignore_errors=True)
        if failed is None:
            missed.append(fault)
        print(f"{fault}: " + (f"found by seed {failed[0]}: {failed[1]}" if failed else f"NOT found by {passed} seeds"), flush=True)
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", metavar="COMMAND", help="the client program, or: python, javascript, swift")
    parser.add_argument("--seeds", type=int, default=100, help="how many (100)")
    parser.add_argument("--seed", type=int, default=1, help="the first (1)")
    parser.add_argument("--seconds", type=float, default=4, help="how long the troubled time of each lasts (4)")
    parser.add_argument("--budget", type=float, help="seconds after which no further seed begins")
    parser.add_argument("--binary", help="boardrelay; the build of this tree if not given")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (2)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line on standard output")
    parser.add_argument("--self-test", action="store_true", help="shows that faults of a client are found")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test(arguments)
    if arguments.client is None:
        parser.error("--client COMMAND is missing")
    if min(arguments.seeds, arguments.jobs) < 1 or arguments.seconds <= 0:
        parser.error("--seeds, --jobs and --seconds are above 0")
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
