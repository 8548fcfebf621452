"""A stand-in for Apple's SDK, enough to type-check: nothing of it is committed, and nothing is linked.

* C headers: those that Apple publishes, from the wheel of `ziglang` on PyPI, pinned.
* Swift's own modules: the toolchain's .swiftinterface files, which carry Apple's availability, built for Apple's triples.
* What Apple adds to the C library, Dispatch and Foundation, and its own frameworks: overlay/*.swift, signatures only.
"""
import dataclasses
import hashlib
import pathlib
import re
import shutil
import sys
import zipfile

from manifest import ROOT, Failure, run

HERE = pathlib.Path(__file__).resolve().parent
WORK = ROOT / ".build" / "apple"
ZIGLANG = "0.17.1"
HEADERS = "ziglang/lib/libc/include/any-darwin-any/"
OVERLAYS = ["Darwin", "Dispatch", "Foundation", "CoreFoundation", "Security", "Network", "dnssd"]
# What only apps use: overlay/sample has them, and each needs those before it.
APP_OVERLAYS = ["CoreGraphics", "UIKit", "PencilKit", "SwiftUI"]
# Each needs what no Apple system has, or more of Foundation than the overlay has.
LEFT_OUT = {"Glibc", "Cxx", "CxxStdlib", "_Testing_Foundation"}
# The first of Apple's systems that Swift was a part of: the standard library names what came later.
STDLIB_FLOORS = {"macos": "10.13", "ios": "9.0"}


@dataclasses.dataclass
class Platform:
    name: str  # as in Package.swift
    floor: str

    @property
    def triple(self) -> str:
        return f"arm64-apple-{'macosx' if self.name == 'macos' else self.name}{self.floor}"

    @property
    def folder(self) -> pathlib.Path:
        """Its headers."""
        return WORK / "sdk" / self.name

    @property
    def sdk(self) -> list[str]:
        """The words that have the compiler's frontend see this platform."""
        host = toolchain() / "host"
        return [
            "-target", self.triple, "-sdk", str(self.folder), "-resource-dir", str(WORK / "toolchain"),
            "-module-cache-path", str(WORK / "cache"), "-disable-objc-interop",
            "-plugin-path", str(host / "plugins"), "-in-process-plugin-server-path", str(host / "libSwiftInProcPluginServer.so")]


def toolchain() -> pathlib.Path:
    compiler = shutil.which("swiftc")
    if sys.platform != "linux" or compiler is None:
        raise Failure("this check wants Linux and a Swift toolchain; on a Mac, 'swift build --build-tests' says more")
    return pathlib.Path(compiler).resolve().parent.parent / "lib" / "swift"


def prepare(platforms: list[Platform], deadline: float):
    """Makes what does not depend on the package's sources, unless it is there, of the same toolchain and the same rules."""
    version = run([str(toolchain().parents[1] / "bin" / "swiftc"), "--version"], deadline).stdout
    rules = [pathlib.Path(__file__), HERE / "overlay" / "Darwin.h"]
    stamp = hashlib.sha256(version.encode() + b"".join(file.read_bytes() for file in rules)).hexdigest()
    if (WORK / "stamp").exists() and (WORK / "stamp").read_text() == stamp:
        return
    shutil.rmtree(WORK, ignore_errors=True)
    lay_headers(platforms, deadline)
    lay_interfaces(platforms)
    (WORK / "stamp").write_text(stamp)


def lay_headers(platforms: list[Platform], deadline: float):
    wheels = WORK / "wheels"
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    fetched = run([*pip, "--dest", str(wheels), f"ziglang=={ZIGLANG}"], deadline)
    if fetched.returncode != 0:
        raise Failure(f"pip does not fetch Apple's headers (ziglang {ZIGLANG}):\n{fetched.stdout.strip()}")
    wheel, = wheels.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(HEADERS) and not name.endswith("/")]
        if not names:
            raise Failure(f"{wheel.name} has no {HEADERS}")
        for platform in platforms:
            include = platform.folder / "usr" / "include"
            for name in names:
                target = include / name.removeprefix(HEADERS)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
            # Apple's SDK hides it from Swift: it would be taken for the standard library's.
            types = include / "MacTypes.h"
            types.write_text(re.sub(r"^typedef SInt32 +Duration;$", "", types.read_text(), flags=re.M))
            # iPhoneOS.sdk has none (rust-lang/rust#102643).
            if platform.name != "macos":
                (include / "sys" / "random.h").unlink()
            shutil.copy(HERE / "overlay" / "Darwin.h", include / "DarwinOverlay.h")
            (include / "module.modulemap").write_text('module Darwin [system] {\n  header "DarwinOverlay.h"\n  export *\n}\n')
    shutil.rmtree(wheels)


def lay_interfaces(platforms: list[Platform]):
    for folder in ("shims", "apinotes", "clang"):
        (WORK / "toolchain").mkdir(exist_ok=True)
        (WORK / "toolchain" / folder).symlink_to(toolchain() / folder)
    for source in toolchain().glob("linux/*.swiftmodule/*-linux-gnu.swiftinterface"):
        name = source.parent.stem
        for platform in platforms:
            if name in LEFT_OUT:
                continue
            system, plain = ("macosx", "macos") if platform.name == "macos" else ("iphoneos", platform.name)
            target = WORK / "toolchain" / system / source.parent.name / f"arm64-apple-{plain}.swiftinterface"
            target.parent.mkdir(parents=True, exist_ok=True)
            floor = platform.triple.removesuffix(platform.floor) + STDLIB_FLOORS[platform.name]
            target.write_text(for_apple(source.read_text(), name, floor))


def for_apple(text: str, module: str, triple: str) -> str:
    """An interface that was written on Linux, for another target."""
    text = re.sub(r"-target \S+", f"-target {triple}", text, count=1).replace(" -static ", " ", 1)
    text = re.sub(r"^import (Swift)?Glibc$", "", text, flags=re.M)
    if module == "Swift":
        # On arm64 the C functions of 80-bit floats are missing, and one declaration has no body in what Linux writes.
        text = text.replace("_stdlib_remainderl(self, other)", "other").replace("_stdlib_squareRootl(self)", "self + self")
        bodiless = r'@backDeployed\([^)]*\)\n(@usableFromInline\n@inline\(never\) @_semantics\("unavailable_code_reached"\))'
        return re.sub(bodiless, r"\1", text)
    text = re.sub(r"^( *)@backDeployed\([^)]*\)", r"\1", text, flags=re.M)
    return text.replace("// swift-module-flags:", "// swift-module-flags: -disable-availability-checking", 1)
