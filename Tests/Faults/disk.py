"""What a folder holds after a loss of power, by the calls that were made on it (calls.py).

Whatever was changed and not synced has versions: the first is on the disk for certain, the last is what the system shows, and a cut
leaves any of them. The unit is a sector of 512 bytes, a file's length, or a name in a folder, each for itself: also of one write and
of one rename. An fsync of a file makes its bytes and its length certain; its name is certain by an fsync of its folder alone, which
is less than journaling file systems give. Where a file is longer than what was written to the disk there are zeros.
"""

import os
import re

from calls import UNKNOWN

SECTOR, PAGE = 512, 4096
FOLDER = "folder"


class Versions:
    """Of one thing: (place of the call, value), the first certain, the last as the system shows it."""

    def __init__(self, value, place=0):
        self.all = [(place, value)]

    @property
    def newest(self):
        return self.all[-1][1]

    @property
    def certain(self):
        return self.all[0][1]

    def add(self, place, value):
        self.all.append((place, value))

    def sync(self, before):
        """What was there before a sync began is certain."""
        last = max((n for n, (place, _) in enumerate(self.all) if place < before), default=0)
        del self.all[:last]


class File:
    """Bytes: certain ones, those that the system shows, and the sectors in which they differ."""

    def __init__(self, data=b""):
        self.certain, self.data = bytearray(data), bytearray(data)
        self.size, self.sectors = Versions(len(data)), {}

    def sector(self, data, number):
        return bytes(data[number * SECTOR:(number + 1) * SECTOR]).ljust(SECTOR, b"\0")

    def write(self, place, offset, data):
        end = offset + len(data)
        touched = range(min(offset, len(self.data)) // SECTOR, -(-end // SECTOR))
        before = {number: self.sector(self.data, number) for number in touched if number not in self.sectors}
        if end > len(self.data):
            self.data.extend(bytes(end - len(self.data)))
            self.size.add(place, end)
        self.data[offset:end] = data
        self._changed(place, touched, before)

    def truncate(self, place, size):
        touched = range(min(size, len(self.data)) // SECTOR, -(-len(self.data) // SECTOR))
        before = {number: self.sector(self.data, number) for number in touched if number not in self.sectors}
        del self.data[size:]
        self.data.extend(bytes(size - len(self.data)))
        self.size.add(place, size)
        self._changed(place, touched, before)

    def _changed(self, place, touched, before):
        for number in touched:
            self.sectors.setdefault(number, None)
            if self.sectors[number] is None:
                self.sectors[number] = Versions(before[number])
            self.sectors[number].add(place, self.sector(self.data, number))

    def sync(self, before):
        self.size.sync(before)
        for number, versions in list(self.sectors.items()):
            versions.sync(before)
            end = (number + 1) * SECTOR
            self.certain.extend(bytes(max(0, end - len(self.certain))))
            self.certain[number * SECTOR:end] = versions.certain
            if len(versions.all) == 1:
                del self.sectors[number]

    def after_cut(self, dice):
        """What is in it."""
        size, data = dice.choose("size", self.size), bytearray(self.certain)
        for number, versions in self.sectors.items():
            end = (number + 1) * SECTOR
            data.extend(bytes(max(0, end - len(data))))
            data[number * SECTOR:end] = dice.choose("data", versions, (id(self), number * SECTOR // PAGE))
        return bytes(data[:size]).ljust(size, b"\0")


class Dice:
    """How a cut takes names, lengths and sectors.

    none, all: of what is not certain. some: each for itself. pages: each page for itself, old or new. early: what was there at one
    moment, and nothing later. few: nearly all.
    """

    WAYS = {"name": ("none", "all", "some", "some", "early"), "size": ("none", "all", "some", "early"),
            "data": ("none", "all", "some", "pages", "early", "few")}

    def __init__(self, rng, now):
        self.rng, self.pages = rng, {}
        self.ways = {kind: rng.choice(ways) for kind, ways in self.WAYS.items()}
        if rng.random() < 0.3:  # as a disk does that writes in order
            self.ways = dict.fromkeys(self.WAYS, "early")
        self.moment = now - int(rng.expovariate(1 / 20))

    def choose(self, kind, versions, page=None):
        every, way = versions.all, self.ways[kind]
        if len(every) == 1 or way == "none":
            return every[0][1]
        if way == "all":
            return every[-1][1]
        if way == "early":
            return next((value for place, value in reversed(every) if place <= self.moment), every[0][1])
        if way == "pages":
            return every[self.pages.setdefault(page, self.rng.choice((0, -1)))][1]
        if way == "few" and self.rng.random() < 0.9:
            return every[-1][1]
        return self.rng.choice(every)[1]

    def __str__(self):
        return ", ".join(f"{kind}s {way}" for kind, way in self.ways.items())


class Disk:
    """Everything below one folder, which is there for certain. without: paths whose syncs are passed over, a pattern."""

    def __init__(self, base, without=None):
        self.base, self.names, self.without = str(base), {}, without

    def load(self):
        """Takes what is there now for certain; returns itself."""
        for folder, folders, files in os.walk(self.base):
            for name in folders:
                self.names[os.path.join(folder, name)] = Versions(FOLDER)
            for name in files:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        self.names[path] = Versions(File(file.read()))
        return self

    def _at(self, path):
        return self.names[path].newest if path in self.names else None

    def _name(self, place, path, what):
        self.names.setdefault(path, Versions(None)).add(place, what)

    def knows(self, path):
        return path is not None and path.startswith(self.base + "/")

    def begin(self, call):
        """A call was made, and works: what it changes may be on the disk from now on."""
        paths = call.paths if call.name.startswith(("open", "mkdir", "rename", "link", "unlink")) else []
        if call.name in UNKNOWN and (self.knows(call.path) or any(self.knows(path) for path in call.paths)):
            raise NotImplementedError(f"{call.name} on a file of the relay: {call.text[:200]}")
        if paths and not any(self.knows(path) for path in paths) or not paths and not self.knows(call.path):
            return
        place, file = call.began, self._at(call.path)
        if call.name in ("open", "openat"):
            self._open(place, paths[0], call.text)
        elif call.name in ("mkdir", "mkdirat"):
            self._name(place, paths[0], FOLDER)
        elif call.name.startswith("rename"):
            moved = self._at(paths[0])
            self._name(place, paths[1], moved)
            self._name(place, paths[0], None)
        elif call.name.startswith("link"):
            self._name(place, paths[1], self._at(paths[0]))
        elif call.name.startswith("unlink"):
            self._name(place, paths[0], None)
        elif isinstance(file, File):
            self._change(place, call, file)

    def _open(self, place, path, flags):
        if "O_CREAT" in flags and self._at(path) is None:
            self._name(place, path, File())
        elif "O_TRUNC" in flags and isinstance(self._at(path), File):
            self._at(path).truncate(place, 0)

    @staticmethod
    def _change(place, call, file):
        if call.name in ("pwrite64", "pwritev", "pwritev2"):
            file.write(place, call.numbers[1], call.data)
        elif call.name == "ftruncate":
            file.truncate(place, call.numbers[0])
        elif call.name in ("write", "writev"):
            raise NotImplementedError(f"{call.name} without an offset: {call.text[:200]}")

    def end(self, call):
        """It has come back: what a sync has found is certain."""
        if call.name not in ("fsync", "fdatasync") or call.result != 0 or call.path is None:
            return
        if self.without and re.fullmatch(self.without, os.path.relpath(call.path, self.base)):
            return
        file = self._at(call.path)
        if isinstance(file, File):
            file.sync(call.began)
        elif file == FOLDER or call.path == self.base:
            for path, versions in list(self.names.items()):
                if os.path.dirname(path) == call.path:
                    versions.sync(call.began)

    def shown(self):
        """Every file, as the system shows it."""
        return {path: bytes(versions.newest.data) for path, versions in self.names.items() if isinstance(versions.newest, File)}

    def after_cut(self, dice):
        """Every folder and file that is there: {path: bytes, or None for a folder}."""
        there, files = {}, {}
        for path, versions in sorted(self.names.items()):
            what = dice.choose("name", versions)
            if what is None or os.path.dirname(path) != self.base and os.path.dirname(path) not in there:
                continue
            if what != FOLDER and what not in files:
                files[what] = what.after_cut(dice)
            there[path] = None if what == FOLDER else files[what]
        return there


def play(disk, calls):
    """Each place of a trace, when the disk is as it was then."""
    ends = [(call.ended, 1, n) for n, call in enumerate(calls) if call.ended]
    moments = sorted([(call.began, 0, n) for n, call in enumerate(calls)] + ends)
    for at, (place, is_end, n) in enumerate(moments):
        call = calls[n]
        if call.result is not None and call.result >= 0:
            (disk.end if is_end else disk.begin)(call)
        if at + 1 == len(moments) or moments[at + 1][0] > place:
            yield place


def write_out(files, base, target):
    """Makes a folder of what is there after a cut."""
    for path, data in files.items():
        place = os.path.join(target, os.path.relpath(path, base))
        if data is None:
            os.mkdir(place, 0o700)
        else:
            with open(os.open(place, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(data)
