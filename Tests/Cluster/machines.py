"""Relays and servers as on three machines: network namespaces with a cable each to a hub, where the writers are. Linux, as root."""

import contextlib
import ctypes
import os
import subprocess
import threading

import nats
from space import AUTHORIZATION, Space

NET = 0x40000000  # CLONE_NEWNET
libc = ctypes.CDLL(None, use_errno=True)


def change(call, *words):
    """Of this thread, and of those that it begins."""
    if call(*words, NET) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Machine:
    """A namespace, an address, and the hub's end of its cable."""

    def __init__(self, number):
        self.name, self.address, self.cable = f"cluster-{os.getpid()}-{number}", f"10.77.0.{number}", f"cable{number}"
        self.before = ("ip", "netns", "exec", self.name)
        ip("netns", "add", self.name)
        ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("-n", self.name, "address", "add", f"{self.address}/24", "dev", "eth0")
        for end in ("lo", "eth0"):
            ip("-n", self.name, "link", "set", end, "up")
        ip("link", "set", self.cable, "master", "hub", "up")

    def pull(self):
        ip("link", "set", self.cable, "down")

    def plug(self):
        ip("link", "set", self.cable, "up")

    @contextlib.contextmanager
    def inside(self):
        """Sockets that are made meanwhile are the machine's."""
        with open(f"/proc/self/task/{threading.get_native_id()}/ns/net") as here, open(f"/run/netns/{self.name}") as there:
            change(libc.setns, there.fileno())
            try:
                yield
            finally:
                change(libc.setns, here.fileno())

    def end(self):
        ip("netns", "delete", self.name)


class Machines(Space):
    """A server and a relay on each."""

    def begin(self, server):
        change(libc.unshare)
        ip("link", "set", "lo", "up")
        ip("link", "add", "hub", "type", "bridge")
        ip("address", "add", "10.77.0.254/24", "dev", "hub")
        ip("link", "set", "hub", "up")
        self.machines = [self.stage.keep(Machine(number)) for number in (1, 2, 3)]
        places = [(machine.address, machine.before) for machine in self.machines]
        self.begin_servers(nats.servers(server, self.stage.folder, 3, AUTHORIZATION, places=places))
        self.log = ",".join(f"nats://{server.host}:{server.port}" for server in self.servers)
        for number, (host, before) in enumerate(places):
            self.join(f"data{number}", host=host, before=before)
        self.learn_key()

    def client(self, node, user, **more):
        """On the machine itself, so that a pulled cable is not between them."""
        with next(machine for machine in self.machines if machine.address == node.host).inside():
            return super().client(node, user, **more)

    def cuts(self):
        [machine] = [machine for machine in self.machines if machine.address == self.nodes[0].host]
        return {"its machine's cable": (machine.pull, machine.plug)}
