#!/usr/bin/env python3
"""No key, token or secret leaves a relay: a daemon that logs everything is given recognisable ones, right and wrong.

    Tests/Faults/leaks.py [--binary PATH]

Afterwards none of them stands in its log, its output, what `status` says, a file of its data folder (but the two key
files), or a command line that `ps` shows. What is searched for as a control is found in each of these places.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

from daemon import PATIENCE, Client, Daemon, Identity, RelayError, find_binary, relay_client

SECRET, OTHER_SECRET = "1eafc0de" * 4, "badc0de5" * 4
CONTROL = "control-in-plain-sight"


class Scene:
    """A daemon with keys and tokens, and all that must stay secret."""

    def __init__(self, binary, folder):
        self.binary, self.folder = str(binary), pathlib.Path(folder)
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        self.keys = {kind: f"LEAK{kind}-0123456789" for kind in ("join", "host")}
        for kind, key in self.keys.items():
            self.write(self.data / f"{kind}.key", key + "\n")
        self.write(self.folder / "secret", "LEAKsigning-" + "x" * 32)
        self.write(self.folder / "old-key", self.keys["join"])
        self.secrets = {*self.keys.values(), SECRET, OTHER_SECRET, "LEAKsigning-", "LEAKwrong-key", "LEAKwrong.token.parts"}
        self.said = {"ps": [], "status": [], "commands": []}

    @staticmethod
    def write(path, text):
        """For this user alone."""
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(text)

    def start(self):
        """The daemon, and its log and output from the first line on."""
        return Daemon(self.binary, self.data, auth="key",
                      options=["--log-level", "debug", "--token-secret-file", str(self.folder / "secret")])

    def run(self, *words, **environment):
        """A command to its end; what it prints is its own affair if it is asked for secrets."""
        done = subprocess.run([self.binary, *words], capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
        return done

    def look(self, daemon):
        """What `status` and `ps` say now."""
        for words in (["status"], ["status", "--json"]):
            self.said["status"].append(self.run(*words, "--data-dir", str(self.data)).stdout)
        self.said["ps"].append("\n".join(command_lines()))
        assert str(daemon.pid) in self.said["status"][-1]

    def client(self, daemon, user, credential, secret=SECRET, **login):
        """A client that has tried to log in; refused ones, too."""
        client = Client("127.0.0.1", daemon.port, Identity(user, secret=secret, credential=credential))
        try:
            self.secrets.add(client.login(**login)["resumeToken"])
        except RelayError as problem:
            self.said["commands"].append(str(problem))
        return client


def command_lines():
    """Of every process, as `ps` shows them."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            pass


def come_and_go(scene, daemon):
    """Logins of every kind, right and wrong, a renewal, a resumption, records and metadata, keys drawn anew."""
    url = f"relay://127.0.0.1:{daemon.port}"
    token = scene.run("token", "create", "--secret-file", str(scene.folder / "secret"), "--user", CONTROL, "--role",
                      "editor").stdout.strip()
    scene.secrets |= {token, token.rsplit(".", 1)[1]}
    scene.write(scene.folder / "token", token)
    ann = scene.client(daemon, "ann", {"key": scene.keys["join"]})
    ann.retain("lesson", "k", CONTROL)
    ann.texts("setMetadata", [("k", CONTROL)], user="ann")
    wrong = [scene.client(daemon, "ann", credential, OTHER_SECRET) for credential in (
        {"key": scene.keys["join"]}, {"key": "LEAKwrong-key"}, {"token": "LEAKwrong.token.parts"}, {"token": token}, {})]
    bearer = scene.client(daemon, CONTROL, {"token": token})
    bearer.request("renew", key=scene.keys["host"])
    bearer.drop()
    back = scene.client(daemon, CONTROL, {"token": token}, token=bearer.checker.welcome["resumeToken"])
    scene.look(daemon)

    # Commands that bring a credential as the manual advises; looked at while they run.
    listening = [subprocess.Popen([scene.binary, "sub", "lesson", "--url", url, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True,
                                  env={**os.environ, **environment})
                 for words, environment in ((["--key-file", str(scene.folder / "old-key")], {}),
                 (["--token-file", str(scene.folder / "token"), "--as", CONTROL], {}),
                                            ([], {"BOARDRELAY_KEY": scene.keys["host"]}))]
    for process in listening:
        line = process.stderr.readline()
        assert line.startswith("Listening"), line
    scene.look(daemon)
    refused = scene.run("sub", "lesson", "--url", url, BOARDRELAY_KEY="LEAKwrong-key")
    assert refused.returncode == 1, refused
    scene.said["commands"].append(refused.stdout + refused.stderr)
    # What a moderator does is in the log: who, what, whom, and none of what those have.
    for words in (["role", "ann", "reader"], ["ban", "ann"], ["bans", "--json"], ["unban", "ann"], ["forget", CONTROL]):
        done = scene.run("user", *words, "--url", url, BOARDRELAY_KEY=scene.keys["host"])
        assert done.returncode == 0, done
        scene.said["commands"].append(done.stdout + done.stderr)
    rotated = scene.run("key", "rotate", "--end-sessions", "--json", "--data-dir", str(scene.data))
    scene.secrets |= {json.loads(line)["key"] for line in rotated.stdout.splitlines()}
    assert rotated.stderr.endswith(": both keys are new.\n") and rotated.stderr.count("\n") == 1, rotated.stderr
    for process in listening:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.terminate()  # the one that came in by a token stays
        scene.said["commands"] += [text for text in process.communicate()]
    scene.look(daemon)
    for client in (ann, back, *wrong):
        client.drop()


def places(scene, logs):
    """(where, its bytes)."""
    for name, texts in {**scene.said, "log": logs}.items():
        yield name, "\n".join(texts).encode()
    for path in sorted(scene.data.rglob("*")):
        if path.is_file() and path.suffix != ".key":
            yield str(path.relative_to(scene.folder)), path.read_bytes()


def forms(secret):
    """A secret as it was sent, and as the bytes that its digits mean."""
    yield secret.encode()
    try:
        yield bytes.fromhex(secret)
    except ValueError:
        pass


def main():
    """Exit code 1 if anything is found that must not be, or a control is not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary")
    began, logs = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(find_binary(parser.parse_args().binary), folder)
        for step in (come_and_go, Scene.look):
            with scene.start() as daemon:
                step(scene, daemon)
                assert daemon.stop() == 0
            logs += [f"{daemon.output}", *daemon.log]
        found = {where: content for where, content in places(scene, logs)}
        leaks = [f"{where} has {secret[:8]}…" for where,
                 content in found.items() for secret in sorted(scene.secrets) for form in forms(secret) if form in content]
        stored = b"".join(content for where, content in found.items() if where.startswith("data"))
        blind = [where for where in ("log", "status", "ps")
                 if (CONTROL if where != "ps" else str(scene.folder)).encode() not in found[where]]
        blind += [] if CONTROL.encode() in stored else ["the data folder"]
        blind += [] if scene.secrets & set((scene.data / "host.key").read_text(encoding="ascii").split()) else ["host.key"]
    for line in leaks + [f"the control was not found in: {where}" for where in blind]:
        print(f"FAIL {line}")
    print(f"{len(scene.secrets)} secrets, {len(found)} places, {sum(map(len, found.values())):,} bytes, {time.monotonic() - began:.1f} s: "
          + ("nothing leaks" if not leaks and not blind else "NOT AS IT SHOULD BE"))
    return 1 if leaks or blind else 0


if __name__ == "__main__":
    raise SystemExit(main())
