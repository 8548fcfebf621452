"""Checks of credit, and of the order behind a refusal."""

import time

from links import Violation

# Refusals that hold up nothing (MS10).
HOLDS_UP_NOTHING = {"rateLimited", "behindRefused", "notAccepted", "outcomeUnknown"}


class CreditChecks:
    """What the relay takes of each channel: told with each answer, and kept (RT8)."""

    def begin_credit(self, welcome):
        """A login counts from the whole credit of every channel."""
        self.credits, self.unanswered = {}, {}
        before = self.previous and self.previous.welcome
        self.held_up = dict(self.previous.held_up) if before and before["start"] == welcome["start"] else {}
        self.whole_credit_at = time.monotonic() + welcome.get("publishAfterMs", 0) / 1000
        if not 0 < welcome.get("publishAfterMs", 1) <= 1000:
            raise Violation("RT8", f"publish after {welcome['publishAfterMs']} ms")

    def credit_of(self, name):
        """The newest one of a channel."""
        return self.credits.get(name, self.welcome["limits"]["messagesPerSecond"])

    def will_publish(self, pending):
        """Before it is sent: is it within the credit?"""
        if self.welcome is None:
            return
        name = pending.fields.get("channel")
        count = self.unanswered[name] = self.unanswered.get(name, 0) + 1
        pending.is_covered = count <= self.credit_of(name) and time.monotonic() > self.whole_credit_at

    def answered(self, pending, credit):
        """With `accepted` or `error`, which may tell the credit behind it."""
        name = pending.fields.get("channel")
        if name in self.unanswered:
            self.unanswered[name] -= 1
        if credit is not None:
            self.told_credit(name, credit)

    def on_credit(self, event):
        """RT8: it has grown."""
        name = event["channel"]
        if event["credit"] <= self.credit_of(name):
            raise Violation("RT8", f"{event}, and {self.credit_of(name)} was told before")
        self.told_credit(name, event["credit"])

    def told_credit(self, name, credit):
        """With an answer, or by itself."""
        if credit > self.welcome["limits"]["messagesPerSecond"]:
            raise Violation("RT8", f"a credit of {credit}")
        self.credits[name] = credit

    def check_credit(self, pending, event):
        """RT8, MS10: what a refused publish says of those behind it."""
        name, error = pending.fields.get("channel"), event["name"]
        # Of new boards it is told for up to an hour (BL7).
        if error == "rateLimited" and event["retryAfterMs"] <= 1000 and getattr(pending, "is_covered", False):
            raise Violation("RT8", f"{event}, and it was within the credit")
        can_go_on = "goOn" in self.welcome["capabilities"]
        if error == "behindRefused" and (not can_go_on or not self.held_up.get(name, 0) < event["number"]):
            raise Violation("MS10", f"{event} behind nothing that was refused")
        if can_go_on and name and error not in HOLDS_UP_NOTHING:
            self.held_up.setdefault(name, event["number"])
        self.answered(pending, event.get("credit"))

    def check_held_up(self, pending, event):
        """MS10: nothing is accepted behind a refusal before `goOn`."""
        name = pending.fields.get("channel")
        if name in self.held_up and event["number"] > self.held_up[name]:
            raise Violation("MS10", f"{event} behind {self.held_up[name]}, which was refused")
        if self.held_up.get(name) == event["number"]:
            del self.held_up[name]
        self.answered(pending, event["credit"])

    def answer_goOn(self, event, asked):
        """MS10: for this channel, if that number or one before it was refused."""
        if self.held_up.get(asked["channel"], float("inf")) <= asked["number"]:
            del self.held_up[asked["channel"]]
