#!/usr/bin/env python3
"""Applies each sabotage to a copy of the tree and wants the test it names to turn red.

    python3 Tests/Sabotage/check.py                  all
    python3 Tests/Sabotage/check.py NAME …           those named (without .patch)
    python3 Tests/Sabotage/check.py --in-place       in this tree, which is built already and has no change: nothing is built twice

A patch that no longer compiles is red, and so is one that no test notices; one that no longer applies is red even if it is not
named. Exit code 0 or 1.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEEDS = "150"


def copy_tree(target):
    """The files git knows or would know."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in files.splitlines():
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def run(target, *command, **environment):
    return subprocess.run(command, cwd=target, capture_output=True, text=True, env={**os.environ, **environment})


def check(target, patch):
    """Why this sabotage is not caught as it should be, or None."""
    head = patch.read_text().splitlines()[0]
    found = re.match(r"turns red: (\S+): (.+)", head)
    if not found:
        return "its first line does not say: turns red: TEST: what it breaks"
    if run(target, "git", "apply", "--unsafe-paths", str(patch)).returncode != 0:
        return "it no longer applies"
    try:
        if found[1].endswith(".py"):
            # A check by itself, which builds what it wants.
            return None if run(target, "python3", found[1]).returncode == 1 else f"{found[1]} stays green"
        build = run(target, "swift", "build", "--build-tests")
        if build.returncode != 0:
            return "it no longer compiles:\n" + "\n".join(line for line in build.stdout.splitlines() if "error:" in line)[:2000]
        test = run(target, "swift", "test", "--skip-build", "--filter", found[1], BOARDRELAY_SEEDS=SEEDS, BOARDRELAY_SEED_BASE="1")
        if test.returncode == 0:
            return f"{found[1]} stays green"
        if "Test run with 0 tests" in test.stdout and found[1] not in test.stdout:
            return f"there is no test {found[1]}"
        return None
    finally:
        run(target, "git", "apply", "-R", "--unsafe-paths", str(patch))


@contextlib.contextmanager
def tree(in_place):
    """Where patches may be applied."""
    if in_place:
        changes = run(ROOT, "git", "status", "--porcelain", "--untracked-files=no").stdout
        if changes:
            sys.exit(f"--in-place wants a tree without changes, this one has:\n{changes}")
        yield ROOT
        return
    with tempfile.TemporaryDirectory(prefix="sabotage-") as folder:
        target = pathlib.Path(folder)
        copy_tree(target)
        run(target, "git", "init", "-q")
        yield target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--in-place", action="store_true")
    options = parser.parse_args()
    every = sorted(HERE.glob("*.patch"))
    patches = [patch for patch in every if not options.names or patch.stem in options.names]
    if not patches:
        print("no sabotage of that name", file=sys.stderr)
        return 1
    failed = 0
    with tree(options.in_place) as target:
        for patch in set(every) - set(patches):
            if run(target, "git", "apply", "--check", "--unsafe-paths", str(patch)).returncode != 0:
                failed += 1
                print(f"FAIL {patch.stem}: it no longer applies", flush=True)
        for patch in patches:
            start = time.monotonic()
            problem = check(target, patch)
            failed += problem is not None
            print(f"{'FAIL' if problem else 'ok  '} {patch.stem} ({time.monotonic() - start:.0f} s){': ' + problem if problem else ''}", flush=True)
    print(f"{len(patches)} tried, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
