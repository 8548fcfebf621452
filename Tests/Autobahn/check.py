#!/usr/bin/env python3
"""Autobahn's fuzzing client against the relay's WebSockets, which echo for it.

    python3 Tests/Autobahn/check.py [--keep FOLDER]

Wants tests that are built (`swift build --build-tests`) and pyenv's Python 2.7, in which autobahntestsuite 25.10.1 from PyPI runs. All
cases but 12.* and 13.* (compression, which is declined) have a `behavior` and a `behaviorClose` in OK, NON-STRICT, INFORMATIONAL, but
for those in EXCEPTIONS, which must be as they stand there. Exit code 0 or 1.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOLS = ROOT / ".build" / "autobahn"
SUITE = "autobahntestsuite==25.10.1"
GOOD = {"OK", "NON-STRICT", "INFORMATIONAL"}
# Case: (behavior, behaviorClose, why). Compared both ways: one that is better than it stands here is wrong, too.
EXCEPTIONS = {}
SECONDS = 600


def tool():
    """The path of wstest, installed if it is not there."""
    wstest = TOOLS / "bin" / "wstest"
    if wstest.exists():
        return wstest
    roots = [os.environ.get("PYENV_ROOT"), "~/.pyenv", "/opt/pyenv", "/usr/local/pyenv"]
    pythons = [found for root in roots if root for found in pathlib.Path(root).expanduser().glob("versions/2.7*/bin/python2.7")]
    if not pythons:
        sys.exit("there is no Python 2.7 of pyenv")
    maker = ROOT / ".build" / "autobahn-virtualenv"
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "venv", str(maker)], check=True)
    subprocess.run([str(maker / "bin" / "pip"), "install", *quiet, "virtualenv<20.22"], check=True)
    subprocess.run([str(maker / "bin" / "virtualenv"), "--quiet", "-p", str(pythons[0]), str(TOOLS)], check=True)
    # What it says of Python 2.7 is known.
    subprocess.run([str(TOOLS / "bin" / "pip"), "install", *quiet, SUITE], check=True, stderr=subprocess.DEVNULL)
    return wstest


def port(path, process):
    """What the echo has written into its file."""
    for _ in range(600):
        if process.poll() is not None:
            sys.exit(f"the echo ended:\n{process.stdout.read()}")
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.1)
    sys.exit("the echo did not say its port within 60 s")


def judge(cases):
    """What is not as it should be, a line each."""
    problems = [f"case {name} is an exception and was not run" for name in EXCEPTIONS.keys() - cases.keys()]
    for name, case in cases.items():
        found = (case["behavior"], case["behaviorClose"])
        if name in EXCEPTIONS:
            if found != EXCEPTIONS[name][:2]:
                problems.append(f"case {name}: {found}, the exception says {EXCEPTIONS[name]}")
        elif not GOOD.issuperset(found):
            problems.append(f"case {name}: {found}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", metavar="FOLDER", help="where the reports are left")
    options = parser.parse_args()
    wstest = tool()
    with tempfile.TemporaryDirectory(prefix="autobahn-") as temporary:
        folder = pathlib.Path(options.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        file = pathlib.Path(temporary) / "port"
        echo = subprocess.Popen(
            ["swift", "test", "--skip-build", "--filter", "EchoTests"], cwd=ROOT, env={**os.environ, "BOARDRELAY_ECHO": str(file)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            url = f"ws://127.0.0.1:{port(file, echo)}/ws"
            specification = {
                "outdir": str(folder), "servers": [{"agent": "boardrelay", "url": url}],
                "cases": ["*"], "exclude-cases": ["12.*", "13.*"], "exclude-agent-cases": {}}
            (folder / "fuzzingclient.json").write_text(json.dumps(specification))
            run = [str(wstest), "-m", "fuzzingclient", "-s", str(folder / "fuzzingclient.json")]
            subprocess.run(run, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=SECONDS)
        finally:
            file.unlink(missing_ok=True)
            echo.wait(30)
        cases = json.loads((folder / "index.json").read_text())["boardrelay"]
    problems = judge(cases)
    print("\n".join(problems + [f"{len(cases)} cases, {len(problems)} not as they should be"]))
    return 1 if problems or len(cases) < 290 else 0


if __name__ == "__main__":
    sys.exit(main())
