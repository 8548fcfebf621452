#!/usr/bin/env python3
"""A standby on the same storage, and many relays behind one address, with real processes and HAProxy and Caddy as docs/cluster.md has them.

    python3 Tests/Cluster/standby.py [--kills 3] [--seed N] [--binary PATH] [CHECK …]

`haproxy` and `caddy`: two supervised relays, `boardrelay serve --wait-for-folder`, on one folder. Writers store records through the
balancer, by WebSockets with TLS, through HAProxy also by frames and without TLS, where the Swift client draws a recorded lesson as well. Meanwhile the relay that serves is killed (kill -9) again and
again at moments that the seed decides, is ended in order (SIGTERM), stands still and goes on (SIGSTOP, SIGCONT), and is killed while it
stands still. What must hold: the other relay serves after each end and not before, and in the end the board has every record that a
writer was told stored, once. The table has the seconds without a word of `stored`, of the writer that waited longest.

`names` and `tls-names`: two relays with folders and keys of their own behind one address, told apart by host name: by Caddy for pages
and WebSockets, by HAProxy for native clients with the relays' own TLS, whose pins are compared.

Needs haproxy, caddy and openssl; tls-names a private mount namespace (root, or unprivileged user namespaces).

Examples:
    python3 Tests/Cluster/standby.py --kills 30
    python3 Tests/Cluster/standby.py --seed 7 haproxy

Exit codes: 0 all is well, 1 something is not, 2 the command line is wrong or a program is missing.
"""

import argparse
import pathlib
import random
import shutil
import signal
import statistics
import sys
import time

sys.dont_write_bytecode = True
from stage import ROOT, Pair, Stage, Wrong, free_ports, listens, need, run, until  # noqa: E402
from daemon import find_binary  # noqa: E402
from names import by_host_name, by_name_of_tls  # noqa: E402
from writers import Replay, Writers  # noqa: E402

NAME = "board.test"
STOPPED = 3.0   # seconds for which a relay stands still
RECORDING = ROOT / "Sources/boardrelay/Demo/lesson.ndjson"
REPLAY_SPEED = 24  # divided by the kills: the lesson is drawn for about as long


class Take:
    """One relay after the other is ended while others draw, and how long they wait."""

    def __init__(self, pair, writers, dice):
        self.pair, self.writers, self.dice = pair, writers, dice
        self.waited = {}  # what was done: [longest silence of a writer]

    def round(self, what, act, changes_owner=True):
        """`act` ends who serves; the other one must serve then, and every writer store again."""
        owner, standby = self.pair.settled()
        self.writers.all_stored_since(time.monotonic())
        time.sleep(self.dice.uniform(0.1, 0.5))
        began = time.monotonic()
        act(owner, standby)
        # What was on its way when the signal came may still be told.
        self.writers.all_stored_since(time.monotonic() if what == "SIGSTOP" else began + 0.02)
        self.waited.setdefault(what, []).append(max(self.writers.silences(began + 0.02)))
        serves, other = (standby, owner) if changes_owner else (owner, standby)
        until(serves.serves.is_set, f"{what}: the {'other' if changes_owner else 'same'} relay serves")
        need(not other.serves.is_set(), f"{what}: both relays serve")

    def kill(self, owner, _):
        owner.signal(signal.SIGKILL)

    def end(self, owner, _):
        owner.signal(signal.SIGTERM)

    def stop(self, owner, standby):
        """While it stands still it has the folder: the other one must not serve."""
        owner.signal(signal.SIGSTOP)
        time.sleep(STOPPED)
        need(standby.waits and not listens(standby.port), "the relay that waits serves beside one that stands still")
        owner.signal(signal.SIGCONT)

    def stop_and_kill(self, owner, standby):
        owner.signal(signal.SIGSTOP)
        time.sleep(STOPPED)
        need(standby.waits, "the relay that waits serves beside one that stands still")
        owner.signal(signal.SIGKILL)


def take_over(arguments, balancer):
    """Rows of the table: (what was done, how often, seconds of silence)."""
    dice = random.Random(arguments.seed)
    with Stage(arguments.binary, NAME) as stage:
        pair = stage.keep(Pair(arguments.binary, stage.folder / "data", "--host-name", NAME, "--trusted-proxy", "127.0.0.1"))
        ports = list(zip(("127.0.0.1:7421", "127.0.0.1:7422"), (f"127.0.0.1:{port}" for port in pair.ports)))
        replay = None
        if balancer == "haproxy":
            [port_with_tls] = free_ports(1)
            bind = f"bind 127.0.0.1:{port_with_tls} ssl crt {stage.certificate_and_key()}"
            port = stage.haproxy("standby-haproxy.cfg", ("#bind :7443 ssl crt /etc/ssl/board.example.pem", bind),
                                 ("board.example", NAME), *ports)
            ways = [{}, {"transport": "websocket"}, {"port": port_with_tls, "trust": stage.trust},
                    {"port": port_with_tls, "trust": stage.trust, "transport": "websocket"}]
        else:
            port = stage.caddy("standby-Caddyfile", [("board.example", NAME)], *ports)
            ways = 3 * [{"transport": "websocket", "trust": stage.trust}]
        wheres = [{"name": NAME, "port": port, **way} for way in ways]
        writers = stage.keep(Writers(wheres))
        if balancer == "haproxy":
            replay = stage.keep(Replay(arguments.binary, RECORDING, port, max(1, REPLAY_SPEED / max(3, arguments.kills))))
        take = Take(pair, writers, dice)
        kills = 0
        for _ in range(arguments.kills):
            take.round("kill -9", take.kill)
            kills += replay is None or replay.draws
        need(kills, "the lesson was over before the first kill: nothing is shown")
        take.round("SIGTERM", take.end)
        take.round("SIGSTOP", take.stop, changes_owner=False)
        take.round("SIGSTOP, kill -9", take.stop_and_kill)
        writers.end()
        strokes = replay.judge() if replay else 0
        stored, lost = writers.judge(wheres[0])
        pair.judge_logs()
        pair.end()
        need(all(code in (0, -signal.SIGKILL) for relay in pair.relays for code in relay.codes), "a relay ended by itself")
        checked = run(arguments.binary, "check", stage.folder / "data")
        need(checked.returncode == 0, f"boardrelay check: {checked.stdout}{checked.stderr}")
    drawn = f", {strokes} strokes of the Swift client, of {kills} kills beside it" if replay else ""
    print(f"{balancer}: {stored} records told stored, 0 missing, 0 twice; {lost} connections of the writers ended{drawn}", flush=True)
    return [(f"{balancer}: {what}", seconds) for what, seconds in take.waited.items()]


CHECKS = {
    "haproxy": lambda arguments: take_over(arguments, "haproxy"), "caddy": lambda arguments: take_over(arguments, "caddy"),
    "names": by_host_name, "tls-names": by_name_of_tls,
}


def print_table(rows):
    if rows:
        print(f"\n{'what happened to the relay that served':40} {'times':>5} {'silence, median':>16} {'longest':>8}")
    for what, seconds in rows:
        print(f"{what:40} {len(seconds):5} {statistics.median(seconds):14.2f} s {max(seconds):6.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"{', '.join(CHECKS)}; without one all run")
    parser.add_argument("--kills", type=int, default=3, help="kill -9 of each balancer's relays (default: 3)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--binary", type=pathlib.Path)
    arguments = parser.parse_args()
    unknown = set(arguments.checks) - set(CHECKS)
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    if arguments.kills < 1:
        parser.error("--kills is at least 1")
    for program in ("haproxy", "caddy", "openssl"):
        if not shutil.which(program):
            parser.error(f"there is no {program}: apt-get install {program}")
    arguments.binary = find_binary(arguments.binary)
    print(f"seed {arguments.seed}", flush=True)
    rows, failed = [], 0
    for name, check in CHECKS.items():
        if arguments.checks and name not in arguments.checks:
            continue
        began = time.monotonic()
        try:
            rows += check(arguments)
            print(f"ok   {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception as problem:  # each check is judged by itself
            failed += 1
            kind = "" if isinstance(problem, Wrong) else f"{type(problem).__name__}: "
            print(f"FAIL {name}: {kind}{problem} ({time.monotonic() - began:.1f} s)", flush=True)
    print_table(rows)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
