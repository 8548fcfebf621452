#!/usr/bin/env python3
"""Fuzzers with coverage, one for each decoder of bytes from outside: libFuzzer of the Swift toolchain, under its address sanitizer.

    python3 Tests/Fuzz/check.py                          each for some seconds
    python3 Tests/Fuzz/check.py NAME … --seconds 60      those named
    python3 Tests/Fuzz/check.py NAME --runs 10000000     so many executions
    python3 Tests/Fuzz/check.py --unoptimized            built in a third of the time, a quarter of the executions: for a short run
    python3 Tests/Fuzz/check.py NAME --again FILE        one input once more, with what the fuzzer says of it
    python3 Tests/Fuzz/check.py --merge                  takes what adds coverage into corpus/NAME

The Swift files beside it say what each fuzzer takes, and what must hold of every input besides that nothing traps. They begin with
corpus/NAME; what they find on the way stays in .build/fuzz/corpus/NAME, and what breaks them in .build/fuzz/found.
Exit code 0; 1: an input was found that breaks one; 2: it cannot be built, or called like this.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / ".build" / "fuzz"
BINARY = BUILD / "fuzzers"
FUZZERS = ("backups", "boards", "drawings", "frames", "http", "journal", "nats", "requests", "tokens", "websocket")
INPUT_BYTES_MAX, INPUT_SECONDS_MAX, MEMORY_MIB_MAX, ALLOCATION_MIB_MAX = 1024, 10, 2048, 64
# A module, what it imports, and whether it is watched: what only computes digests is not, for its speed.
MODULES = {
    "RelayPrimitives": ([], False), "RelayWire": (["RelayPrimitives"], True), "RelayStorage": (["RelayPrimitives"], True),
    "RelayJournal": (["RelayPrimitives", "RelayStorage"], True), "BoardFormat": (["RelayPrimitives", "RelayWire"], True),
    "RelayGateway": (["RelayPrimitives", "RelayWire"], True), "RelayRights": (["RelayPrimitives", "RelayWire"], True),
    "RelayNATS": (["RelayPrimitives", "RelayWire"], True),
    "RelayTokens": (["RelayPrimitives", "RelayRights", "RelayWire"], True), "RelayMonitoring": (["RelayPrimitives", "RelayWire"], True)}
# What is pure of a module that is not.
OTHERS = [ROOT / "Sources" / "RelayServer" / name for name in (
    "RelayServerError.swift", "Backup/BackupArchive.swift", "Backup/BackupManifest.swift", "Backup/BackupReader.swift",
    "Backup/TarHeader.swift")]
SWIFTC = ["swiftc", "-wmo", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors", "-package-name", "whiteboard_relay",
          "-enable-upcoming-feature", "NonisolatedNonsendingByDefault", "-enable-upcoming-feature", "MemberImportVisibility",
          "-I", str(BUILD)]
# The address sanitizer calls its checks: those that stand in the code are watched as if they were branches of the decoder, and slow.
WATCHED = ["-sanitize=fuzzer,address", "-Xllvm", "-asan-instrumentation-with-call-threshold=0"]
# Where memory was taken costs a third of the time, and is not told. Leaks are not looked for: it counts what each execution takes.
ASAN = f"detect_leaks=0:malloc_context_size=0:quarantine_size_mb=1:max_allocation_size_mb={ALLOCATION_MIB_MAX}"
CORPUS_FILES_MAX, CORPUS_BYTES_MAX = 40, 24_000


def compiled(target, sources, words):
    """Runs the compiler if the target is older than its sources, or was made by other words."""
    command, said = [*SWIFTC, *map(str, words), "-o", str(target)], target.with_suffix(".words")
    is_made = target.exists() and said.exists() and said.read_text() == "\n".join(command)
    if is_made and all(source.stat().st_mtime < target.stat().st_mtime for source in sources):
        return
    said.write_text("\n".join(command))
    # The compiler keeps an object whose code is the same, whatever else it was told.
    target.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        target.unlink(missing_ok=True)
        print("\n".join(line for line in (done.stdout + done.stderr).splitlines() if "error:" in line), file=sys.stderr)
        sys.exit(2)


def build(optimization):
    """All modules side by side, as far as they wait for each other, and the fuzzers."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        started = {}

        def module(name, imports, is_watched):
            for other in imports:
                started[other].result()
            sources = sorted((ROOT / "Sources" / name).rglob("*.swift"))
            words = ["-c", "-module-name", name, "-emit-module", "-emit-module-path", BUILD / f"{name}.swiftmodule", *sources]
            before = [*sources, *(BUILD / f"{other}.o" for other in imports)]
            compiled(BUILD / f"{name}.o", before, [optimization, *(WATCHED if is_watched else []), *words])

        for name, (imports, is_watched) in MODULES.items():
            started[name] = pool.submit(module, name, imports, is_watched)
        for future in started.values():
            future.result()
    sources = [*sorted(HERE.glob("*.swift")), ROOT / "Tests" / "RelayWireTests" / "BodyTypes.swift", *OTHERS]
    objects = [BUILD / f"{name}.o" for name in MODULES]
    compiled(BINARY, [*sources, *objects], [optimization, *WATCHED, "-module-name", "Fuzzers", *sources, *objects])


def fuzzer(name, *words):
    """One run of libFuzzer, and what it printed."""
    environment = {**os.environ, "FUZZER": name, "SWIFT_BACKTRACE": "enable=no", "ASAN_OPTIONS": ASAN}
    options = [f"-max_len={INPUT_BYTES_MAX}", f"-timeout={INPUT_SECONDS_MAX}", f"-rss_limit_mb={MEMORY_MIB_MAX}",
               "-detect_leaks=0", "-reload=0", f"-artifact_prefix={BUILD / 'found'}/{name}-", "-print_final_stats=1"]
    done = subprocess.run([str(BINARY), *options, *map(str, words)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def folders(name):
    """Where a fuzzer puts what it finds, and where it begins."""
    own, given = BUILD / "corpus" / name, HERE / "corpus" / name
    for folder in (own, given, BUILD / "found"):
        folder.mkdir(parents=True, exist_ok=True)
    return own, given


def run(name, bound):
    """Fuzzes: whether nothing was found."""
    code, text = fuzzer(name, bound, *folders(name))
    progress = re.findall(r"cov: (\d+) .*?corp: (\d+)", text) or [("0", "0")]
    figures = dict(re.findall(r"stat::(\w+):\s+(\d+)", text))
    executions = int(figures.get("number_of_executed_units", 0))
    verdict = "ok  " if code == 0 and executions > 0 else "FAIL"
    print(f"{verdict} {name:10} {executions:>12,} executions, {int(figures.get('average_exec_per_sec', 0)):>7,}/s, "
          f"{int(progress[-1][0]):>6,} edges, {int(progress[-1][1]):>5,} inputs", flush=True)
    if verdict == "FAIL":
        # What a decoder, the sanitizer or libFuzzer says, and where: frames of this project alone.
        told = re.compile(r"Fatal error|ERROR: |SUMMARY|Test unit written|^ +#\d+ .*\$s\w*(Relay|Board|Fuzz)")
        print("\n".join([line[:300] for line in text.splitlines() if told.search(line)][:20]))
    return verdict != "FAIL"


def merge(name):
    """Leaves in corpus/NAME what reaches all edges that are known, as few and small inputs as that takes, and `seed-…`, made by hand."""
    own, given = folders(name)
    new = BUILD / "merged" / name
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    code, text = fuzzer(name, "-set_cover_merge=1", "-use_counters=0", new, given, own)
    if code != 0:
        sys.exit(text[-2000:])
    for path in given.iterdir():
        if not path.name.startswith("seed-"):
            path.unlink()
    size = 0
    # They were written in their order: what reaches most that is new comes first.
    found = sorted(new.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in found[:CORPUS_FILES_MAX]:
        if size + path.stat().st_size <= CORPUS_BYTES_MAX:
            size += path.stat().st_size
            shutil.copyfile(path, given / path.name[:12])
    print(f"{name}: {len(list(given.iterdir()))} inputs, {size:,} bytes, of {len(found)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {' '.join(FUZZERS)}; all without one")
    parser.add_argument("--seconds", type=int, default=10, help="for each")
    parser.add_argument("--runs", type=int, help="executions of each, in place of seconds")
    parser.add_argument("--unoptimized", action="store_true")
    parser.add_argument("--again", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--merge", action="store_true")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in FUZZERS]:
        parser.error(f"no such fuzzer: {' '.join(unknown)}")
    if given.again and len(given.names) != 1:
        parser.error("--again wants the name of one fuzzer")
    build("-Onone" if given.unoptimized else "-O")
    names = given.names or list(FUZZERS)
    if given.again:
        code, text = fuzzer(names[0], given.again)
        print(text)
        return 1 if code else 0
    if given.merge:
        for name in names:
            merge(name)
        return 0
    bound = f"-runs={given.runs}" if given.runs is not None else f"-max_total_time={given.seconds}"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return 0 if all(list(pool.map(lambda name: run(name, bound), names))) else 1


if __name__ == "__main__":
    sys.exit(main())
