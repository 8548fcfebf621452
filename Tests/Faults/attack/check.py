#!/usr/bin/env python3
"""Attacks on a relay by one who has the join key, each with a canary pair and a control: what the innocent must not notice.

    python3 Tests/Faults/attack/check.py [H1 H4 …] [--seed N] [--binary PATH] [--json] [--long] [--pairs 5] [--judge-latency]

Each file of this folder is an attack; its first line says which. It runs against one of two relays on this machine. On each of them two
others exchange 60 messages a second: the pair on the other relay is the control, in the same process and at the same time, so that
what the machine does meanwhile happens to both.

The attacker stands for other machines: when it begins, it takes only the processor that relays and pairs leave.

Red is what was counted: bytes queued or resident, refusals and ends of innocents, guesses that nobody counted, newcomers who were not
served. Latencies are printed as p50/p99 in milliseconds, of all messages of `--pairs` runs, and how many times as long the p99 is as the
control's. `--judge-latency` wants at most twice as long. `--long` does all in the size in which it was found. Exit code 0 or 1.
"""

import argparse
import concurrent.futures
import importlib
import json
import multiprocessing
import pathlib
import random
import resource
import statistics
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import stage as theatre  # noqa: E402
from stage import Gate, Stage, shown  # noqa: E402
from daemon import find_binary  # noqa: E402

ATTACKS = {"H1": "answers", "H1-join": "snapshots", "H2": "metadata", "H3a": "selections", "H3b": "states", "H3c-frames": "frames",
           "H3c-flows": "flows", "H3c-index": "index", "H4": "board_reads", "H5": "claims", "M1": "descriptors", "M2": "places",
           "M3": "guesses", "low": "trifles", "history": "history", "queues": "queues", "slivers": "slivers", "keyless": "keyless",
           "held": "held", "directs": "directs", "leases": "leases", "authors": "authors", "catchers": "catchers", "hostile": "hostile"}
LONG = {"H1-join"}  # gigabytes of answers
RATIO_MAX = 2.0


def run(name, given, binary):
    """One attack in a process of its own, which the attack makes nicer than all it starts."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as apart:
        return apart.submit(attack, name, given, binary).result()


def attack(name, given, binary):
    """Its gates, its figures, its latencies, and how long it took."""
    module, began = importlib.import_module(ATTACKS[name]), time.monotonic()
    with Stage(binary, name, given.seed, given.long, **getattr(module, "STAGE", {})) as stage:
        try:
            module.attack(stage)
        except Exception as problem:  # an attack that does not come to its end has shown nothing
            traceback.print_exc(file=sys.stderr)
            stage.gates.append(Gate(f"the attack came to its end ({type(problem).__name__}: {problem})", False, "==", True))
        stage.finish(getattr(module, "WAITING_MAX", None))
        if hasattr(module, "after") and stage.relay.process.poll() is None:
            module.after(stage)
    return stage.gates, stage.figures, stage.samples, time.monotonic() - began


def summary(name, runs, judges_latency):
    """What several runs of one attack say together."""
    gates = [gate for gates, *_ in runs for gate in gates]
    figures = {}
    for key in runs[0][1]:
        figures[key] = medians([found.get(key) for _, found, *_ in runs])
    for what in ("messages", "records"):
        attacked, control = figures[what] = [theatre.quantiles([took for *_, samples, _ in runs for took in samples[what][whose]])
                                             for whose in (0, 1)]
        if attacked and control:
            figures[f"{what} p99 ratio"] = round(attacked[1] / control[1], 2)
    if judges_latency:
        gates.append(Gate("p99 of messages by that of the control", figures.get("messages p99 ratio", 1e9), "<=", RATIO_MAX))
    title = importlib.import_module(ATTACKS[name]).__doc__.splitlines()[0].partition(": ")[2]
    return {"attack": name, "title": title, "holds": all(gate.holds for gate in gates), "seconds": round(sum(took for *_, took in runs), 1),
            "gates": [vars(gate) for gate in gates], "red": [str(gate) for gate in gates if not gate.holds], "figures": figures}


def medians(values):
    """Of numbers, one by one where they stand in lists; of words the first."""
    values = [value for value in values if value is not None]
    if not values or isinstance(values[0], str):
        return values[0] if values else None
    if isinstance(values[0], list):
        return [medians([value[at] for value in values]) for at in range(len(values[0]))]
    return statistics.median(value for value in values if not isinstance(value, str))


def milliseconds(pair):
    """p50/p99 under attack, and the control's."""
    return " ".join(f"{one[0]:.1f}/{one[1]:.1f}" if one else "-" for one in pair or (None, None))


def report(one):
    figures = one["figures"]
    print(f"{one['attack']:4} {'ok ' if one['holds'] else 'RED'} {one['seconds']:6.1f} s  {len(one['gates']):3} gates  "
          f"messages {milliseconds(figures.get('messages'))} ×{figures.get('messages p99 ratio', '-')}  "
          f"records {milliseconds(figures.get('records'))} ×{figures.get('records p99 ratio', '-')}  {one['title']}", flush=True)
    for key, value in figures.items():
        if not key.startswith(("messages", "records p")) and key != "records":
            print(f"       {key}: {' / '.join(map(shown, value)) if isinstance(value, list) else shown(value)}", flush=True)
    for line in one["red"]:
        print(f"  FAIL {line}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=f"of {' '.join(ATTACKS)}; all without one ({' and '.join(sorted(LONG))} with --long)")
    parser.add_argument("--binary")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--judge-latency", action="store_true")
    given = parser.parse_args()
    if unknown := [name for name in given.attacks if name not in ATTACKS]:
        parser.error(f"no such attack: {' '.join(unknown)}")
    theatre.judges_latency = given.judge_latency
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    binary, found = find_binary(given.binary), []
    if not given.json:
        print(f"seed {given.seed}; ms as p50/p99 under attack, then of the control, then × of the p99", flush=True)
    for name in given.attacks or [name for name in ATTACKS if given.long or name not in LONG]:
        found.append(summary(name, [run(name, given, binary) for _ in range(given.pairs)], given.judge_latency))
        if not given.json:
            report(found[-1])
    if given.json:
        print(json.dumps({"seed": given.seed, "binary": str(binary), "attacks": found}))
    red = [one["attack"] for one in found if not one["holds"]]
    print(f"red: {' '.join(red)}" if red else "all hold", file=sys.stderr if given.json else sys.stdout)
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
