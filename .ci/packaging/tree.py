"""A tree of files in memory, and the archives that it becomes. The same tree gives the same bytes."""
import copy
import gzip
import io
import tarfile


class Tree(dict):
    """Entries of a tar archive by their names, each with its bytes. Everything belongs to root and has one time."""

    def __init__(self, moment: int) -> None:
        super().__init__()
        self.moment = moment

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        self.add(name, tarfile.REGTYPE, mode, data)

    def link(self, name: str, target: str) -> None:
        self.add(name, tarfile.SYMTYPE, 0o777, target=target)

    def folder(self, name: str, mode: int = 0o755, owner: int = 0) -> None:
        self.add(name, tarfile.DIRTYPE, mode, owner=owner)

    def add(self, name: str, kind: bytes, mode: int, data: bytes = b"", target: str = "", owner: int = 0) -> None:
        parent = name.rpartition("/")[0]
        if parent and parent not in self:
            self.folder(parent)
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.size, info.linkname, info.uid, info.gid = kind, mode, len(data), target, owner, owner
        info.mtime = self.moment
        self[name] = info, data

    def tar(self, prefix: str = "") -> bytes:
        """The tree in the order of its names. Each is written behind the prefix, which ends with a slash."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name in sorted(self):
                info, data = self[name]
                info = copy.copy(info)
                info.name = prefix + name
                archive.addfile(info, io.BytesIO(data))
        return out.getvalue()


def zipped(data: bytes) -> bytes:
    """gzip -n9"""
    return gzip.compress(data, compresslevel=9, mtime=0)
