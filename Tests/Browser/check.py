#!/usr/bin/env python3
"""The whiteboard page in real browsers, before a real relay: Chromium and WebKit, of which iPads have the second.

    python3 Tests/Browser/check.py --binary PATH [--browser chromium|webkit|both] [--by-turns] [--every N] [--only TEXT] [--screenshots DIR]

One line for each check, then counts; exit code 1 if anything is red or nothing was checked. What the checks need
(tools.py) is asked for first; where `CI` is set a missing tool is red, elsewhere it is told.
"""

import argparse
import pathlib
import signal
import sys
import threading
import time
import traceback

import tools

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
THEMES = ("checks_drawing", "checks_hands", "checks_shapes", "checks_links", "checks_rights", "checks_page", "checks_texts", "checks_edit",
          "checks_boards", "checks_together", "checks_replay", "checks_paper", "checks_everyone", "checks_languages", "checks_dialogs",
          "checks_lesson", "checks_look", "checks_spaces")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="boardrelay; a build of this tree if not given")
    parser.add_argument("--browser", choices=("chromium", "webkit", "both"), default="both")
    parser.add_argument("--by-turns", action="store_true", help="each check in one of the two browsers, always the same one")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one check in N, always the same ones (default: %(default)s)")
    parser.add_argument("--only", default="", help="checks whose name contains this")
    parser.add_argument("--screenshots", type=pathlib.Path, help="keeps pictures of the page in this folder")
    options = parser.parse_args()
    engines = ["chromium", "webkit"] if options.browser == "both" else [options.browser]
    lacking = tools.missing(engines)
    if lacking:
        print(f"FAIL: this machine lacks {', '.join(lacking)}")
        return 1
    return run(options, engines)


def run(options, engines):
    """Every check that is asked for; the exit code."""
    # Whoever ends this ends the browsers with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # After the tools: these load the drivers' library.
    import stage
    from relay import find_binary
    for theme in THEMES:
        __import__(theme)
    binary = find_binary(options.binary)
    screen = tools.Screen()
    report = Report()
    everyone = [stage.Browsers(screen) for _ in engines]

    def check(browsers, group, title, function):
        name = f"{'+'.join(group)}: {title}"
        if options.only in name:
            report.time(name, lambda: attempt(function, stage.Stage(binary, browsers, group, options.screenshots)))

    def alone(browsers, engine):
        for one in stage.CHECKS:
            if not one.together and one.is_for(engine, options.by_turns) and one.is_among(options.every):
                check(browsers, [engine], one.title, one.function)

    try:
        # Browsers wait most of the time: the engines take their turns side by side.
        sides = [threading.Thread(target=alone, args=pair, daemon=True) for pair in zip(everyone, engines)]
        for side in sides:
            side.start()
        for side in sides:
            side.join()
        for one in stage.CHECKS:
            if one.together and len(engines) == 2 and one.is_among(options.every):
                check(everyone[0], engines, one.title, one.function)
    finally:
        for browsers in everyone:
            browsers.end()
        screen.end()
    return report.end()


class Report:
    """One line for each check, from any thread."""

    def __init__(self):
        self.lock, self.passed, self.failed, self.began = threading.Lock(), 0, 0, time.monotonic()

    def time(self, name, check):
        start = time.monotonic()
        problem = check()
        seconds = time.monotonic() - start
        with self.lock:
            if problem is None:
                self.passed += 1
                print(f"ok {name} ({seconds:.1f} s)", flush=True)
            else:
                self.failed += 1
                print(f"FAIL {name}: {problem} ({seconds:.1f} s)", flush=True)

    def end(self):
        """Prints the counts; the exit code."""
        print(f"{self.passed} passed, {self.failed} failed, in {time.monotonic() - self.began:.0f} s")
        if self.passed == 0 and self.failed == 0:
            print("FAIL: nothing was checked")
        return 1 if self.failed or self.passed == 0 else 0


def attempt(function, stage):
    """What is wrong, or None. Whatever a check does, no page may complain meanwhile."""
    try:
        function(stage)
        complaints = stage.complaints()
        return f"{len(complaints)} complaints: " + " | ".join(complaints[:5]) if complaints else None
    except Exception as problem:  # a check that breaks is red, and the next one runs
        place = next((f"{frame.name}:{frame.lineno}" for frame in reversed(traceback.extract_tb(problem.__traceback__))
                      if "checks_" in frame.filename), "")
        shown = str(problem).split("\nStacktrace")[0].strip()
        try:
            shown += "".join(f" | {line}" for line in stage.complaints()[:3])
            for number, page in enumerate(stage.pages):
                stage.picture(page, f"red-{function.__name__}-{number}")
        except Exception:
            pass
        return f"{type(problem).__name__} at {place}: {shown}"
    finally:
        stage.end()


if __name__ == "__main__":
    sys.exit(main())
