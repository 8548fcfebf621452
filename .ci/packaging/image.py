"""The container image: a layer with what a program needs of Debian 12, and one with the relay.

It is an OCI layout with the manifest.json of `docker save`, so old and new `docker load`, `podman load` and `skopeo` take it.
"""
import json
import time

import base
from release import NAME, SUMMARY, Release, sha256
from tree import Tree, zipped

USER, DATA = 7420, "/var/lib/boardrelay"
OCI = "application/vnd.oci.image"


def make(release: Release) -> bytes:
    layers = [base.layer(release.arch, release.time).tar(), relay(release).tar()]
    packed = [zipped(layer) for layer in layers]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release.time))
    config = as_json({
        "architecture": release.arch, "os": "linux", "created": created,
        "config": {
            "User": f"{USER}:{USER}", "ExposedPorts": {"7420/tcp": {}}, "Volumes": {DATA: {}}, "WorkingDir": "/",
            # `boardrelay key show` beside the relay finds its socket there, also where everything else is read-only.
            "Env": ["PATH=/usr/bin", f"XDG_RUNTIME_DIR={DATA}"],
            "Entrypoint": ["/usr/bin/boardrelay"], "Cmd": ["serve", "--data-dir", DATA], "StopSignal": "SIGTERM",
            "Labels": {"org.opencontainers.image.title": NAME, "org.opencontainers.image.description": SUMMARY,
                       "org.opencontainers.image.version": release.version, "org.opencontainers.image.revision": release.commit,
                       "org.opencontainers.image.licenses": "MIT"}},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(layer)}" for layer in layers]},
        "history": [{"created": created, "created_by": "Debian 12"}, {"created": created, "created_by": f"{NAME} {release.version}"}]})
    manifest = as_json({
        "schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json", "config": described("config.v1+json", config),
        "layers": [described("layer.v1.tar+gzip", layer) for layer in packed]})
    tag = f"{NAME}:{release.version}"
    tree = Tree(release.time)
    for blob in (*packed, config, manifest):
        tree.file(f"blobs/sha256/{sha256(blob)}", blob)
    tree.file("oci-layout", as_json({"imageLayoutVersion": "1.0.0"}))
    tree.file("index.json", as_json({
        "schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json",
        "manifests": [described("manifest.v1+json", manifest) | {
            "platform": {"architecture": release.arch, "os": "linux"},
            "annotations": {"io.containerd.image.name": f"docker.io/library/{tag}",
                            "org.opencontainers.image.ref.name": release.version}}]}))
    tree.file("manifest.json", as_json([{
        "Config": f"blobs/sha256/{sha256(config)}", "RepoTags": [tag], "Layers": [f"blobs/sha256/{sha256(blob)}" for blob in packed]}]))
    return tree.tar()


def relay(release: Release) -> Tree:
    """The program, its user and its folder."""
    tree = Tree(release.time)
    tree.file("usr/bin/boardrelay", release.bytes, 0o755)
    tree.file("usr/share/doc/boardrelay/copyright", release.files["licence"])
    tree.file("etc/passwd", f"root:x:0:0:root:/:/nonexistent\n{NAME}:x:{USER}:{USER}::{DATA}:/nonexistent\n".encode())
    tree.file("etc/group", f"root:x:0:\n{NAME}:x:{USER}:\n".encode())
    # Without it the C library would ask a name server before it reads /etc/hosts.
    tree.file("etc/nsswitch.conf", b"hosts: files dns\n")
    tree.folder(DATA[1:], 0o700, owner=USER)
    return tree


def described(kind: str, blob: bytes) -> dict:
    return {"mediaType": f"{OCI}.{kind}", "digest": f"sha256:{sha256(blob)}", "size": len(blob)}


def as_json(value) -> bytes:
    return json.dumps(value, indent=1).encode() + b"\n"
