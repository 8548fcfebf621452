"""The tarball: for any Linux whose C library is new enough. docs/operations.md tells where its files go."""
from release import Release
from tree import Tree, zipped


def make(release: Release) -> bytes:
    files, tree = release.files, Tree(release.time)
    tree.file("boardrelay", files["program"], 0o755)
    tree.file("boardrelay.1", files["manual"])
    tree.file("boardrelay.conf.example", files["settings"])
    tree.file("boardrelay.service", files["unit"])
    tree.file("completions/boardrelay.bash", files["bash"])
    tree.file("completions/_boardrelay", files["zsh"])
    tree.file("completions/boardrelay.fish", files["fish"])
    tree.file("LICENSE.txt", files["licence"])
    return zipped(tree.tar(prefix=f"boardrelay-{release.version}-linux-{release.arch}/"))
