#!/usr/bin/env python3
"""Whether a build is slower than another: `boardrelay bench` with one and the other in turn.

    python3 Tests/Bench/compare.py --base OLD/boardrelay --binary .build/release/boardrelay [SCENARIO …] [--pairs 3] [--seconds 3]

A regression is a row whose median ratio of pairs is over 1.10: of processor time for a delivery, or of memory for a session. Exit code 1 then.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ("fan10x50", "fan10x50k", "paced10", "paced50", "paced100", "messages", "class", "conns")
FIGURES = ("cpu_s_per_m", "rss_per_session_bytes")
BOUND = 1.10


def bench(binary, scenario, seconds):
    words = [str(binary), "bench", scenario, "--json"] + ([] if scenario == "conns" else ["--seconds", str(seconds)])
    run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
    if run.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {run.returncode}: {run.stderr.strip()}")
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    return {(row["what"], name): row[name] for row in rows if row["type"] == "row" for name in FIGURES if row.get(name)}


def ratios(words, scenario):
    found = {}
    for _ in range(words.pairs):
        base, new = bench(words.base, scenario, words.seconds), bench(words.binary, scenario, words.seconds)
        for key in base.keys() & new.keys():
            found.setdefault(key, []).append(new[key] / base[key])
    return {key: statistics.median(values) for key, values in found.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", required=True)
    parser.add_argument("--binary", default=str(ROOT / ".build" / "release" / "boardrelay"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    words = parser.parse_args()
    slower = 0
    for scenario in words.scenarios or SCENARIOS:
        found = ratios(words, scenario)
        if not found:
            sys.exit(f"{scenario}: no row that both have")
        for (what, name), ratio in found.items():
            over = ratio > BOUND
            slower += over
            print(f"{'SLOWER' if over else 'ok    '}  {scenario:10} {name:22} {ratio:.2f}  {what}", flush=True)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
