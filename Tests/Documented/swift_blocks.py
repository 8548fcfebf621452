#!/usr/bin/env python3
"""The Swift of README.md, docs/*.md and docs/examples, compiled and run as it is written.

    python3 Tests/Documented/swift_blocks.py

Makes a package as an app maker does: its manifest is the one on docs/swift.md, it depends on this tree by a path that does not end in
`whiteboard-relay`, and it is built once, with its warnings as errors. Each page is a target of it. What the tree's own debug build has made
is used (dependent.py).

* A block is a part of a file. One behind the comment `<!-- swift: fragment -->` is the inside of a function, in which `client` is a
  WhiteboardClient and `lesson` a Channel that is open. The one behind `<!-- swift: manifest -->` is the manifest.
* A file of docs/examples is a part of the page that links to it.
* A page that imports what only Apple has is compiled against the declarations in Tests/Stubs.
* Any other page is run against a relay in its own process. Fragments are called one after the other; what else a page declares is
  called by Tests/Documented/Swift/PAGE.swift. The printed address of an example becomes the real one.
* What an app on Agora RTM pastes is compiled with the apps of Tests/Moving, one in the shape of 2.1 and one in that of 2.2, in both
  language modes. Before the move they are compiled against the vendor's signatures, as Tests/Moving/hosted.tsv has them.
* Some lines are then made wrong, each by itself. The compiler must name their place on the page.

Exit codes: 0 all is well, 1 a block is not, 2 the command line is wrong, 124 over the budget.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Moving"))
sys.dont_write_bytecode = True
import dependent  # noqa: E402
import shapes  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRIVERS = pathlib.Path(__file__).resolve().parent / "Swift"
FOLDER = ROOT / ".build" / "docs-swift"
# The apps that move, by the version of the hosted SDK whose shape they have.
SHAPES = {"21": "2.1", "22": "2.2"}
# Modules that only Apple has, each with those of them that it imports.
STUBS = {"UIKit": [], "PencilKit": ["UIKit"]}
ARGUMENTS = "client: WhiteboardClient, lesson: Channel"
PRINTED = re.compile(r'"http://192\.168\.1\.5:7420/#key=[a-z0-9]+"')
# A page that has not ended by then never does.
HANG_SECONDS = 300
# What must not compile: page or example, what is right, what is wrong.
WRONG = [
    ("docs/swift.md", "offline: .fail)", "offline: .failing)"),
    ("docs/examples/TwoClients.swift", "access: .open", "access: .closed"),
    ("docs/examples/DrawingRoom.swift", "lifetime: .milliseconds(300)", "lifetime: 300"),
    ("docs/moving-from-twilio.md", "Invitation(printed)", "RelayAddress(printed)"),
    ("docs/examples/SharedCanvas.swift", "customType: Self.customType", "type: Self.customType"),
    ("docs/examples/SharedCanvas.swift", "channel.board.remove(key)", "channel.remove(key)"),
    ("docs/examples/SharedCanvas.swift", "picture.progress", "picture.percent"),
]
# The same for the app that moved: file, what is right, what is wrong.
WRONG_MOVES = [
    ("Aliases.swift", "typealias AgoraRtmStreamChannel = RTMStreamChannel", ""),
    ("App.swift", "lockName:", "name:"),
    ("App.swift", "didReceiveTopicEvent event: AgoraRtmTopicEvent", "didReceiveTopicEvent event: AgoraRtmTopic"),
]


class Red(Exception):
    """What is wrong, in words."""


@dataclasses.dataclass
class Target:
    name: str
    isRun: bool
    dependencies: list[str]
    files: dict[str, str]
    mode: int = 6

    def manifest(self) -> str:
        products = {f"Relay{name}" for name in ("Server", "Client", "RTM", "Testing")}
        needs = ", ".join(
            f'.product(name: "{name}", package: "whiteboard-relay")' if name in products else f'"{name}"' for name in self.dependencies)
        kind = "executableTarget" if self.isRun else "target"
        settings = f".swiftLanguageMode(.v{self.mode}), .treatAllWarnings(as: .error)"
        return f'package.targets.append(.{kind}(name: "{self.name}", dependencies: [{needs}], swiftSettings: [{settings}]))\n'


class Page:
    """The blocks of a page as one file, in which the compiler speaks of the page's own lines."""

    def __init__(self, name: str):
        self.name, self.fragments, self.manifest = name, [], None
        self.stem = pathlib.Path(name).stem
        text = (ROOT / name).read_text()
        self.examples = [str(pathlib.Path(name).parent / link) for link in re.findall(r"\]\((examples/\w+\.swift)\)", text)]
        files = "".join(self._block(example, 1, (ROOT / example).read_text().removesuffix("\n")) for example in self.examples)
        self.code = PRINTED.sub("Relay.printed", self._blocks(text) + files)

    @staticmethod
    def _block(file: str, line: int, code: str) -> str:
        return f'#sourceLocation(file: "{file}", line: {line})\n{code}\n#sourceLocation()\n'

    def _blocks(self, text: str) -> str:
        code, mark, lines, at = "", "file", text.split("\n"), 0
        while at < len(lines):
            if comment := re.fullmatch(r"<!-- swift: ([a-z ]+)(: .+)? -->", lines[at]):
                mark = comment[1]
            at += 1
            if lines[at - 1] != "```swift":
                continue
            begin = at
            while lines[at] != "```":
                at += 1
            block = self._block(self.name, begin + 1, "\n".join(lines[begin:at]))
            if mark == "manifest":
                self.manifest = "\n".join(lines[begin:at]) + "\n"
            elif mark == "fragment":
                function = f"fragment{len(self.fragments) + 1}"
                self.fragments.append(function)
                code += f"func {function}({ARGUMENTS}) async throws {{\n{block}}}\n"
            elif mark == "file":
                code += block
            else:
                raise Red(f"{self.name}:{begin}: the comment 'swift: {mark}' before a block says nothing known")
            mark = "file"
        if self.fragments:
            code = "import RelayClient\nimport RelayServer\n" + code
        return code

    @property
    def stubs(self) -> list[str]:
        return [stub for stub in STUBS if f"import {stub}\n" in self.code]

    def target(self) -> Target:
        files = {"Page.swift": self.code}
        if self.stubs:
            return Target(self.stem, False, ["RelayClient", *self.stubs], files)
        driver = DRIVERS / f"{self.stem}.swift"
        files["Relay.swift"] = (DRIVERS / "Relay.swift").read_text()
        files["Main.swift"] = driver.read_text() if driver.is_file() else self.main()
        # A block's declarations begin its lines; those of an extension are one step to the right.
        declared = re.findall(r"(?m)^(?:(?:@MainActor|final|public) )*(?:func|class|struct|enum) (\w+)", self.code)
        for extension in re.findall(r"(?ms)^extension .*?^}", self.code):
            declared += re.findall(r"(?m)^    func (\w+)", extension)
        if missing := [name for name in declared if not re.search(rf"\b{name}\b", files["Main.swift"])]:
            raise Red(f"{self.name}: {', '.join(missing)}: not called by Tests/Documented/Swift/{driver.name}")
        return Target(self.stem, True, ["RelayClient", "RelayRTM", "RelayServer", "RelayTesting"], files)


    def main(self) -> str:
        calls = "".join(f"            try await {name}(client: client, lesson: lesson)\n" for name in self.fragments)
        return (
            "import RelayClient\n\n@main enum Main {\n    static func main() async throws {\n"
            f"        try await Relay.run {{ client, lesson in\n{calls}        }}\n    }}\n}}\n")


def moved() -> list[Target]:
    """The apps of Tests/Moving, before and after the move."""
    aliases = (ROOT / "docs" / "examples" / "AgoraAliases.swift").read_text()
    targets = [Target(f"Agora{suffix}", False, [], {"Stub.swift": shapes.stub(version)}, 5) for suffix, version in SHAPES.items()]

    def source(name: str) -> str:
        return (ROOT / "Tests" / "Moving" / f"{name}.swift").read_text()
    for mode in (5, 6):
        for suffix in SHAPES:
            app = source(f"Hosted{suffix}")
            hosted = {"App.swift": app.replace("import AgoraRtmKit\n", f"import Agora{suffix}\n")}
            app = {"App.swift": shapes.moved(app), "Aliases.swift": aliases, "News.swift": source("News")}
            targets += [Target(f"Hosted{suffix}_{mode}", False, [f"Agora{suffix}"], hosted, mode),
                        Target(f"Moved{suffix}_{mode}", False, ["RelayClient", "RelayRTM"], app, mode)]
    return targets


def write(pages: dict[str, Page]) -> list[Target]:
    """The package. Files that are as they were keep their time, so that they are not compiled again."""
    app = FOLDER / "app"
    app.mkdir(parents=True, exist_ok=True)
    manifest = next((page.manifest for page in pages.values() if page.manifest), None)
    if manifest is None or '"../whiteboard-relay"' not in manifest:
        raise Red('no page has a manifest with the path "../whiteboard-relay"')
    declarations = {name: (ROOT / "Tests" / "Stubs" / f"{name}.swift").read_text() for name in STUBS}
    stubs = [Target(name, False, needs, {"Stub.swift": declarations[name]}) for name, needs in STUBS.items()]
    targets = stubs + [page.target() for page in pages.values() if page.code] + moved()
    more = "".join(target.manifest() for target in targets)
    files = {"Package.swift": manifest.replace('"../whiteboard-relay"', f'"{os.path.relpath(ROOT, app)}"') + more}
    for name in re.findall(r'arget\(name: "(\w+)"', manifest):
        files[f"Sources/{name}/{name}.swift"] = "import RelayClient\n"
    for target in targets:
        files |= {f"Sources/{target.name}/{name}": text for name, text in target.files.items()}
    for stale in (file for file in (app / "Sources").rglob("*.swift") if str(file.relative_to(app)) not in files):
        stale.unlink()
    for name, text in files.items():
        (app / name).parent.mkdir(parents=True, exist_ok=True)
        if not (app / name).is_file() or (app / name).read_text() != text:
            (app / name).write_text(text)
    return targets


class Budget:
    def __init__(self, seconds: float):
        self.end = time.monotonic() + seconds

    def run(self, command: list[str], folder: pathlib.Path, atMost: float = float("inf")) -> tuple[int, str]:
        """Its exit code and what it said; `atMost` seconds end one that hangs, with 124."""
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | {"XDG_DATA_HOME": str(FOLDER / "home")}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            said, _ = process.communicate(timeout=max(1, min(atMost, self.end - time.monotonic())))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            if time.monotonic() >= self.end:
                raise
            return 124, said
        return process.returncode, said


def wrong_lines(pages: dict[str, Page], targets: list[Target], binaries: pathlib.Path, budget: Budget) -> list[str]:
    """Each wrong line is told with its place: that on the page, or in the app that moved."""
    by_name = {target.name: target for target in targets}
    stems = {file: page.stem for name, page in pages.items() for file in (name, *page.examples)}
    rows = [(by_name[stems[name]], "Page.swift", name, right, wrong) for name, right, wrong in WRONG]
    rows += [(by_name["Moved22_5"], name, "App.swift", right, wrong) for name, right, wrong in WRONG_MOVES]
    headers = ["-I", str(binaries / "Modules"), "-I", str(ROOT / "Sources" / "CEpoll")]
    headers += [word for map in binaries.glob("*.build/module.modulemap") for word in ("-Xcc", f"-fmodule-map-file={map}")]
    problems = []
    for target, file, place, right, wrong in rows:
        if right not in target.files[file]:
            raise Red(f"{target.name}/{file} has no more: {right}")
        shutil.rmtree(FOLDER / "wrong", ignore_errors=True)
        (FOLDER / "wrong").mkdir()
        files = target.files | {file: target.files[file].replace(right, wrong)}
        for name, text in files.items():
            (FOLDER / "wrong" / name).write_text(text)
        command = ["swiftc", "-swift-version", str(target.mode), "-parse-as-library", "-typecheck", *headers, *sorted(files)]
        code, said = budget.run(command, FOLDER / "wrong")
        if code == 0 or not re.search(rf"{re.escape(place)}:\d+:\d+: error", said):
            problems.append(f"{place}: `{wrong}` is not told with its place:\n{said[-1500:]}")
    print(f"{len(rows)} lines made wrong", file=sys.stderr)
    return problems


def check(budget: Budget) -> list[str]:
    names = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("*.md"))]
    pages = {name: page for name in names if (page := Page(name)).code or page.manifest}
    examples = {str(file.relative_to(ROOT)) for file in (ROOT / "docs" / "examples").glob("*.swift")}
    if examples != {example for page in pages.values() for example in page.examples}:
        raise Red(f"each file of docs/examples is a part of the page that links to it: {sorted(examples)}")
    targets = write(pages)
    app = FOLDER / "app"
    print(f"building {len(targets)} targets in {app}", file=sys.stderr, flush=True)
    code, said = dependent.build(app, lambda words: budget.run(words, app))
    if code != 0:
        errors = [line for line in said.split("\n") if "error:" in line]
        raise Red("it does not build:\n" + "\n".join(dict.fromkeys(errors) or said.split("\n")[-30:]))
    problems, count = [], 0
    for target in targets:
        if not target.isRun:
            continue
        code, said = budget.run([str(dependent.BINARIES / target.name)], app, HANG_SECONDS)
        count += 1
        if code != 0:
            problems.append(f"{target.name}: ended with {code}:\n{said[-2000:]}")
        print(f"{target.name}: ended with {code}", file=sys.stderr, flush=True)
    problems += wrong_lines(pages, targets, dependent.BINARIES, budget)
    print(f"{len(targets)} targets built, {count} run, {len(problems)} problems")
    return problems + ([] if count >= 3 else [f"only {count} pages were run"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=1500, metavar="SECONDS", help="for all of it; 1500 if not given")
    try:
        problems = check(Budget(parser.parse_args().budget))
    except Red as red:
        problems = [str(red)]
    except subprocess.TimeoutExpired as late:
        print(f"FAIL: over the budget: {' '.join(late.cmd)}", file=sys.stderr)
        return 124
    for problem in problems:
        print(f"FAIL: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
