"""The calls of a process on its files and sockets, in the order in which strace saw them.

strace stops the process at each call before it is made and after it: what the process does later on the word of a call stands behind
its end. So the trace by itself tells what was on the disk for certain when an answer left.
"""

import functools
import os
import re
import shutil
import time

# Not every machine has each of them.
WATCHED = ("?openat,?open,?creat,?write,?pwrite64,?writev,?pwritev,?pwritev2,?sendmsg,?sendto,?fsync,?fdatasync,?sync_file_range,?sync,"
           "?syncfs,?ftruncate,?truncate,?fallocate,?rename,?renameat,?renameat2,?link,?linkat,?unlink,?unlinkat,?mkdir,?mkdirat,?rmdir,"
           "?symlinkat,?copy_file_range")
# What the disk (disk.py) does not know, if it comes to a file of the folder.
UNKNOWN = {"creat", "sync_file_range", "sync", "syncfs", "fallocate", "symlinkat", "copy_file_range", "rmdir", "truncate"}
BYTES = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
DESCRIPTOR = re.compile(r"(\d+|AT_FDCWD)(?:<((?:\\x[0-9a-f]{2})+)>|<TCP:\[[^\]]*:(\d+)->[^\]]*:(\d+)\]>)?")


def tracer(path):
    """The command in front of a program whose calls are to stand in a file."""
    if not shutil.which("strace"):
        raise SystemExit("there is no strace: apt-get install strace")
    return ["strace", "-D", "-f", "-yy", "-xx", "-s", "16777216", "--seccomp-bpf", "-o", str(path), "-e", f"trace={WATCHED}"]


def unescaped(text):
    return bytes.fromhex(text.replace("\\x", ""))


class Call:
    """One call. began, ended: places in the trace; a call that never came back has not ended. result: of one that has.

    path: of the descriptor that it is made on, or of the folder that its name is looked up in. peer: port, if that is a socket.
    """

    def __init__(self, name, began):
        self.name, self.began = name, began
        self.text, self.path, self.peer, self.ended, self.result = "", None, None, None, None

    def add(self, text):
        """More of its arguments."""
        self.text += text
        found = DESCRIPTOR.match(self.text)
        if found:
            self.path = os.fsdecode(unescaped(found[2])) if found[2] else os.getcwd() if found[1] == "AT_FDCWD" else None
            self.peer = int(found[4]) if found[4] else None

    def end(self, place, result):
        found = re.match(r"-?\d+", result)
        self.ended, self.result = place, int(found[0]) if found else None

    @functools.cached_property
    def data(self):
        """What is written: as much of it as was taken."""
        data = b"".join(unescaped(text) for text in BYTES.findall(self.text.split(">, ", 1)[-1]))
        return data if self.result is None else data[:max(self.result, 0)]

    @functools.cached_property
    def numbers(self):
        """The last arguments, as far as they are numbers."""
        return [int(word) for word in re.search(r"((?:, -?\d+)*)$", self.text)[1].split(", ") if word]

    @functools.cached_property
    def paths(self):
        """Of its names, each in the folder in front of it."""
        found, folder = [], os.getcwd()
        for part in re.finditer(rf"{DESCRIPTOR.pattern}|{BYTES.pattern}", self.text):
            if part[5] is not None:
                found.append(os.path.normpath(os.path.join(folder, os.fsdecode(unescaped(part[5])))))
                folder = os.getcwd()
            elif part[2]:
                folder = os.fsdecode(unescaped(part[2]))
        return found


def read_calls(path, first=0):
    """All calls of a trace, in the order in which they began; places count on from `first`."""
    calls, under_way, place = [], {}, first
    with open(path, encoding="ascii") as lines:
        for place, line in enumerate(lines, first + 1):
            process, line = line.rstrip("\n").split(None, 1)
            resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", line)
            if resumed:
                call, line = under_way.pop(process), resumed[1]
            elif found := re.match(r"(\w+)\(", line):
                call, line = Call(found[1], place), line[found.end():]
                calls.append(call)
            else:
                continue  # a signal, or an end
            if line.endswith("<unfinished ...>"):
                under_way[process] = call
                call.add(line.removesuffix("<unfinished ...>").rstrip(" "))
                continue
            text, _, result = line.rpartition(" = ")
            call.add(text.rstrip().removesuffix(")"))
            call.end(place, result)
    return calls, place


def wait_for_end(path, process):
    """Until the tracer has written all of it."""
    for _ in range(3000):
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - 4096))
            if re.search(rb"^%d +\+\+\+" % process, file.read(), re.M):
                return
        time.sleep(0.01)
    raise TimeoutError(f"the trace {path} does not end")
