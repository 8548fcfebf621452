"""What a board must hold in the end, by what its writers were told."""

from program import Broken


def must_be_equal(channel, found):
    (first, board), *others = found.items()
    for user, other in others:
        for key in sorted(board.keys() | other.keys()):
            if board.get(key) != other.get(key):
                raise Broken(f"the boards of {channel} differ: {key} is {shown(board.get(key))} for {first}, "
                             f"and {shown(other.get(key))} for {user}")


def shown(record):
    return "absent" if record is None else f"at offset {record[0]} ({record[1][:8]})"


def may_have_happened(deed):
    return deed.outcome != "refused"


def offset_of(deed, key):
    """Of a change set, its changes have consecutive offsets, and its own is the last. [BL11]"""
    return None if deed.offset is None else deed.offset - len(deed.writes) + 1 + list(deed.writes).index(key)


class Change:
    """What one deed did to one key. `offset`: None if nobody knows whether it happened."""

    def __init__(self, deed, key, offset):
        self.deed, self.key, self.offset, self.digest = deed, key, offset, deed.writes[key]


def must_follow(channel, board, deeds):
    """Everything stored is there unless a later change took its place; nothing that was refused is; sets are whole."""
    clears = [deed for deed in deeds if deed.do == "clear" and may_have_happened(deed)]
    undone = [deed for deed in deeds if deed.do == "undoClear" and may_have_happened(deed)]
    written = [deed for deed in deeds if deed.writes]
    digests = {digest: (deed, key) for deed in written for key, digest in deed.writes.items() if digest}
    for key, (offset, digest) in board.items():
        deed, wanted = digests.get(digest, (None, None))
        if deed is None or wanted != key:
            raise Broken(f"{key} on the board of {channel} is what nobody was told to write there")
        if not may_have_happened(deed):
            raise Broken(f"{key} on the board of {channel} is of {deed}, which was refused")
        if deed.outcome == "unknown" and not undone:
            deed.offset, deed.outcome = offset + list(reversed(deed.writes)).index(key), "stored"
    changes = {}
    for deed in written:
        for key in deed.writes if may_have_happened(deed) else ():
            changes.setdefault(key, []).append(Change(deed, key, offset_of(deed, key) if deed.outcome == "stored" else None))
    for key, known in changes.items():
        judge_key(channel, key, board.get(key), known, clears, bool(undone))
    if all(deed.outcome != "unknown" for deed in deeds):
        must_be_exact(channel, board, deeds)


def judge_key(channel, key, record, changes, clears, is_undone):
    """One key against the last of its stored changes."""
    stored = [change for change in changes if change.offset is not None]
    if not stored:
        return
    newest = max(stored, key=lambda change: change.offset)
    if record is None:
        removed = newest.digest is None or any(change.digest is None and change.offset is None for change in changes)
        if not removed and not any(clear.offset is None or clear.offset > newest.offset for clear in clears):
            raise Broken(f"{newest.deed} was stored, and {key} is not on the board of {channel}")
        return
    there = next(change for change in changes if change.digest == record[1])
    if there.offset is not None and there.offset < newest.offset:
        raise Broken(f"{key} on the board of {channel} is of {there.deed}, and {newest.deed} was stored later")
    if there is newest and record[0] != there.offset and not (is_undone and record[0] > there.offset):
        raise Broken(f"{key} on the board of {channel} is at offset {record[0]}, and {there.deed} was stored at {there.offset}")


def must_be_exact(channel, board, deeds):
    """Nothing is unknown: the changes in the order of their offsets leave this board and no other."""
    steps = [(deed.offset, deed) for deed in deeds
             if deed.offset is not None and deed.outcome in ("stored", "done") and (deed.writes or deed.do in ("clear", "undoClear"))]
    now, cleared = {}, []
    for _, deed in sorted(steps, key=lambda step: step[0]):
        if deed.do == "clear":
            cleared.append(now)
            now = {}
        elif deed.do == "undoClear":
            now = {**(cleared.pop() if cleared else {}), **now}
        else:
            for key, digest in deed.writes.items():
                # What was touched since does not come back.
                for taken in cleared:
                    taken.pop(key, None)
                now[key] = digest
                if digest is None:
                    del now[key]
    found = {key: digest for key, (_, digest) in board.items()}
    for key in sorted(now.keys() | found.keys()):
        if now.get(key) != found.get(key):
            last = max((offset, str(deed)) for offset, deed in steps)
            raise Broken(f"{key} on the board of {channel} is {(found.get(key) or 'absent')[:8]}, and what was stored leaves "
                         f"{(now.get(key) or 'absent')[:8]}; the last of {len(steps)} changes is {last[1]}")
