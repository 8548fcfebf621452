"""A link to the log on which one kind of request takes its time."""

import contextlib
import socket
import threading


class SlowConsumers:
    """Passes bytes on to a server; a request to make a consumer comes later than what follows it, as where the disks are busy."""

    def __init__(self, port, seconds):
        self.target, self.seconds, self.asked = port, seconds, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                relay, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:  # no server is there now; another one may be later
                relay.close()
                continue
            for act in (lambda: self._down(server, relay), lambda: self._up(relay, server)):
                threading.Thread(target=act, daemon=True).start()

    @staticmethod
    def _down(server, relay):
        try:
            while data := server.recv(65_536):
                relay.sendall(data)
        except OSError:
            pass
        relay.close()

    def _up(self, relay, server):
        lock = threading.Lock()

        def send(data):
            try:
                with lock:
                    server.sendall(data)
            except OSError:
                pass

        with contextlib.suppress(OSError), relay, server, relay.makefile("rb") as lines:
            for line in lines:
                words = line.split()
                if words[:1] in ([b"PUB"], [b"HPUB"]):
                    line += lines.read(int(words[-1]) + 2)
                if b"$JS.API.CONSUMER.CREATE" in line.split(b"\r\n", 1)[0]:
                    self.asked += 1
                    threading.Timer(self.seconds, send, (line,)).start()
                else:
                    send(line)

    def end(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
