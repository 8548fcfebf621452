"""A client program: commands go to its standard input, lines come from its standard output. Tests/Scenarios/README.md has both."""

import json
import shlex
import subprocess
import threading

ENDS_WITHIN = 10


class Broken(Exception):
    """A promise was broken; one sentence."""


class Program:
    """One process. `take(program, line)` gets each line that it prints, parsed, in one thread of its own."""

    def __init__(self, command, name, take, log):
        self.name, self.take = name, take
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                        encoding="utf-8")
        self.sending = threading.Lock()
        self.is_ending = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for text in self.process.stdout:
            try:
                line = json.loads(text)
                if not isinstance(line, dict) or not isinstance(line.get("is"), str):
                    raise ValueError
            except ValueError:
                line = {"is": "garbage", "text": text[:200]}
            self.take(self, line)
        if not self.is_ending:
            self.take(self, {"is": "ended", "code": self.process.wait()})

    def send(self, command):
        text = json.dumps(command, separators=(",", ":")) + "\n"
        try:
            with self.sending:
                self.process.stdin.write(text)
                self.process.stdin.flush()
        except OSError as problem:
            raise Broken(f"the program of {self.name} takes no commands: {problem}") from problem

    def end(self):
        """The end of its input ends it; who does not end is killed."""
        self.is_ending = True
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True

    def kill(self):
        self.is_ending = True
        self.process.kill()
        self.process.wait()
