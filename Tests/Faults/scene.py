"""What the rows of the fault table are made of: a row, its folder and daemons, and what is asked of them."""

import resource
import time

from daemon import PATIENCE, Daemon, Refused, RelayError

BOARD = {"kind": "message", "channel": "board"}
PAGE = 4096


class NotAsStated(Exception):
    """What is there is not what the row says."""


def must(holds, text):
    """Raises unless it holds."""
    if not holds:
        raise NotAsStated(text)


class Row:
    """One line of the table, and its check."""

    def __init__(self, state, client, status, start, after, check, mounts=False):
        self.state, self.check, self.mounts = state, check, mounts
        self.line = f"| {state} | {client} | {status} | {start} | {after} |"


class FileLimit:
    """A limit on the size of files, so low that not even the head of a new segment fits."""

    def __init__(self, _, daemon):
        self.pid = daemon.pid
        self.before = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)

    def fill(self):
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (32, self.before[1]))

    def free(self):
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, self.before)


class Scene:
    """A folder for one row, and the daemons that it starts."""

    def __init__(self, binary, base):
        self.binary, self.base, self.data = binary, base, base / "data"
        self.daemons = []

    def start(self, folder=None, **more):
        """A daemon that serves."""
        daemon = Daemon(self.binary, folder or self.data, **more)
        self.daemons.append(daemon)
        return daemon

    def start_refused(self, *words, folder=None, **more):
        """A start that must end with exit code 1, and tell these words; its log."""
        try:
            self.start(folder, **more)
        except Refused as refused:
            must(refused.code == 1, f"exit code {refused.code}: {refused.text}")
            for word in words:
                must(str(word) in refused.text, f"the log does not say {str(word)!r}: {refused.text}")
            return refused.text
        raise NotAsStated("it serves")

    def fill_board(self, folder=None, **more):
        """A folder with what is stored of ten changes; stopped in order."""
        daemon = self.start(folder, **more)
        writer = daemon.client("anna")
        for number in range(10):
            write(writer, f"k{number}", value(number))
        must(daemon.stop() == 0, "SIGTERM does not end it with 0")

    def must_have_board(self, folder=None, without=(), **more):
        """A start shows all of it, and takes changes. Returns the log."""
        daemon = self.start(folder, **more)
        client = daemon.client("reader")
        wanted = {f"k{number}": value(number) for number in range(10) if f"k{number}" not in without}
        must(client.all_metadata(**BOARD) == (10, wanted), f"the board is {client.all_metadata(**BOARD)}")
        client.request("setLock", lock="later", **BOARD)
        must(daemon.stop() == 0, "SIGTERM does not end it with 0")
        return "\n".join(daemon.log)

    def until_stored(self, client, key, text):
        """A change that is taken again when the disk works; the major revision."""
        begin = time.monotonic()
        while True:
            try:
                return write(client, key, text)
            except RelayError as refusal:
                must(refusal.name == "storageFailed", f"refused otherwise: {refusal}")
                must(time.monotonic() - begin < PATIENCE, f"no change taken {PATIENCE} s after there is space")
                time.sleep(0.1)  # as often as metadata may be changed (RT7)

    def segment(self, folder=None):
        """The one file of the journal."""
        files = sorted((folder or self.data).glob("journal-*.log"))
        must(len(files) == 1, f"{len(files)} segments: {files}")
        return files[0]

    def end(self):
        for daemon in self.daemons:
            if daemon.process.returncode is None:
                daemon.kill()


def value(number):
    """What stands under k0…k9."""
    return f"value {number} " + "x" * 200


def write(client, key, text):
    """Sets one key of the board; the major revision."""
    return client.texts("setMetadata", [(key, text)], **BOARD)


def must_fail(client, key, text):
    """Such a change is refused with storageFailed."""
    try:
        write(client, key, text)
    except RelayError as refusal:
        must(refusal.name == "storageFailed", f"refused otherwise: {refusal}")
        return
    raise NotAsStated("a change was taken")


def contents(folder, without=("lock",)):
    """Every file's bytes and times."""
    return {file.name: (file.read_bytes() if file.is_file() else b"", file.lstat().st_mtime_ns)
            for file in sorted(folder.iterdir()) if file.name not in without}
