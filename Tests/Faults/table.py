#!/usr/bin/env python3
"""The fault table of docs/operations.md, each row set up for real and held against the real daemon.

    python3 Tests/Faults/table.py [--binary PATH] [--only WORDS]

A row says what happens to the data folder, and then: what a client gets, what `status --json` says, how a start ends,
and what is there after the repair. Here stands what is checked; rows.py and losses.py have the checks, scene.py what
they are made of.
Prints the table with a verdict per row. Exit code 1 if a row is not as stated, or if the table in docs/operations.md does
not have its state, start and repair word for word.

Three rows need a small file system of their own, mounted where nobody else sees it (`unshare -m`, as root or in a user
namespace). Where that is not allowed they are `not run here`, which is no failure: what they have in common with the
row that a file size limit causes is checked there.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

import rows
from daemon import ROOT, find_binary
from scene import Scene

DOCUMENT = ROOT / "docs" / "operations.md"


def namespace():
    """The command that gives a process mounts of its own; None where there is none."""
    for words in (["unshare", "-m"], ["unshare", "-Urm"]):
        try:
            with tempfile.TemporaryDirectory() as folder:
                mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]
                if subprocess.run(words + mount, capture_output=True, check=False).returncode == 0:
                    return words
        except OSError:
            return None
    return None


def run(row, binary):
    """Sets one row up and checks it: None, or what is not as stated."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="boardrelay-fault-"))
    base.chmod(0o755)
    scene = Scene(binary, base)
    try:
        if row.mounts:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs", str(base)], check=True)
        row.check(scene)
        return None
    except Exception as problem:  # whatever it is, the row is not as stated
        place = traceback.extract_tb(problem.__traceback__)
        ours = ("rows.py", "losses.py", "scene.py")
        at = next((f"{frame.name}:{frame.lineno}" for frame in reversed(place) if frame.filename.endswith(ours)), "")
        return f"{type(problem).__name__} at {at}: {problem}"
    finally:
        scene.end()
        if row.mounts:
            subprocess.run(["umount", str(base)], check=False)
        shutil.rmtree(base, ignore_errors=True)


def run_apart(row, binary, words):
    """The same in a process with mounts of its own."""
    done = subprocess.run([*words, sys.executable, __file__, "--binary", str(binary), "--inside", row.state],
                          capture_output=True, text=True, timeout=120, check=False)
    return None if done.returncode == 0 else (done.stdout + done.stderr).strip() or f"exit code {done.returncode}"


def is_on_page(row, document):
    """Whether a line of the page has its state with its outcome. Of what a client gets and what status says the page has one sentence."""
    state, _, _, start, after = row.line.strip("| ").split(" | ")
    head = f"|{start}|{after}|"
    return any(line.startswith(head) and state in line.removeprefix(head).rstrip("|").split("; ") for line in document)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="boardrelay; a build of this tree if not given")
    parser.add_argument("--only", help="rows whose first column contains this")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    binary = find_binary(options.binary)
    if options.inside:
        problem = run(next(row for row in rows.ROWS if row.state == options.inside), binary)
        print(problem or "", end="")
        return 1 if problem else 0
    words, failed = namespace(), 0
    print(f"{binary}, as {'root' if os.geteuid() == 0 else 'an ordinary user'}; "
          f"file systems of its own: {' '.join(words) if words else 'not allowed here'}\n")
    print("| data folder | client gets | status says | start | after the repair |\n|---|---|---|---|---|")
    document = DOCUMENT.read_text().splitlines()
    for row in rows.ROWS:
        if options.only and options.only not in row.state:
            continue
        if row.mounts and not words:
            verdict = "not run here"
        else:
            problem = run_apart(row, binary, words) if row.mounts else run(row, binary)
            if problem is None and not is_on_page(row, document):
                problem = f"{DOCUMENT.relative_to(ROOT)} does not have this row"
            failed += problem is not None
            verdict = "as stated" if problem is None else f"NOT AS STATED: {problem}"
        print(f"{row.line}\n    {verdict}", flush=True)
    print(f"\n{failed} rows not as stated" if failed else "\nall as stated")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
