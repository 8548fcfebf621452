"""Nothing can be stored on a standby's disk, then on the owner's; and a disk that is full to its last byte."""

import contextlib
import os
import subprocess
import time

from scene import FileLimit
from stage import need, until


def full(space, _):
    """Each follows again when it can store, in the process that it was."""
    standby = next(node for node in space.nodes if not node.owns)
    space.round("standby's disk full", lambda: fill(space, standby))
    space.round("owner's disk full", lambda: fill(space, space.owner()))


def fill(space, node):
    """Until it has said so, all draw, and it follows again."""
    processes, process, owner = len(node.runs), node.process, space.owner()
    disk = FileLimit(None, process)
    disk.fill()
    until(lambda: node.part().get("role") == "diskFailed", "status says that the disk has failed")
    need(node.page("readyz") != "ready", "a relay that stores nothing is ready")
    need(node.figure("boardrelay_storage_failed") == 1, "boardrelay_storage_failed of a relay that can store nothing is 0")
    serves = space.owner()
    need((serves is owner) == (node is not owner), "a full disk of a standby changes the owner, or that of an owner does not")
    space.writers.all_stored_since(time.monotonic())
    disk.free()
    space.until_follows(node)
    need(len(node.runs) == processes, f"the relay whose disk was full ended: {node.runs[0][-3:]}")


def small(space, _):
    """Another relay on a disk of 16 MiB, which is full while all draw; it follows when there is room, and owns the space."""
    need(os.geteuid() == 0, "a small disk wants root")
    disk = space.stage.folder / "small"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(disk)], check=True)
    space.stage.things.callback(subprocess.run, ["umount", "-l", str(disk)], check=True)
    node = space.join("small/data")
    space.until_follows(node)
    filler = disk / "filler"
    with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    until(lambda: node.part().get("role") == "diskFailed", "status says that the disk has failed")
    space.writers.all_stored_since(time.monotonic())
    filler.unlink()
    space.until_follows(node)
    need(len(node.runs) == 1, f"the relay whose disk was full ended: {node.runs[0][-3:]}")
    space.hand_to(node)
    space.writers.all_stored_since(time.monotonic())
