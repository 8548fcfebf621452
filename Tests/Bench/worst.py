#!/usr/bin/env python3
"""The worst cases of a relay's memory: each bound of the share table, filled by a participant with a key.

    python3 Tests/Bench/worst.py                              all bounds, with --memory 256MiB: some minutes
    python3 Tests/Bench/worst.py --only queues --only staged  these
    python3 Tests/Bench/worst.py --memory 1GiB --json         one line of JSON for each
    python3 Tests/Bench/worst.py --start                      the start with the most that the limits admit, timed
    python3 Tests/Bench/worst.py --markdown                   as the table in README.md

A relay of its own is filled for each. Its resident memory beside an idle relay, at most, is judged by what it says that it counts, at
most: no more than 1.3 times that and 8 MiB. What a bound counts is at least half of it, else nothing was shown, and at most 1.1 times it.
Exit code 0; 1 if something is more; 2 for wrong usage.
"""

import argparse
import contextlib
import json
import pathlib
import resource
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Faults" / "attack"))
from stage import MEMORY_FACTOR, MIB, Stage  # noqa: E402
from daemon import find_binary  # noqa: E402
from worst_fills import FILLS, PART  # noqa: E402
from worst_start import START_SECONDS, timed_start  # noqa: E402

SLACK, FULL = 8 * MIB, 0.5
OVER = 1.1  # what is looked at now and then goes then


class Alone(Stage):
    """One relay, with nobody else on it."""

    memory_slack = SLACK

    def __init__(self, binary, name, memory, options=()):
        self.memory = memory
        super().__init__(binary, name, 1, False, options, bounds_memory=True)

    def __enter__(self):
        self.base = pathlib.Path(self.closing.enter_context(tempfile.TemporaryDirectory(prefix="boardrelay-worst-")))
        self.relay = self.start("attacked")
        self.observe()
        return self


def measure(binary, name, memory):
    """One bound: what was held and counted, and what is wrong with it."""
    fill, began = FILLS[name], time.monotonic()
    bound = int(memory / PART * fill.parts)
    with Alone(binary, name, memory, fill.options) as stage:
        most = []
        stage.watch.sees = lambda status: most.append({**status["census"], **status.get("journal", {})}[fill.told])
        fill.run(stage, bound)
        stage.watch.look()
        stage.gates.clear()  # of the attack that it may be
        stage.grown_in_account()
        stage.at_least(f"bytes of {fill.what}", max(most), int(bound * FULL))
        stage.at_most(f"bytes of {fill.what}", max(most), int(bound * OVER))
        stage.exactly("the relay lives", stage.relay.process.poll() is None, True)
        grown, counted = stage.held()
    return {"bound": name, "what": fill.what, "boundBytes": bound, "filledBytes": max(most), "countedBytes": counted,
            "residentBytes": grown, "ratio": round(max(0, grown - SLACK) / counted, 2), "seconds": round(time.monotonic() - began, 1),
            "problems": [str(gate) for gate in stage.gates if not gate.holds]}


def mebibytes(value):
    return f"{value / MIB:.1f}"


def line(row, is_markdown):
    """A row as people read it."""
    figures = [mebibytes(row[key]) for key in ("boundBytes", "filledBytes", "countedBytes", "residentBytes")]
    cells = [row["what"], *figures, f"{row['ratio']:.2f}"]
    if is_markdown:
        return f"|{'|'.join(cells)}|"
    verdict = "ok " if not row["problems"] else "RED"
    return "\n".join([f"{verdict} {cells[0]:45} {'  '.join(f'{cell:>7}' for cell in cells[1:])}  {row['seconds']:5.1f} s",
                      *(f"    {problem}" for problem in row["problems"])])


def size(text):
    """Bytes, as `serve --memory` takes them."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", MIB), ("M", MIB), ("G", 1 << 30)):
        if text.endswith(unit) and text.removesuffix(unit).isdigit():
            return int(text.removesuffix(unit)) * factor
    raise argparse.ArgumentTypeError(f"'{text}' is no size such as 256MiB or 1GiB")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", help="default: the release build of this tree")
    parser.add_argument("--memory", type=size, default=256 * MIB, metavar="SIZE", help="of the relay, such as 64MiB. Default: 256MiB")
    parser.add_argument("--only", action="append", choices=sorted(FILLS), metavar="NAME", help=f"of {', '.join(FILLS)}; may be repeated")
    parser.add_argument("--start", action="store_true", help="time the start instead")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one object a line")
    form.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    if given.start and given.only:
        parser.error("--only names bounds, and --start fills none")
    return given


def main():
    given = arguments()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    binary, rows = find_binary(given.binary), []
    if given.start:
        rows.append(timed_start(Alone(binary, "start", given.memory)))
        row = rows[0]
        print(json.dumps(row) if given.json else
              f"{row['seconds']:.1f} s for {row['records']:,} records of boards and {mebibytes(row['metadataBytes'])} MiB of metadata, "
              f"at most {START_SECONDS} s may pass")
    else:
        if given.markdown:
            print("|filled|bound|held|counted in all|resident, beside an idle relay|less 8 MiB, by what is counted|")
            print("|---|---|---|---|---|---|")
        elif not given.json:
            words = "  ".join(f"{word:>7}" for word in ("bound", "held", "counted", "RSS", "ratio"))
            print(f"{'':49} {words}   in MiB; RSS beside an idle relay; the ratio is of what is above 8 MiB, at most {MEMORY_FACTOR}")
        for name in given.only or FILLS:
            rows.append(measure(binary, name, given.memory))
            with contextlib.suppress(BrokenPipeError):
                print(json.dumps(rows[-1]) if given.json else line(rows[-1], given.markdown), flush=True)
    for row in rows:
        if row["problems"] and (given.json or given.markdown or given.start):
            print("\n".join(row["problems"]), file=sys.stderr)
    return 1 if any(row["problems"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
