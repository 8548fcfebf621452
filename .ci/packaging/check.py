"""Installs and runs what .ci/package has made, on this machine's loopback alone, and says what holds.

It needs root, the network for Debian's packages and one of PyPI, and: debootstrap lintian skopeo systemd-container umoci; with podman it
also loads the image. Everything happens in folders, and in namespaces that end with it.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.request

import debian
import image
import parts
from release import ROOT, Failure, Release, run

TOOLS = ["debootstrap", "lintian", "skopeo", "systemd-nspawn", "umoci", "unshare"]
MIRROR = "http://deb.debian.org/debian"
DATA = image.DATA


def run_all(folder: pathlib.Path, boots: bool) -> int:
    """Runs the steps in namespaces of their own: mounts and processes that a step leaves end with them."""
    missing = [tool for tool in TOOLS if not shutil.which(tool) and (boots or tool != "systemd-nspawn")]
    if missing or os.getuid() != 0:
        raise Failure(f"the check runs as root, and needs {' '.join(missing) or 'nothing more'}")
    if not (folder / "SHA256SUMS").exists():
        raise Failure(f"there is nothing in {folder}: .ci/package makes it")
    with tempfile.TemporaryDirectory(prefix="boardrelay-check-") as place:
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                               sys.executable, "-B", __file__, str(folder), place, *([] if boots else ["--without-boot"])]).returncode


def steps(folder: pathlib.Path, place: pathlib.Path, boots: bool) -> int:
    """One step after the other: a red one keeps no other from its turn."""
    made = Made(folder, place)
    failed = 0
    for step in (prepare, checksums, list_of_parts, twice, lint, tarball, package, *([service] if boots else []), container, loaded):
        start = time.monotonic()
        try:
            result = f"ok      {step(made)}"
        except Exception as wrong:
            failed = 1
            output = getattr(wrong, "stderr", None) or getattr(wrong, "stdout", None) or b""
            result = f"FAILED  {type(wrong).__name__}: {wrong}\n{output.decode(errors='replace')[-3000:]}"
        print(f"{step.__name__:<14} {time.monotonic() - start:4.0f} s  {result}", flush=True)
    return failed


class Made:
    """What the folder has, and a folder with a Debian that has no more than a minimal one, CA certificates and time zones."""

    def __init__(self, folder: pathlib.Path, place: pathlib.Path) -> None:
        self.folder, self.place, self.root = folder, place, place / "debian"
        self.tarball, self.package, self.image, self.spdx = (
            next(folder.glob(f"boardrelay[-_]*{end}")) for end in (".tar.gz", ".deb", "-oci-*.tar", ".spdx.json"))
        self.program = place / self.tarball.name.removesuffix(".tar.gz") / "boardrelay"

    def inside(self, *words: str) -> str:
        return run("chroot", str(self.root), *words).decode()


def serves(root: pathlib.Path, program: str, user: str, *words: str) -> str:
    """Whether the program serves in a folder as that user: /healthz, `status`, and 0 at SIGTERM. Returns what it takes of memory."""
    enter = ["chroot", f"--userspec={user}", str(root)]
    log = tempfile.TemporaryFile()
    relay = subprocess.Popen([*enter, program, "serve", "--host", "127.0.0.1", "--port", "0", *words], stdout=subprocess.PIPE, stderr=log)
    try:
        address = re.match(rb"relay://127\.0\.0\.1:(\d+)", relay.stdout.readline())
        if not address:
            log.seek(0)
            raise Failure(f"it does not listen: {log.read().decode()}")
        port = address[1].decode()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
            assert answer.read().strip() == b"ok"
        status = json.loads(run(*enter, program, "status", "--data-dir", DATA, "--json"))
        assert status["census"]["connections"] == 0, status
        memory = re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{relay.pid}/status").read_text())[1]
    finally:
        relay.send_signal(signal.SIGTERM)
        ended = relay.wait(20)
    assert ended == 0, f"SIGTERM ended it with {ended}"
    return f"serves with {int(memory) / 1024:.1f} MiB"


def prepare(made: Made) -> str:
    with tarfile.open(made.tarball) as archive:
        archive.extractall(made.place)
    made.release = Release(made.program)
    run("debootstrap", "--variant=minbase", "--include=ca-certificates,tzdata", "bookworm", str(made.root), MIRROR)
    run("mount", "-t", "proc", "proc", str(made.root / "proc"))
    shutil.copy(made.package, made.root / "root/new.deb")
    (made.root / "root/later.deb").write_bytes(debian.make(made.release, f"{made.release.version}+later"))
    return f"version {made.release.version}, commit {made.release.commit[:12]}"


def checksums(made: Made) -> str:
    lines = (made.folder / "SHA256SUMS").read_text().splitlines()
    for digest, name in map(str.split, lines):
        assert hashlib.sha256((made.folder / name).read_bytes()).hexdigest() == digest, name
    assert {line.split()[1] for line in lines} | {"SHA256SUMS"} == {path.name for path in made.folder.iterdir()}
    return f"{len(lines)} files"


def list_of_parts(made: Made) -> str:
    document = json.loads(made.spdx.read_text())
    assert not parts.problems(document), parts.problems(document)
    run(sys.executable, "-m", "venv", f"{made.place}/venv")
    run(f"{made.place}/venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "spdx-tools==0.8.3")
    run(f"{made.place}/venv/bin/pyspdxtools", "--infile", str(made.spdx))
    return f"{len(document['packages'])} parts, also for spdx-tools"


def twice(made: Made) -> str:
    """Two runs of the packing, in other circumstances."""
    for name, zone, mask in (("one", "Asia/Tokyo", 0o077), ("two", "America/Lima", 0o022)):
        run(str(ROOT / ".ci/package"), "--program", str(made.program), "--output", str(made.place / name), cwd=made.place,
            env=os.environ | {"TZ": zone, "PYTHONHASHSEED": str(mask), "LC_ALL": "C"}, preexec_fn=lambda: os.umask(mask))
        for path in made.folder.iterdir():
            assert path.read_bytes() == (made.place / name / path.name).read_bytes(), f"run {name} makes another {path.name}"
    return "the same bytes as dist/"


def lint(made: Made) -> str:
    run("lintian", "--allow-root", "--fail-on", "error,warning", str(made.package))
    return "no error, no warning, no override"


def tarball(made: Made) -> str:
    """The program of the tarball, beside Debian's libraries alone."""
    shutil.copy(made.program, made.root / "opt/boardrelay")
    made.inside("install", "-d", "-m", "700", "-o", "nobody", DATA)
    said = serves(made.root, "/opt/boardrelay", "nobody:nogroup", "--data-dir", DATA)
    shutil.rmtree(made.root / DATA[1:])
    return said


def package(made: Made) -> str:
    """Installed, run, upgraded, removed and purged where no systemd is."""
    settings = made.root / "etc/boardrelay/boardrelay.conf"
    made.inside("dpkg", "--install", "/root/new.deb")
    made.inside("dpkg", "--verify", "boardrelay")
    assert made.inside("boardrelay", "--version") == f"boardrelay {made.release.version} (commit {made.release.commit[:12]})\n"
    assert (made.root / "etc/systemd/system/multi-user.target.wants/boardrelay.service").is_symlink()
    made.inside("install", "-d", "-m", "700", "-o", "boardrelay", "-g", "boardrelay", DATA)
    words = ["--config", f"/{settings.relative_to(made.root)}", "--data-dir", DATA]
    said = serves(made.root, "/usr/bin/boardrelay", "boardrelay:boardrelay", *words)
    settings.write_text(settings.read_text() + "# ours\n")
    made.inside("dpkg", "--install", "/root/later.deb")
    assert settings.read_text().endswith("# ours\n"), "the upgrade has lost the settings"
    made.inside("dpkg", "--remove", "boardrelay")
    assert settings.exists() and not (made.root / "usr/bin/boardrelay").exists()
    assert f"stay in {DATA}" in made.inside("dpkg", "--purge", "boardrelay")
    assert not settings.parent.exists() and (made.root / DATA[1:] / "host.key").exists()
    assert not list((made.root / "etc/systemd").rglob("boardrelay*"))
    return said


# What a booted Debian does with the package. The last line is only there if all before it held.
PROBE = f"""\
trap poweroff EXIT
set -ex
is() {{ [ "$(systemctl "$1" boardrelay)" = "$2" ]; }}
pid() {{ systemctl show --property=MainPID boardrelay; }}
is is-active active
systemd-analyze verify --man=no boardrelay.service
[ "$(stat -c '%U %G %a' {DATA} /run/boardrelay | tr '\\n' ' ')" = 'boardrelay boardrelay 700 boardrelay boardrelay 750 ' ]
boardrelay status >/dev/null
boardrelay user bans
useradd --groups boardrelay member
su member -c 'boardrelay board ls && boardrelay key show'
useradd other
! su other -c 'boardrelay board ls' 2>/root/refused
grep 'group boardrelay' /root/refused
old=$(pid)
echo 'max-history = 50' >>/etc/boardrelay/boardrelay.conf
systemctl reload boardrelay
boardrelay reload | grep 'no setting has another value'
journalctl --unit=boardrelay --grep='changed: max-history'
[ "$(pid)" = "$old" ]
dpkg --install /root/later.deb
is is-active active
[ "$(pid)" != "$old" ]
systemctl disable --now boardrelay
dpkg --install /root/later.deb
is is-enabled disabled
is is-active inactive
systemctl enable --now boardrelay
dpkg --remove boardrelay
is is-active inactive
dpkg --purge boardrelay
rm -rf {DATA}
install -m 755 /root/boardrelay /usr/local/bin/boardrelay
/usr/local/bin/boardrelay service install
is is-active active
is is-enabled enabled
/usr/local/bin/boardrelay key show --data-dir /var/lib/private/boardrelay
/usr/local/bin/boardrelay service remove
[ ! -e /etc/systemd/system/boardrelay.service ]
: it holds
"""


def service(made: Made) -> str:
    """The same where systemd runs: the unit with all of its confinement."""
    shutil.rmtree(made.root / DATA[1:], ignore_errors=True)
    made.inside("apt-get", "install", "--yes", "--no-install-recommends", "dbus", "procps", "systemd-sysv")
    made.inside("dpkg", "--install", "/root/new.deb")
    (made.root / "root/probe.sh").write_text(PROBE)
    shutil.copy(made.program, made.root / "root/boardrelay")
    units = made.root / "etc/systemd/system"
    (units / "probe.service").write_text("[Unit]\nAfter=boardrelay.service\n[Service]\nType=oneshot\nTimeoutStartSec=120\n"
                                         "ExecStart=/bin/sh -c 'exec sh /root/probe.sh >/root/probe.out 2>&1'\n")
    (units / "multi-user.target.wants/probe.service").symlink_to("/etc/systemd/system/probe.service")
    run("umount", str(made.root / "proc"))
    run("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "--boot", f"--directory={made.root}",
        stdin=subprocess.DEVNULL, timeout=180)
    said = (made.root / "root/probe.out").read_text()
    assert "\n+ : it holds\n" in said, said
    return "started, asked by root and group, reloaded, upgraded, disabled, removed"


def container(made: Made) -> str:
    """The image as tools read it, its files as they run, and its TLS."""
    layout, bundle = made.place / "layout", made.place / "bundle"
    for kind in ("oci-archive", "docker-archive"):
        seen = json.loads(run("skopeo", "inspect", f"{kind}:{made.image}"))
        assert len(seen["Layers"]) == 2 and seen["Architecture"] == made.release.arch, seen
    with tarfile.open(made.image) as archive:
        archive.extractall(layout)
    run("umoci", "unpack", "--image", f"{layout}:{made.release.version}", str(bundle))
    root = bundle / "rootfs"
    # A runtime would mount it.
    (root / "proc").mkdir(exist_ok=True)
    run("mount", "-t", "proc", "proc", str(root / "proc"))
    said = serves(root, "/usr/bin/boardrelay", f"{image.USER}:{image.USER}", "--data-dir", DATA)
    trusts(made.place, root)
    return said


def trusts(place: pathlib.Path, root: pathlib.Path) -> None:
    """Whether the program finds libssl and the roots: it takes a server's certificate once that is among them, and not before."""
    certificate, key, roots = place / "server.pem", place / "server.key", root / "etc/ssl/certs/ca-certificates.crt"
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2",
        "-subj", "/CN=check", "-addext", "subjectAltName=IP:127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as server:
        def close_each() -> None:
            while True:
                try:
                    context.wrap_socket(server.accept()[0], server_side=True).close()
                except ssl.SSLError:
                    pass
                except OSError:
                    return

        threading.Thread(target=close_each, daemon=True).start()
        asked = ["chroot", str(root), "/usr/bin/boardrelay", "status", "--url", f"relays://127.0.0.1:{server.getsockname()[1]}"]
        before = subprocess.run(asked, capture_output=True, timeout=30).stderr
        roots.write_bytes(roots.read_bytes() + certificate.read_bytes())
        after = subprocess.run(asked, capture_output=True, timeout=30).stderr
    assert b"no root that this system trusts" in before and b"certificate" not in after, (before, after)


def loaded(made: Made) -> str:
    """What `podman load` makes of it, where there is a podman. It needs no service; nothing is started."""
    if not shutil.which("podman"):
        return "NOT CHECKED: there is no podman"
    podman = ["podman", "--storage-driver=vfs", f"--root={made.place}/storage", f"--runroot={made.place}/run"]
    said = run(*podman, "load", "--input", str(made.image)).decode()
    name = said.strip().rpartition(" ")[2]
    config = json.loads(run(*podman, "image", "inspect", name))[0]["Config"]
    assert config["Entrypoint"] == ["/usr/bin/boardrelay"] and config["Cmd"] == ["serve", "--data-dir", DATA], config
    assert list(config["Volumes"]) == [DATA] and list(config["ExposedPorts"]) == ["7420/tcp"], config
    return name


if __name__ == "__main__":
    sys.exit(steps(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), "--without-boot" not in sys.argv))
