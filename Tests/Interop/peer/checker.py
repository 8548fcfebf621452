"""Judges every frame of the relay by what the session did so far."""

from collections import OrderedDict, deque

from links import Violation
from peer.channel_checks import ChannelChecks
from peer.credit_checks import CreditChecks
from peer.memory import Ledger, Metadata
from peer.message_checks import MessageChecks
from peer.presence_checks import PresenceChecks
from peer.request_checks import RequestChecks
from peer.session_checks import SessionChecks
from peer.stream_checks import StreamChecks


class Checker(SessionChecks, RequestChecks, ChannelChecks, MessageChecks, CreditChecks, StreamChecks, PresenceChecks):
    """Knows the session so far and judges each frame of the relay by it."""

    def __init__(self, identity, previous=None, ledger=None):
        self.identity, self.previous, self.ledger = identity, previous, ledger or Ledger()
        self.spans, self.pages, self.items = [], [], []
        self.early_lost = {}
        self.seen = {}
        self.welcome = None
        self.access = None
        self.has_join_code = False
        self.handle = None
        self.channels = {}
        self.offsets = dict(previous.offsets) if previous else {}
        self.epochs = dict(previous.epochs) if previous else {}
        self.names = dict(previous.names) if previous else {}
        self.named_at = {}
        self.flows = {}
        self.last_status = {}
        self.users_metadata = {user: Metadata() for user in previous.users_metadata} if previous else {}
        self.fencing = previous.fencing if previous else 0
        self.own_flows, self.ended_flows = {}, {}
        self.deliveries = set()
        self.credits, self.unanswered, self.held_up, self.whole_credit_at = {}, {}, {}, 0
        self.last_accepted = None
        self.last_restored = None
        self.restoring = False
        self.closed = False
        self.requests = deque()
        self.publishes = OrderedDict()
        self.directs, self.earlier_directs = {}, set()
        self.pings = deque()
        self.raw = deque()
        self.in_hand = None  # what the frame at hand answers: fails with it, if the frame breaks a rule
        self.oddities = []

    # -- entry ----------------------------------------------------------------------------------

    def take(self, event):
        """Judges one event and updates what is known."""
        if self.closed:
            raise Violation("ER2", f"{event} after closing")
        if self.welcome is None and event.name not in ("welcome", "error", "closing", "ping", "pong"):
            raise Violation("SE6", f"{event} before welcome")
        if self.restoring and event.name not in ("restored", "presence", "topics", "flowOpened", "flowClosed",
                                                 "metadata", "locks"):
            self.end_of_restoring(event)
        if event.name in ("gap", "caughtUp", "cleared", "reset") and event["channel"] in self.channels:
            self.must_not_cut(self.channels[event["channel"]], event)
        getattr(self, "on_" + event.name)(event)
        if event.name not in ("accepted", "userNamed"):
            self.last_accepted = None

    def odd(self, rule, message):
        """Remembers what is strange, yet no clear break of a rule."""
        self.oddities.append(f"{rule}: {message}")

    def channel(self, handle, kind, rule):
        """The channel of a handle; nothing of a channel comes when one is not inside (CH9)."""
        channel = self.channels.get(handle)
        if channel is None or (kind and channel.kind != kind):
            raise Violation(rule, f"something of channel {handle}, where this session is not")
        return channel
