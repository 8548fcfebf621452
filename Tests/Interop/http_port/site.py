"""A relay's port, connections to it, and the list of checks."""

import socket

from links import parse_head, read_head

PATIENCE = 300.0  # ends a run that hangs, and judges nothing
READING_SECONDS = 30
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
SCRIPT = "/relay-client.js"
# Of a file: asked about each time, or kept for good.
CACHINGS = REVALIDATED, LASTING = "no-cache", "public, max-age=31536000, immutable"
# The largest file that is served.
LARGE = "/page/words/later/uk.js"
HEAD_BYTES, FIELDS, HEAD_SECONDS, REQUESTS, PIPELINED_BYTES = 8_192, 64, 10, 100, 8_192
NOISE = "Zq9Zq9"  # stands in bad requests, and in no answer


class Failed(Exception):
    """A check did not see what the document says."""


def need(condition, message):
    """Fails the check unless the condition holds."""
    if not condition:
        raise Failed(message)


class Site:
    """A relay as seen from here."""

    def __init__(self, host, port, dice, keys=(), operator_token=None):
        self.host, self.port, self.dice = host, port, dice
        self.keys, self.operator_token = [key for key in keys if key], operator_token
        self.notes = []

    @property
    def name(self):
        """What stands in `Host`."""
        return f"{self.host}:{self.port}"

    def connect(self, host=None, buffer=None):
        """A connection; `buffer`: SO_RCVBUF, and segments as a LAN has: with loopback's the relay's kernel takes 2 MB."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1_400)
        sock.settimeout(PATIENCE)
        sock.connect((host or self.host, self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Connection(sock)

    def request(self, path="/nothing", method="GET", version="1.1", host=None, **fields):
        """The bytes of a request; None for a field takes it away."""
        all_fields = {"Host": host or self.name, **{name.replace("_", "-"): value for name, value in fields.items()}}
        lines = "".join(f"{name}: {value}\r\n" for name, value in all_fields.items() if value is not None)
        return f"{method} {path} HTTP/{version}\r\n{lines}\r\n".encode("latin-1")

    def ask(self, data, method="GET", host=None):
        """The answer to these bytes on a connection of their own."""
        with self.connect(host) as connection:
            connection.send(data)
            answer = connection.answer(method)
            if answer.closes:
                connection.must_end()
            return answer

    def get(self, path, **fields):
        """The answer to a good request."""
        return self.ask(self.request(path, **fields))

    def other_address(self):
        """An address of this machine that is not loopback and on which the relay listens; or None."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("198.51.100.1", 9))  # sends nothing
                address = probe.getsockname()[0]
                self.connect(address).close()
            except OSError:
                self.notes.append("HT9: it listens on no address but loopback")
                return None
        return address


class Answer:
    """Status, fields and body."""

    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def closes(self):
        """Whether it is the last of its connection."""
        return "close" in self.fields.get("connection", "").lower()

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:120]!r}"


class Connection:
    """One connection, and what came on it that was not read yet."""

    def __init__(self, sock):
        self.sock, self.rest = sock, b""

    def send(self, data):
        """All of it; a relay that has refused already may not take it all."""
        try:
            self.sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def answer(self, method="GET", size=65_536):
        """The next answer, read in pieces of `size`. [HT6]"""
        head, body = read_head(self.sock, self.rest)
        need(head, "the connection ended without an answer")
        status, fields = parse_head(head)
        need("transfer-encoding" not in fields, f"{fields}")
        length = 0
        if status not in (101, 304):
            need(fields.get("content-length", "").isdigit(), f"no Content-Length in {head!r}")
            length = 0 if method == "HEAD" else int(fields["content-length"])
        cachings = (None,) if status == 101 else CACHINGS if status in (200, 304) and "etag" in fields else ("no-store",)
        need(fields.get("cache-control") in cachings, f"HT6: Cache-Control {fields.get('cache-control')} in {head!r}")
        parts, missing = [body[:length]], length - len(body)
        while missing > 0:
            part = self.sock.recv(min(size, missing))
            need(part, f"the body ends {missing} bytes early")
            parts.append(part)
            missing -= len(part)
        self.rest = body[length:]
        whole = b"".join(parts)
        need(NOISE.encode() not in head + whole, f"what was sent stands in the answer: {head + whole[:200]!r}")
        return Answer(status, fields, whole)

    def must_end(self):
        """Nothing more may come."""
        try:
            rest = self.rest or self.sock.recv(4_096)
        except ConnectionResetError:
            return  # we had sent more than it wanted
        need(not rest, f"something follows: {rest[:80]!r}")

    def close(self):
        """The end."""
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


CHECKS = []


def check(name, slow=False, relay="main"):
    """Registers a check: of the relay of interop.py that it wants."""
    def register(function):
        CHECKS.append((name, function, slow, relay))
        return function
    return register
