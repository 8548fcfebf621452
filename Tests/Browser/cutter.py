"""The link between a page and the relay, which a check can take away.

A browser's own offline mode refuses new connections and leaves open sockets open, so it cannot show what a page does when its
link breaks. This passes bytes over loopback, and every page has one of its own: to the browser each is an origin of its own,
so the pages of a check share no storage.
"""

import re
import socket
import threading


class Cutter:
    """Passes bytes between a page and the relay of the moment."""

    # Of all cutters of this run. A browser keeps what it stored for an origin: behind a port that comes again, a page knows its
    # visitor by the name of somebody before.
    ports = set()

    def __init__(self, relay):
        self.relay = relay
        self.port = None
        self.pairs = set()
        self.lock = threading.Lock()
        self.flowing = threading.Event()
        self.flowing.set()
        self.held = {}
        # Paths that the page has asked for.
        self.asked = []
        self.mend()

    def cut(self):
        """Every connection ends, and new ones are refused."""
        self._stop_listening()
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            _shut(pair)

    def mend(self):
        """New connections are taken, on the same port as ever."""
        self.listener = socket.create_server(("127.0.0.1", self.port or 0))
        while self.port is None and self.listener.getsockname()[1] in self.ports:
            self.listener.close()
            self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ports.add(self.port)
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def freeze(self):
        """Nothing gets through, and nobody is told: a network that is out of reach."""
        self.flowing.clear()

    def thaw(self):
        self.flowing.set()

    def hold(self, request):
        """Requests that contain these bytes wait for `release`."""
        self.held[request] = threading.Event()

    def release(self, request):
        self.held.pop(request).set()

    def end(self):
        for request in list(self.held):
            self.release(request)
        self.thaw()
        self.cut()

    def _stop_listening(self):
        try:
            # Wakes who waits in `accept`, which closing alone does not.
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()

    def _accept(self, listener):
        while True:
            try:
                page, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(listener, page), daemon=True).start()

    def _connect(self, listener, page):
        try:
            relay = socket.create_connection(("127.0.0.1", self.relay.port), timeout=5)
        except OSError:
            page.close()
            return
        relay.settimeout(None)
        pair = (page, relay)
        for end in pair:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            # Cut while it was being made.
            if listener is not self.listener or listener.fileno() < 0:
                _shut(pair)
                return
            self.pairs.add(pair)
        for source, sink, is_request in ((page, relay, True), (relay, page, False)):
            threading.Thread(target=self._pass, args=(pair, source, sink, is_request), daemon=True).start()

    def _pass(self, pair, source, sink, is_request):
        try:
            while data := source.recv(65536):
                if is_request:
                    self.asked += re.findall(r"^GET (\S+) HTTP", data.decode("latin-1"), re.MULTILINE)
                self.flowing.wait()
                for request, released in list(self.held.items()) if is_request else ():
                    if request in data:
                        released.wait()
                sink.sendall(data)
        except OSError:
            pass
        _shut(pair)
        with self.lock:
            self.pairs.discard(pair)


def _shut(pair):
    for end in pair:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
