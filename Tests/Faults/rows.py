"""The rows of the fault table: what each states, and how it is set up and checked (table.py runs them)."""

import errno
import os
import pathlib
import pwd
import shutil
import struct
import subprocess
import time

import losses
from daemon import PATIENCE, RelayError
from scene import BOARD, FileLimit, NotAsStated, PAGE, Row, contents, must, must_fail, value, write

# -- full while running ------------------------------------------------------------------------------------------------

class SmallDisk:
    """A tmpfs that something else fills."""

    def __init__(self, scene, _):
        self.filler = scene.base / "filler"

    def fill(self):
        """Not one page is left."""
        with open(self.filler, "wb", buffering=0) as file:
            for size in (65_536, PAGE, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError as problem:
                    if problem.errno != errno.ENOSPC:
                        raise

    def free(self):
        self.filler.unlink()


def full_while_running(space):
    """storageFailed, read-only, back within 2 s."""
    def check(scene):
        daemon = scene.start()
        disk = space(scene, daemon)
        writer, reader = daemon.client("anna"), daemon.client("bert")
        reader.request("subscribe", channel="board", features=["messages", "metadata", "locks"])
        must(write(writer, "k", "old") == 1, "the first change is not the first")
        writer.request("setLock", lock="pen", **BOARD)
        reader.sync()
        mark = reader.mark()
        disk.fill()
        must_fail(writer, "k", "n" * 20_000)
        must_fail(writer, "other", "n" * 20_000)
        try:
            writer.request("acquireLock", lock="pen", **BOARD)
            raise NotAsStated("a lock was acquired")
        except RelayError as refusal:
            must(refusal.name == "storageFailed", f"refused otherwise: {refusal}")
        reader.sync()
        must(not reader.since(mark, "metadata", "locks"), f"shown: {reader.since(mark)}")
        must(reader.all_metadata(**BOARD) == (1, {"k": "old"}), "reading does not show what was there")
        writer.publish("board", "still here").wait()
        must(reader.wait_for("deliver", since=mark)["payload"] == "still here", "messages do not go on")
        status = daemon.status()
        must(status["census"].get("storageFailure") and status["journal"].get("failure"), f"status: {status}")
        # The retry that comes meanwhile changes nothing, and does not keep a processor busy.
        used = daemon.seconds_of_processor()
        time.sleep(1.5)
        must(daemon.seconds_of_processor() - used < 0.1, f"{daemon.seconds_of_processor() - used} s of processor time in 1.5 s of waiting")
        must_fail(writer, "k", "n" * 20_000)
        disk.free()
        revision = scene.until_stored(writer, "k", "new")
        must(revision == 2, f"major revision {revision}: what was refused counts")
        event = reader.wait_for("metadata", since=mark)
        must(event["majorRevision"] == 2 and event["items"][0]["value"] == "new", f"shown: {event}")
        status = daemon.status()
        must(not status["census"].get("storageFailure") and not status["journal"].get("failure"), f"status: {status}")
        must(status["journal"]["recoveries"] == 1 and status["journal"]["failures"] == 1, f"status: {status['journal']}")
        must(any("read-only" in line for line in daemon.log), f"the log does not tell: {daemon.log}")
        daemon.kill()
        again = scene.start()
        must(again.client("anna").all_metadata(**BOARD) == (2, {"k": "new"}), "after a restart it is not there")
        must(again.stop() == 0, "SIGTERM does not end it with 0")
    return check


# -- at the start ------------------------------------------------------------------------------------------------------

def full_at_start(scene):
    """A new folder, and one in which the last page of the segment is full as well."""
    disk = SmallDisk(scene, None)
    disk.fill()
    scene.start_refused(scene.data, "No space left on device")
    disk.free()
    daemon = scene.start()
    writer = daemon.client("anna")
    sizes = []
    for _ in range(2):
        write(writer, "k", "x" * 100)
        sizes.append(scene.segment().stat().st_size)
    # The next change ends where the page does: what it takes besides its value is known now.
    besides = sizes[1] - sizes[0] - 100
    last = "y" * ((-sizes[1] - besides) % PAGE or PAGE)
    write(writer, "k", last)
    must(scene.segment().stat().st_size % PAGE == 0, "the page is not full")
    daemon.kill()
    disk.fill()
    scene.start_refused(scene.data, "No space left on device")
    disk.free()
    daemon = scene.start()
    must(daemon.client("anna").all_metadata(**BOARD) == (3, {"k": last}), "it is not there")
    must(daemon.stop() == 0, "SIGTERM does not end it with 0")


def read_only_file_system(scene):
    """As `mount -o remount,ro` makes it."""
    scene.fill_board()
    subprocess.run(["mount", "-o", "remount,bind,ro", str(scene.base)], check=True)
    scene.start_refused(scene.data, "Read-only file system")
    subprocess.run(["mount", "-o", "remount,bind,rw", str(scene.base)], check=True)
    scene.must_have_board()


def ordinary_user(scene):
    """What starts a daemon without root's rights, and who that is; the binary goes where that user may read it."""
    if os.geteuid() != 0:
        return {}, os.geteuid()
    nobody = pwd.getpwnam("nobody")
    if scene.binary.parent != scene.base:
        scene.binary = pathlib.Path(shutil.copy2(scene.binary, scene.base / "boardrelay"))
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}, nobody.pw_uid


def of_another_user(scene):
    """A folder that is readable for everybody, and belongs to somebody else."""
    drop, user = ordinary_user(scene)
    folder = scene.data if drop else pathlib.Path("/usr")
    if drop:
        folder.mkdir(mode=0o755)
    scene.start_refused(folder, f"it belongs to user {folder.stat().st_uid}, this process to user {user}", folder=folder, **drop)
    if drop:
        must(not list(folder.iterdir()), "something was made in it")
        os.chown(folder, user, -1)
        scene.start(**drop)


def unwritable(scene):
    """Folders in which nothing can be made: this one, with and without data, and the one above it."""
    drop, user = ordinary_user(scene)
    above = scene.base / "above"
    above.mkdir()
    os.chown(above, user, -1)
    folder = above / "data"
    scene.fill_board(folder, **drop)
    folder.chmod(0o500)
    before = contents(folder, without=())
    scene.start_refused(folder, "Permission denied", folder=folder, **drop)
    # Its control socket is elsewhere: only the journal could notice.
    control = scene.base / "elsewhere"
    control.mkdir()
    os.chown(control, user, -1)
    scene.start_refused(folder, "Permission denied", folder=folder, control=control / "socket", **drop)
    must(contents(folder, without=()) == before, "something in it was changed")
    folder.chmod(0o700)
    scene.must_have_board(folder, **drop)
    above.chmod(0o500)
    scene.start_refused(above / "new", "Permission denied", folder=above / "new", **drop)
    above.chmod(0o700)
    scene.start(above / "new", **drop)


def not_a_folder(scene):
    """A file, and a path that goes through it."""
    file = scene.base / "file"
    file.write_text("precious")
    for folder in (file, file / "data"):
        scene.start_refused(folder, "Not a directory", folder=folder)
    must(file.read_text() == "precious", "the file was changed")
    file.unlink()
    scene.start(file)


def link_to_folder(scene):
    """Works as the folder does."""
    link = scene.base / "link"
    scene.data.mkdir(mode=0o700)
    link.symlink_to(scene.data)
    scene.fill_board(link)
    daemon = scene.start(link)
    must(daemon.status()["journal"]["folder"] == str(link) and daemon.stop() == 0, "status does not answer")
    must(link.is_symlink() and scene.segment(scene.data), "the link was replaced")
    scene.must_have_board(scene.data)


def link_to_nothing(scene):
    """Nobody makes what it points at."""
    target = scene.base / "nowhere"
    scene.data.symlink_to(target)
    scene.start_refused(scene.data, "No such file or directory")
    must(scene.data.is_symlink() and not target.exists(), "something was made")
    target.mkdir(mode=0o700)
    scene.start()


def linked_segment(scene):
    """A file of the journal that is a link is not followed."""
    scene.fill_board()
    segment, target = scene.segment(), scene.base / "elsewhere"
    segment.rename(target)
    segment.symlink_to(target)
    before = target.read_bytes()
    scene.start_refused(segment, "symbolic link")
    must(segment.is_symlink() and target.read_bytes() == before, "something was changed")
    segment.unlink()
    target.rename(segment)
    scene.must_have_board()


def in_use(scene):
    """The second one is told by whom; the first one notices nothing."""
    first = scene.start()
    client = first.client("anna")
    write(client, "k", "first")
    for link in (False, True):
        folder = scene.base / "link" if link else scene.data
        if link:
            folder.symlink_to(scene.data)
        scene.start_refused(scene.data if not link else folder, f"in use by pid {first.pid}", folder=folder)
    must(write(client, "k", "second") == 2 and not client.over, "the first one noticed")
    must(first.status()["pid"] == first.pid, "its control socket is gone")
    must(not any(line.startswith(("warning", "error")) for line in first.log), f"its log: {first.log}")
    first.kill()
    again = scene.start()
    must(again.client("anna").all_metadata(**BOARD) == (2, {"k": "second"}), "it is not there")


# -- what others do to the folder --------------------------------------------------------------------------------------

def removed_while_running(scene):
    """Nothing can be stored any more; what was is shown until the end."""
    control = scene.base / "control.sock"
    daemon = scene.start(control=control)
    writer, reader = daemon.client("anna"), daemon.client("bert")
    write(writer, "k", "old")
    shutil.rmtree(scene.data)
    must_fail(writer, "k", "new")
    time.sleep(1.5)
    must_fail(writer, "k", "new")
    must(reader.all_metadata(**BOARD) == (1, {"k": "old"}), "reading does not go on")
    writer.request("subscribe", channel="board")
    reader.publish("board", "still here").wait()
    writer.wait_for("deliver")
    status = daemon.status()
    must(status["census"].get("storageFailure") and status["journal"].get("failure"), f"status: {status}")
    must("gone" in (status["journal"].get("lastError") or ""), f"status: {status['journal']}")
    must(not scene.data.exists(), "the folder is there again")
    # Nor is a new folder of that name taken for the old one: the next relay has it for itself.
    start = writer.checker.welcome["start"]
    while time.time() < start + 1:  # with the folder went the last start number: the clock takes its place
        time.sleep(0.1)
    other = scene.start()
    must_fail(writer, "k", "new")
    must(daemon.stop() == 0, "SIGTERM does not end it with 0")
    client = other.client("anna")
    must(client.all_metadata(**BOARD) == (0, {}), "the new folder is not empty")
    must(client.checker.welcome["start"] > start, "the start number did not grow")
    must(write(client, "k", "again") == 1 and other.status()["pid"] == other.pid, "the new relay is not well")
    # A control socket in the folder goes with it; the one that a new relay has there is not touched by the old one's end.
    shutil.rmtree(scene.data)
    newest = scene.start()
    must(other.stop() == 0 and newest.status()["pid"] == newest.pid, "the old relay has removed the new one's control socket")


def flipped_byte(scene):
    """What a disk does in the course of years."""
    scene.fill_board()
    segment = scene.segment()
    data = bytearray(segment.read_bytes())
    at = data.index(value(5).encode()) + 100
    data[at] ^= 0x10
    segment.write_bytes(data)
    log = scene.must_have_board(without=["k5"])
    kept = list(scene.data.glob("quarantine-*.bin"))
    must(len(kept) == 1 and kept[0].read_bytes() in data and len(kept[0].read_bytes()) < 400, f"kept aside: {kept}")
    daemon = scene.start()
    status = daemon.status()
    must(not status["census"].get("storageFailure") and not status["journal"].get("failure"), f"status: {status}")
    daemon.stop()
    must(kept[0].name in log and segment.name in log and "damaged" in log, f"the log does not tell: {log}")
    log = scene.must_have_board(without=["k5"])
    must(kept[0].name in log, "the next start does not tell again")
    must(list(scene.data.glob("quarantine-*.bin")) == kept, "kept aside again")


def newer_format(scene):
    """A journal of a later version of the program."""
    scene.fill_board()
    segment = scene.segment()
    sound = segment.read_bytes()
    head = sound[:8] + struct.pack(">I", 7) + sound[12:60]
    segment.write_bytes(head + struct.pack(">I", crc32c(head)) + sound[64:])
    before = contents(scene.data)
    scene.start_refused(segment.name, "format version 7", "versions up to 1")
    must(contents(scene.data) == before, "something in the folder was changed")
    segment.write_bytes(sound)
    scene.must_have_board()


def crc32c(data):
    """Castagnoli, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


READ_ONLY = ("changes: `storageFailed`, shown to nobody; reading and messages go on",
             "`census.storageFailure` and `journal.failure` say why")
NOBODY = ("—", "—")

ROWS = [
    Row("full while running (a small file system)", *READ_ONLY, "—",
        "takes changes again at most 2 s after there is space; all that was answered is there",
        full_while_running(SmallDisk), mounts=True),
    Row("full while running (`RLIMIT_FSIZE`)", *READ_ONLY, "—",
        "takes changes again at most 2 s after there is space; all that was answered is there", full_while_running(FileLimit)),
    Row("full at the start", *NOBODY, "refused", "all that was answered is there", full_at_start, mounts=True),
    Row("on a file system mounted read-only", *NOBODY, "refused", "all is there", read_only_file_system, mounts=True),
    Row("another user's", *NOBODY, "refused", "starts once it is ours", of_another_user),
    Row("not writable, or not to be made", *NOBODY, "refused", "all is there", unwritable),
    Row("a file, or a path through one", *NOBODY, "refused", "starts", not_a_folder),
    Row("a symlink to a folder of ours", "all as usual", "all as usual", "serves", "—", link_to_folder),
    Row("a symlink to nothing", *NOBODY, "refused", "starts once the target is there", link_to_nothing),
    Row("a file of the journal is a symlink", *NOBODY, "refused", "all is there", linked_segment),
    Row("removed while running", READ_ONLY[0], READ_ONLY[1] + " (with `--control` elsewhere: the socket went with the folder)",
        "serves, with an empty folder",
        "what was stored is gone; the old relay stays read-only", removed_while_running),
    Row("in use by another relay", "the first relay's: nothing", "the first relay's: nothing", "refused", "all is there",
        in_use),
    Row("a damaged byte in a segment of the journal", "all but the damaged change", "nothing",
        "serves, and warns at each start", "all but the damaged change",
        flipped_byte),
    *losses.ROWS,
    Row("a journal of a newer version", *NOBODY, "refused", "all is there", newer_format),
]
