"""The real daemon as the checks of this folder run it: on a data folder, on a free port, asked, ended, killed."""

import importlib.util
import json
import pathlib
import select
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE = 300  # ends a run that hangs


def load_client():
    """The independent client of Tests/Interop, by its path."""
    path = ROOT / "Tests" / "Interop" / "relay_client.py"
    spec = importlib.util.spec_from_file_location("relay_client", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


relay_client = load_client()
Client, Identity, RelayError = relay_client.Client, relay_client.Identity, relay_client.RelayError


def find_binary(given):
    """The path given, else the release build of this tree, else its debug build."""
    places = [pathlib.Path(given)] if given else [ROOT / ".build" / kind / "boardrelay" for kind in ("release", "debug")]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise SystemExit(f"there is no {' and no '.join(map(str, places))}: swift build -c release --product boardrelay")


class Refused(Exception):
    """The daemon ended instead of serving."""

    def __init__(self, code, text):
        super().__init__(f"exit code {code}: {text.strip()}")
        self.code, self.text = code, text


class Daemon:
    """One process of `boardrelay serve`. Its log is in `log`, a list of lines.

    control: where it answers `status`, if not in its folder. auth: who may come in. options: of `serve`, besides.
    before: a command that runs it. more: for subprocess.Popen.
    """

    def __init__(self, binary, folder, control=None, kill_after=None, auth="open", options=(), before=(), **more):
        self.binary, self.folder, self.control = str(binary), str(folder), control
        self.log = []
        words = [*before, self.binary, "serve", "--auth", auth, *options, "--host", "127.0.0.1", "--port", "0", "--data-dir", self.folder]
        self.process = subprocess.Popen(words + (["--control", str(control)] if control else []), text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        if kill_after is not None:
            time.sleep(kill_after)
            self.kill()
            return
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.output = self.process.stdout.readline().strip() if ready else ""
        if not line.startswith("relay://127.0.0.1:"):
            if ready:
                self.process.wait(PATIENCE)
            self.kill()
            raise Refused(self.process.returncode, "\n".join(self.log))
        self.port = int(line.rsplit(":", 1)[1])

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line.rstrip("\n"))

    @property
    def pid(self):
        return self.process.pid

    def client(self, user, **more):
        """A client, logged in: of this identity, or one of its own for a user id."""
        client = Client("127.0.0.1", self.port, Identity(user) if isinstance(user, str) else user, **more)
        client.login()
        return client

    def status(self):
        """What `boardrelay status --json` prints."""
        place = ["--control", str(self.control)] if self.control else ["--data-dir", self.folder]
        done = subprocess.run([self.binary, "status", "--json", *place], capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise Refused(done.returncode, done.stderr)
        return json.loads(done.stdout)

    def kill(self):
        """kill -9; returns when the process is gone and its log is read."""
        self.process.kill()
        self._gone()

    def stop(self, by=signal.SIGTERM):
        """Ends it orderly; the exit code."""
        self.process.send_signal(by)
        self._gone()
        return self.process.returncode

    def _gone(self):
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(PATIENCE)
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()

    def seconds_of_processor(self):
        """Used by the daemon so far; 0 where there is no /proc."""
        try:
            fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / 100

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.kill()
