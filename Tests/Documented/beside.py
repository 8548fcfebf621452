"""Builds a package that depends on this tree by a path, with what the tree's own debug build has made: nothing is compiled twice.

SwiftPM plans a build once for a folder, whichever package it was for: the tree's own plan is put back, or its next build would be this one.
"""
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build"
BINARIES = SCRATCH / "debug"
PLANS = [SCRATCH / "debug.yaml", SCRATCH / "workspace-state.json"]


def build(package: pathlib.Path, run) -> object:
    """What `run` makes of the command, which it gets as a list of words."""
    kept = {plan: plan.with_suffix(".kept") for plan in PLANS if plan.exists()}
    for plan, copy in kept.items():
        shutil.copy2(plan, copy)
    try:
        return run(["swift", "build", "--package-path", str(package), "--scratch-path", str(SCRATCH), "--disable-build-manifest-caching"])
    finally:
        for plan, copy in kept.items():
            copy.replace(plan)
