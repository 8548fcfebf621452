#!/usr/bin/env python3
"""From what run.py has written to docs/benchmarks.json, the tables in docs/benchmarks.md and the picture docs/images/benchmarks.svg.

    python3 Tests/Bench/report.py results.jsonl [MORE.jsonl …] --swift 6.3.1
    python3 Tests/Bench/report.py            # tables and picture anew, from the JSON

A figure is the median of its runs; a ratio is the median of the ratios of runs of the same repetition.
"""

import argparse
import collections
import datetime
import json
import math
import pathlib
import platform
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
KEPT = ("delivered_per_s", "cpu_s_per_m", "p50_us", "p99_us", "loss_pct", "reported_lost", "srv_cpu_pct", "gen_cpu_pct", "rss0_kb",
        "kb_per_conn", "conn_per_s", "idle_cpu_pct", "after_p99_us", "rss_max_kb", "slow_closed_after_s", "other_pct")
# What must be reached, as (name, scenario, server, figure, server it is compared with, least, aim); "x/y" and "x-y" are within a run.
# Without another server the figure stands by itself.
FIGURES = [
    ("fan10x50, 64 B: CPU, of C's", "fan10x50", "stream", "cpu_s_per_m", "rawlog", 4, 2),
    ("fan10x50: NATS' CPU, of ours", "fan10x50", "nats", "cpu_s_per_m", "stream", -3, -8),
    ("fan10x50: Redis' CPU, of ours", "fan10x50", "redis", "cpu_s_per_m", "stream", -3, -8),
    ("fan10x50k, 1 KB: NATS' CPU, of ours", "fan10x50k", "nats", "cpu_s_per_m", "stream", -2, -4),
    ("paced50: CPU, of NATS'", "paced50", "stream", "cpu_s_per_m", "nats", 0.7, 0.4),
    ("paced50, written at once: p99, of C's", "paced50", "stream-now", "p99_us", "rawlog", 2, 1.2),
    ("paced50, tick of 2 ms: p99, of C's", "paced50", "stream-2ms", "p99_us", "rawlog-2ms", 2, 1.2),
    ("paced100, tick of 2 ms: loss, %", "paced100", "stream-2ms", "loss_pct", None, 0, 0),
    ("paced100, tick of 2 ms: p99, of C's", "paced100", "stream-2ms", "p99_us", "rawlog-2ms", 3, 1.3),
    ("paced10: p50, of C's", "paced10", "stream", "p50_us", "rawlog", 3, 1.3),
    ("paced10: p99, of C's", "paced10", "stream", "p99_us", "rawlog", 10, 2),
    ("32 KB messages: CPU, of C's", "messages", "message", "cpu_s_per_m", "rawlog", 1.5, 1.1),
    ("32 KB messages: CPU, of NATS'", "messages", "message", "cpu_s_per_m", "nats", 0.7, 0.45),
    ("idle session, logged in, subscribed and present: KB", "conns", "message-bare", "kb_per_conn", None, 4, 1.5),
    ("sessions a second, of C's connections", "conns", "message-bare", "conn_per_s", "rawlog", -0.4, -0.8),
    ("a stalled reader of packets: the others' p99, after / before", "slow", "stream", "after_p99_us/p99_us", None, 2, 1.2),
    ("a stalled reader of messages: the others' p99, after / before", "slow", "message", "after_p99_us/p99_us", None, 2, 1.2),
    ("a stalled reader of packets: RSS, KB (256 KiB may wait)", "slow", "stream", "rss_max_kb-rss0_kb", None, 256 + 8 * 1024,
     256 + 2 * 1024),
    ("a stalled reader of messages: RSS, KB (8 MiB may wait)", "slow", "message", "rss_max_kb-rss0_kb", None, 16 * 1024, 10 * 1024),
    ("RSS at start, KB", "conns", "message-bare", "rss0_kb", None, 32 * 1024, 20 * 1024),
]
NAMES = {"rawlog": "C, shared log", "rawlog-2ms": "C, tick of 2 ms", "stream": "this relay, packets",
         "stream-now": "this relay, written at once",
         "stream-2ms": "this relay, tick of 2 ms", "message": "this relay, messages", "message-bare": "this relay, sessions", "nats": "NATS", "redis": "Redis",
         "mosquitto": "Mosquitto", "node-ws": "Node, ws"}
COLOURS = {"rawlog": "#8a8f98", "stream": "#5b4be0", "message": "#5b4be0", "nats": "#2f9e6e", "redis": "#d2593f", "mosquitto": "#b8862b",
           "node-ws": "#7aa7d9"}


def value(row, figure):
    if "/" in figure:
        above, below = (row.get(name) for name in figure.split("/"))
        return above / below if above and below else None
    if "-" in figure:
        most, least = (row.get(name) for name in figure.split("-"))
        return most - least if most and least else None
    return row.get(figure)


def median(values):
    values = [item for item in values if item is not None]
    return round(statistics.median(values), 4) if values else None


def gather(paths):
    runs = collections.defaultdict(dict)
    for path in paths:
        for text in pathlib.Path(path).read_text().splitlines():
            run = json.loads(text)
            if "error" in run:
                sys.exit(f"{path}: {run['label']} {run.get('scn')}: {run['error']}")
            runs[run["scn"], run["label"]][run["rep"]] = run
    rows = [
        {"scenario": scenario, "server": server, "runs": len(of),
         **{name: median([run.get(name) for run in of.values()]) for name in KEPT if any(name in run for run in of.values())}}
        for (scenario, server), of in sorted(runs.items())
    ]
    figures = []
    for name, scenario, server, figure, other, least, aim in FIGURES:
        of, to = runs.get((scenario, server), {}), runs.get((scenario, other), {})
        if other is None:
            found = median([value(run, figure) for run in of.values()])
        else:
            found = median([value(of[rep], figure) / value(to[rep], figure) for rep in of.keys() & to.keys() if value(to[rep], figure)])
        figures.append({"figure": name, "value": found, "runs": len(of), "least": abs(least), "aim": abs(aim), "more_is_better": least < 0})
    return rows, figures


def machine(swift):
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    cores = sum(line.startswith("processor") for line in open("/proc/cpuinfo"))
    return {"processor": cpu, "cores": cores, "kernel": platform.release(), "swift": swift}


def shown(number):
    if number is None:
        return "–"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.1f}" if abs(number) >= 10 else f"{number:.3g}"


def verdict(figure):
    if figure["value"] is None:
        return "not measured"
    sign = -1 if figure["more_is_better"] else 1
    if sign * figure["value"] <= sign * figure["aim"]:
        return "aim"
    return "least" if sign * figure["value"] <= sign * figure["least"] else "**short**"


def tables(data):
    machine = data["machine"]
    place = f"{machine['processor']}, {machine['cores']} cores, Linux {machine['kernel']}, Swift {machine['swift']}"
    lines = [f"Measured on {data['date']}: {place}.", "", "|figure|reached|least|aim|", "|---|---|---|---|"]
    for figure in data["figures"]:
        sign = "≥" if figure["more_is_better"] else "≤"
        lines.append(f"|{figure['figure']}|{shown(figure['value'])}|{sign} {shown(figure['least'])}|{sign} {shown(figure['aim'])}|")
    return "\n".join(lines)


def picture(data):
    """Bars of server CPU-seconds per million deliveries, to a logarithmic scale."""
    groups = [(title, scenario, servers) for title, scenario, servers in [
        ("10 to 50, 64 bytes, as fast as it goes", "fan10x50", ("rawlog", "stream", "nats", "redis", "mosquitto", "node-ws")),
        ("10 to 50, 1 KB, as fast as it goes", "fan10x50k", ("rawlog", "stream", "nats", "redis")),
        ("10 draw at once", "paced10", ("rawlog", "stream", "nats", "redis", "mosquitto", "node-ws")),
        ("50 draw at once", "paced50", ("rawlog", "stream", "nats", "redis")),
        ("drawings of 32 KB, 10 to 50", "messages", ("rawlog", "message", "nats", "redis", "mosquitto", "node-ws")),
    ]]
    cost = {(row["scenario"], row["server"]): row["cpu_s_per_m"] for row in data["rows"] if row.get("cpu_s_per_m")}
    low, high, left, width, bar = 0.01, 20, 190, 420, 18
    parts, y = [], 40
    for title, scenario, servers in groups:
        present = [server for server in servers if (scenario, server) in cost]
        if not present:
            continue
        y += 26
        parts.append(f'<text x="16" y="{y}" class="title">{title}</text>')
        y += 8
        for server in present:
            seconds = cost[scenario, server]
            length = width * (math.log10(max(seconds, low)) - math.log10(low)) / (math.log10(high) - math.log10(low))
            parts.append(f'<text x="{left - 8}" y="{y + 13}" class="name">{NAMES[server]}</text>')
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 4}" rx="2" fill="{COLOURS[server]}"/>')
            parts.append(f'<text x="{left + length + 6:.1f}" y="{y + 12}" class="value">{shown(seconds)} s</text>')
            y += bar
    style = ("text{font:12px system-ui,sans-serif;fill:#24262b}.title{font-weight:600}.name{text-anchor:end}.value{fill:#5a5f69}"
             "@media(prefers-color-scheme:dark){text{fill:#e8e9ec}.value{fill:#a3a8b3}}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {y + 20}" role="img" '
            'aria-label="Processor time of relays for a million deliveries">'
            f'<style>{style}</style><text x="16" y="26" class="title">Processor time of the relay for a million deliveries: less is better; the scale is logarithmic</text>'
            + "".join(parts) + "</svg>\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="*")
    parser.add_argument("--swift", default="")
    words = parser.parse_args()
    path = DOCS / "benchmarks.json"
    if words.results:
        rows, figures = gather(words.results)
        data = {"date": datetime.date.today().isoformat(), "machine": machine(words.swift), "figures": figures, "rows": rows}
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    data = json.loads(path.read_text())
    document = DOCS / "benchmarks.md"
    before, rest = document.read_text().split("<!-- tables -->\n", 1)
    after = rest.split("<!-- end of tables -->\n", 1)[1]
    document.write_text(f"{before}<!-- tables -->\n{tables(data)}\n<!-- end of tables -->\n{after}")
    (DOCS / "images" / "benchmarks.svg").write_text(picture(data))
    short = [figure["figure"] for figure in data["figures"] if verdict(figure) in ("**short**", "not measured")]
    for name in short:
        print(f"short of the least, or not measured: {name}", file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
