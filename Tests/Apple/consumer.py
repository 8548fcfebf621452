#!/usr/bin/env python3
"""A package that depends on a release of this one builds and runs, under both of SwiftPM's build systems.

    python3 Tests/Apple/consumer.py [--budget SECONDS] [--build-system native|swiftbuild]

The sources become a repository with a tag, and the package in `consumer` depends on that version: SwiftPM has rules for a version that a
checkout is spared. Xcode builds as `swiftbuild` does.
The program of that package starts a relay and two clients; the one must print what the other has sent.

Exit codes: 0 all is well, 1 something is not, 2 the command line is wrong, 124 over the budget.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SYSTEMS = ["native", "swiftbuild"]
SAID = "ben: hello\n"
RUN_SECONDS = 60


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=900, metavar="SECONDS", help="how long it may take (default: %(default)s)")
    parser.add_argument("--build-system", choices=SYSTEMS, help="this one only")
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.budget
    with tempfile.TemporaryDirectory(prefix="consumer-") as name:
        folder = pathlib.Path(name)
        # What SwiftPM reads of a dependency: no tests. A resource of the program is one of the docs' examples.
        release = folder / "whiteboard-relay"
        release.mkdir()
        shutil.copy(ROOT / "Package.swift", release)
        for part in ("Sources", "docs/examples"):
            shutil.copytree(ROOT / part, release / part)
        for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "release"], ["tag", "1.0.0"]):
            subprocess.run(["git", "-c", "user.name=consumer", "-c", "user.email=consumer@localhost", *words], cwd=release, check=True)
        shutil.copytree(HERE / "consumer", folder / "app")
        manifest = folder / "app" / "Package.swift"
        manifest.write_text(manifest.read_text().replace("REPOSITORY", str(release)))
        try:
            systems = [arguments.build_system] if arguments.build_system else SYSTEMS
            # Both are tried even if the first one is red.
            return max([builds_and_runs(folder, system, deadline) for system in systems])
        except subprocess.TimeoutExpired as late:
            print(f"error: not done within {arguments.budget:g} s: {late.cmd}", file=sys.stderr)
            return 124


def builds_and_runs(folder: pathlib.Path, system: str, deadline: float) -> int:
    start = time.monotonic()
    build = ["swift", "build", "--build-system", system, "--scratch-path", str(folder / system)]

    def run(command: list[str], most: float = float("inf")) -> subprocess.CompletedProcess:
        left = min(most, max(0.1, deadline - time.monotonic()))
        return subprocess.run(command, cwd=folder / "app", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=left)

    built = run(build)
    if built.returncode < 0:
        # SwiftPM 6.3.1 itself ends with a segmentation fault now and then, in its task construction: that says nothing about the package.
        print(f"{system}: SwiftPM was ended by signal {-built.returncode}; the build is tried once more", file=sys.stderr)
        shutil.rmtree(folder / system, ignore_errors=True)
        built = run(build)
    if built.returncode != 0:
        print(f"error: {system}: the build ended with {built.returncode}:\n{built.stdout[-6000:]}", file=sys.stderr)
        return 1
    place = run([*build, "--show-bin-path"]).stdout.strip()
    said = run([f"{place}/consumer"], RUN_SECONDS)
    if said.returncode != 0 or said.stdout != SAID:
        print(f"error: {system}: expected {SAID!r} and 0, got {said.stdout!r} and {said.returncode}", file=sys.stderr)
        return 1
    print(f"{system}: built and run, {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
