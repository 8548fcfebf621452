"""The Debian package, made without debhelper: deb/ has its scripts, and what it says of its licences.

Its unit is the one of docs/examples, with a user of its own instead of a dynamic one: token files and backups then have an owner.
"""
import hashlib
import lzma
import re
import time

from release import MAINTAINER, NAME, ROOT, SUMMARY, Failure, Release, run
from tree import Tree, zipped

HERE = ROOT / ".ci/packaging/deb"
# The first Debian version of each library that has the symbols. An unknown one is an error: look it up in the library's `symbols` file.
LIBSTDCXX = {"3.4.26": "9", "3.4.28": "9", "3.4.29": "11", "3.4.30": "12", "3.4.32": "13.1"}
LIBGCC = {"3.0": "3.0", "3.3": "3.3", "3.3.1": "3.3.1", "3.4": "3.4", "4.2.0": "4.2", "4.3.0": "4.3"}
SERVICE = """\
Type=notify
ExecStart=/usr/bin/boardrelay serve --config /etc/boardrelay/boardrelay.conf
ExecReload=/usr/bin/boardrelay reload --control /run/boardrelay/control.sock
User=boardrelay
Group=boardrelay
StateDirectory=boardrelay
StateDirectoryMode=0700
RuntimeDirectory=boardrelay
RuntimeDirectoryMode=0750
"""
SYSUSERS = 'u boardrelay - "Whiteboard relay" /var/lib/boardrelay\n'


def make(release: Release, version: str | None = None) -> bytes:
    """The package. The check gives a later version for an upgrade."""
    version = version or release.version
    tree = data(release, version)
    control = Tree(release.time)
    size = sum(len(content) // 1024 + 1 for _, content in tree.values())
    control.file("control", CONTROL.format(
        name=NAME, summary=SUMMARY, version=version, arch=release.arch, maintainer=MAINTAINER, size=size,
        depends=depends(release)).encode())
    control.file("conffiles", b"/etc/boardrelay/boardrelay.conf\n")
    control.file("md5sums", "".join(
        f"{hashlib.md5(content).hexdigest()}  {name}\n"
        for name, (info, content) in sorted(tree.items()) if info.isreg() and not name.startswith("etc/")).encode())
    for script in ("postinst", "prerm", "postrm"):
        control.file(script, (HERE / script).read_bytes(), 0o755)
    members = {"debian-binary": b"2.0\n", "control.tar.xz": lzma.compress(control.tar("./")), "data.tar.xz": lzma.compress(tree.tar("./"))}
    return b"!<arch>\n" + b"".join(member(name, content, release.time) for name, content in members.items())


def member(name: str, content: bytes, moment: int) -> bytes:
    """One file of an `ar` archive: a header of 60 columns, and an even number of bytes."""
    return f"{name:<16}{moment:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content + b"\n" * (len(content) % 2)


def data(release: Release, version: str) -> Tree:
    """What it installs."""
    files, tree = release.files, Tree(release.time)
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(release.time))
    changes = f"{NAME} ({version}) stable; urgency=medium\n\n  * Commit {release.commit}.\n\n -- {MAINTAINER}  {date}\n"
    tree.file("etc/boardrelay/boardrelay.conf", files["settings"])
    tree.file("usr/bin/boardrelay", files["program"], 0o755)
    tree.file("usr/lib/systemd/system/boardrelay.service", unit(files["unit"].decode()).encode())
    tree.file("usr/lib/sysusers.d/boardrelay.conf", SYSUSERS.encode())
    tree.file("usr/share/bash-completion/completions/boardrelay", files["bash"])
    tree.file("usr/share/zsh/vendor-completions/_boardrelay", files["zsh"])
    tree.file("usr/share/fish/vendor_completions.d/boardrelay.fish", files["fish"])
    tree.file("usr/share/man/man1/boardrelay.1.gz", zipped(files["manual"]))
    tree.file("usr/share/doc/boardrelay/changelog.gz", zipped(changes.encode()))
    tree.file("usr/share/doc/boardrelay/copyright", (HERE / "copyright").read_bytes())
    return tree


def unit(example: str) -> str:
    """The example's unit with what a package does otherwise."""
    ours = {line.partition("=")[0] for line in SERVICE.splitlines()} | {"DynamicUser"}
    # What stands before it tells of the example.
    example = example[example.find("[Unit]\n"):]
    kept = "".join(line for line in example.splitlines(keepends=True) if line.partition("=")[0] not in ours)
    text = kept.replace("[Unit]\n", "[Unit]\nDocumentation=man:boardrelay(1)\n").replace("[Service]\n", "[Service]\n" + SERVICE)
    if not text.startswith("[Unit]") or SERVICE not in text:
        raise Failure("docs/examples/boardrelay.service has no [Unit] or no [Service]")
    return text


def depends(release: Release) -> str:
    """What the program loads, in the oldest versions that have its symbols."""
    symbols = run("objdump", "-T", str(release.program)).decode()

    def newest(prefix: str) -> str:
        versions = re.findall(rf"\({prefix}_([0-9.]+)\)", symbols)
        return max(versions, key=lambda version: [int(part) for part in version.split(".")])

    return (f"libc6 (>= {newest('GLIBC')}), libgcc-s1 (>= {LIBGCC[newest('GCC')]}), libstdc++6 (>= {LIBSTDCXX[newest('GLIBCXX')]}), "
            "ca-certificates, passwd, tzdata")


# It opens libssl itself, and only for relays:// addresses.
CONTROL = """\
Package: {name}
Version: {version}
Architecture: {arch}
Maintainer: {maintainer}
Installed-Size: {size}
Depends: {depends}
Recommends: libssl3
Section: net
Priority: optional
Description: {summary}
 A server for whiteboard apps, in place of a hosted service: channels with
 presence, metadata, locks and history, drawings that stay, and a whiteboard
 for every browser. It is one program, with the commands that look after it.
"""
