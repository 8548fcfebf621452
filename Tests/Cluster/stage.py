"""Supervised relays, HAProxy and Caddy before them as docs/examples has them, and clients that come by a name."""

import contextlib
import os
import pathlib
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "Tests/Interop"), str(ROOT / "Tests/Faults"), str(ROOT / "Tests/TLS")]
from links import TCPLink, open_websocket  # noqa: E402
from proxy import make_certificate  # noqa: E402
from relay_client import Client  # noqa: E402

PATIENCE = 60.0  # ends a program that hangs
LONG = 180.0     # ends a run that hangs: many times a take-over, for a machine that does much else
RESTART = 0.2    # seconds until a supervisor starts a relay again
WAITS = "This relay waits"


class Wrong(Exception):
    """Something is not as it must be."""


def need(condition, message):
    if not condition:
        raise Wrong(message)


def until(condition, what, seconds=LONG):
    """Waits for a condition of threads and processes."""
    deadline = time.monotonic() + seconds
    while not condition():
        need(time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s")
        time.sleep(0.005)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        return [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(count)]


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


class Relay:
    """One relay that a supervisor starts again whenever it has ended."""

    def __init__(self, binary, port, folder, *options, host="127.0.0.1", before=()):
        """before: a command that runs it."""
        self.host, self.port, self.folder = host, port, folder
        self.words = [*before, str(binary), "serve", "--host", host, "--port", str(port), "--data-dir", str(folder), "--no-announce",
                      *map(str, options)]
        self.process, self.is_over, self.serves, self.may_begin = None, False, threading.Event(), threading.Event()
        self.may_begin.set()
        self.runs = []  # the lines of standard error of each process
        self.codes = []  # how each ended
        self.thread = threading.Thread(target=self._supervise, daemon=True)
        self.thread.start()

    def _supervise(self):
        while not self.is_over:
            self.runs.append([])
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            reader = threading.Thread(target=self._read, args=(self.process, self.runs[-1]), daemon=True)
            reader.start()
            for line in self.process.stdout:
                if line.startswith(("relay://", "relays://")):
                    self.serves.set()
            self.serves.clear()
            self.codes.append(self.process.wait())
            reader.join()
            if not self.is_over:
                time.sleep(RESTART)
                self.may_begin.wait()

    @staticmethod
    def _read(process, lines):
        for line in process.stderr:
            lines.append(line.rstrip("\n"))

    @property
    def waits(self):
        return not self.serves.is_set() and bool(self.runs) and any(WAITS in line for line in list(self.runs[-1]))

    def signal(self, number):
        self.process.send_signal(number)

    def hold(self):
        """Ends the process in order; the next one begins with `go_on`."""
        self.may_begin.clear()
        ended = len(self.codes)
        self.signal(signal.SIGTERM)
        until(lambda: len(self.codes) > ended, "a relay ends")

    def go_on(self):
        self.may_begin.set()

    def end(self):
        self.is_over = True
        self.may_begin.set()
        with contextlib.suppress(AttributeError, ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        self.thread.join(PATIENCE)
        if self.thread.is_alive():
            self.process.kill()


class Pair:
    """Two relays on one folder."""

    def __init__(self, binary, folder, *options):
        self.folder, self.ports = folder, free_ports(2)
        self.relays = [Relay(binary, port, folder, "--auth", "open", "--wait-for-folder", *options) for port in self.ports]
        self.settled()

    def settled(self):
        """One serves, the other waits and does not listen: (owner, standby)."""
        until(lambda: any(relay.serves.is_set() for relay in self.relays) and any(relay.waits for relay in self.relays),
              "one relay serves and one waits")
        owner, standby = sorted(self.relays, key=lambda relay: not relay.serves.is_set())
        need(not listens(standby.port), f"the relay that waits listens on port {standby.port}")
        return owner, standby

    def judge_logs(self):
        """Each process that waited has said so once."""
        for relay in self.relays:
            for lines in relay.runs:
                count = sum(WAITS in line for line in lines)
                need(count <= 1, f"a relay says {count} times that it waits")

    def end(self):
        for relay in self.relays:
            relay.is_over = True
        for relay in self.relays:
            relay.end()


class Stage:
    """A folder, a certificate, and processes that end with it."""

    def __init__(self, binary, *names):
        self.binary, self.things = binary, contextlib.ExitStack()
        self.folder = pathlib.Path(self.things.enter_context(tempfile.TemporaryDirectory(prefix="cluster-")))
        make_certificate(self.folder, names, False)
        self.trust = ssl.create_default_context(cafile=str(self.folder / "root.pem"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.things.close()

    def keep(self, thing):
        """Something with `end`, which is called before the folder goes."""
        self.things.callback(thing.end)
        return thing

    def run(self, *words, port):
        """A program that listens on a port."""
        log = open(self.folder / f"{words[0]}.log", "w")
        self.things.callback(log.close)
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env={**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)})
        self.things.callback(process.wait, PATIENCE)
        self.things.callback(process.terminate)
        until(lambda: listens(port) or process.poll() is not None, f"{words[0]} listens on port {port}")
        need(process.poll() is None, f"{words[0]} ended with {process.poll()}: {(self.folder / f'{words[0]}.log').read_text()[-500:]}")
        return port

    @staticmethod
    def example(name, *changes):
        """A file of docs/examples with other ports and names; each must be there."""
        text = (ROOT / "docs/examples" / name).read_text()
        for old, new in changes:
            need(old in text, f"{name} has no {old}")
            text = text.replace(old, str(new))
        return text

    def haproxy(self, name, *changes):
        """As docs/examples has it, but for ports and names. Returns its port."""
        [port] = free_ports(1)
        path = self.folder / "haproxy.cfg"
        path.write_text(self.example(name, ("bind :7420", f"bind 127.0.0.1:{port}"), *changes))
        return self.run("haproxy", "-f", path, "-db", port=port)

    def certificate_and_key(self):
        """One file of both, as HAProxy wants it."""
        path = self.folder / "both.pem"
        path.write_text((self.folder / "server.pem").read_text() + (self.folder / "server.key").read_text())
        return path

    def caddy(self, name, hosts, *changes):
        """The same of Caddy; `hosts` are (name there, name here). It speaks TLS, with this stage's certificate."""
        [port] = free_ports(1)
        tls = f"tls {self.folder}/server.pem {self.folder}/server.key"
        own = [(f"{there} {{", f"https://{here}:{port} {{\n    {tls}") for there, here in hosts]
        path = self.folder / "Caddyfile"
        path.write_text("{\n    admin off\n    auto_https off\n    default_bind 127.0.0.1\n}\n" + self.example(name, *own, *changes))
        return self.run("caddy", "run", "--config", path, "--adapter", "caddyfile", port=port)


class NamedClient(Client):
    """The client that was written from the documents alone, which asks for a relay by a name, at an address."""

    def __init__(self, name, port, identity, trust=None, host="127.0.0.1", **more):
        self.name, self.trust = name, trust
        super().__init__(host, port, identity, **more)

    def _connect(self, host, port, receive_buffer):
        sock = socket.create_connection((host, port), 10)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.trust:
                sock = self.trust.wrap_socket(sock, server_hostname=self.name)
            link, early, host = TCPLink(), b"", f"{self.name}:{port}"
            if self.transport == "websocket":
                link, early = open_websocket(sock, host, self.dice, Origin=f"{'https' if self.trust else 'http'}://{host}")
        except BaseException:
            sock.close()
            raise
        sock.settimeout(None)
        return sock, link, early

    def _receive(self):
        while self.trust:
            # A thread that reads TLS beside one that writes can lose what is written. So reading waits outside, and takes the lock.
            with self.sending:
                self.socket.settimeout(0)
                try:
                    return self.socket.recv(65_536)
                except ssl.SSLWantReadError:
                    pass
                finally:
                    self.socket.settimeout(None)
            select.select([self.socket], [], [])
        return super()._receive()


def run(binary, *words, **more):
    """A command to its end."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BOARDRELAY_")}
    return subprocess.run([str(binary), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
                          env=environment, **more)
