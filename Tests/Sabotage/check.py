#!/usr/bin/env python3
"""Makes each sabotage in a copy of the tree and wants the test it names to turn red.

    python3 Tests/Sabotage/check.py                  all
    python3 Tests/Sabotage/check.py NAME …           those named (without .sabotage)
    python3 Tests/Sabotage/check.py --in-place       in this tree, which is built already and has no change: nothing is built twice
    python3 Tests/Sabotage/check.py --match          only whether all still match
    python3 Tests/Sabotage/check.py --every 24       one in 24 in the order of names, always the same: what `.ci/run` has time for

A file NAME.sabotage says what it breaks, then `tests: FILTER`, `file: PATH`, and behind `--- old` and `--- new` whole lines: the old
ones stand exactly once in that file, and the new ones, if there are any, take their place. What no longer matches is told first, for
all sabotages at once, named or not, and nothing is tried then. A sabotage that does not compile is red, and so is one that no test
notices. Exit code 0 or 1.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEEDS = "150"
PATIENCE = 400  # seconds for a build or the tests of one sabotage


def copy_tree(target):
    """The files git knows or would know."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in files.splitlines():
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def run(target, *command, **environment):
    """What it printed and how it ended. It ends with all that it started, and within PATIENCE."""
    process = subprocess.Popen(command, cwd=target, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **environment}, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


class Sabotage:
    """What a file of this folder says."""

    def __init__(self, path):
        self.name = path.stem
        form = r"(.+)\ntests: (\S+)\nfile: (\S+)\n--- old\n(.+?\n)--- new\n(.*)"
        found = re.fullmatch(form, path.read_text(encoding="utf-8"), flags=re.S)
        if not found:
            sys.exit(f"{path.name} does not have the form that this program describes")
        self.tests, self.file, self.old, self.new = found.groups()[1:]

    def mismatch(self, target):
        """Why it cannot be made in this tree, or None."""
        path = target / self.file
        if not path.is_file():
            return f"there is no {self.file}"
        count = ("\n" + path.read_text(encoding="utf-8")).count("\n" + self.old)
        return None if count == 1 else f"its old lines stand {count} times in {self.file}"

    @contextlib.contextmanager
    def made(self, target):
        """The tree with it, for as long as this lasts."""
        path = target / self.file
        text = path.read_text(encoding="utf-8")
        try:
            path.write_text(("\n" + text).replace("\n" + self.old, "\n" + self.new)[1:], encoding="utf-8")
            yield
        finally:
            path.write_text(text, encoding="utf-8")


def check(target, sabotage):
    """Why this sabotage is not caught as it should be, or None."""
    tests = sabotage.tests
    with sabotage.made(target):
        if tests.endswith(".py"):
            # A check by itself, which builds what it wants.
            return None if run(target, "python3", tests).returncode == 1 else f"{tests} stays green"
        build = run(target, "swift", "build", "--build-tests")
        if build.returncode != 0:
            return "it no longer compiles:\n" + "\n".join(line for line in build.stdout.splitlines() if "error:" in line)[:2000]
        test = run(target, "swift", "test", "--skip-build", "--filter", tests, BOARDRELAY_SEEDS=SEEDS, BOARDRELAY_SEED_BASE="1")
        if test.returncode == 0:
            return f"{tests} stays green"
        if "Test run with 0 tests" in test.stdout and tests not in test.stdout:
            return f"there is no test {tests}"
        return None


@contextlib.contextmanager
def tree(in_place):
    """Where sabotages may be made."""
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
    parser.add_argument("--match", action="store_true", help="only whether all of them still apply")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth one in the order of names, always the same")
    options = parser.parse_args()
    every = [Sabotage(path) for path in sorted(HERE.glob("*.sabotage"))]
    chosen = [sabotage for sabotage in every if not options.names or sabotage.name in options.names]
    if not chosen or set(options.names) - {sabotage.name for sabotage in every}:
        print("no sabotage of that name", file=sys.stderr)
        return 1
    mismatches = [(sabotage, problem) for sabotage in every if (problem := sabotage.mismatch(ROOT))]
    for sabotage, problem in mismatches:
        print(f"FAIL {sabotage.name}: {problem}")
    if mismatches:
        print(f"{len(mismatches)} of {len(every)} sabotages no longer match, none was tried")
        return 1
    if options.match:
        print(f"{len(every)} sabotages match")
        return 0
    # Whoever ends this program gets the tree as it was.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed = 0
    chosen = chosen[::options.every]
    with tree(options.in_place) as target:
        for sabotage in chosen:
            start = time.monotonic()
            try:
                problem = check(target, sabotage)
            except subprocess.TimeoutExpired:
                problem = f"what it runs does not end within {PATIENCE} s"
            failed += problem is not None
            verdict = f"{'FAIL' if problem else 'ok  '} {sabotage.name} ({time.monotonic() - start:.0f} s)"
            print(f"{verdict}: {problem}" if problem else verdict, flush=True)
    print(f"{len(chosen)} tried, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
