#!/usr/bin/env python3
"""Checks any relay against docs/protocol.md: every check that needs one relay alone.

    boardrelay serve --in-memory --auth open --host 127.0.0.1 --port 7000
    python3 Tests/Interop/conformance.py relay://127.0.0.1:7000 [--only NAME] [--json] [--transport mixed|tcp|websocket] [--seed N]

The relay must admit anyone and have the default limits. It should have nothing to lose: the checks leave channels behind.
Prints one line per check and at last `N passed, N failed`. Exits with 0 if all passed, 1 if one failed, 2 if the relay
cannot be checked.
"""

import argparse
import os
import sys

from context import CHECKS, Context
from coverage import tables_agree, vectors_decode
from frame_table import table_agrees
from interop import Program, add_options
from relay_client import Ended, RelayError, Timeout, Violation

HERE = os.path.dirname(os.path.abspath(__file__))


class Conformance(Program):
    """Knows one relay, so that not every code can be caused."""

    def judge_the_whole(self):
        """What the document says of itself."""
        self.judge("[FR6 ER4] the tables of the document are those of the client", lambda: tables_agree(self))
        self.judge("[FR4 FR6] the table of frames is that of the client's codec", lambda: table_agrees(self))
        self.judge("[FR1] each vector of the document is a frame that this client reads", lambda: vectors_decode(self))

    def why_not(self):
        """Why this relay cannot be checked; None if it can."""
        try:
            context = Context(self, self.relays["main"], "first login")
            context.client(transport=None if self.transport == "mixed" else self.transport)
            context.finish()
        except RelayError as problem:
            return f"the relay refuses a login without a credential ({problem.name}): start it with --auth open"
        except (OSError, Ended, Timeout, Violation) as problem:
            return f"no relay answers there: {problem}"
        return None


def main():
    """Reads the arguments and runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", metavar="relay://HOST:PORT")
    parser.add_argument("--docs", default=os.path.join(HERE, "..", "..", "docs"), help="the folder of protocol.md")
    add_options(parser)
    arguments = parser.parse_args()
    try:
        program = Conformance(arguments, {"main": arguments.url})
    except ValueError as problem:
        parser.error(f"{arguments.url}: {problem}")
    if None in program.relays["main"]:
        parser.error(f"{arguments.url} is no address such as relay://127.0.0.1:7000")
    if not any(program.is_chosen(entry) for entry in CHECKS if entry[3] == "main"):
        parser.error(f"no check is called {arguments.only}")
    problem = program.why_not()
    if problem:
        print(f"error: {arguments.url}: {problem}", file=sys.stderr)
        sys.exit(2)
    sys.exit(program.run())


if __name__ == "__main__":
    main()
