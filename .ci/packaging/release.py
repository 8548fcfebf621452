"""One release: the program, what it says of itself, and what the repository says of its commit."""
import functools
import hashlib
import os
import pathlib
import re
import struct
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHITECTURES = {62: "amd64", 183: "arm64"}     # e_machine of an ELF file
NAME, SUMMARY = "boardrelay", "realtime relay for whiteboards on your own network"
MAINTAINER = "The whiteboard-relay authors <maintainers@whiteboard-relay.example>"


class Failure(Exception):
    """Something that the person at the terminal can mend."""


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def run(*command: str, **options) -> bytes:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options).stdout


def build() -> pathlib.Path:
    """Builds the program of the commit that is checked out, and returns it. The path of the clone is nowhere in it."""
    if run("git", "status", "--porcelain", cwd=ROOT):
        raise Failure("the tree has changes, so the program would be of no commit: commit them first")
    commit = run("git", "rev-parse", "HEAD", cwd=ROOT).decode().strip()
    command = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--product", NAME, "--disable-local-rpath",
               # A folder of its own: a plain release build has other flags, and each would throw away what the other has compiled.
               "--scratch-path", str(ROOT / ".build-package"),
               "-Xcc", f"-DBOARDRELAY_COMMIT={commit[:12]}", "-Xlinker", f"--build-id=0x{commit}", "-Xlinker", "-znow",
               "-Xcc", f"-ffile-prefix-map={ROOT}=/{NAME}", "-Xswiftc", "-file-prefix-map", "-Xswiftc", f"{ROOT}=/{NAME}"]
    subprocess.run(command, check=True, cwd=ROOT)
    return pathlib.Path(run(*command, "--show-bin-path", cwd=ROOT).decode().strip()) / NAME


def without_hashes(program: pathlib.Path) -> bytes:
    """Its bytes, without hashes of Swift's modules. Only the compiler reads them, and they alone say in which folder it worked."""
    data = bytearray(program.read_bytes())
    sections = run("readelf", "-SW", str(program)).decode()
    # Removing the section would also remove the mark of what is read-only after the start (RELRO).
    for place, size in re.findall(r"\.swift_modhash +PROGBITS +\S+ (\S+) (\S+)", sections):
        data[int(place, 16):int(place, 16) + int(size, 16)] = bytes(int(size, 16))
    return bytes(data)


class Release:
    """What goes into every package."""

    def __init__(self, program: pathlib.Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stripped = pathlib.Path(folder) / NAME
            run("strip", "-o", str(stripped), str(program))
            self.bytes = without_hashes(stripped)
        self.program = program.resolve()
        self.arch = ARCHITECTURES[struct.unpack_from("<H", self.bytes, 18)[0]]
        said = self.says("--version").decode()
        names = re.fullmatch(rf"{NAME} (\S+) \(commit ([0-9a-f]+)\)\n", said)
        if not names:
            raise Failure(f"the program says {said!r}, which names no commit: build it with .ci/package")
        self.version = names[1]
        date, self.commit = run("git", "log", "-1", "--format=%ct %H", names[2], cwd=ROOT).decode().split()
        self.time = int(os.environ.get("SOURCE_DATE_EPOCH", date))
        self.toolchain = re.search(r"Swift version (\S+)", run("swift", "--version").decode())[1]

    def says(self, *words: str) -> bytes:
        """What the program prints."""
        return run(str(self.program), *words, env={"LANG": "C.UTF-8", "PATH": os.defpath})

    @functools.cached_property
    def files(self) -> dict[str, bytes]:
        """What the packages share, by names of our own."""
        return {
            "program": self.bytes,
            "manual": self.says("man"),
            **{shell: self.says("completion", shell) for shell in ("bash", "zsh", "fish")},
            "settings": self.says("config", "show", "--defaults"),
            "licence": (ROOT / "LICENSE.txt").read_bytes(),
            "unit": (ROOT / "docs/examples/boardrelay.service").read_bytes(),
        }

