#!/usr/bin/env python3
"""What the relay allocates and how often it writes, per packet, publish and delivery: counts, which no slow machine changes.

    python3 Tests/Bench/counts.py [--binary PATH] [--json]
    python3 Tests/Bench/counts.py --bounds 0      every bound is 0: shows that it can fail
    python3 Tests/Bench/counts.py --where 12      besides, the places that allocate most (addr2line)

Starts `boardrelay serve` with allocations.c before its libc, and reads its counters from outside. One publisher, first
1 and then 21 subscribers: what the 20 cost is the price of a delivery, the rest that of what was accepted. A burst is
one write of the publisher and waits until everybody has it, so that no reader lags and a turn of the relay is a burst; the
relay flushes at once, since ticks would come more or less often as the machine is slow. One line a count; over is what
passes its bound by more than 0.02. Nor may the program have the function by which the compiler copies a hub
(docs/decisions/0008). Exit code 0, 1 with what is over its bound, 2 for wrong usage, 124 when it takes over 70 s.
"""

import argparse
import collections
import json
import mmap
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Interop"))
from relay_client import Client, Identity  # noqa: E402

SECONDS = 70
PATIENCE = 20
FEW, MANY = 1, 21
CHANNEL, TOPIC = "counts", "points"
# Above what a message channel keeps: from then on each message takes the place of another.
WARM_UP = 1_500
WRITE_BYTES = 64 * 1024
# What may be over a bound: the relay has other things to do, too, such as a heartbeat.
STRAY = 0.02

Counters = collections.namedtuple("Counters", "allocations allocated writes short written reads read stacks")
# Of a lane: what is sent, how much of it at one instant, how often, with payloads of so many bytes.
Load = collections.namedtuple("Load", "name frame burst bursts size")
LOADS = [
    Load("packet", "packet", 50, 60, 64),
    Load("packet alone in its turn", "packet", 1, 200, 64),
    Load("publish", "deliver", 50, 60, 200),
    Load("publish alone in its turn", "deliver", 1, 200, 200),
    Load("publish of 32 KiB", "deliver", 12, 10, 32_768),
]


def copies_hubs(binary):
    """Whether the program has the compiler's function that copies a `RelayCore.Hub`: the linker leaves out what nobody calls."""
    names = binary.read_bytes()
    if b"\0$s9RelayCore3HubV" not in names:
        sys.exit(f"{binary} has no names of functions")
    return b"\0$s9RelayCore3HubVWOc\0" in names


class Watched:
    """The daemon, its counters and its stacks."""

    def __init__(self, binary, folder, with_stacks):
        library = folder / "allocations.so"
        compiler = shutil.which("cc") or shutil.which("clang")
        if not compiler:
            raise SystemExit("there is no C compiler: cc or clang")
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, HERE / "allocations.c"], check=True)
        path = folder / "counts"
        path.write_bytes(bytes(mmap.PAGESIZE))
        self.stacks = folder / "stacks"
        environment = {**os.environ, "LD_PRELOAD": str(library), "ALLOCATIONS_COUNTS": str(path)}
        if with_stacks:
            environment["ALLOCATIONS_STACKS"] = str(self.stacks)
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.process = subprocess.Popen(
            [binary, "serve", "--in-memory", "--auth", "open", "--host", "127.0.0.1", "--port", "0", "--control", folder / "control",
             "--message-rate", "1000000", "--packet-rate", "1000000", "--flush", "immediate"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(folder / "log", "w"), text=True, env=environment)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline().strip() if ready else ""
        if not line.startswith("relay://127.0.0.1:"):
            self.end()
            raise SystemExit(f"the relay does not start: {(folder / 'log').read_text().strip()}")
        self.port = int(line.rsplit(":", 1)[1])

    def counters(self):
        return Counters(*struct.unpack_from("8Q", self.map))

    def show_stacks(self, count):
        struct.pack_into("Q", self.map, 56, count)

    def end(self):
        self.process.kill()
        self.process.wait()


class Arrivals:
    """How many packets and messages have come, over all subscribers."""

    def __init__(self):
        self.changed, self.count = threading.Condition(), 0

    def sent(self, _):
        pass

    def received(self, event):
        if event.name not in ("packet", "deliver"):
            return
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def wait(self, client, until):
        with self.changed:
            if not self.changed.wait_for(lambda: self.count >= until, PATIENCE):
                state = client.closing or client.violation or "open"
                raise SystemExit(f"{until - self.count} deliveries did not come; the publisher's connection: {state}")


class Room:
    """A publisher in both lanes and its subscribers."""

    def __init__(self, relay):
        self.relay, self.arrivals, self.readers = relay, Arrivals(), []
        self.publisher = self._client("publisher")
        self.publisher.request("join", channel=CHANNEL, features=[])
        self.flow = self.publisher.request("joinTopic", channel=CHANNEL, topic=TOPIC)["flow"]

    def _client(self, user, **more):
        client = Client("127.0.0.1", self.relay.port, Identity(user), **more)
        client.login()
        return client

    def fill(self, count):
        """So many subscribers, none of whom learns of the others."""
        while len(self.readers) < count:
            reader = self._client(f"reader {len(self.readers)}", watcher=self.arrivals)
            reader.request("subscribe", channel=CHANNEL, features=["messages"])
            reader.request("join", channel=CHANNEL, features=[])
            reader.request("subscribeTopic", channel=CHANNEL, topic=TOPIC)
            self.readers.append(reader)

    def send(self, load, bursts):
        """Sends them and waits until all have come."""
        payloads = [bytes(load.size)] * load.burst
        for _ in range(bursts):
            until = self.arrivals.count + load.burst * len(self.readers)
            if load.frame == "packet":
                self.publisher.packets(self.flow, payloads)
            else:
                for reply in self.publisher.publish_many(CHANNEL, payloads):
                    reply.wait(PATIENCE)
            self.arrivals.wait(self.publisher, until)

    def measure(self, load):
        """What the load adds to the counters: of two times the one with fewer allocations, for whatever else happens only adds."""
        return min((self._once(load) for _ in range(2)), key=lambda added: added.allocations)

    def _once(self, load):
        # So that nobody has been silent for as long as the relay pings after.
        for client in (self.publisher, *self.readers):
            client.sync(PATIENCE)
        before = self.relay.counters()
        self.send(load, load.bursts)
        after = self.relay.counters()
        return Counters(*(b - a for a, b in zip(before, after)))


def lines(load, few, many):
    """(what is counted, figure, bound) of one load."""
    events = load.burst * load.bursts
    delivery = (many.allocations - few.allocations) / (events * (MANY - FEW))
    accepted = few.allocations / events - FEW * delivery
    yield f"allocations per delivery, {load.name}", delivery, 0
    yield f"allocations per accepted {load.name}", accepted, 2
    # A turn that reads flushes once; every session of it may take one write, and one more for each 64 KiB.
    sessions = MANY + (load.frame == "deliver")
    allowed = sessions * many.reads + many.written / WRITE_BYTES
    yield f"writes per session, flush and 64 KiB, {load.name}", (many.writes - many.short) / allowed, 1


def where(relay, room, count):
    """The places that allocate, of 200 in each lane."""
    for load in LOADS:
        size = relay.stacks.stat().st_size
        relay.show_stacks(200)
        room.send(load, max(1, 200 // load.burst))
        relay.show_stacks(0)
        shown = collections.Counter(relay.stacks.read_text()[size:].splitlines())
        print(f"\n{load.name}: {sum(shown.values())} allocations of {load.burst * max(1, 200 // load.burst)}", file=sys.stderr)
        for stack, times in shown.most_common(count):
            print(f"{times:5d} times", *places(relay.stacks, stack.split())[:14], sep="\n      ", file=sys.stderr)


def places(path, addresses):
    """Function and line of each frame, as addr2line has them."""
    modules = []
    for line in path.read_text().splitlines():
        if match := re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+\s+(/.*)", line):
            low, high, offset = (int(match[i], 16) for i in (1, 2, 3))
            modules.append((low, high, next((m[2] for m in modules if m[3] == match[4]), low - offset), match[4]))
    found = []
    for address in (int(a, 16) - 1 for a in addresses):
        module = next((m for m in modules if m[0] <= address < m[1]), None)
        if not module:
            continue
        done = subprocess.run(["addr2line", "-i", "-f", "-e", module[3], hex(address - module[2])], capture_output=True, text=True,
                              check=False)
        words = done.stdout.split("\n")
        for function, line in zip(words[::2], words[1::2]):
            found.append(f"{pathlib.Path(line.split(' ')[0]).name} {demangled(function)}" if not line.startswith("??")
                         else f"{pathlib.Path(module[3]).name} {demangled(function)}")
    return found


def demangled(name):
    tool = shutil.which("swift-demangle")
    return subprocess.run([tool, "-simplified", "-compact", name], capture_output=True, text=True,
                          check=False).stdout.strip() if tool else name


def out_of_time(*_):
    print(f"not done after {SECONDS} s", file=sys.stderr, flush=True)
    sys.exit(124)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="boardrelay; the release build of this tree if not given")
    parser.add_argument("--bounds", type=float, help="instead of every bound")
    parser.add_argument("--json", action="store_true", help="a JSON object per line")
    parser.add_argument("--where", type=int, default=0, help="how many places that allocate to show of each load")
    options = parser.parse_args()
    binary = pathlib.Path(options.binary or ROOT / ".build" / "release" / "boardrelay").resolve()
    if not binary.is_file():
        parser.error(f"there is no {binary}: swift build -c release --product boardrelay")
    if not options.where:
        signal.signal(signal.SIGALRM, out_of_time)
        signal.alarm(SECONDS)
    began, over = time.monotonic(), ["copies of a hub"] if copies_hubs(binary) else []
    with tempfile.TemporaryDirectory(prefix="boardrelay-counts-") as name:
        relay = Watched(binary, pathlib.Path(name), options.where > 0)
        try:
            room = Room(relay)
            found = {}
            for count in (FEW, MANY):
                room.fill(count)
                for load in LOADS:
                    room.send(load, max(5, min(WARM_UP // load.burst, 30)))
                    found[load, count] = room.measure(load)
            for load in LOADS:
                for what, figure, bound in lines(load, found[load, FEW], found[load, MANY]):
                    bound = bound if options.bounds is None else options.bounds
                    is_over = figure > bound + STRAY
                    if is_over:
                        over.append(what)
                    if options.json:
                        print(json.dumps({"count": what, "figure": round(figure, 4), "bound": bound, "ok": not is_over}), flush=True)
                    else:
                        print(f"{what:63s} {figure:8.4f}  at most {bound:g}{'  OVER' if is_over else ''}", flush=True)
            if options.where:
                where(relay, room, options.where)
        finally:
            relay.end()
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    for what in over:
        print(f"over its bound: {what}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
