"""What an attack runs on: a relay that is attacked and one that is not, a canary pair on each, and the books of what was found."""

import collections
import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import socket
import statistics
import subprocess
import tempfile
import threading
import time

import canary
from raw import PATIENCE, Crowd, Ended, Link, publish, relay_client, request
from daemon import Daemon

ATTACKER, LINKS_OF_ADDRESS = "198.18.0.66", 25
KEYS = {"join": "attack-join-0123456789", "host": "attack-host-0123456789"}
MIB = 1 << 20
# What a relay of these runs may hold, and how much more than what it counts its pages may be, beside what comes and goes.
MEMORY, MEMORY_FACTOR, MEMORY_SLACK = 64 * MIB, 1.3, 16 * MIB
COUNTED = ("metadataBytes", "historyBytes", "unfinishedBytes", "heldBytes", "stagedBytes", "changesUnjournaledBytes")
CALM_SECONDS, MESSAGES_MIN = 1.0, 30  # of the pairs before anything happens
LOOK_SECONDS = 0.1  # between two looks at the relay, at least
HANGING_SECONDS = 30  # whoever is not served until then waits in vain


class Gate:
    """One thing that was counted, and its bound."""

    def __init__(self, text, actual, relation, limit):
        self.text, self.actual, self.relation, self.limit = text, actual, relation, limit
        self.holds = {"<=": actual <= limit, ">=": actual >= limit, "==": actual == limit}[relation]

    def __str__(self):
        return f"{self.text}: {shown(self.actual)}, wanted {self.relation} {shown(self.limit)}"


def shown(value):
    """A number as people read it."""
    if isinstance(value, float):
        return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


class Watch:
    """Looks at a relay again and again through its control socket: what was most of what it queues, and its last status."""

    def __init__(self, relay):
        self.relay, self.most, self.last, self.looks, self.counted = relay, {}, None, 0, 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.is_over.is_set():
            began = time.monotonic()
            with contextlib.suppress(OSError, ValueError):
                self.look()
            # A look walks all sessions: it takes a tenth of the time at most.
            self.is_over.wait(max(LOOK_SECONDS, 9 * (time.monotonic() - began)))

    def look(self):
        """The status of this moment."""
        status = ask(self.relay, "status")
        self.last, self.looks = status, self.looks + 1
        for session in status["census"]["sessions"]:
            self.most[session["user"]] = max(self.most.get(session["user"], 0), session["queuedBytes"])
        self.counted = max(self.counted, counted(status))
        self.sees(status)
        return status

    def sees(self, status):
        """For whoever wants more of it."""

    def close(self):
        self.is_over.set()
        self.thread.join(PATIENCE)


ATTACKER_NICE = 10
judges_latency = False


def take_only_what_is_left():
    """This process stands for other machines: it takes the processor that relays and pairs leave.

    Where latency is judged that is what nobody wants, for who looks at the relay, too. On a busy machine it would starve.
    """
    if not judges_latency:
        os.nice(ATTACKER_NICE)
        return
    for thread in os.listdir("/proc/self/task"):
        os.sched_setscheduler(int(thread), os.SCHED_IDLE, os.sched_param(0))


def counted(status):
    """Bytes of memory that the relay says it holds for its peers: the sum if it tells one, else all that it tells of."""
    census = {**status["census"], "indexMemoryBytes": status.get("journal", {}).get("boardIndexBytes", 0)}
    parts = (value for key, value in census.items() if key in COUNTED or key.endswith("MemoryBytes"))
    return census.get("memoryBytes", sum(parts))


def ask(relay, line):
    """What the control socket answers."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(PATIENCE)
        link.connect(str(relay.control or pathlib.Path(relay.folder, "control.sock")))
        link.sendall(f"{line}\n".encode())
        data = bytearray()
        while part := link.recv(1 << 18):
            data += part
    return json.loads(data)


def http(relay, path):
    """(status, body) of a request from this machine."""
    with socket.create_connection(("127.0.0.1", relay.port), timeout=HANGING_SECONDS) as link:
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{relay.port}\r\nConnection: close\r\n\r\n".encode())
        data = bytearray()
        with contextlib.suppress(ConnectionResetError):
            while part := link.recv(1 << 18):
                data += part
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    return head[9:12].decode("latin-1") if head.startswith(b"HTTP/1.1 ") else head[:40].hex(), body.decode("utf-8", "replace")


def metric(relay, name, label=""):
    """A figure of `/metrics`: the sum over its labels, or that of one."""
    lines = [line for line in http(relay, "/metrics")[1].splitlines() if line.startswith((f"{name} ", name + "{")) and label in line]
    return sum(int(float(line.rsplit(" ", 1)[1])) for line in lines)


def memory_of(relay):
    """(resident, most that was resident) in bytes."""
    lines = pathlib.Path(f"/proc/{relay.pid}/status").read_text().splitlines()
    found = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return found.get("VmRSS", 0), found.get("VmHWM", 0)


class Stage:
    """Both relays of one attack. `relay` is the one that is attacked.

    options: of `serve`. bounds_memory: with `--memory`, if it has that option. more: for subprocess.Popen.
    """

    memory, memory_slack = MEMORY, MEMORY_SLACK

    def __init__(self, binary, name, seed, is_long, options=(), bounds_memory=False, **more):
        self.binary, self.is_long, self.options, self.more = str(binary), is_long, list(options), more
        self.seed, self.dice = seed, random.Random(f"{seed}/{name}")
        self.gates, self.figures, self.samples, self.windows, self.users, self.addressed = [], {}, {}, [], 0, 0
        if bounds_memory and self.has_option("--memory"):
            self.options += ["--memory", f"{self.memory // MIB}MiB"]
        self.closing = contextlib.ExitStack()

    def __enter__(self):
        self.base = pathlib.Path(self.closing.enter_context(tempfile.TemporaryDirectory(prefix="boardrelay-attack-")))
        self.relay, self.control = self.start("attacked"), self.start("control")
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.pairs = context.Process(target=canary.run, daemon=True,
                                     args=(theirs, [self.relay.port, self.control.port], KEYS["join"], self.seed))
        self.pairs.start()
        theirs.close()
        self.closing.callback(self.pairs.kill)
        self.pipe.recv()
        time.sleep(CALM_SECONDS)
        self.observe()
        return self

    def observe(self):
        """From here on it is seen how much the relay grows, and how much of it it counts."""
        pathlib.Path(f"/proc/{self.relay.pid}/clear_refs").write_text("5")  # the most from here on
        self.idle = memory_of(self.relay)[0]
        self.watch = Watch(self.relay)

    def __exit__(self, *_):
        self.watch.close()
        self.closing.close()

    def start(self, name):
        """A relay on a folder of this name, which gets the keys."""
        folder = self.base / name
        if not folder.exists():
            folder.mkdir(mode=0o700)
            for kind, key in KEYS.items():
                with open(os.open(folder / f"{kind}.key", os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
                    file.write(key + "\n")
        options = ["--trusted-proxy", "127.0.0.1", *self.options]
        return self.closing.enter_context(Daemon(self.binary, folder, auth="key", options=options, **self.more))

    # -- attackers ----------------------------------------------------------------------------------------------------

    def name(self, prefix="attacker"):
        """A user id that nobody has."""
        self.users += 1
        return f"{prefix} {self.users}"

    def link(self, user=None, address=ATTACKER, key=KEYS["join"], **login):
        """One that is logged in."""
        link = Link(self.relay.port, address)
        link.user = user or self.name()
        link.login(link.user, self.dice, key, **login)
        link.must_be_in()
        return link

    def link_to(self, relay):
        """The same to another relay of this stage."""
        link = Link(relay.port, ATTACKER)
        link.login(self.name(), self.dice, KEYS["join"])
        link.must_be_in()
        return link

    def links(self, count, address=None, **login):
        """Many, logged in side by side; without an address they have as many as a class. Those that get no place are a figure."""
        links = []
        for first in range(0, count, 100):
            some = [Link(self.relay.port, address or self.address()) for _ in range(min(100, count - first))]
            for link in some:
                link.user = self.name()
                link.login(link.user, self.dice, KEYS["join"], **login)
            for link in some:
                try:
                    link.must_be_in()
                    links.append(link)
                except (Ended, OSError) as problem:
                    self.figures[f"attackers without a place, {problem}"] = self.figures.get(f"attackers without a place, {problem}", 0) + 1
                    link.close()
        return links

    def address(self):
        """One for so many attackers."""
        self.addressed += 1
        number = self.addressed // LINKS_OF_ADDRESS
        return f"198.51.{100 + number // 250}.{1 + number % 250}"

    @contextlib.contextmanager
    def crowd(self, links):
        """Links that are read and kept alive meanwhile, and closed then."""
        crowd = Crowd(links)
        try:
            yield crowd
        finally:
            crowd.close()

    def settle(self, looks=3):
        """Waits until the relay was looked at so often: what was sent has come, and what followed from it is seen."""
        until, deadline = self.watch.looks + looks, time.monotonic() + PATIENCE
        while self.watch.looks < until and time.monotonic() < deadline and self.relay.process.poll() is None:
            time.sleep(LOOK_SECONDS / 2)

    @contextlib.contextmanager
    def window(self):
        """The time whose latencies are compared."""
        if not self.windows:
            take_only_what_is_left()
        began = time.monotonic()
        yield
        self.windows.append((began, time.monotonic()))

    # -- books --------------------------------------------------------------------------------------------------------

    def at_most(self, text, actual, limit):
        self.gates.append(Gate(text, actual, "<=", limit))

    def at_least(self, text, actual, limit):
        self.gates.append(Gate(text, actual, ">=", limit))

    def exactly(self, text, actual, wanted):
        self.gates.append(Gate(text, actual, "==", wanted))

    def queued_most(self, user):
        """Bytes that waited for one reader, at any look."""
        return self.watch.most.get(user, 0)

    def grown(self):
        """Bytes by which the relay was larger than idle, at most."""
        return memory_of(self.relay)[1] - self.idle

    def held(self):
        """(bytes by which the relay was larger than idle, bytes that it counted), each at most."""
        return self.grown(), self.watch.counted

    def grown_in_account(self):
        """What is held is counted, and what is counted is bounded."""
        grown, counted_most = self.held()
        self.figures["MiB as counted"] = round(counted_most / MIB, 1)
        self.at_most("bytes of memory beside an idle relay, by what it counts", grown,
                     int(counted_most * MEMORY_FACTOR) + self.memory_slack)
        if "--memory" in self.options:
            self.at_most("bytes of memory beside an idle relay, by what it may hold", grown,
                         int(self.memory * MEMORY_FACTOR) + self.memory_slack)

    def finish(self, waiting_max=None):
        """Ends the pairs, and judges what every attack must leave alone.

        waiting_max: records of one innocent that may wait at once, beside those of the control.
        """
        self.pipe.send("end")
        try:
            attacked, control = self.pipe.recv()
        except EOFError:
            attacked, control = canary.new_report(), canary.new_report()
        self.at_least("messages that the pair exchanged", len(attacked["messages"]), MESSAGES_MIN)
        self.watch.close()
        alive = self.relay.process.poll() is None
        self.exactly("the relay lives", alive, True)
        for text, counts in (("refusals of innocents", attacked["refusals"]), ("what innocents lost", attacked["strange"])):
            self.exactly(text + (f" ({dict(counts)})" if counts else ""), sum(counts.values()), 0)
        self.exactly("innocents that were cut off" + (f" ({attacked['ended']})" if attacked["ended"] else ""), len(attacked["ended"]), 0)
        if not attacked["ended"]:
            self.exactly("messages of innocents that never came", attacked.get("missing", -1), 0)
        if alive:
            self.exactly("the control socket answers for this process", ask(self.relay, "status")["pid"], self.relay.pid)
            self.figures["MiB beside an idle relay, at most and in the end"] = [
                round(value / MIB, 1) for value in (self.grown(), memory_of(self.relay)[0] - self.idle)]
            self.figures["processor seconds"] = round(self.relay.seconds_of_processor(), 1)
        if waiting_max is not None:
            self.at_most("records of one innocent that wait at once", attacked["unstoredMax"], waiting_max + control["unstoredMax"])
        for what in ("messages", "records"):
            self.samples[what] = [latencies(report[what], self.windows) for report in (attacked, control)]
        self.figures["records waiting at once"] = [attacked["unstoredMax"], control["unstoredMax"]]
        self.figures["sends that this machine was too late for"] = attacked["skipped"]

    def has_option(self, option):
        """Whether `serve` knows it."""
        return option in subprocess.run([self.binary, "serve", "--help"], capture_output=True, text=True, check=True).stdout


def serves_others(stage, meanwhile=""):
    """Whoever comes from elsewhere, the host, the control socket and health checks have their places."""
    behind = f", with {meanwhile} taken" if meanwhile else ""
    for who, address, key in (("a newcomer from another address", "203.0.113.9", "join"), ("the host", "203.0.113.8", "host"),
                              ("the host on this machine", None, "host")):
        stage.exactly(f"what refuses {who}{behind}", what_refuses(stage, address, KEYS[key]), "nothing")
    for path in ("/healthz", "/readyz", "/metrics"):
        try:
            answer = http(stage.relay, path)[0]
        except OSError as problem:
            answer = str(problem)
        stage.exactly(f"{path}{behind}", answer, "200")
    command = [stage.binary, "status", "--data-dir", stage.relay.folder]
    stage.exactly(f"exit code of boardrelay status{behind}", subprocess.run(command, capture_output=True, check=False).returncode, 0)


def what_refuses(stage, address, key):
    """Comes in, begins a channel and draws on a new board; the first word against it."""
    try:
        link, name = Link(stage.relay.port, address, HANGING_SECONDS), stage.name("guest")
        link.login(name, stage.dice, key)
        if link.until("welcome", "error")[0] == "welcome":
            link.write(request("subscribe", 2, channel=f"of {name}"))
            if link.until("answer", "error")[0] == "answer":
                link.write(publish(1, f"of {name}", b"ink", key="k", extra=relay_client.RETAIN))
                link.until("stored", "error", "notStored")
        link.close()
        return "nothing" if not link.codes else ", ".join(sorted(link.codes))
    except (Ended, OSError) as problem:
        return str(problem)


def told_codes(stage, codes):
    """Whoever is refused is told why, with a code of the table; how often is a figure."""
    counted = sum(codes, collections.Counter())
    stage.figures["refusals of attackers"] = ", ".join(f"{name} {times:,}" for name, times in sorted(counted.items())) or 0
    stage.exactly("refusals without a code of the table", counted["?"], 0)


def latencies(samples, windows):
    """In milliseconds, of what was due in these times."""
    return [took * 1000 for due, took in samples if any(began <= due <= end for began, end in windows)]


def quantiles(values):
    """(p50, p99, most); None without any."""
    if len(values) < 2:
        return None
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return [round(value, 2) for value in (cuts[49], cuts[98], max(values))]
