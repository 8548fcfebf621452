#!/usr/bin/env python3
"""Every public symbol has a documentation comment, and of those that apps on the client see none names a rule of docs/protocol.md: read
from the symbol graph that the compiler writes. No product has more public symbols than is written here: a reader meets them all. What
RelayRTM lacks of the hosted SDK (Tests/Moving/hosted.tsv) stands in docs/moving-from-agora.md.

    python3 Tests/Documented/check.py

What the compiler or a protocol's own documentation speaks for is not asked for: synthesized members, and members that
only fulfil a protocol of the standard library (`==`, `hash(into:)`, `description`, `makeAsyncIterator` …).
A case without a comment passes if its type's comment is there and the case carries no values.
"""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Moving"))
sys.dont_write_bytecode = True
import shapes  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "moving-from-agora.md"
# What a user of the products can see: the products and what they re-export.
MODULES = [
    "RelayServer", "RelayClient", "WhiteboardModel", "RelayRTM", "RelayClientCore", "RelayRights", "RelayCore", "RelayIO", "RelaySystem",
    "RelayWire", "RelayMonitoring", "RelayTokens", "RelayTesting",
]
# What an app that imports RelayClient sees.
CLIENT = ["RelayClient", "RelayClientCore", "RelayRights", "RelayIO", "RelayWire"]
APPS = {*CLIENT, "WhiteboardModel", "RelayTesting"}
# The modules that are a product's own, and how many public symbols they may have: fewer, or as many as the hosted SDK.
PRODUCTS = {
    "RelayClient": (CLIENT, 576), "RelayServer": (["RelayServer", "RelayCore"], 283), "RelayRTM": (["RelayRTM"], 530),
    "WhiteboardModel": (["WhiteboardModel"], 20), "BoardFormat": (["BoardFormat"], 176), "RelayMonitoring": (["RelayMonitoring"], 52),
    "RelayTokens": (["RelayTokens"], 20), "RelayTesting": (["RelayTesting"], 27),
}
RULE = re.compile(r"\[[A-Z]{2}[0-9]+[^\]]*\]")
OF_PROTOCOLS = {
    "description", "rawValue", "init(rawValue:)", "hash(into:)", "==(_:_:)", "<(_:_:)", "makeAsyncIterator()", "next()",
    "init(from:)", "encode(to:)", "+(_:_:)", "-(_:_:)", "advanced(by:)", "duration(to:)", "minimumResolution",
}


def main() -> int:
    command = ["swift", "package", "dump-symbol-graph", "--minimum-access-level", "public", "--skip-synthesized-members"]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # Targets of Apple's platforms are not built elsewhere, and have no code.
    failed = re.findall(r"Failed to emit symbol graph for '(\w+)'", run.stdout)
    if run.returncode != 0 and not (failed and all(name.endswith("Privacy") for name in failed)):
        print(run.stdout, file=sys.stderr)
        return 1
    folder = next((ROOT / ".build").glob("*/symbolgraph"))
    symbols, missing, ruled = 0, [], []
    for module in MODULES:
        for symbol in symbols_of(folder, module):
            names = symbol["pathComponents"]
            if names[-1] in OF_PROTOCOLS:
                continue
            symbols += 1
            text = "\n".join(line["text"] for line in symbol.get("docComment", {"lines": []})["lines"])
            if module in APPS and (rule := RULE.search(text)):
                ruled.append(f"{module}: {'.'.join(names)}: {rule[0]}")
            if "docComment" in symbol or is_plain_case(symbol):
                continue
            line = symbol.get("location", {}).get("position", {}).get("line", -1) + 1
            missing.append(f"{module}: {'.'.join(names)} ({symbol['kind']['displayName'].lower()}, line {line})")
    for entry in sorted(missing):
        print(f"no documentation: {entry}", file=sys.stderr)
    for entry in sorted(set(ruled)):
        print(f"names a rule of the protocol: {entry}", file=sys.stderr)
    print(f"{symbols} public symbols, {len(missing)} without documentation, {len(set(ruled))} that name a rule of the protocol")
    grown = False
    for product, (modules, most) in PRODUCTS.items():
        counts = {module: len(symbols_of(folder, module)) for module in modules}
        count = sum(counts.values())
        grown = grown or count > most
        parts = ": " + ", ".join(f"{module} {count}" for module, count in counts.items()) if len(counts) > 1 else ""
        print(f"{'FAIL' if count > most else 'ok  '} {product} has {count} public symbols, at most {most}{parts}")
    lacks, hosted = shapes.lacking(folder / "RelayRTM.symbols.json"), shapes.rows()
    unforetold = shapes.unforetold(lacks, GUIDE.read_text())
    for name in unforetold:
        print(f"missing in RelayRTM, and not in {GUIDE.name}: {name}", file=sys.stderr)
    types = sorted({row.symbol if row.type == "-" else row.type for row in lacks})
    print(f"RelayRTM has {len(hosted) - len(lacks)} of {len(hosted)} symbols of the hosted SDK, 2.1 and 2.2; of the others "
          f"{len(unforetold)} are not in {GUIDE.name}: {', '.join(types)}")
    return 1 if missing or ruled or grown or symbols < 100 or unforetold or len(hosted) < 600 else 0


def symbols_of(folder, module) -> list:
    """A module's own, and what it adds to types of others."""
    files = [folder / f"{module}.symbols.json", *folder.glob(f"{module}@*.symbols.json")]
    return [symbol for file in files for symbol in json.loads(file.read_text())["symbols"]]


def is_plain_case(symbol) -> bool:
    return symbol["kind"]["identifier"] == "swift.enum.case" and "(" not in symbol["pathComponents"][-1]


if __name__ == "__main__":
    sys.exit(main())
