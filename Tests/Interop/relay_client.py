"""A strict, blocking client for the relay protocol, version 1 (docs/protocol.md).

It was written from the document alone and trusts nothing: every frame of the relay passes a
`Checker` that knows what the session did so far and raises `Violation` (with the id of the rule)
when the relay breaks one. Standard library only.

    identity = Identity("anna")
    client = Client("127.0.0.1", 7000, identity)
    client.login()
    client.request("subscribe", channel="lesson")
    offset = client.publish("lesson", "hello").wait()
    event = client.wait_for("deliver")

One thread per client reads; `events` is the one ordered list of everything that came. `transport="websocket"` carries the
same frames on a WebSocket (links.py).
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from links import TCPLink, Violation, open_websocket
from peer.client import Client
from peer.constants import CODES, ECHO, EXTENSIONS, FRAME_NAMES, FRAME_TYPES, KEY, NO_HISTORY, PATIENCE, RETAIN, TEXT
from peer.errors import Ended, RelayError, Timeout
from peer.events import Event, Splitter, decode
from peer.fields import encode_changes, encode_direct, encode_packet, encode_publish, extended, frame, json_body, text8
from peer.memory import Ledger, Metadata
from peer.replies import Identity, Reply
from peer.shapes import RIGHTS
from peer.strict_json import parse_json
