#!/usr/bin/env python3
"""Announcement of a relay in a local network, as other programs see it: python-zeroconf, avahi, a plain resolver. Linux, as root.

    python3 Tests/Discovery/check.py --responder "CMD"                       all checks
    python3 Tests/Discovery/check.py --responder "CMD" NAME …                those named
    python3 Tests/Discovery/check.py --responder "CMD" --finder "CMD"        also what finds relays, and ends

CMD announces a relay until SIGTERM. In it {port} stands for the port of TCP and {folder} for a folder of its own: for example
"boardrelay serve --port {port} --data-dir {folder}". It must begin with the name boardrelay and notice within 15 s which interfaces it has.
Two checks are of `boardrelay serve` alone: `kept` and `silent`.

Everything happens in network namespaces that the script makes and removes: a "hub" with a cable to each of "left" and "right". No
packet leaves them. It needs iproute2 and the package zeroconf of Python; without avahi-daemon, avahi-utils and dbus-daemon the checks
of avahi are skipped, and the script says so.
Exit code 0; 1: a check failed; 2: it cannot run here.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

TYPE = "_boardrelay._tcp.local."
GROUP, PORT = "224.0.0.251", 5353
PATIENCE = 15
AVAHI = ("avahi-daemon", "avahi-browse", "avahi-publish", "avahi-resolve", "dbus-daemon")
AVAHI_CONF = "[server]\nhost-name={name}\nuse-ipv6=yes\nuse-ipv4=yes\n[publish]\npublish-hinfo=no\npublish-workstation=no\n"
DBUS_CONF = """<busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_type="signal"/>
<allow send_type="method_return"/><allow send_type="error"/><allow receive_type="method_call"/><allow receive_type="signal"/>
<allow receive_type="method_return"/><allow receive_type="error"/></policy></busconfig>"""


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(holds, text):
    if not holds:
        raise Failed(text)


def run(*words, check=True):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=check, timeout=60).stdout


# What runs inside of a namespace: this script again, which prints JSON.

def browse(seconds):
    """Each service by its name: port, host, addresses, text; and what was seen to go."""
    from zeroconf import IPVersion, ServiceBrowser, Zeroconf
    found, gone = {}, []

    class Listener:
        def add_service(self, zeroconf, kind, name):
            info = zeroconf.get_service_info(kind, name, 2000)
            if info:
                text = {key.decode(): (value or b"").decode() for key, value in info.properties.items()}
                found[name.removesuffix("." + TYPE)] = {
                    "port": info.port, "host": info.server, "addresses": sorted(info.parsed_addresses(IPVersion.All)), "text": text}

        update_service = add_service

        def remove_service(self, zeroconf, kind, name):
            gone.append(name.removesuffix("." + TYPE))

    zeroconf = Zeroconf(ip_version=IPVersion.All)
    browser = ServiceBrowser(zeroconf, TYPE, Listener())
    time.sleep(seconds)
    browser.cancel()
    zeroconf.close()
    return {"found": found, "gone": gone}


def types(seconds):
    """The types of services that are listed."""
    from zeroconf import IPVersion, ZeroconfServiceTypes
    return list(ZeroconfServiceTypes.find(timeout=seconds, ip_version=IPVersion.All))


def register(name, address):
    """Has the names of a relay until it is ended."""
    from zeroconf import ServiceInfo, Zeroconf
    zeroconf = Zeroconf()
    zeroconf.register_service(ServiceInfo(TYPE, f"{name}.{TYPE}", 80, addresses=[socket.inet_aton(address)], server=f"{name}.local."))
    print("ready", flush=True)
    signal.pause()


def ask(name, kind, source, interface, port=0, to=GROUP):
    """The answers that one question gets alone within a second: [the bytes, who sent them]."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sender.bind((source, port))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                      struct.pack("4s4si", socket.inet_aton("0.0.0.0"), socket.inet_aton("0.0.0.0"), socket.if_nametoindex(interface)))
    question = b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".")) + b"\0" + struct.pack(">HH", kind, 1)
    sender.sendto(struct.pack(">HHHHHH", 0xBEEF, 0, 1, 0, 0, 0) + question, (to, PORT))
    sender.settimeout(1)
    answers = []
    try:
        while True:
            data, peer = sender.recvfrom(9000)
            answers.append([data.hex(), peer[0]])
    except TimeoutError:
        return answers


INSIDE = {"browse": browse, "types": types, "register": register, "ask": ask}


class Net:
    """A hub with cables to two others, and what runs in them."""

    def __init__(self, responder, finder):
        self.responder, self.finder = responder, finder
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="discovery-"))
        self.names = {name: f"relay-{name}-{os.getpid()}" for name in ("hub", "left", "right")}
        self.running = []

    def __enter__(self):
        for name in self.names.values():
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        for number, name in enumerate(("left", "right")):
            near, far = f"to-{name}", "to-hub"
            run("ip", "-n", self.names["hub"], "link", "add", near, "type", "veth", "peer", "name", far, "netns", self.names[name])
            for where, interface, host in (("hub", near, 1), (name, far, 2)):
                run("ip", "-n", self.names[where], "address", "add", f"10.9.{number}.{host}/24", "dev", interface)
                run("ip", "-n", self.names[where], "address", "add", f"fd09:{number}::{host}/64", "dev", interface, "nodad")
                run("ip", "-n", self.names[where], "link", "set", interface, "up")
        # Until link-local addresses are known to be nobody else's.
        time.sleep(2.5)
        return self

    def __exit__(self, *_):
        for process in self.running:
            self.end(process)
        for name in self.names.values():
            run("ip", "netns", "delete", name, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, where, words, output=None):
        process = subprocess.Popen(["ip", "netns", "exec", self.names[where], *map(str, words)], stdout=output or subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, text=True)
        self.running.append(process)
        return process

    def end(self, process, how=signal.SIGTERM):
        if process.poll() is None:
            process.send_signal(how)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def relay(self, where, port=7420, more=(), folder=None):
        folder = folder or tempfile.mkdtemp(dir=self.folder)
        process = self.start(where, shlex.split(self.responder.format(port=port, folder=folder)) + list(more))
        time.sleep(3)
        expect(process.poll() is None, f"the responder ended with {process.poll()}")
        return process

    def inside(self, where, what, *values):
        words = [sys.executable, __file__, "--inside", json.dumps([what, *values])]
        done = subprocess.run(["ip", "netns", "exec", self.names[where], *words], capture_output=True, text=True, timeout=90)
        expect(done.returncode == 0, f"{what}: {done.stderr[-300:]}")
        return json.loads(done.stdout)

    def browse(self, where, seconds=3):
        return self.inside(where, "browse", seconds)["found"]

    def until(self, holds, text):
        """Again and again for 15 s."""
        end = time.monotonic() + PATIENCE
        while not holds():
            expect(time.monotonic() < end, text)
            time.sleep(0.5)

    def addresses(self, where, interface):
        text = run("ip", "-n", self.names[where], "-o", "address", "show", "dev", interface)
        return set(re.findall(r"inet6? ([0-9a-f.:]+)/", text))

    def zeroconf(self, where, name, address):
        process = self.start(where, [sys.executable, __file__, "--inside", json.dumps(["register", name, address])], subprocess.PIPE)
        expect(process.stdout.readline() == "ready\n", "zeroconf did not register")
        return process

    def avahi(self, where, name):
        """Starts a bus and a daemon with a file system of their own for sockets. Returns what leads there."""
        if not all(shutil.which(program) for program in AVAHI):
            raise Skipped("avahi is not installed")
        conf, bus = self.folder / f"{where}.conf", self.folder / "bus.conf"
        conf.write_text(AVAHI_CONF.format(name=name))
        bus.write_text(DBUS_CONF)
        script = (f"mount -t tmpfs tmpfs /run && mkdir -p /run/dbus /run/avahi-daemon && dbus-daemon --config-file={bus} --nofork & "
                  f"sleep 1; exec avahi-daemon -f {conf} --no-drop-root --no-chroot --no-rlimits")
        daemon = self.start(where, ["unshare", "--mount", "--kill-child", "--fork", "--pid", "sh", "-c", script])
        time.sleep(5)
        children = run("pgrep", "-P", daemon.pid).split()
        expect(children, "avahi did not start")
        return ["nsenter", "--target", children[0], "--mount", "--net"]


# The checks, in their order.

def seen(net):
    """zeroconf sees service, host, port and the addresses of its link, in each family, and no key"""
    net.relay("hub")
    for where, interface in (("left", "to-left"), ("right", "to-right")):
        found = net.browse(where)
        expect(set(found) == {"boardrelay"}, f"{where} sees {sorted(found)}")
        service = found["boardrelay"]
        expect(service["port"] == 7420 and service["host"] == "boardrelay.local.", f"{where} sees {service}")
        addresses = {address.split("%")[0] for address in service["addresses"]}
        # A link-local one need not be told where IPv6 has others.
        expect(addresses == {address for address in net.addresses("hub", interface) if not address.startswith("fe80")},
               f"{where} sees {sorted(addresses)}")
        expect(not any("key" in key.lower() for key in service["text"]), f"the text holds {service['text']}")
    expect(TYPE in net.inside("left", "types", 3), "the type is not listed")


def plain(net):
    """a plain resolver gets id, question and short times; who is not on the link gets nothing"""
    net.relay("hub")
    answers = net.inside("left", "ask", "boardrelay.local", 1, "10.9.0.2", "to-hub")
    expect(len(answers) == 1 and answers[0][1] == "10.9.0.1", f"answers: {answers}")
    data = bytes.fromhex(answers[0][0])
    expect(data[:8] == bytes.fromhex("beef840000010001"), f"the head is {data[:8].hex()}")
    kind, seconds, size = struct.unpack(">HIH", data[-12:-4])
    expect(kind == 1 and seconds <= 10 and data[-4:] == bytes([10, 9, 0, 1]) and size == 4, f"the record is {data[-14:].hex()}")
    expect(len(net.inside("left", "ask", "boardrelay.local", 1, "10.9.0.2", "to-hub", 0, "10.9.0.1")) == 1, "no answer to unicast")
    run("ip", "-n", net.names["left"], "address", "add", "192.0.2.7/32", "dev", "to-hub")
    run("ip", "-n", net.names["hub"], "route", "add", "192.0.2.7/32", "dev", "to-left")
    expect(not net.inside("left", "ask", "boardrelay.local", 1, "192.0.2.7", "to-hub"), "an answer off the link")


def second(net):
    """a second relay on the link is boardrelay-2, and so is one on the same machine"""
    net.relay("hub")
    other = net.relay("left", 7421)
    found = net.browse("left")
    expect({name: found[name]["host"] for name in found} == {"boardrelay": "boardrelay.local.", "boardrelay-2": "boardrelay-2.local."},
           f"found: {found}")
    net.end(other)
    net.relay("hub", 7421)
    found = net.browse("left")
    expect({name: found[name]["port"] for name in found} == {"boardrelay": 7420, "boardrelay-2": 7421}, f"found: {found}")


def together(net):
    """two that begin at the same moment have two names"""
    words = shlex.split(net.responder.format(port=7420, folder=tempfile.mkdtemp(dir=net.folder)))
    others = shlex.split(net.responder.format(port=7420, folder=tempfile.mkdtemp(dir=net.folder)))
    net.start("hub", words), net.start("left", others)
    time.sleep(6)
    expect(set(net.browse("left")) == {"boardrelay", "boardrelay-2"}, "not two names")


def taken(net):
    """a name that zeroconf has is left to it"""
    net.zeroconf("left", "boardrelay", "10.9.0.2")
    net.relay("hub")
    found = net.browse("left")
    expect(found["boardrelay"]["port"] == 80 and found["boardrelay-2"]["port"] == 7420, f"found: {found}")


def goodbye(net):
    """a relay that ends is gone at once"""
    process = net.relay("hub")
    words = [sys.executable, __file__, "--inside", json.dumps(["browse", 6])]
    watcher = net.start("left", words, subprocess.PIPE)
    time.sleep(3)
    net.end(process)
    seen = json.loads(watcher.communicate(timeout=30)[0])
    expect(list(seen["found"]) == ["boardrelay"] and seen["gone"] == ["boardrelay"], f"seen: {seen}")


def kept(net):
    """a relay has the name of the last time again, though the first one is free; what is no name is none"""
    for line, name in (("boardrelay-7\n", "boardrelay-7"), ("a.b\n", "boardrelay")):
        folder = pathlib.Path(tempfile.mkdtemp(dir=net.folder))
        (folder / "name").write_text(line)
        (folder / "name").chmod(0o600)
        process = net.relay("hub", folder=folder)
        expect(set(net.browse("left")) == {name}, f"{line!r}: {sorted(net.browse('left'))}")
        expect((folder / "name").read_text() == f"{name}\n", "another name is kept")
        net.end(process)


def silent(net):
    """nothing is said of a relay that is not to be announced, is on loopback, or is on a port that the system has chosen"""
    net.relay("hub", more=["--no-announce"])
    net.relay("hub", port=0)
    net.relay("hub", port=7421, more=["--host", "127.0.0.1"])
    expect(net.browse("left") == {}, f"left sees {sorted(net.browse('left'))}")
    # Only the network of the address on which it listens is told.
    net.relay("hub", port=7422, more=["--host", "10.9.0.1"])
    expect(set(net.browse("left")) == {"boardrelay"} and net.browse("right") == {}, "the other network is told")


def interfaces(net):
    """an interface that goes away is silent while the other one answers; it is announced again when it comes back"""
    net.relay("hub")
    run("ip", "-n", net.names["hub"], "link", "set", "to-left", "down")
    time.sleep(1)
    expect("boardrelay" in net.browse("right"), "the other link does not answer")
    run("ip", "-n", net.names["hub"], "link", "set", "to-left", "up")
    net.until(lambda: "boardrelay" in net.browse("left"), "not announced again")
    run("ip", "-n", net.names["hub"], "link", "delete", "to-left")
    time.sleep(1)
    expect("boardrelay" in net.browse("right"), "the other link does not answer when one is deleted")
    run("ip", "-n", net.names["hub"], "address", "delete", "10.9.1.1/24", "dev", "to-right")
    run("ip", "-n", net.names["hub"], "address", "add", "10.9.1.9/24", "dev", "to-right")
    net.until(lambda: "10.9.1.9" in net.browse("right").get("boardrelay", {"addresses": []})["addresses"], "the new address is not told")


def avahi(net):
    """avahi on another machine sees and resolves the relay"""
    there = net.avahi("left", "other")
    net.relay("hub")
    text = run(*there, "avahi-browse", "-rpt", "_boardrelay._tcp")
    lines = [line.split(";") for line in text.splitlines() if line.startswith("=")]
    expect({line[3] for line in lines} == {"boardrelay"} and {line[6] for line in lines} == {"boardrelay.local"}, f"avahi-browse: {text}")
    expect({line[8] for line in lines} == {"7420"}, f"avahi-browse: {text}")
    expect(run(*there, "avahi-resolve", "-4n", "boardrelay.local").split() == ["boardrelay.local", "10.9.0.1"], "avahi-resolve -4")
    expect(run(*there, "avahi-resolve", "-6n", "boardrelay.local").split()[-1] in net.addresses("hub", "to-left"), "avahi-resolve -6")


def beside_avahi(net, name):
    here = net.avahi("hub", name)
    net.relay("hub")
    found = net.browse("left")
    expect(list(found) == ["boardrelay"], f"left sees {sorted(found)}")
    expect("boardrelay" in run(*here, "avahi-browse", "-pt", "_boardrelay._tcp"), "avahi does not see it")
    for host in (name, "boardrelay"):
        expect(net.inside("left", "ask", f"{host}.local", 1, "10.9.0.2", "to-hub"), f"no answer for {host}.local")
        expect(not net.inside("left", "ask", f"{host}-2.local", 1, "10.9.0.2", "to-hub"), f"somebody is {host}-2.local")


def avahi_here(net):
    """avahi on the same machine and the relay answer both"""
    beside_avahi(net, "machine")


def avahi_same(net):
    """avahi on the same machine has the relay's name for it: both keep it"""
    beside_avahi(net, "boardrelay")


def avahi_taken(net):
    """a service that avahi publishes keeps its name"""
    there = net.avahi("left", "other")
    net.start("left", [*there[:4], "avahi-publish", "-s", "boardrelay", "_boardrelay._tcp", "80"])
    time.sleep(3)
    net.relay("hub")
    found = net.browse("right")
    expect(list(found) == ["boardrelay-2"], f"right sees {sorted(found)}")
    found = net.browse("left")
    expect(found["boardrelay"]["port"] == 80 and found["boardrelay-2"]["port"] == 7420, f"found: {found}")


def finder(net):
    """the finder sees relays of both kinds, and who goes"""
    if not net.finder:
        raise Skipped("no --finder")
    process = net.relay("hub")
    net.zeroconf("left", "by-zeroconf", "10.9.0.2")

    def found():
        words = ["ip", "netns", "exec", net.names["left"], *shlex.split(net.finder)]
        return subprocess.run(words, capture_output=True, text=True, timeout=60).stdout

    net.until(lambda: all(name in said for said in [found()] for name in ("boardrelay", "by-zeroconf", "10.9.0.1")), "not found")
    net.end(process)
    net.until(lambda: "boardrelay.local" not in found(), "not forgotten")


CHECKS = [seen, plain, second, together, taken, goodbye, kept, silent, interfaces, avahi, avahi_here, avahi_same, avahi_taken, finder]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(check.__name__ for check in CHECKS))
    parser.add_argument("--responder", metavar="CMD")
    parser.add_argument("--finder", metavar="CMD")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        what, *values = json.loads(options.inside)
        print(json.dumps(INSIDE[what](*values)))
        return 0
    unknown = set(options.names) - {check.__name__ for check in CHECKS}
    if unknown or not options.responder:
        parser.error(f"no check {', '.join(unknown)}" if unknown else "--responder is missing")
    try:
        import zeroconf  # noqa: F401
    except ImportError:
        print("the package zeroconf is missing", file=sys.stderr)
        return 2
    if os.geteuid() != 0 or not shutil.which("ip"):
        print("network namespaces need root and iproute2", file=sys.stderr)
        return 2
    failures = 0
    for check in CHECKS:
        if options.names and check.__name__ not in options.names:
            continue
        try:
            with Net(options.responder, options.finder) as net:
                check(net)
            print(f"ok      {check.__name__}: {check.__doc__}", flush=True)
        except Skipped as reason:
            print(f"skipped {check.__name__}: {reason}", flush=True)
        except (Failed, subprocess.SubprocessError, KeyError) as failure:
            failures += 1
            print(f"FAILED  {check.__name__}: {check.__doc__}: {failure}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
