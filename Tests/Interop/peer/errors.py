"""What ends a request, a connection or a wait."""

class RelayError(Exception):
    """The relay refused something with an `error` frame."""

    def __init__(self, fields):
        super().__init__(f"{fields['code']} {fields['name']}: {fields['text']}")
        self.fields = fields
        self.code, self.name, self.text = fields["code"], fields["name"], fields["text"]


class Ended(Exception):
    """The connection is over; `closing` holds the relay's reason, if it gave one."""

    def __init__(self, closing):
        super().__init__(f"connection ended: {closing or 'without closing'}")
        self.closing = closing


class Timeout(Exception):
    """What was waited for did not come."""
