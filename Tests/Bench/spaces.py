#!/usr/bin/env python3
"""Two loads in one space against one in each of two, at one relay: processor time for a delivery, and how late deliveries are.

    python3 Tests/Bench/spaces.py [--binary .build/release/boardrelay] [--scenario paced50] [--pairs 5] [--seconds 4]

A pair is both ways, one behind the other, each time the other one first; a relay serves both. Each load is `boardrelay bench`, unpinned, in a
process of its own on this machine. The relay's processor time is that of its process from before the loads until behind them. Nothing is
judged but that nothing was lost unsaid. Exit code 0 or 1.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WAYS = {"one space": ("a", "a"), "two spaces": ("a", "b")}


def used(pid):
    """Seconds of processors."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def loads(words, relay, address, folder, spaces):
    """(seconds of processors for a million deliveries, p50 and p99 in milliseconds)."""
    before = used(relay.pid)
    running = [subprocess.Popen(
        [words.binary, "bench", words.scenario, "--url", f"{address}/{space}", "--key-file", f"{folder}/spaces/{space}/data/host.key",
         "--seconds", str(words.seconds), "--seed", str(number + 1), "--unpinned", "--json"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for number, space in enumerate(spaces)]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    took = used(relay.pid) - before
    if any(process.returncode for process in running):
        sys.exit("a load has failed")
    rows = [json.loads(output.splitlines()[0]) for output in outputs]
    if any(row["lost_unreported"] or row["closed"] or row["refused"] for row in rows):
        sys.exit(f"something was lost unsaid, closed or refused: {rows}")
    return (1e6 * took / sum(row["delivered"] for row in rows), *(statistics.mean(row[f"p{share}_us"] for row in rows) / 1000
                                                                   for share in (50, 99)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/boardrelay"))
    parser.add_argument("--scenario", default="paced50")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    words = parser.parse_args()
    found = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        relay = subprocess.Popen(
            [words.binary, "serve", "--spaces", "--data-dir", folder, "--host", "127.0.0.1", "--port", "0", "--no-announce"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = relay.stdout.readline().strip()
            for space in "ab":
                subprocess.run([words.binary, "space", "add", space, "--data-dir", folder], check=True, capture_output=True)
            for pair in range(words.pairs):
                for way in list(WAYS) if pair % 2 == 0 else reversed(WAYS):
                    found[way].append(loads(words, relay, address, folder, WAYS[way]))
                    print("{:12} {:.2f} s per million, p50 {:.2f} ms, p99 {:.2f} ms".format(way, *found[way][-1]), file=sys.stderr)
        finally:
            relay.terminate()
            relay.wait(60)
    print(f"{'medians of ' + str(words.pairs):12} s per million  p50 ms  p99 ms")
    for way, values in found.items():
        print("{:12} {:13.2f}  {:6.2f}  {:6.2f}".format(way, *(statistics.median(column) for column in zip(*values))))
    ratios = [statistics.median(two / one for one, two in zip(*columns)) for columns in
              zip(*(list(zip(*found[way])) for way in WAYS))]
    print("{:12} {:13.2f}  {:6.2f}  {:6.2f}".format("two by one", *ratios))
    return 0


if __name__ == "__main__":
    sys.exit(main())
