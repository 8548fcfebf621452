"""The links of one client of a scenario: bytes pass between it and the relay of the moment, and are cut, held back or dribbled."""

import socket
import struct
import threading
import time

CHUNK = 16_384
UP, DOWN = "up", "down"  # to the relay, to the client


class Link:
    """One connection. Its two threads end it together."""

    def __init__(self, client, relay):
        self.client, self.relay = client, relay
        self.is_cut, self.by_reset, self.threads = False, False, 2
        self.bytes_left = {UP: None, DOWN: None}  # what may still pass before the link is cut; None: all
        for end in (client, relay):
            end.settimeout(0.5)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def cut(self, by_reset):
        """Both ends learn of it: at once by FIN, or by RST when the threads have seen it."""
        if self.is_cut:
            return
        self.is_cut, self.by_reset = True, by_reset
        for end in (self.client, self.relay):
            try:
                end.shutdown(socket.SHUT_RD if by_reset else socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        for end in (self.client, self.relay):
            if self.by_reset:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()


class Proxy:
    """Listens for one client. `target` is the relay's port, or its host and port, None while there is no relay."""

    def __init__(self, dice):
        self.dice, self.target = dice, None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.changed = threading.Condition()
        self.links = []
        self.refuses, self.is_closed = False, False
        self.held, self.dribbles = set(), False
        self.delay = 0  # seconds for each chunk, as on a slow link; what is under way when it is cut is gone
        threading.Thread(target=self._accept, daemon=True).start()

    # -- what a scenario does to it -------------------------------------------------------------

    def cut(self):
        """By RST or FIN, or in the middle of what passes next."""
        how = self.dice.choice(("reset", "end", "half", "half"))
        with self.changed:
            for link in self.links:
                if how == "half":
                    link.bytes_left[self.dice.choice((UP, DOWN))] = self.dice.randrange(1, 400)
                else:
                    link.cut(how == "reset")
        return how

    def refuse(self, refuses):
        """No link while it does."""
        with self.changed:
            self.refuses = refuses
            if refuses:
                for link in self.links:
                    link.cut(self.dice.random() < 0.5)

    def hold(self, *directions):
        """Nothing passes in these directions, as with a client, or a relay, that does not read."""
        with self.changed:
            self.held = set(directions)
            self.changed.notify_all()

    def dribble(self, dribbles):
        """A few bytes at a time."""
        self.dribbles = dribbles

    def heal(self):
        """All passes again. What is cut stays cut, and what was to be cut is cut now."""
        self.refuse(False)
        self.hold()
        self.dribble(False)
        with self.changed:
            for link in self.links:
                if any(left is not None for left in link.bytes_left.values()):
                    link.cut(False)

    def close(self):
        with self.changed:
            if self.is_closed:
                return
            self.is_closed = True
            for link in self.links:
                link.cut(False)
            self.changed.notify_all()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    # -- its threads ----------------------------------------------------------------------------

    def _accept(self):
        while not self.is_closed:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                if self.refuses or self.target is None:
                    raise ConnectionRefusedError
                place = self.target if isinstance(self.target, tuple) else ("127.0.0.1", self.target)
                relay = socket.create_connection(place, timeout=5)
            except OSError:
                client.close()
                continue
            link = Link(client, relay)
            with self.changed:
                self.links.append(link)
                if self.is_closed or self.refuses:
                    link.cut(False)
            for way, source, sink in ((UP, client, relay), (DOWN, relay, client)):
                threading.Thread(target=self._pump, args=(link, way, source, sink), daemon=True).start()

    def _pump(self, link, way, source, sink):
        try:
            while self._may_pass(link, way):
                try:
                    data = source.recv(CHUNK)
                except TimeoutError:
                    continue
                if not data or not self._may_pass(link, way):
                    break
                if self.delay:
                    time.sleep(self.delay)
                left = link.bytes_left[way]
                self._send(link, sink, data[:left])
                if left is not None:
                    link.bytes_left[way] = left - len(data)
                    if len(data) >= left:
                        break
        except OSError:
            pass
        with self.changed:
            link.cut(self.dice.random() < 0.3)
            link.threads -= 1
            if link.threads == 0:
                self.links.remove(link)
                link.close()

    def _may_pass(self, link, way):
        with self.changed:
            self.changed.wait_for(lambda: way not in self.held or link.is_cut or self.is_closed)
            return not link.is_cut

    def _send(self, link, sink, data):
        while data and not link.is_cut:
            size = self.dice.randrange(1, 200) if self.dribbles else len(data)
            try:
                data = data[sink.send(data[:size]):]
            except TimeoutError:
                continue
            if self.dribbles:
                time.sleep(0.002)
