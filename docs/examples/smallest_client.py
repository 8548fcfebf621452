"""The smallest client of a relay: logs in, publishes one message, and prints where it stands in the channel."""

import json
import secrets
import socket
import struct
import sys
from urllib.parse import urlsplit

url = urlsplit(sys.argv[1])
link = socket.create_connection((url.hostname, url.port or 7420)).makefile("rwb")


def send(kind, body, flags=0):
    link.write(struct.pack(">IBB", len(body) + 2, kind, flags) + body)
    link.flush()


def receive(wanted):
    while True:
        length, kind, _ = struct.unpack(">IBB", link.read(6))
        body = link.read(length - 2)
        if kind in (0x82, 0x83):  # error, closing
            sys.exit(body.decode())
        if kind == wanted:
            return body


login = {"id": 1, "versions": [1], "user": "smallest-" + secrets.token_hex(4),
         "instance": secrets.token_hex(8), "secret": secrets.token_hex(16)}
if url.fragment:
    login["key"] = url.fragment.removeprefix("key=")
send(0x01, json.dumps(login).encode())
welcome = json.loads(receive(0x80))
send(0x10, struct.pack(">QB", 1, len(b"lesson")) + b"lesson" + "hello".encode(), flags=0x01)  # publish number 1, as text
number, offset, credit = struct.unpack(">QQI", receive(0x93))  # accepted
print(f"{welcome['user']}: message {number} is at offset {offset}")
