#!/usr/bin/env python3
"""Named checks of a running relay against docs/protocol.md, with a client written from that document.

    interop.py --url relay://127.0.0.1:7000 --docs docs --small-url relay://127.0.0.1:7001
               --broken-url relay://127.0.0.1:7002 --narrow-url relay://127.0.0.1:7003
               --boards-url relay://127.0.0.1:7004 --standby-url relay://127.0.0.1:7006
               --access-url relay://127.0.0.1:7005 --keys JOIN,HOST --token-secret HEX
               [--json] [--transport mixed|tcp|websocket] [--seed N] [--only NAME]

Prints one line per check and at last `N passed, N failed`; exits with 0 or 1. The tables "Frame types",
"Limits" and "Codes" are read from the document: every frame type has to be sent or received and every
code to be caused as the document says. The small relay holds 8 connections, 4 channels of a kind and
3 devices per stream channel; when this program prints READY-FOR-SHUTDOWN, that relay is to be stopped.
The broken relay's data folder was removed while it ran; in the narrow one 1 byte of changes may wait
to be stored in its data folder, and it keeps no boards. The boards relay has a data folder and the bounds
of BOARDS in bounds.py; when this program prints READY-FOR-RESTART, it is to be stopped and started again with the
same folder and port. The access relay has these keys, and takes the tokens that this secret has signed; when this
program prints READY-FOR-ROTATION, its join key is to be drawn anew and the sessions of the old one ended. The standby relay
stands by for the space main, which relay://192.0.2.7:7420 serves.

conformance.py runs what needs one relay alone, against any relay.
"""

import argparse
import json
import os
import secrets
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlparse

import checks  # noqa: F401  (registers them)
from bounds import TRANSPORTS, WORKERS
from context import CHECKS, Context
from coverage import codes_covered, frames_covered, rules_covered, tables_agree, vectors_decode
from frame_table import table_agrees
from document import Document, Tracker
from http_checks import Failed
from relay_client import Ended, RelayError, Timeout, Violation


class Program:
    """Runs the checks and prints their outcome."""

    def __init__(self, arguments, urls, keys=(), token_secret=b""):
        self.as_json, self.only = arguments.json, arguments.only
        self.keys, self.token_secret = keys, token_secret
        self.relays = {name: self.address(url) for name, url in urls.items()}
        self.document, self.tracker = Document(arguments.docs), Tracker()
        self.transport, self.seed = arguments.transport, arguments.seed
        self.lock = threading.Lock()
        self.passed = self.failed = 0

    @staticmethod
    def address(url):
        """(host, port) of a relay:// URL."""
        parts = urlparse(url)
        return parts.hostname, parts.port

    def say(self, line):
        """One line, at once."""
        with self.lock:
            print(line, flush=True)

    def report(self, name, problem, notes, seconds):
        """One line for a check."""
        with self.lock:
            self.passed, self.failed = self.passed + (problem is None), self.failed + (problem is not None)
        if self.as_json:
            self.say(json.dumps({"check": name, "passed": problem is None, "problem": problem,
                                 "notes": notes, "seconds": round(seconds, 2)}, ensure_ascii=False))
            return
        self.say(f"{'ok  ' if problem is None else 'FAIL'} {name} ({seconds:.1f} s)"
                 + (f"\n     {problem}" if problem else "") + "".join(f"\n     note: {note}" for note in notes))

    def judge(self, name, action, context=None):
        """Runs one check and reports it."""
        began, problem = time.monotonic(), None
        for step in (action, context.finish if context else lambda: None):
            try:
                step()
            except (Failed, Violation, RelayError, Ended, Timeout, OSError) as caught:
                text = f"{type(caught).__name__}: {caught}"
                problem = text if problem is None else problem if text in problem else f"{problem}; {text}"
            except Exception as caught:  # a mistake of this program
                place = traceback.extract_tb(caught.__traceback__)[-1]
                problem = problem or f"{os.path.basename(place.filename)}:{place.lineno}: {type(caught).__name__}: {caught}"
        notes = list(dict.fromkeys(context.notes))[:5] if context else []
        self.report(name, problem, notes, time.monotonic() - began)

    def run_check(self, entry):
        """One registered check with a context of its own."""
        name, function, _, relay = entry
        context = Context(self, self.relays[relay], name)
        self.judge(name, lambda: function(context), context)

    def run_checks(self, entries):
        """One after the other."""
        for entry in entries:
            self.run_check(entry)

    def is_chosen(self, entry):
        """Whether a check is one of those that were asked for."""
        return not self.only or self.only in entry[0] or self.only == entry[1].__name__

    def run(self):
        """All checks: slow ones and each relay but the main one in threads of their own, the rest in a pool."""
        began = time.monotonic()
        self.say(f"     transport {self.transport}, seed {self.seed}")
        chosen = [entry for entry in CHECKS if self.is_chosen(entry)]
        threads = [threading.Thread(target=self.run_check, args=(entry,)) for entry in chosen
                   if entry[2] and entry[3] == "main"]
        for relay in self.relays:
            own = [entry for entry in chosen if entry[3] == relay != "main"]
            threads.append(threading.Thread(target=self.run_checks, args=(own,)))
        for thread in threads:
            thread.start()
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(self.run_check, [entry for entry in chosen if not entry[2] and entry[3] == "main"]))
        for thread in threads:
            thread.join()
        self.judge_the_whole()
        self.say(f"     {time.monotonic() - began:.1f} s; limits of the table no check used: "
                 f"{', '.join(sorted(set(self.document.limits) - self.tracker.limits_used)) or 'none'}")
        for transport in TRANSPORTS if self.transport == "mixed" and not self.only else ():
            missing = (set(self.document.frames) | self.tracker.proved) - self.tracker.met[transport]
            self.say(f"     frames and codes that this seed did not meet over {transport}: {', '.join(sorted(missing)) or 'none'}")
        self.say(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0

    def judge_the_whole(self):
        """What only all checks together show."""
        self.judge("[FR6 ER4] the tables of the document are those of the client", lambda: tables_agree(self))
        self.judge("[FR4 FR6] the table of frames is that of the client's codec", lambda: table_agrees(self))
        self.judge("[FR1] each vector of the document is a frame that this client reads", lambda: vectors_decode(self))
        if not self.only:
            self.judge("[coverage] every frame type of the document was seen", lambda: frames_covered(self))
            self.judge("[coverage] every rule of the document is judged", lambda: rules_covered(self))
            self.judge("[coverage] every code of the document was caused", lambda: codes_covered(self))


def add_options(parser):
    """What every run may be told."""
    parser.add_argument("--json", action="store_true", help="one JSON object per check")
    parser.add_argument("--transport", choices=("mixed", *TRANSPORTS), default="mixed",
                        help="what the clients use; mixed: of two in a row each one")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32), help="which of them begins, and how a WebSocket is used")
    parser.add_argument("--only", help="only checks whose name contains this")


def main():
    """Reads the arguments and runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    others = ("small", "broken", "narrow", "boards", "access", "standby")
    for relay in others:
        parser.add_argument(f"--{relay}-url", required=True)
    parser.add_argument("--keys", required=True, metavar="JOIN,HOST")
    parser.add_argument("--token-secret", required=True, metavar="HEX")
    parser.add_argument("--docs", required=True)
    add_options(parser)
    arguments = parser.parse_args()
    urls = {"main": arguments.url, **{relay: getattr(arguments, f"{relay}_url") for relay in others}}
    sys.exit(Program(arguments, urls, arguments.keys.split(","), bytes.fromhex(arguments.token_secret)).run())


if __name__ == "__main__":
    main()
