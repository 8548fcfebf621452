"""What a run is given, and the bounds of its relays."""

import secrets

WORKERS = 8
SMALL_CONNECTIONS, SMALL_CHANNELS, SMALL_USERS, SMALL_ENTRIES = 8, 4, 3, 900
NARROW_SESSIONS = 16
BOARDS = {"board": 10_000, "total": 32_000, "boards": 8, "new": 3, "drawing": 7_000, "history": 20}
# By how much less than its time something may have taken, in seconds. How much more is judged nowhere: that is the machine's matter.
EARLY = 0.5
READER_BUFFER = 65_536
RUN = secrets.token_hex(3)
TRANSPORTS = ("tcp", "websocket")
