#!/usr/bin/env python3
"""A server of TLS before a relay, as Python's ssl has it, with a certificate that it makes for itself.

    python3 Tests/TLS/proxy.py --to PORT --folder DIR [--name NAME …] [--expired] [--newest 1.1] [--way WAY] [--port PORT]

The certificate is for the names, host names or IPv4 addresses, and comes from a root that is made, too: DIR/root.pem. The first line
of output is JSON: the port, and the pin of the certificate's key as the openssl program computes it. What comes in on standard input
is a command, "cut": every link ends without a word of TLS. The end of standard input ends all.

WAY is how it passes bytes on: "whole", "trickle" (to the client, one byte for each write), "leave" (it ends each link as soon as the
client has begun the handshake), "answer" (it answers each link itself, with a line of HTTP behind TLS).
"""

import argparse
import base64
import contextlib
import hashlib
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import threading

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
PIECE = 16 * 1024


def openssl(*words, data=None):
    return subprocess.run(["openssl", *words], input=data, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def make_certificate(folder, names, is_expired):
    """root.pem, server.pem and server.key in a folder. Returns the pin of the server's key."""
    paths = {name: str(folder / name) for name in ("root.pem", "root.key", "server.pem", "server.key", "server.csr", "names")}
    openssl("req", "-x509", *CURVE, "-keyout", paths["root.key"], "-out", paths["root.pem"], "-subj", "/CN=a root for one test", "-days", "2")
    openssl("req", *CURVE, "-keyout", paths["server.key"], "-out", paths["server.csr"], "-subj", "/CN=a server for one test")
    kinds = ",".join(("IP:" if name.replace(".", "").isdigit() else "DNS:") + name for name in names)
    pathlib.Path(paths["names"]).write_text(f"subjectAltName={kinds}\n")
    openssl("x509", "-req", "-in", paths["server.csr"], "-CA", paths["root.pem"], "-CAkey", paths["root.key"], "-out", paths["server.pem"],
            "-days", "-1" if is_expired else "2", "-extfile", paths["names"])
    key = openssl("pkey", "-pubin", "-outform", "der", data=openssl("x509", "-in", paths["server.pem"], "-pubkey", "-noout"))
    return base64.urlsafe_b64encode(hashlib.sha256(key).digest()[:16]).decode().rstrip("=")


class Links:
    """The sockets of all links, to cut them."""

    def __init__(self):
        self.lock, self.sockets = threading.Lock(), set()

    def add(self, *sockets):
        with self.lock:
            self.sockets.update(sockets)

    def remove(self, *sockets):
        with self.lock:
            self.sockets.difference_update(sockets)

    def cut(self):
        with self.lock:
            for one in self.sockets:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)


class Link:
    """One client's: TLS in memory, so that each byte on the socket is counted by hand."""

    def __init__(self, client, context, arguments):
        self.client, self.arguments = client, arguments
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        self.lock = threading.Lock()

    def send(self):
        """What TLS has for the client; with the lock held."""
        data = self.outgoing.read()
        size = 1 if self.arguments.way == "trickle" else PIECE
        for start in range(0, len(data), size):
            self.client.sendall(data[start:start + size])

    def step(self, act):
        """Does something of TLS until it needs no more from the client. Returns None when the client has gone."""
        while True:
            with self.lock:
                try:
                    return act()
                except ssl.SSLWantReadError:
                    pass
                finally:
                    self.send()
            data = self.client.recv(PIECE)
            if not data:
                return None
            with self.lock:
                self.incoming.write(data)

    def greet(self):
        return self.step(lambda: self.tls.do_handshake() or True)

    def read(self):
        return self.step(lambda: self.tls.read(PIECE))

    def write(self, data):
        with self.lock:
            self.tls.write(data)
            self.send()

    def end(self):
        """Says so; what the client says to it is not waited for."""
        with self.lock, contextlib.suppress(ssl.SSLWantReadError):
            self.tls.unwrap()
        with self.lock:
            self.send()


def serve(client, context, arguments, links):
    links.add(client)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with client, contextlib.suppress(OSError):
        if arguments.way == "leave":
            client.recv(1)
        else:
            pass_on(Link(client, context, arguments), links)
    links.remove(client)


def pass_on(link, links):
    if not link.greet():
        return
    if link.arguments.way == "answer":
        link.read()
        link.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        link.end()
        return
    with socket.create_connection(("127.0.0.1", link.arguments.to)) as relay:
        back = threading.Thread(target=pass_back, args=(relay, link), daemon=True)
        back.start()
        try:
            while data := link.read():
                relay.sendall(data)
        finally:
            with contextlib.suppress(OSError):
                relay.shutdown(socket.SHUT_RDWR)
            back.join()


def pass_back(relay, link):
    with contextlib.suppress(OSError):
        while data := relay.recv(PIECE):
            link.write(data)
        link.end()
        link.client.shutdown(socket.SHUT_WR)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--port", type=int, default=0, help="where it listens (default: where the system says)")
    parser.add_argument("--name", action="append", default=[])
    parser.add_argument("--expired", action="store_true")
    parser.add_argument("--newest", choices=["1.1", "1.2", "1.3"], default="1.3", help="the newest version of TLS that it speaks")
    parser.add_argument("--way", choices=["whole", "trickle", "leave", "answer"], default="whole")
    arguments = parser.parse_args()

    pin = make_certificate(arguments.folder, arguments.name or ["localhost"], arguments.expired)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if arguments.newest == "1.1":
        # Without this OpenSSL has no cipher for it.
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion["TLSv" + arguments.newest.replace(".", "_")]
    context.load_cert_chain(arguments.folder / "server.pem", arguments.folder / "server.key")
    listener = socket.create_server(("127.0.0.1", arguments.port))
    links = Links()

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, context, arguments, links), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print(json.dumps({"port": listener.getsockname()[1], "pin": pin}), flush=True)
    for line in sys.stdin:
        if line.strip() == "cut":
            links.cut()
            print("cut", flush=True)


if __name__ == "__main__":
    main()
