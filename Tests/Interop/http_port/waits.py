"""Checks of the times that a peer gets."""

import select
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor

from links import upgrade_request
from http_port.site import HEAD_SECONDS, KEY, LARGE, READING_SECONDS, check, need


def seconds_until_end(connection, began):
    """(seconds from then, what came until the connection ended)."""
    data = b""
    while True:
        part = connection.sock.recv(65_536)
        if not part:
            return time.monotonic() - began, data
        data += part


@check("[HT3] a head that comes byte by byte has 10 s; who asks for nothing more is closed without a word; who asks on, lives", slow=True)
def slow_heads(site):
    def trickle(begin):
        with site.connect() as connection:
            data, began = begin + site.request("/nothing", X="x" * 100), time.monotonic()
            connection.send(data[:len(begin) + 1])
            for _ in range(len(begin) // 40):
                connection.answer()
            for at in range(len(begin) + 1, len(data)):
                if select.select([connection.sock], [], [], 1)[0]:
                    break
                connection.send(data[at:at + 1])
            after, got = time.monotonic() - began, connection.answer()
            need(got.status == 408 and got.closes, f"{got}")
            need(after >= HEAD_SECONDS - 1, f"408 after {after:.1f} s")
            connection.must_end()

    def idle():
        with site.connect() as connection:
            began = time.monotonic()
            connection.send(site.request())
            connection.answer()
            after, data = seconds_until_end(connection, began)
            need(not data, f"it said {data!r}")
            need(after >= HEAD_SECONDS - 1, f"closed after {after:.1f} s")

    def busy():
        with site.connect() as connection:
            end = time.monotonic() + HEAD_SECONDS + 5
            while time.monotonic() < end:
                connection.send(site.request())
                need(connection.answer().status == 404, "another answer")
                time.sleep(3)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(trickle, b""), pool.submit(trickle, site.request()), pool.submit(idle), pool.submit(busy)]:
            done.result()


@check("[HT3] who has not taken an answer after 30 s is closed without a word, who takes it before gets all of it", slow=True)
def stuck_readers(site):
    count, whole = 60, len(site.get(LARGE).body)  # more than any buffer between us takes
    with site.connect(buffer=2_048) as late, site.connect(buffer=2_048) as in_time:
        for connection in (late, in_time):
            connection.send(site.request(LARGE) * count)
        began = time.monotonic()
        time.sleep(READING_SECONDS / 2)
        for n in range(count):
            need(len(in_time.answer().body) == whole, f"answer {n}")
        time.sleep(max(0, began + READING_SECONDS + 10 - time.monotonic()))
        took, data = 0, True
        try:
            while data:
                data = late.sock.recv(1 << 20)
                took += len(data)
        except ConnectionResetError:
            pass
        need(took < (count - 1) * whole, "all of it came, after all")


@check("[HT3] who shuts down writing behind a request gets the whole answer, then the end; and of requests before it each its own")
def half_closed(site):
    whole = len(site.get(LARGE).body)
    for count in (1, 3):
        with site.connect(buffer=2_048) as connection:
            connection.send(site.request(LARGE) * count)
            connection.sock.shutdown(socket.SHUT_WR)
            for n in range(count):
                need(len(connection.answer(size=4_096).body) == whole, f"answer {n} of {count}")
            connection.must_end()


@check("[SE4 WS1] the time to log in begins with the WebSocket, however long pages were read before", slow=True)
def login_after_pages(site):
    with site.connect() as connection:
        connection.send(site.request())
        connection.answer()
        time.sleep(HEAD_SECONDS / 2)
        began = time.monotonic()
        connection.send(upgrade_request(site.name, KEY))
        need(connection.answer().status == 101, "no upgrade")
        after, data = seconds_until_end(connection, began)
        need(b"loginTimeout" in data and struct.pack(">H", 4203) in data, f"{data!r}")
        need(after >= HEAD_SECONDS - 1, f"closed {after:.1f} s after the upgrade")
