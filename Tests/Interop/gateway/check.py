#!/usr/bin/env python3
"""RelayGateway beside others who know the same standards.

    python3 Tests/Interop/gateway/check.py [--seed 1] [--mutants 100000] [--package FOLDER]

Writes cases into a folder, runs `swift test --skip-build --filter GatewayPeerTests` on them, and looks at what that left.
Wants h11, websockets, qrcode and prometheus-client from PyPI, and zbarimg (Debian's zbar-tools). Builds nothing.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import dialogs
import frames
import metrics
import requests_of_h11
import symbols

ROOT = pathlib.Path(__file__).resolve().parents[3]
PARTS = [requests_of_h11, frames, dialogs, symbols, metrics]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=100_000)
    parser.add_argument("--package", default=str(ROOT))
    arguments = parser.parse_args()
    if shutil.which("zbarimg") is None:
        print("no zbarimg: apt-get install zbar-tools", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in PARTS:
            part.write(folder, arguments.seed, arguments.mutants)
        command = ["swift", "test", "--skip-build", "--filter", "GatewayPeerTests"]
        environment = {**os.environ, "BOARDRELAY_GATEWAY_PEERS": str(folder)}
        run = subprocess.run(command, cwd=arguments.package, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0 or not re.search(r"Test run with [1-9]\d* tests? .*passed", run.stdout):
            print(*(line[:2_000] for line in run.stdout.splitlines() if "✘" in line or "error:" in line), sep="\n", file=sys.stderr)
            print(run.stdout[-1_500:], file=sys.stderr)
            print(f"replay: python3 Tests/Interop/gateway/check.py --seed {arguments.seed} --mutants {arguments.mutants}", file=sys.stderr)
            return 1
        failed = 0
        for part in PARTS:
            try:
                print(f"ok   {part.check(folder)}")
            except AssertionError as error:
                failed += 1
                print(f"FAIL {part.__name__}: {error}")
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
