#!/usr/bin/env python3
"""A recorded lesson is drawn while the real daemon is killed again and again and links are cut.

    python3 Tests/Faults/lesson.py [--kills 10] [--seed N] [--recording FILE] [--binary PATH] [--json]

`boardrelay replay --retain --verify` draws the lesson through a relay of bytes on loopback that cuts connections at moments that the
seed decides; behind it the daemon is killed with SIGKILL and started again on its folder. What must hold in the end:

* every stroke was accepted and told durable, once;
* who joined before, half-way and after the end holds exactly these strokes, by hash;
* the daemon, started once more, exports a board with exactly these strokes.

`$BOARDRELAY_DATA/strokes` has the lesson, or `--recording` names one that is as long. What a replay without faults promises besides
(flows and packets, no reset) is not asked for here: a relay that is killed forgets its flows, and who saw what was never durable is
told to begin anew.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from daemon import ROOT, Daemon, Refused, find_binary

PATIENCE = 280  # ends a run that hangs
DATA = os.environ.get("BOARDRELAY_DATA")
RECORDING = pathlib.Path(DATA) / "strokes" / "wacom-1-value-of-ink.ndjson" if DATA else None


class Cutter:
    """Passes bytes between whoever connects and the daemon of the moment, and cuts."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target, self.pairs, self.cuts = None, [], 0
        self.lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target or 1), timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            with self.lock:
                self.pairs.append((client, server))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pass(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, rng):
        """Some of the connections end, at whatever byte they are."""
        with self.lock:
            pairs, self.pairs = self.pairs, []
            for pair in pairs:
                if rng.random() < 0.5:
                    self.pairs.append(pair)
                    continue
                self.cuts += 1
                for end in pair:
                    try:
                        end.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass

    def close(self):
        self.listener.close()


def run(arguments):
    rng = random.Random(arguments.seed)
    binary = find_binary(arguments.binary)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="boardrelay-lesson-"))
    cutter = Cutter()
    daemon = Daemon(binary, folder / "data")
    cutter.target = daemon.port
    began = time.monotonic()
    replay = subprocess.Popen(
        [str(binary), "replay", str(arguments.recording), "--channel", "lesson", "--speed", "20", "--max-pause", "1s", "--retain",
         "--verify", "--json",
         "--url", f"relay://127.0.0.1:{cutter.port}"], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kills = 0
    try:
        # All who draw and look on are in: a first attempt to connect that fails is the end of a command.
        said = ""
        while "Drawing " not in said and (line := replay.stderr.readline()):
            said += line
        while replay.poll() is None and kills < arguments.kills:
            time.sleep(rng.uniform(0.1, 0.6))
            while rng.random() < 0.5:
                cutter.cut(rng)
                time.sleep(rng.uniform(0.1, 0.6))
            daemon.kill()
            kills += 1
            cutter.target = None
            time.sleep(rng.uniform(0, 0.3))
            daemon = Daemon(binary, folder / "data")
            cutter.target = daemon.port
        try:
            output, errors = replay.communicate(timeout=max(1, PATIENCE - (time.monotonic() - began)))
        except subprocess.TimeoutExpired:
            return {"kills": kills, "cuts": cutter.cuts}, [f"the replay has not ended after {PATIENCE} s"]
        if not output.strip():
            return {"kills": kills}, [f"the replay says nothing: {(said + errors)[-500:]}"]
        summary = json.loads(output.strip().splitlines()[-1])
        daemon.stop()
        daemon = Daemon(binary, folder / "data")
        export = subprocess.run([str(binary), "board", "export", "lesson", "--url", f"relay://127.0.0.1:{daemon.port}"],
                                capture_output=True, text=True, timeout=30)
        return judge(summary, export, kills, cutter.cuts, time.monotonic() - began, arguments)
    finally:
        replay.kill()
        daemon.kill()
        cutter.close()
        shutil.rmtree(folder, ignore_errors=True)


def judge(summary, export, kills, cuts, seconds, arguments):
    boards, messages, strokes = summary.get("boards") or {}, summary["messages"], summary["strokes"]
    wrong = []
    if kills < arguments.kills:
        wrong.append(f"the lesson was over after {kills} of {arguments.kills} kills: nothing is shown")
    if messages["accepted"] != messages["sent"] or messages["refused"]:
        wrong.append(f"messages: {messages}")
    if not boards.get("equal"):
        wrong.append(f"the boards differ: {boards}")
    for joined in boards.get("joined", []):
        if joined["strokes"] != strokes or not joined["complete"]:
            wrong.append(f"who joined {joined['when']} holds {joined['strokes']} of {strokes} strokes")
    exported = sum('"key"' in line for line in export.stdout.splitlines())
    if export.returncode != 0 or exported != strokes:
        wrong.append(f"the export has {exported} of {strokes} records: {export.stderr[-300:]}")
    return {
        "seed": arguments.seed, "kills": kills, "cuts": cuts, "strokes": strokes, "digest": boards.get("digest"),
        "seconds": round(seconds, 1),
    }, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="Example: python3 Tests/Faults/lesson.py --seed 7")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--recording", type=pathlib.Path, default=RECORDING)
    parser.add_argument("--binary")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.recording is None:
        parser.error("this wants a recorded lesson: --recording FILE, or BOARDRELAY_DATA, the folder that holds strokes/")
    if not arguments.recording.is_file():
        raise SystemExit(f"there is no {arguments.recording}: it is --recording, or in BOARDRELAY_DATA, the folder that holds strokes/")
    print(f"seed {arguments.seed}", file=sys.stderr)
    try:
        found, wrong = run(arguments)
    except Refused as refused:
        found, wrong = {}, [f"the daemon did not start again: {refused}"]
    if arguments.json:
        print(json.dumps({"type": "lesson", **found, "wrong": wrong}))
    else:
        for line in wrong:
            print(f"FAIL {line}")
        print(", ".join(f"{key} {value}" for key, value in found.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
