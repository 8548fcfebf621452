"""The relay that the pages of a check are served by: the real daemon, on a data folder of its own, with keys."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Faults"))
from daemon import PATIENCE, ROOT, Client, Daemon, Identity, find_binary  # noqa: E402

HOST = "board.test"


class Relay:
    """One daemon, which may be ended and started again on the same data. Its port is another one then: cutters follow it."""

    space = ""

    def __init__(self, binary, folder, options=(), auth="key"):
        self.binary, self.folder, self.auth = binary, folder, auth
        self.options = ("--host-name", HOST, *options)
        self.start()
        self.keys = {} if auth == "open" or "--spaces" in options else self._read_keys()

    def _read_keys(self, *more):
        return {row["kind"]: row["key"] for row in self._rows("key", "show", "--json", "--data-dir", self.daemon.folder, *more)}

    def start(self):
        self.daemon = Daemon(self.binary, self.folder, auth=self.auth, options=self.options)

    def kill(self):
        """kill -9, as a power cut ends it."""
        self.daemon.kill()

    def stop(self):
        """SIGTERM: clients are told."""
        return self.daemon.stop()

    @property
    def port(self):
        return self.daemon.port

    def export(self, board):
        """What `boardrelay board export --format svg` writes."""
        return self._run("board", "export", board, "--format", "svg", *self._address()).decode()

    def records(self, board):
        """What the board's records say, in the order of offsets."""
        document = json.loads(self._run("board", "export", board, *self._address()))
        return [json.loads(record["text"]) for record in document["records"]]

    def keyed(self, board):
        """What the board's records say, by their keys."""
        document = json.loads(self._run("board", "export", board, *self._address()))
        return {record["key"]: [record["customType"], record["text"]] for record in document["records"]}

    def draw_many(self, board, count):
        """Puts so many strokes on a board."""
        self.put(board, (("stroke", {"color": "#1B1B1BFF", "cols": "xy", "id": f"many-{number:05}",
                                     "points": [2000 + number % 50 * 1800, 8000 + number // 50 * 1400] + [120, 90, 130, -80] * 6,
                                     "v": 1, "width": 250, "z": number}) for number in range(count)))

    def put(self, board, records):
        """Puts records on a board: of which type each is, and what it says."""
        rows = ({"customType": kind, "key": record["id"], "text": json.dumps(record, separators=(",", ":"))} for kind, record in records)
        file = pathlib.Path(self.folder).with_suffix(".json")
        lines = "\n,".join(json.dumps(row, separators=(",", ":")) for row in rows)
        file.write_text(f'{{"format":"board","records":[\n{lines}\n],"version":1}}\n')
        self._run("board", "import", board, str(file), *self._address())

    def freeze(self, board):
        """As a host does it from the command line."""
        self._run("channel", "freeze", board, *self._address())

    def set_item(self, board, name, value):
        """An item of the board's metadata, whoever set it before."""
        self._run("meta", "set", board, name, value, *self._address())

    def rotate(self, kind):
        """A new key; who is in stays."""
        self._run("key", "rotate", kind, "--data-dir", self.daemon.folder)

    def client(self, user, key="join"):
        """The independent client of Tests/Interop, logged in."""
        client = Client("127.0.0.1", self.port, Identity(user, credential={"key": self.keys[key]}))
        client.login()
        return client

    def _address(self):
        return "--url", f"relay://127.0.0.1:{self.port}/{self.space}#key={self.keys['host']}"

    def _rows(self, *words):
        return [json.loads(line) for line in self._run(*words).splitlines()]

    def _run(self, *words):
        done = subprocess.run([str(self.binary), *words], capture_output=True, timeout=PATIENCE, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"boardrelay {' '.join(words[:2])}: exit code {done.returncode}: {done.stderr.decode().strip()}")
        return done.stdout

    def end(self):
        if self.daemon.process.returncode is None:
            self.daemon.kill()


class Space(Relay):
    """One space of a relay with spaces, which it makes."""

    def __init__(self, relay, name):
        self.binary, self.daemon, self.space = relay.binary, relay.daemon, name
        # For what is put on its boards.
        self.folder = relay.folder.with_name(f"{relay.folder.name}-{name}")
        self._run("space", "add", name, "--data-dir", self.daemon.folder)
        self.keys = self._read_keys("--space", name)
