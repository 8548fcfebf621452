#!/usr/bin/env python3
"""The console blocks of README.md, docs/*.md and Tests/Scenarios/README.md, run as they are written.

    python3 Tests/Documented/console.py              # in a fresh clone, which is built first
    python3 Tests/Documented/console.py --in-place   # in this tree, which is built
    python3 Tests/Documented/console.py --in-place README.md docs/operations.md

A block that is meant for a shell says how it is to be treated, in a comment on the line before it:

    <!-- console: run -->                 each line by itself, in the top folder; each ends with 0
    <!-- console: run, with a relay -->   the same while a relay runs: the page's own, or else one for it
    <!-- console: stays -->               the last line stays while the rest of the page is run (`serve`, `sub`);
                                          it has begun when its standard output has a line, and ends on Ctrl-C with 0 or 130
    <!-- console: run elsewhere -->       in a folder of the page's own, for what writes files; also `stays elsewhere`, and with a relay
    <!-- console: options only: WHY -->   not run: the programs, files and options that it names are looked for
    <!-- console: not run: WHY -->        not even that

A block that looks like one and has no such comment is red. So is a comment without a block or with other words, a file that
a block leaves in the tree, and more lines that are not run than BOUNDS allows.

README's first command builds, on a terminal as a reader's: SwiftPM compiles everything again for a terminal with colours after a build
without one, and the other way round. What follows it uses `.build/release/boardrelay`. A later line that builds is red, and so is a
module that was compiled after that first build.

Examples become real ones: 192.168.1.5 is 127.0.0.1, 7420 a free port, `#key=…` has the join key; `serve` gets
`--host 127.0.0.1` and that port where it names none. Data folders are new for each page. `boardrelay` is the release build.

Exit codes: 0 all is well, 1 a block is not, 2 the command line is wrong, 124 over the budget.
"""
import argparse
import contextlib
import os
import pathlib
import pty
import queue
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from blocks import BOUNDS, Block, blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILDS = re.compile(r"\bswift (run|build|test)\b")


class Late(Exception):
    pass


class Terminal:
    """A terminal with colours, for standard error; what is shown on it is kept."""

    def __init__(self):
        self.end, self.given = pty.openpty()
        self.shown = tempfile.TemporaryFile("w+", errors="replace")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        # Linux says EIO when the last program has closed its end.
        with contextlib.suppress(OSError):
            while shown := os.read(self.end, 65_536):
                self.shown.write(shown.decode(errors="replace"))

    def text(self) -> str:
        """All of it, when those who write have ended."""
        os.close(self.given)
        self.reader.join()
        os.close(self.end)
        self.shown.seek(0)
        return self.shown.read()

    @staticmethod
    def environment(environment: dict) -> dict:
        return {key: value for key, value in environment.items() if key != "NO_COLOR"} | {"TERM": "xterm"}


class Stay:
    """A program that stays: what it prints is read so that it never stands still."""

    def __init__(self, line: str, place: str, folder: pathlib.Path, environment: dict):
        self.line, self.place = line, place
        self.isRelay = bool(re.search(r"\bboardrelay serve\b", line))
        self.errors = tempfile.TemporaryFile("w+")
        self.terminal = Terminal() if BUILDS.search(line) else None
        self.first: queue.Queue = queue.Queue()
        # `exec`, so that Ctrl-C reaches the program and no shell in between.
        self.process = subprocess.Popen(
            ["bash", "-c", "exec " + line if "=" not in line.split(" ")[0] else "exec env " + line], cwd=folder,
            env=Terminal.environment(environment) if self.terminal else environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.terminal.given if self.terminal else self.errors, text=True, start_new_session=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        # On standard output stands what a program is for; `swift run` and logs speak on the other one, and earlier.
        for _ in self.process.stdout:
            self.first.put(True)
        self.first.put(False)

    def begun(self, seconds: float) -> bool:
        try:
            return self.first.get(timeout=max(0.1, seconds)) and self.process.poll() is None
        except queue.Empty:
            raise Late(self.place)

    def end(self) -> str | None:
        """What was wrong with how it ended."""
        early = self.process.poll()
        if early is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
                return f"{self.place}: did not end on Ctrl-C: {self.line}\n{self._said()}"
        self.reader.join(5)
        if early is not None or self.process.returncode not in (0, 130):
            how = "by itself with" if early is not None else "with"
            return f"{self.place}: ended {how} {self.process.returncode}: {self.line}\n{self._said()}"
        return None

    def _said(self) -> str:
        if self.terminal:
            return self.terminal.text()[-2000:]
        self.errors.seek(0)
        return self.errors.read()[-2000:]


class Page:
    """Runs the blocks of one page, one after the other."""

    def __init__(self, tree: pathlib.Path, binary: pathlib.Path, folder: pathlib.Path, deadline: float):
        self.tree, self.binary, self.folder, self.deadline = tree, binary, folder, deadline
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.data = folder / "d" / "boardrelay" / "data"
        for name in ("d", "r"):
            (folder / name).mkdir(mode=0o700)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("BOARDRELAY_")} | {
            "XDG_DATA_HOME": str(folder / "d"), "XDG_RUNTIME_DIR": str(folder / "r"), "BOARDRELAY_URL": f"relay://127.0.0.1:{self.port}",
            "PATH": f"{binary.parent}:{os.environ['PATH']}"}
        self.elsewhere = folder / "e"
        self.elsewhere.mkdir()
        self.stays: list[Stay] = []
        self.problems: list[str] = []

    def real(self, line: str) -> str:
        """The line with examples replaced by what is there."""
        line = line.removeprefix("$ ").replace("192.168.1.5", "127.0.0.1")
        line = re.sub(r"\b7420\b", str(self.port), line)
        if "#key=…" in line:
            line = line.replace("#key=…", "#key=" + (self.data / "join.key").read_text().strip())
        if re.search(r"\bboardrelay serve\b", line):
            for option, value in (("--host", "127.0.0.1"), ("--port", str(self.port))):
                if not re.search(rf"{option}[ =]", line):
                    line = re.sub(r"\bboardrelay serve\b", rf"\g<0> {option} {value}", line)
        return line

    def left(self) -> float:
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise Late
        return seconds

    def stay(self, line: str, place: str, folder: pathlib.Path):
        if re.search(r"\bboardrelay serve\b", line):
            # Another relay takes the place of the one before.
            self.end([stay for stay in self.stays if stay.isRelay])
        stay = Stay(self.real(line), place, folder, self.environment)
        self.stays.append(stay)
        if not stay.begun(self.left()):
            self.end([stay])

    def run(self, block: Block):
        lines = list(block.lines)
        if block.mode.endswith("with a relay") and not any(stay.isRelay for stay in self.stays):
            self.stay("boardrelay serve", f"the relay for {block.place}", self.tree)
        folder = self.elsewhere if "elsewhere" in block.mode else self.tree
        last = lines.pop() if block.mode.startswith("stays") else None
        for line in lines:
            print(f"  {line}", file=sys.stderr, flush=True)
            process = subprocess.Popen(
                ["bash", "-c", "set -eu -o pipefail\n" + self.real(line)], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
            try:
                said, _ = process.communicate(timeout=self.left())
            except (subprocess.TimeoutExpired, Late):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise Late(f"{block.place}: {line}")
            if process.returncode != 0:
                self.problems.append(f"{block.place}: ended with {process.returncode}: {line}\n{said[-2000:]}")
        if last:
            print(f"  {last}   (stays)", file=sys.stderr, flush=True)
            self.stay(last, block.place, folder)

    def end(self, stays: list[Stay] | None = None):
        # Who came last ends first: readers before their relay.
        for stay in reversed(self.stays if stays is None else stays):
            if problem := stay.end():
                self.problems.append(problem)
            self.stays = [other for other in self.stays if other is not stay]


def look(block: Block, tree: pathlib.Path, binary: pathlib.Path) -> list[str]:
    """Whether what a line that is not run names is there: its program, the files of the tree, each `--option`."""
    problems = []
    for line in block.lines:
        words = shlex.split(line, comments=True)
        while words and (re.match(r"[A-Z_]+=", words[0]) or words[0] == "sudo"):
            words.pop(0)
        for word in words:
            if re.match(r"(Tests|Sources|docs|\.ci)/", word) and not (tree / word).exists():
                problems.append(f"{block.place}: {word} is not there: {line}")
        options = [match[0] for word in words if (match := re.match(r"--[a-z][a-z-]*", word))]
        at = next((index for index, word in enumerate(words[:-1]) if word == "boardrelay" or index == 0 and word.endswith("/boardrelay")),
                  None)
        if at is not None and (at == 0 or words[0] == "prlimit" or words[:2] == ["swift", "run"]):
            help = told([str(binary), words[at + 1], "--help"])
            options = [word.split("=")[0] for word in words[at + 2:] if word.startswith("--")]
        elif words[0] == "python3" and len(words) > 1 and (tree / words[1]).is_file():
            help = (tree / words[1]).read_text()
        elif words[0] in ("swift", "node"):
            help = told(words[:2] + ["--help"] if words[0] == "swift" else ["node", "--help"])
        elif (tree / words[0]).is_file() or shutil.which(words[0]):
            continue
        else:
            problems.append(f"{block.place}: there is no {words[0]}: {line}")
            continue
        problems += [f"{block.place}: there is no option {option}: {line}" for option in options
                     if not re.search(rf"{option}(?![\w-])", help)]
    return problems


def told(command: list[str]) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def build(tree: pathlib.Path, seconds: float) -> pathlib.Path:
    """As README's first command does."""
    print(f"building in {tree}", file=sys.stderr, flush=True)
    command, terminal = ["swift", "run", "-c", "release", "boardrelay", "--version"], Terminal()
    try:
        built = subprocess.run(
            command, cwd=tree, env=Terminal.environment(dict(os.environ)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=terminal.given, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Late("building")
    said = terminal.text()
    if built.returncode != 0:
        sys.exit(f"it does not build:\n{said[-3000:]}")
    return tree / ".build" / "release" / "boardrelay"


def compiled(binary: pathlib.Path) -> dict[str, int]:
    """When each module was compiled last: the compiler writes its list of dependencies each time, object files only if they differ."""
    return {str(file): file.stat().st_mtime_ns for file in binary.parent.resolve().rglob("*.d") if file.is_file()}


def state(tree: pathlib.Path) -> set[str]:
    return set(subprocess.run(["git", "status", "--porcelain"], cwd=tree, stdout=subprocess.PIPE, text=True,
                              check=True).stdout.splitlines())


def check(arguments, tree: pathlib.Path, folder: pathlib.Path, deadline: float) -> list[str]:
    pages = arguments.pages or ["README.md", *sorted(str(page.relative_to(tree)) for page in (tree / "docs").glob("*.md")),
                                "Tests/Scenarios/README.md"]
    found, problems = [], []
    for page in pages:
        marked, wrong = blocks(page, (tree / page).read_text())
        found += marked
        problems += wrong
    for mode, bound in BOUNDS.items():
        lines = sum(len(block.lines) for block in found if block.mode == mode)
        if lines > bound:
            problems.append(f"{lines} lines are marked `{mode}`, the bound is {bound}")
    building = [
        f"{block.place}: {line.strip()}" for block in found if block.mode not in BOUNDS for line in block.lines if BUILDS.search(line)]
    first = ["README.md"] if "README.md" in pages else []
    if [place.split(":")[0] for place in building] != first:
        problems.append(f"README's first command builds, and no other line may: {building}")
    if problems:
        # Nothing is run before it is known how.
        return problems
    binary = build(tree, deadline - time.monotonic())
    before, count, modules = state(tree), 0, compiled(binary)
    for page in pages:
        own = [block for block in found if block.page == page]
        if not own:
            continue
        print(f"{page}: {len(own)} blocks", file=sys.stderr, flush=True)
        # Short: the path of a Unix socket has 108 bytes at most.
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            runner = Page(tree, binary, pathlib.Path(scratch), deadline)
            try:
                for block in own:
                    if block.mode in BOUNDS:
                        if block.mode == "options only":
                            problems += look(block, tree, binary)
                        for line in block.lines:
                            print(f"{block.mode}: {block.place}: {line.strip()}: {block.reason}")
                    else:
                        runner.run(block)
                        count += len(block.lines)
            finally:
                runner.end()
                problems += runner.problems
    problems += [f"a block has left or changed a file: {entry}" for entry in sorted(state(tree) - before)]
    again = [name for name, when in compiled(binary).items() if modules.get(name) != when]
    problems += [f"compiled again after README's first command: {', '.join(again)}"] if again else []
    problems += [] if modules else ["the build has left nothing that tells when it was"]
    skipped = {mode: sum(len(block.lines) for block in found if block.mode == mode) for mode in BOUNDS}
    print(f"{count} lines run, {', '.join(f'{lines} {mode}' for mode, lines in skipped.items())}, {len(problems)} problems")
    if not count:
        problems.append("no line was run")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="all of them if not given")
    parser.add_argument("--in-place", action="store_true", help="in this tree instead of a fresh clone of its last commit")
    parser.add_argument("--budget", type=float, default=1500, metavar="SECONDS", help="for all of it, building included; 1500 if not given")
    arguments = parser.parse_args()
    for page in arguments.pages:
        if not (ROOT / page).is_file():
            parser.error(f"there is no {page}")
    deadline = time.monotonic() + arguments.budget
    with tempfile.TemporaryDirectory(prefix="br") as name, contextlib.ExitStack() as stack:
        folder, tree = pathlib.Path(name), ROOT
        if not arguments.in_place:
            tree = folder / "clone"
            subprocess.run(["git", "clone", "-q", str(ROOT), str(tree)], check=True)
        try:
            problems = check(arguments, tree, folder, deadline)
        except Late as late:
            print(f"FAIL: over the budget of {arguments.budget:.0f} s: {late}", file=sys.stderr)
            return 124
    for problem in problems:
        print(f"FAIL: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
