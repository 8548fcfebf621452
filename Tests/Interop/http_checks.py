"""What a relay's port does with HTTP and with WebSockets that break rules, against docs/protocol.md: sockets and bytes, no
library between.

    http_checks.py --binary PATH       starts a daemon with keys, and with an operators' token if it takes one
    http_checks.py --port N            looks at one that runs

interop.py runs the same checks beside its own. Each gets a `Site`: where the relay is and what is known of it.
"""

import argparse
import json
import os
import pathlib
import secrets
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from links import BINARY, CLOSE, Violation, upgrade_request
# The checks, each with its name in CHECKS.
from http_port import callers, keep_alive, requests, waits, web_sockets
from http_port.site import CHECKS, Failed, KEY, LARGE, PATIENCE, Site, need
from http_port.waits import seconds_until_end
from http_port.web_sockets import read_websocket


def run(site):
    """All checks beside each other; the number of those that failed."""
    lock, failed = threading.Lock(), []

    def one(entry):
        name, function, _, _ = entry
        began, problem = time.monotonic(), None
        try:
            function(site)
        except (Failed, Violation, OSError) as caught:
            problem = f"{type(caught).__name__}: {caught}"
            failed.append(name)
        with lock:
            print(f"{'ok  ' if problem is None else 'FAIL'} {name} ({time.monotonic() - began:.1f} s)" + (
                    f"\n     {problem}" if problem else ""), flush=True)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, sorted(CHECKS, key=lambda entry: not entry[2])))
    for note in site.notes:
        print(f"     note: {note}")
    print(f"{len(CHECKS) - len(failed)} passed, {len(failed)} failed")
    return len(failed)


def run_daemon(binary, dice):
    """The checks against a daemon with keys, on every address; it must end well."""
    with tempfile.TemporaryDirectory() as folder:
        words = [binary, "serve", "--in-memory", "--port", "0", "--auth", "key", "--control", os.path.join(folder, "control")]
        token = None
        if "--operator-token-file" in subprocess.run([binary, "serve", "--help"], capture_output=True, text=True, check=True).stdout:
            token, path = secrets.token_urlsafe(24), pathlib.Path(folder, "operators")
            path.touch(0o600)
            path.write_text(token + "\n")
            words += ["--operator-token-file", str(path)]
        with open(os.path.join(folder, "log"), "w+") as log:
            daemon = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
            try:
                line = daemon.stdout.readline()
                need("://" in line, f"it does not serve: {line}")
                port = int(line.strip().split("/")[2].rsplit(":", 1)[1])
                shown = subprocess.run([binary, "key", "show", "--json", "--control", os.path.join(folder, "control")], capture_output=True,
                                       text=True, check=True).stdout
                site = Site("127.0.0.1", port, dice, [json.loads(row)["key"] for row in shown.splitlines()], token)
                failed = run(site)
                faults = leftovers(site) + end(site, daemon)
            finally:
                daemon.kill()
                daemon.wait()
            log.seek(0)
            said = log.read()
            faults += ["a key or token stands in the log"] if any(secret in said for secret in [*site.keys, token or site.keys[0]]) else []
    for fault in faults:
        print(f"FAIL {fault}")
    return failed + len(faults)


def leftovers(site):
    """Nobody is on it any more but who asks."""
    end, count = time.monotonic() + PATIENCE, -1
    while count != 1 and time.monotonic() < end:
        rows = dict(line.rsplit(" ", 1) for line in site.get("/metrics").body.decode().splitlines() if not line.startswith("#"))
        count = int(rows["boardrelay_connections"])
        time.sleep(0.1)
    return [] if count == 1 else [f"{count} connections are left"]


def end(site, daemon):
    """SIGTERM ends it in time whoever is on it: readers that have stopped, half a head, WebSockets that say nothing. [SE13, WS8]"""
    stalled = [site.connect(buffer=2_048) for _ in range(5)]
    for connection in stalled:
        connection.send(site.request(LARGE) * 20)
    half, done, sockets = site.connect(), site.connect(), [site.connect() for _ in range(5)]
    half.send(site.request()[:-2])
    done.send(site.request())
    done.answer()
    for connection in sockets:
        connection.send(upgrade_request(site.name, KEY))
        connection.answer()
    daemon.terminate()
    daemon.wait(PATIENCE)
    faults = [] if daemon.returncode == 0 else [f"the daemon ended with {daemon.returncode}"]
    for connection in sockets:
        frames = read_websocket(connection, connection.rest)
        if [opcode for opcode, _ in frames] != [BINARY, CLOSE] or frames[-1][1] != struct.pack(">H", 4200) + b"shuttingDown":
            faults.append(f"a WebSocket was told at the end {frames}")
    for connection in (half, done):
        if data := seconds_until_end(connection, 0)[1]:
            faults.append(f"who asked for pages was told at the end {data[:80]!r}")
    return faults


def main():
    """Reads the arguments and runs."""
    import random
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--binary")
    place.add_argument("--port", type=int)
    parser.add_argument("--keys", default="")
    parser.add_argument("--operator-token-file")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    given = parser.parse_args()
    print(f"seed {given.seed}")
    dice = random.Random(given.seed)
    if given.binary:
        sys.exit(1 if run_daemon(given.binary, dice) else 0)
    token = pathlib.Path(given.operator_token_file).read_text().strip() if given.operator_token_file else None
    sys.exit(1 if run(Site("127.0.0.1", given.port, dice, given.keys.split(","), token)) else 0)


if __name__ == "__main__":
    main()
