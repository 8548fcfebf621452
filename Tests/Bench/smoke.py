#!/usr/bin/env python3
"""Every load of `boardrelay bench` for a moment, and what its account says: nothing is lost without a word, nothing at all
by a reader that keeps up, no connection is closed that should not be. Figures are printed, and judged by nobody.

    python3 Tests/Bench/smoke.py --binary .build/release/boardrelay [SCENARIO …]

`join` and `storage` have no account of this kind, only their verdict. A load that fails while the machine did not let it send
for a tenth of a second, which is longer than a relay has to keep 1 GB/s, has shown nothing of readers that keep up: it is tried
again, twice at most, and says so. What is lost without a word, twice there or out of order is wrong in any run.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 120
HELD_UP_US = 100_000
TRIES = 3
LOADS = {
    "fan10x50": [], "fan10x50k": [], "paced10": [], "paced50": [], "paced100": [], "messages": [], "slow": [], "class": [],
    "conns": ["--sessions", "2000"],
    "lesson": ["--recording", str(ROOT / "Tests" / "Samples" / "lesson.ndjson")],
}
OTHERS = {"join": [], "storage": []}


class Wrong(Exception):
    pass


class HeldUp(Wrong):
    """Something is wrong in a run in which the load itself was held up."""


def expect(holds, text):
    if not holds:
        raise Wrong(text)


def bench(binary, scenario, options):
    """Rows and verdict of one run."""
    command = [str(binary), "bench", scenario, "--seconds", "5", "--json", "--verdict", *options]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    objects = [json.loads(line) for line in run.stdout.splitlines()]
    rows = [item for item in objects if item["type"] == "row"]
    verdicts = [item for item in objects if item["type"] == "verdict"]
    expect(rows and len(verdicts) == 1, f"exit code {run.returncode}, {len(rows)} rows: {run.stderr.strip()}")
    expect(run.returncode == (0 if verdicts[0]["ok"] else 1), f"exit code {run.returncode}, but the verdict is {verdicts[0]['ok']}")
    # Whatever the machine did.
    for row in rows:
        for name in ("lost_unreported", "duplicates", "reorders"):
            expect(row.get(name, 0) == 0, f"{row['what']}: {name} is {row.get(name)}")
    late = max(row.get("lag_max_us", 0) for row in rows)
    if run.returncode != 0 and late > HELD_UP_US:
        raise HeldUp(f"{'; '.join(verdicts[0]['problems'])} (the load was held up for {late / 1000:.0f} ms)")
    expect(run.returncode == 0, "; ".join(verdicts[0]["problems"]))
    return rows


def tried(binary, scenario, options):
    for rest in range(TRIES - 1, -1, -1):
        try:
            return bench(binary, scenario, options)
        except HeldUp as problem:
            if rest == 0:
                raise
            print(f"again   {scenario:11}          {problem}", flush=True)


def check_load(row):
    for name in ("lost_unreported", "lost_by_keepers", "duplicates", "reorders", "closed"):
        expect(row[name] == 0, f"{row['what']}: {name} is {row[name]}")
    expect(row["delivered"] > 0, f"{row['what']}: nothing was delivered")
    expect(row["delivered"] + row["lost_reported"] == row["expected"],
           f"{row['what']}: {row['expected']} expected, {row['delivered']} delivered")


def check_slow(rows):
    packets, messages = rows
    expect(packets["stalled_closed"] == 0 and packets["stalled_lost_reported"] > 0, "a stalled reader of packets is shed, and told")
    expect(messages["stalled_closed_as"] == "slowConsumer" and messages["stalled_resumed"] == 1,
           "a stalled reader of messages is closed as slowConsumer, and resumed")
    expect(messages["stalled_delivered"] > 0 and "caught_up_ms" in messages, "it catches up")


def line(rows):
    words = ("sessions_per_s", "rss_per_session_bytes", "delivered_per_s", "cpu_s_per_m", "p50_us", "p99_us", "lag_p99_us", "after_p99_us",
             "caught_up_ms")
    return " | ".join(" ".join(f"{word} {row[word]:g}" for word in words if word in row) for row in rows if words[2] in row
                      or words[0] in row)


def check_usage(binary):
    """A wrong command line is 2, and prints no data."""
    for words in (["bench"], ["bench", "dance"], ["bench", "paced10", "--sessions", "5"], ["bench", "lesson"]):
        run = subprocess.run([str(binary), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        expect(run.returncode == 2 and run.stdout == "", f"{' '.join(words)}: exit code {run.returncode}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=str(ROOT / ".build" / "release" / "boardrelay"))
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    words = parser.parse_args()
    unknown = [name for name in words.scenarios if name not in LOADS | OTHERS]
    if unknown:
        parser.error(f"no such scenario: {', '.join(unknown)}")
    begin, wrong = time.monotonic(), 0
    try:
        check_usage(words.binary)
    except Wrong as problem:
        print(f"FAILED  usage       {problem}")
        wrong += 1
    for name in words.scenarios or LOADS | OTHERS:
        start = time.monotonic()
        try:
            rows = tried(words.binary, name, (LOADS | OTHERS)[name])
            if name in LOADS:
                for row in rows:
                    check_load(row)
            if name == "slow":
                check_slow(rows)
            print(f"ok      {name:11} {time.monotonic() - start:5.1f} s  {line(rows)}", flush=True)
        except (Wrong, subprocess.TimeoutExpired, ValueError) as problem:
            print(f"FAILED  {name:11} {time.monotonic() - start:5.1f} s  {problem}", flush=True)
            wrong += 1
    print(f"{time.monotonic() - begin:.0f} s, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
