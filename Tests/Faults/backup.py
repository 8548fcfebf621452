#!/usr/bin/env python3
"""Backups of the real daemon while it is written to, and kill -9 of each of the three processes at random moments.

    python3 Tests/Faults/backup.py [--rounds 20] [--seed N] [--binary PATH] [--json]

In each round a writer stores numbered records on a board, one after the other, over fifty keys; a host removes another board and forgets
its user, with its drawings. Meanwhile a backup is made, and by turns nobody, the relay, the backup's process or the restore's process
is killed, or the backup is taken through a pipe that is read slowly, so that removals must wait. Then:

* a backup that was told whole is restored, Python's tarfile reads it, and a relay on it has the board as it was after N records: all that
  were answered before the backup began, and none that was sent after its end;
* one that was not told whole has left no file under its name, but for one that was killed when the file was whole; nor a part of a folder;
* the relay has all that it has answered, an erasure that was answered has left nothing in its files, and the next backup is whole.
"""

import argparse
import hashlib
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

from books import Broken
from daemon import Daemon, PATIENCE, Refused, find_binary, relay_client
from drawers import read
from kill import printer

KEYS, SECRET = 50, b"what the forgotten drew"
INK = "ink " * 5_000
KINDS = ("whole", "relay", "backup", "restore", "slow")


class Writer(threading.Thread):
    """Record after record, each when the one before is stored."""

    def __init__(self, daemon, first):
        super().__init__(daemon=True)
        self.client, self.sent, self.stored, self.ends = daemon.client("writer"), first, first, threading.Event()

    def run(self):
        try:
            while not self.ends.is_set():
                self.sent += 1
                self.client.retain("lesson", f"k{self.sent % KEYS}", f"{self.sent} {INK[:self.sent * 37 % len(INK)]}".encode())
                self.stored = self.sent
        except (relay_client.Ended, relay_client.Timeout, OSError):
            pass


class Run:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.data = binary, folder, folder / "data"
        self.last, self.total = 0, dict.fromkeys(("backups", "killed", "records", "erasures"), 0)
        self.daemon = self.start()

    def start(self):
        """The writer is bound by the disk alone."""
        return Daemon(self.binary, self.data, options=["--message-rate", "100000"])

    def tool(self, *words, **more):
        return subprocess.Popen([self.binary, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def erase(self):
        """What is to go, and who asks for it; ends with 0 when the relay's disk has nothing of it."""
        ghost = self.daemon.client(f"ghost {self.last}")
        ghost.retain("other", "a", SECRET)
        ghost.retain("gone", "a", SECRET)
        ghost.logout()
        url = ["--url", f"relay://127.0.0.1:{self.daemon.port}"]
        return [self.tool("board", "rm", "gone", *url), self.tool("user", "forget", f"ghost {self.last}", "--with-records", *url)]

    def round(self, kind, rng):
        target = self.folder / "backup.tar"
        writer = Writer(self.daemon, self.last)
        writer.start()
        while writer.stored < self.last + 20:
            time.sleep(0.01)
        erasing = self.erase()
        least = writer.stored
        backup = self.tool("backup", "--to", "-" if kind == "slow" else target, "--data-dir", self.data)
        if kind in ("relay", "backup"):
            time.sleep(rng.uniform(0, 0.3))
            (self.daemon if kind == "relay" else backup).kill()
            self.total["killed"] += 1
        if kind == "slow":
            with open(target, "wb") as file:
                while piece := backup.stdout.read(500_000):
                    file.write(piece)
                    time.sleep(0.02)
        said = backup.communicate(timeout=PATIENCE)[1].decode()
        most, whole = writer.sent, backup.returncode == 0
        for asked in erasing:
            asked.communicate(timeout=PATIENCE)
        if kind != "relay" and any(asked.returncode for asked in erasing):
            raise Broken("an erasure was refused")
        writer.ends.set()
        writer.join(PATIENCE)
        if kind == "relay":
            self.daemon = self.start()
        elif holders := [file.name for file in self.data.iterdir() if file.is_file() and SECRET in file.read_bytes()]:
            raise Broken(f"erased, and in {holders}")
        else:
            self.total["erasures"] += len(erasing)
        # What was not answered may be lost: its number is given again.
        self.last = self.check(self.daemon, writer.stored, writer.sent)
        if not whole and kind not in ("relay", "backup"):
            raise Broken(f"the backup has failed: {said}")
        # Killed behind the renaming it could not tell: under its name the file is whole or not there.
        whole = whole or kind == "backup" and target.exists()
        if whole != target.exists():
            raise Broken(f"exit code {backup.returncode}, and the file is {'' if target.exists() else 'not '}there")
        if whole:
            self.restore(target, least, most, rng if kind == "restore" else None)
            target.unlink()
        for part in self.folder.glob("*.part"):
            if kind != "backup":
                raise Broken(f"{part} is left")
            part.unlink()

    def restore(self, archive, least, most, killed):
        with tarfile.open(archive) as tar:
            *files, manifest = [(member.name, tar.extractfile(member).read()) for member in tar]
        listed = [(file["name"], file["bytes"], file["sha256"]) for file in json.loads(manifest[1])["files"]]
        if listed != [(name, len(content), hashlib.sha256(content).hexdigest()) for name, content in files]:
            raise Broken("the manifest is not what tarfile reads")
        target = self.folder / "restored"
        restore = self.tool("restore", archive, "--data-dir", target)
        if killed:
            time.sleep(killed.uniform(0, 0.3))
            restore.kill()
            self.total["killed"] += 1
        said = restore.communicate(timeout=PATIENCE)[1].decode()
        if restore.returncode != 0:
            if not killed:
                raise Broken(f"restore: {said}")
            if not target.exists():
                shutil.rmtree(f"{target}.draft", ignore_errors=True)
                return self.restore(archive, least, most, None)
        with Daemon(self.binary, target) as daemon:
            self.check(daemon, least, most)
            if log := [line for line in daemon.log if line.startswith(("warning", "error"))]:
                raise Broken(f"the relay on a restored folder says {log}")
            daemon.stop()
        shutil.rmtree(target)
        self.total["backups"] += 1

    def check(self, daemon, least, most):
        """The board is as it was after so many records."""
        reader = daemon.client("reader")
        found = {key: int(record.payload.split(b" ", 1)[0]) for key, record in read(reader, "lesson", {"beginning": True}, {})[0].items()}
        reader.logout()
        count = max(found.values(), default=0)
        expected = {f"k{number % KEYS}": number for number in range(max(1, count - KEYS + 1), count + 1)}
        if found != expected or not least <= count <= most:
            raise Broken(f"records up to {count}, where {least} were answered and {most} sent; {found} instead of {expected}")
        self.total["records"] = max(self.total["records"], count)
        return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None, help="of the first round; drawn at random if not given")
    parser.add_argument("--binary", help="boardrelay; a build of this tree if not given")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    report = printer(options.json)
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    folder = pathlib.Path(tempfile.mkdtemp(prefix="boardrelay-backup-"))
    run, number = Run(find_binary(options.binary), folder), 0
    try:
        for number in range(options.rounds):
            run.round(KINDS[number % len(KINDS)], random.Random(seed + number))
            report("round", round=number + 1, seed=seed + number, killed=KINDS[number % len(KINDS)], records=run.last)
        if run.daemon.stop() != 0:
            raise Broken("the relay does not end")
    except (Broken, Refused, relay_client.Violation, relay_client.Ended, relay_client.Timeout, relay_client.RelayError) as problem:
        report("failed", round=number + 1, seed=seed + number, reason=f"{type(problem).__name__}: {problem}", log=run.daemon.log[-20:],
               folder=str(folder))
        return 1
    finally:
        if run.daemon.process.returncode is None:
            run.daemon.kill()
    report("summary", rounds=options.rounds, seed=seed, **run.total)
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
