"""Builds a package that depends on this tree by a path, with what the tree's own debug build has made: nothing is compiled twice."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build"
BINARIES = SCRATCH / "debug"


def build(package: pathlib.Path, run) -> object:
    """What `run` makes of the command, which it gets as a list of words."""
    try:
        return run(["swift", "build", "--package-path", str(package), "--scratch-path", str(SCRATCH), "--disable-build-manifest-caching"])
    finally:
        # SwiftPM plans a build once for a folder, whichever package it was for: the tree's next build would be this one.
        (SCRATCH / "debug.yaml").unlink(missing_ok=True)
