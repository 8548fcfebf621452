"""What the image has of Debian 12: what the program loads, opens or reads, and no shell.

debian-12-ARCH.txt names the exact packages, so one commit has one image. A line is a package, its version, the SHA-256 of its file, the
archive, the file's place there, and when it was looked up. Security updates come with `.ci/package --lock` and a commit.
"""
import io
import lzma
import pathlib
import subprocess
import tarfile
import tempfile
import time
import urllib.error
import urllib.request

from release import ARCHITECTURES, ROOT, Failure, run, sha256
from tree import Tree

# With the licences that their copyright files name.
LICENCES = {
    "base-files": "GPL-2.0-or-later",
    "ca-certificates": "GPL-2.0-or-later AND MPL-2.0",
    "gcc-12-base": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libc6": "LGPL-2.1-or-later AND GPL-2.0-or-later",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libssl3": "Apache-2.0",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "tzdata": "LicenseRef-public-domain",
}
SUITES = {"bookworm": "debian", "bookworm-updates": "debian", "bookworm-security": "debian-security"}
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
CURRENT = "http://deb.debian.org/{archive}/{path}"
# What was replaced, and is no longer in the archive.
EVER = "http://snapshot.debian.org/archive/{archive}/{stamp}/{path}"
LEFT_OUT = ("usr/share/man/", "usr/share/locale/", "usr/share/lintian/", "usr/share/bug/", "usr/share/gcc/", "usr/share/gdb/",
            "usr/lib/x86_64-linux-gnu/gconv/", "usr/lib/aarch64-linux-gnu/gconv/", "usr/share/zoneinfo/right/", "usr/share/zoneinfo/posix/")


def packages(arch: str) -> list[dict[str, str]]:
    """What the lock file names."""
    fields = ("name", "version", "sha256", "archive", "path", "stamp")
    return [dict(zip(fields, line.split(), strict=True)) for line in lock_file(arch).read_text().splitlines() if line[0] != "#"]


def layer(arch: str, moment: int) -> Tree:
    """The files, and what the packages' scripts would make of them."""
    tree, roots = Tree(moment), []
    for package in packages(arch):
        file = downloaded(package)
        with tarfile.open(fileobj=io.BytesIO(run("dpkg-deb", "--fsys-tarfile", str(file)))) as archive:
            for info in archive:
                name = info.name.removeprefix("./")
                is_document = name.startswith("usr/share/doc/") and info.isreg() and not name.endswith("/copyright")
                if name in ("", ".") or f"{name}/".startswith(LEFT_OUT) or is_document:
                    continue
                tree[name] = info, archive.extractfile(info).read() if info.isreg() else b""
                if name.startswith("usr/share/ca-certificates/") and name.endswith(".crt"):
                    roots.append(name)
        # Scanners look here for packages without dpkg.
        tree.file(f"var/lib/dpkg/status.d/{package['name']}", run("dpkg-deb", "--field", str(file)))
    tree.file("etc/ssl/certs/ca-certificates.crt", b"".join(tree[name][1].rstrip() + b"\n" for name in sorted(roots)))
    tree.link("usr/lib/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt")
    return tree


def downloaded(package: dict[str, str]) -> pathlib.Path:
    """The package's file, from an earlier time or an archive."""
    file = ROOT / ".build-package/debian" / pathlib.Path(package["path"]).name
    if not file.exists():
        try:
            data = fetch(CURRENT.format(**package))
        except urllib.error.HTTPError:
            data = fetch(EVER.format(**package))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    if sha256(file.read_bytes()) != package["sha256"]:
        file.unlink()
        raise Failure(f"{file.name} is not the file that the lock file names")
    return file


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def lock() -> None:
    """Looks up the newest versions, and writes the lock files."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    for arch in ARCHITECTURES.values():
        newest = {}
        for suite, archive in SUITES.items():
            for fields in index(f"http://deb.debian.org/{archive}/dists/{suite}", f"main/binary-{arch}/Packages.xz"):
                name = fields["Package"]
                if name in LICENCES and (name not in newest or is_newer(fields["Version"], newest[name][1])):
                    newest[name] = [name, fields["Version"], fields["SHA256"], archive, fields["Filename"], stamp]
        lines = ["# What the image has of Debian 12. Made by: .ci/package --lock", *(" ".join(newest[name]) for name in LICENCES)]
        lock_file(arch).write_text("\n".join(lines) + "\n")


def index(base: str, name: str) -> list[dict[str, str]]:
    """The packages of a suite, as its signed index has them."""
    with tempfile.NamedTemporaryFile() as signed:
        signed.write(fetch(f"{base}/InRelease"))
        signed.flush()
        release = run("gpgv", "--keyring", KEYRING, "--output", "-", signed.name).decode()
    listed = fetch(f"{base}/{name}")
    if not any(line.split()[::2] == [sha256(listed), name] for line in release.splitlines()):
        raise Failure(f"{base}/{name} is not what InRelease names")
    return [dict(line.split(": ", 1) for line in text.splitlines() if line[0] != " " and ": " in line)
            for text in lzma.decompress(listed).decode().strip().split("\n\n")]


def is_newer(version: str, other: str) -> bool:
    try:
        run("dpkg", "--compare-versions", version, "gt", other)
    except subprocess.CalledProcessError:
        return False
    return True


def lock_file(arch: str) -> pathlib.Path:
    return ROOT / f".ci/packaging/debian-12-{arch}.txt"
