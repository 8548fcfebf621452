"""One connection to the relay."""

import random
import select
import socket
import threading
import time

from links import TCPLink, Violation, open_websocket
from peer.checker import Checker
from peer.constants import PATIENCE
from peer.errors import Ended, Timeout
from peer.events import Splitter, decode
from peer.replies import Identity
from peer.sending import Sending


class Client(Sending):
    """One connection to the relay and, after `login`, its session.

    auto_pong, auto_received: answer `ping` and `directDeliver` by itself.
    heartbeat: ping a relay that has been silent for one interval, give up after two (HB3).
    receive_buffer: SO_RCVBUF, to be a slow reader.
    watcher: an object with sent(type) and received(event), for statistics.
    transport: "tcp" or "websocket"; `dice` says how the latter is used, `upgrade` has more fields of its request.
    """

    def __init__(self, host, port, identity=None, previous=None, auto_pong=True, auto_received=True,
                 heartbeat=True, receive_buffer=None, watcher=None, ledger=None, transport="tcp", dice=None,
                 upgrade=None):
        self.identity = identity or Identity("nobody")
        self.identity.sent_before |= self.identity.sent
        self.auto_pong, self.auto_received, self.heartbeat = auto_pong, auto_received, heartbeat
        self.watcher = watcher
        self.checker = Checker(self.identity, previous, ledger)
        self.events, self.closing, self.violation, self.over = [], None, None, False
        self.unknown_frames = []
        self.arrived = threading.Condition()
        self.sending = threading.Lock()
        self.reading = threading.Event()
        self.reading.set()
        self.next_id = 0
        self.transport, self.dice, self.upgrade = transport, dice or random.Random(), upgrade or {}
        self.socket, self.link, self.early = self._connect(host, port, receive_buffer)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _connect(self, host, port, receive_buffer):
        """(socket, link, bytes that were read already)."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.settimeout(10)
        sock.connect((host, port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link, early = TCPLink(), b""
        if self.transport == "websocket":
            try:
                link, early = open_websocket(sock, f"{host}:{port}", self.dice, **self.upgrade)
            except BaseException:
                sock.close()
                raise
        sock.settimeout(None)
        return sock, link, early

    # -- reading --------------------------------------------------------------------------------

    def _read(self):
        """The reader thread: bytes to events until the end."""
        splitter = Splitter()
        try:
            data = self.early
            while True:
                for message in self.link.decode(data):
                    for number, flags, body in splitter.feed(message):
                        self._take(number, flags, body)
                self._answer()
                self.reading.wait()
                data = self._receive()
                if not data:
                    break
            self.link.judge_end(self.closing)
            if splitter.buffer:
                self.checker.odd("FR1", f"the connection ended inside a frame: {bytes(splitter.buffer[:32]).hex()}")
        except Violation as problem:
            self.violation = problem
        except (OSError, ValueError):
            pass
        except Exception as problem:  # a mistake of this client: show it, never hang
            self.violation = Violation("client", f"{type(problem).__name__}: {problem}")
        self._finish()

    def _receive(self):
        """The next bytes; keeps the heartbeat while nothing comes."""
        silent = 0
        while not select.select([self.socket], [], [], self._patience())[0]:
            silent += 1
            if silent == 2:
                raise Violation("HB3", "the relay was silent for two intervals and a ping")
            self.ping()
        return self.socket.recv(65_536)

    def _answer(self):
        """What the link says by itself: behind the relay's close it may find nobody."""
        with self.sending:
            answers = self.link.answers()
            try:
                if answers:
                    self._write(answers)
            except OSError:
                pass
        with self.arrived:
            self.arrived.notify_all()

    def _patience(self):
        """How long the relay may be silent before it is pinged, in seconds."""
        welcome = self.checker.welcome
        return welcome["heartbeatMs"] / 1000 if self.heartbeat and welcome else None

    def _take(self, number, flags, body):
        """One frame of the relay."""
        event = decode(number, flags, body)
        with self.arrived:
            if event is None:
                self.unknown_frames.append((number, flags, body))
                return
            event.index = len(self.events)
            self.checker.take(event)
            if self.watcher:
                self.watcher.received(event)
            self.events.append(event)
            if event.name == "closing":
                self.closing = event.fields
            self.arrived.notify_all()
        self._react(event)

    def _react(self, event):
        """What a client answers by itself."""
        try:
            if event.name == "ping" and self.auto_pong:
                self.send("pong", event["bytes"])
            elif event.name == "directDeliver" and self.auto_received:
                self.confirm(event)
        except OSError:
            pass

    def _finish(self):
        """Everything that still waits fails."""
        with self.arrived:
            self.over = True
            checker, end = self.checker, self.violation or Ended(self.closing)
            for pending in [*checker.requests, *checker.publishes.values(), *checker.directs.values(),
                            *checker.pings, *checker.raw, checker.in_hand]:
                if pending and not pending.reply.done.is_set():
                    pending.reply.fail(end)
            self.arrived.notify_all()
        self.socket.close()

    # -- events ---------------------------------------------------------------------------------

    def mark(self):
        """The end of the list of events, to look at what comes from here."""
        with self.arrived:
            return len(self.events)

    def since(self, mark, *names):
        """Events from a mark on, of the given names."""
        with self.arrived:
            return [e for e in self.events[mark:] if not names or e.name in names]

    def wait_for(self, name, test=None, since=0, timeout=PATIENCE):
        """The first event of that name from `since` on that passes the test."""
        deadline, at = time.monotonic() + timeout, since
        with self.arrived:
            while True:
                while at < len(self.events):
                    event = self.events[at]
                    if event.name == name and (test is None or test(event)):
                        return event
                    at += 1
                if self.over:
                    raise self.violation or Ended(self.closing)
                left = deadline - time.monotonic()
                if left <= 0 or not self.arrived.wait(left):
                    raise Timeout(f"no {name}; the last events are {self.events[-4:]}")

    def wait_closed(self, timeout=PATIENCE):
        """Waits for the end of the connection; returns the fields of `closing` or None."""
        self.thread.join(timeout)
        if self.thread.is_alive():
            raise Timeout("the connection still lives")
        if self.violation:
            raise self.violation
        return self.closing

    def pause(self):
        """Stops reading: a slow reader."""
        self.reading.clear()

    def unpause(self):
        """Reads again."""
        self.reading.set()

    def flow(self, number):
        """What is known of a flow of others."""
        return self.checker.flows[number]

    # -- the end --------------------------------------------------------------------------------

    def drop(self):
        """Cuts the connection without a word, as a lost network does; a WebSocket half of the time as a page does that is left."""
        self.unpause()
        self._say_goodbye()
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(5)

    def _say_goodbye(self):
        """Which ends the WebSocket, and with the same code. [WS6]"""
        if self.transport == "tcp" or self.over or self.dice.random() < 0.5:
            return
        with self.sending:
            if isinstance(self.link, TCPLink) or self.link.has_said_close:
                return
            try:
                self._write(self.link.goodbye(self.dice.choice((1000, 1001)), self.dice.choice((b"", b"gone"))))
            except OSError:
                return
        self.thread.join(2)

    def logout(self):
        """Ends the session; returns `closing`."""
        self.request("logout")
        return self.wait_closed()
