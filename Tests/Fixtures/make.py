#!/usr/bin/env python3
"""A small data folder of this version, as a backup, for the tests of all versions to come.

    python3 Tests/Fixtures/make.py        # writes Tests/Fixtures/VERSION.tar; a file that is there stays

A release's file is made once, with its program, and never again. UpgradeTests restores each and finds in it what stands here.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "Faults"))
from daemon import Daemon, find_binary  # noqa: E402

STORED = [
    ["pub", "lesson", "first", "--retain", "--record", "a", "--as", "anna"],
    ["pub", "lesson", "replaced", "--retain", "--record", "b", "--as", "anna"],
    ["pub", "lesson", "second", "--retain", "--record", "b", "--as", "anna"],
    ["pub", "lesson", "removed", "--retain", "--record", "c", "--as", "anna"],
    ["pub", "lesson", "--remove", "--record", "c", "--as", "anna"],
    ["pub", "cleared", "gone", "--retain", "--record", "a", "--as", "anna"],
    ["board", "clear", "cleared"],
    ["meta", "set", "lesson", "title", "Fixture", "--record", "--as", "host"],
    ["meta", "set", "anna", "color", "red", "--user", "--as", "host"],
    ["lock", "set", "lesson", "pen", "--ttl", "5s"],
    ["user", "role", "carl", "reader"],
    ["user", "ban", "ben"],
]


def main():
    binary = find_binary(None)
    version = re.match(r"boardrelay (\S+)", subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout)[1]
    target = FOLDER / f"{version}.tar"
    if target.exists():
        raise SystemExit(f"{target} is there: a release's file is made once")
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data"

        def store(daemon, commands):
            for words in commands:
                url = ["--url", f"relay://127.0.0.1:{daemon.port}", "--key-file", str(data / "host.key")]
                subprocess.run([binary, *words, *url], check=True, stdout=subprocess.DEVNULL)

        with Daemon(binary, data, auth="key") as daemon:
            store(daemon, STORED[:-3])
            daemon.stop()
        # The boards' files are there now; what comes stands in the journal alone.
        with Daemon(binary, data, auth="key") as daemon:
            store(daemon, STORED[-3:] + [["pub", "lesson", "late", "--retain", "--record", "d"]])
            subprocess.run([binary, "backup", "--to", target, "--data-dir", data], check=True, capture_output=True)
            daemon.stop()
    print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
